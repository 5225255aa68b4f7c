import type { Result } from "neverthrow";
import Type from "typebox";
import { z } from "zod";
import {
  type ActorStream,
  type AnyRef,
  type AnySignatures,
  type AskArgs,
  type AskError,
  type Asked,
  type AskResult,
  createSystem,
  type DeliveryError,
  defineProtocol,
  type Protocol,
  type Ref,
  type RefTo,
  type ReplyOf,
} from "../../src/index";
import { type Equal, expectType } from "./expect";

const Counter = defineProtocol("counter", {
  add: { payload: Type.Number() },
  total: { reply: Type.Number() },
  scale: { payload: Type.Object({ by: Type.Number() }), reply: Type.Object({ total: Type.Number() }) },
  maybe: { payload: Type.Union([Type.String(), Type.Undefined()]), reply: Type.Boolean() },
  parse: { payload: z.string(), reply: z.string().transform(Number) },
  ticks: { payload: Type.Number(), stream: Type.Number() },
});
declare const counter: RefTo<typeof Counter>;

// The reply of an ask, and of an offer.
expectType<Equal<ReturnType<typeof counter.ask<"total">>, Promise<AskResult<number>>>>();
expectType<Equal<AskResult<number>, Result<number, AskError>>>();
expectType<Equal<ReturnType<typeof counter.tell<"add">>, void>>();
expectType<Equal<ReturnType<typeof counter.offer<"add">>, Promise<Result<void, DeliveryError>>>>();

export async function calls(signal: AbortSignal): Promise<void> {
  counter.tell("add", 1);
  counter.tell("total");
  counter.tell("maybe");
  counter.tell("maybe", "a");
  counter.tell("maybe", undefined, { metadata: { user: "Ada" } });
  counter.tell("add", 1, { metadata: { user: "Ada" }, deadline: 10 });
  counter.tell("total", { deadline: 10 });
  await counter.offer("add", 1, { metadata: { user: "Ada" }, deadline: 10 });
  await counter.ask("total", { metadata: { user: "Ada" } });
  // @ts-expect-error — an ask has its timeout
  await counter.ask("total", { deadline: 10 });
  // @ts-expect-error — metadata is an object
  counter.tell("add", 1, { metadata: "Ada" });
  await counter.offer("add", 1);
  await counter.offer("total");
  const total = await counter.ask("total");
  expectType<Equal<typeof total, AskResult<number>>>();
  if (total.isOk()) expectType<Equal<typeof total.value, number>>();
  else expectType<Equal<typeof total.error, AskError>>();
  const nothing = await counter.ask("add", 1);
  expectType<Equal<typeof nothing, AskResult<void>>>();
  const scaled = await counter.ask("scale", { by: 2 }, { timeout: 10, signal });
  expectType<Equal<typeof scaled, AskResult<{ total: number }>>>();
  const parsed = await counter.ask("parse", "1");
  expectType<Equal<typeof parsed, AskResult<number>>>();
  await counter.ask("total", { timeout: Number.POSITIVE_INFINITY });
  await counter.ask("maybe");
  await counter.ask("maybe", undefined, { signal });

  const ticks = counter.stream("ticks", 3);
  expectType<Equal<typeof ticks, ActorStream<number>>>();
  for await (const tick of counter.stream("ticks", 3, { credit: 4, timeout: 10, signal })) {
    expectType<Equal<typeof tick, number>>();
    // @ts-expect-error — an item used as the wrong type
    const item: string = tick;
    void item;
  }

  // @ts-expect-error — a reply used as the wrong type
  const text: string = total.unwrapOr(0);
  // @ts-expect-error — a reply that has not been looked at
  const number: number = total;
  // @ts-expect-error — an operation without a reply gives none
  const reply: number = nothing._unsafeUnwrap();
  return void [text, number, reply];
}

export function refused(): void {
  // @ts-expect-error — a wrong operation
  counter.tell("subtract", 1);
  // @ts-expect-error — a wrong operation
  void counter.ask("subtract");
  // @ts-expect-error — a wrong operation
  void counter.offer("toString");
  // @ts-expect-error — a wrong payload
  counter.tell("add", "1");
  // @ts-expect-error — a wrong payload
  void counter.ask("scale", { by: "2" });
  // @ts-expect-error — a payload with a field too many
  void counter.ask("scale", { by: 2, more: 1 });
  // @ts-expect-error — a missing payload
  counter.tell("add");
  // @ts-expect-error — a missing payload
  void counter.ask("add");
  // @ts-expect-error — a missing payload
  void counter.offer("scale");
  // @ts-expect-error — an extra payload
  counter.tell("total", 1);
  // @ts-expect-error — an extra payload, where the options stand
  void counter.ask("total", 1);
  // @ts-expect-error — an extra argument
  counter.tell("add", 1, 2);
  // @ts-expect-error — a tell has no timeout
  counter.tell("add", 1, { timeout: 1 });
  // @ts-expect-error — an option that there is not
  void counter.ask("total", { timout: 1 });
  // @ts-expect-error — an option of the wrong type
  void counter.ask("add", 1, { timeout: "1" });
  // @ts-expect-error — a stream is not told
  counter.tell("ticks", 1);
  // @ts-expect-error — a stream is not asked
  void counter.ask("ticks", 1);
  // @ts-expect-error — a stream is not offered
  void counter.offer("ticks", 1);
  // @ts-expect-error — a stream asked of an operation that has none
  counter.stream("total");
  // @ts-expect-error — a stream asked of an operation that has none
  counter.stream("add", 1);
  // @ts-expect-error — a stream of a wrong operation
  counter.stream("tocks", 1);
  // @ts-expect-error — a wrong payload
  counter.stream("ticks", "1");
  // @ts-expect-error — a missing payload
  counter.stream("ticks");
  // @ts-expect-error — an option that there is not
  counter.stream("ticks", 1, { credits: 1 });
  // @ts-expect-error — an address is not set
  counter.address = "@(other)";
}

// An error is told apart by its kind, and the union is closed.
export function sentenceOf(error: AskError): string {
  switch (error.kind) {
    case "timeout":
      expectType<Equal<typeof error.timeout, number>>();
      return String(error.timeout);
    case "cancelled":
      return String(error.reason);
    case "handler-failed":
    case "unreachable":
      expectType<Equal<typeof error.cause, unknown>>();
      return String(error.cause);
    case "invalid-payload":
      return error.issues.map((issue) => issue.path).join();
    case "mailbox-full":
      return String(error.capacity);
    case "payload-too-large":
      return String(error.limit);
    case "ask-cycle":
      return error.path.join();
    case "no-recipient":
    case "stopped":
    case "unknown-operation":
      return error.message;
  }
}
export function wrongDetail(error: AskError): unknown {
  // @ts-expect-error — not each error has a timeout
  return error.timeout;
}

// A reference to a larger protocol fits where a smaller one is asked for, and not the other way round.
type Total = { total: () => number };
type TotalAndAdd = Total & { add: (payload: number) => void };
declare const small: Ref<Total>;
declare const middle: Ref<TotalAndAdd>;
export const fromLarge: Ref<Total> = counter;
export const fromMiddle: Ref<Total> = middle;
export const picked: Ref<TotalAndAdd> = counter;
export const any: AnyRef = counter;
// @ts-expect-error — it lacks an operation
export const tooSmall: Ref<TotalAndAdd> = small;
// @ts-expect-error — it lacks operations
export const farTooSmall: RefTo<typeof Counter> = small;
// @ts-expect-error — not every reference takes this operation
export const fromAny: Ref<Total> = any;

// Payloads are contravariant, replies covariant.
declare const takesMore: Ref<{ set: (payload: number | string) => void }>;
declare const takesLess: Ref<{ set: (payload: number) => void }>;
declare const givesMore: Ref<{ get: () => number | string }>;
declare const givesLess: Ref<{ get: () => number }>;
export const takesNumber: typeof takesLess = takesMore;
export const givesEither: typeof givesMore = givesLess;
// @ts-expect-error — it cannot take a string
export const takesEither: typeof takesMore = takesLess;
// @ts-expect-error — it may give a string
export const givesNumber: typeof givesLess = givesMore;
// @ts-expect-error — a stream is no reply
export const streamAsReply: Ref<{ ticks: (payload: number) => number }> = counter;
// @ts-expect-error — it gives nothing
export const nothingAsReply: Ref<{ add: (payload: number) => number }> = counter;

export const asParameter = (ref: Ref<Total>): Promise<AskResult<number>> => ref.ask("total");
void asParameter(counter);
// @ts-expect-error — it lacks the operation
void asParameter(takesMore);

// Whether there is a payload is the same in both: without one, the options of an ask stand in its place.
declare const alone: Ref<{ set: () => number }>;
declare const loaded: Ref<{ set: (payload: number) => number }>;
declare const maybeLoaded: Ref<{ set: (payload?: number) => number }>;
declare const unknownLoaded: Ref<{ set: (payload: unknown) => number }>;
// @ts-expect-error — a payload would be read as the options
export const payloadAsOptions: typeof loaded = alone;
// @ts-expect-error — a payload would be read as the options, where it may be left out, too
export const payloadAsOptionsToo: typeof maybeLoaded = alone;
// @ts-expect-error — the options would be read as the payload
export const optionsAsPayload: typeof alone = maybeLoaded;
// @ts-expect-error — the options would be read as the payload
export const optionsAsAnything: typeof alone = unknownLoaded;
// @ts-expect-error — an actor of a router reads a payload first
export const optionsOfAnything: Ref<AnySignatures> = alone;
export const wider: typeof loaded = maybeLoaded;
export const widest: typeof maybeLoaded = unknownLoaded;
export const fewer: Ref<{ get: () => number }> = null as unknown as Ref<{ get: () => 1; set: (payload: 1) => void }>;
export const anyway: AnyRef[] = [alone, loaded];
export const generic = <S extends { set: () => number }>(ref: Ref<S>): Ref<{ set: () => number }> => ref;
// biome-ignore lint/suspicious/noExplicitAny: users write it.
declare const untyped: Ref<any>;
export const fromUntyped: typeof loaded = untyped;
export const toUntyped: typeof untyped = alone;
declare const Alone: Protocol<"p", { set: () => number }>;
declare const Loaded: Protocol<"p", { set: (payload: number) => number; more: () => void }>;
export const loadedOne: Protocol<string, { set: (payload: 1) => number }> = Loaded;
// @ts-expect-error — a protocol is as strict, or spawn() would make such a reference of it
export const aloneAsLoaded: Protocol<string, { set: (payload: number) => number }> = Alone;

// One of several operations takes a payload that each of them takes.
declare const either: Ref<{
  a: (payload: { a: number }) => number;
  b: (payload: { b: string }) => string;
  c: () => number;
  d: () => boolean;
  e: (payload?: string) => void;
  f: (payload: "x" | "y") => void;
}>;
export async function unions(isA: boolean): Promise<void> {
  either.tell(isA ? "a" : "b", { a: 1, b: "" });
  either.tell(isA ? "c" : "d");
  either.tell(isA ? "e" : "f", "x");
  const one = await either.ask(isA ? "a" : "b", { a: 1, b: "" }, { timeout: 1 });
  expectType<Equal<typeof one, AskResult<number | string>>>();
  const other = await either.ask(isA ? "c" : "d", { timeout: 1 });
  expectType<Equal<typeof other, AskResult<number | boolean>>>();
  // @ts-expect-error — a payload that only one of them takes
  either.tell(isA ? "a" : "b", { a: 1 });
  // @ts-expect-error — a payload that only one of them takes
  void either.ask(isA ? "a" : "b", { b: "" });
  // @ts-expect-error — a payload that only one of them takes
  void either.offer(isA ? "e" : "f", "z");
  // @ts-expect-error — only one of them may be told without a payload
  either.tell(isA ? "e" : "f");
  // @ts-expect-error — one of them takes no payload
  either.tell(isA ? "a" : "c", { a: 1 });
  // @ts-expect-error — one of them takes a payload
  void either.ask(isA ? "e" : "c");
  // @ts-expect-error — any text is no name
  either.tell(String(isA), { a: 1 });
}

// A function of one's own may take what an ask takes.
type Either = Ref<{ a: (payload: number) => number; c: () => string; e: (payload?: string) => void }>;
type EitherSignatures = Either extends Ref<infer S, infer _Shapes> ? S : never;
export const askEither = <Name extends string>(
  ref: Either,
  operation: Asked<EitherSignatures, Name>,
  ...payload: AskArgs<EitherSignatures, NoInfer<Name>>
): Promise<AskResult<ReplyOf<EitherSignatures, Name & keyof EitherSignatures>>> => ref.ask<Name>(operation, ...payload);
export const asked = async (ref: Either): Promise<void> => {
  const a = await askEither(ref, "a", 1);
  expectType<Equal<typeof a, AskResult<number>>>();
  await askEither(ref, "c");
  // @ts-expect-error — a wrong payload
  await askEither(ref, "a", "1");
};

// A registered handler takes any operation.
declare const anything: Ref<AnySignatures>;
anything.tell("whatever");
anything.tell("whatever", { a: 1 });
const unknownReply = await anything.ask("whatever", 1, { timeout: 1 });
expectType<Equal<typeof unknownReply, AskResult<unknown>>>();
// @ts-expect-error — what it replies is not known
export const known: AskResult<number> = unknownReply;

// Spawning.
const system = createSystem();
const spawned = system.spawn("counter", Counter, (ctx) => {
  expectType<Equal<typeof ctx.self, RefTo<typeof Counter>>>();
  return {
    add(n) {
      expectType<Equal<typeof n, number>>();
    },
    total: () => 1,
    scale: async ({ by }) => ({ total: by }),
    maybe: (text) => text === undefined,
    parse: Number,
    *ticks(n) {
      yield n;
    },
  };
});
expectType<Equal<typeof spawned, RefTo<typeof Counter>>>();

const Two = defineProtocol("two", { add: { payload: Type.Number() }, total: { reply: Type.Number() } });
// @ts-expect-error — a handler is missing
system.spawn("two", Two, () => ({ add() {} }));
// @ts-expect-error — a handler is misnamed
system.spawn("two", Two, () => ({ add() {}, totals: () => 1 }));
// @ts-expect-error — a handler is no function
system.spawn("two", Two, () => ({ add() {}, total: 1 }));
// @ts-expect-error — a reply of the wrong type
system.spawn("two", Two, () => ({ add() {}, total: () => "1" }));
// @ts-expect-error — a promise of the wrong type
system.spawn("two", Two, () => ({ add() {}, total: async () => "1" }));
// @ts-expect-error — no reply
system.spawn("two", Two, () => ({ add() {}, total() {} }));
// @ts-expect-error — a payload of the wrong type
system.spawn("two", Two, () => ({ add(_n: string) {}, total: () => 1 }));
// @ts-expect-error — a factory gives its handlers at once
system.spawn("two", Two, async () => ({ add() {}, total: () => 1 }));
// @ts-expect-error — a factory gives its handlers
system.spawn("two", Two, () => undefined);
// @ts-expect-error — a protocol is made by defineProtocol
system.spawn("two", { add: { payload: Type.Number() } }, () => ({ add() {} }));
// @ts-expect-error — a factory is asked for
system.spawn("two", Two);
system.spawn("two", Two, () => ({ add() {}, total: () => 1, helper: () => "more is allowed" }));

// Inside of a generic function, a reply whose type is a type parameter.
export const spawnAny = <T>(of: Protocol<string, { get: (key: string) => T }>, load: (key: string) => T) =>
  system.spawn("c", of, () => ({ get: (key) => load(key) }));
export const spawnLater = <T>(of: Protocol<string, { get: (key: string) => T }>, load: (key: string) => Promise<T>) =>
  system.spawn("c", of, (ctx) => ({ get: (key: string) => (key === "" ? ctx.stash() : load(key)) }));
declare const Kept: Protocol<"kept", { get: (key: string) => number }>;
expectType<Equal<ReturnType<typeof spawnAny<number>>, RefTo<typeof Kept>>>();
export const spawnWrong = <T>(of: Protocol<string, { get: (key: string) => T }>) =>
  // @ts-expect-error — a text is not any type
  system.spawn("c", of, () => ({ get: (key) => key }));
export const spawnNothing = <T>(of: Protocol<string, { get: (key: string) => T }>) =>
  // @ts-expect-error — nothing is not any type
  system.spawn("c", of, () => ({ get() {} }));
export const spawnItems = <T>(of: Protocol<string, { get: (key: string) => T }>, all: T[]) =>
  // @ts-expect-error — several are not one
  system.spawn("c", of, () => ({ get: () => all }));
