import type { Result } from "neverthrow";
import {
  type Address,
  type AnySignatures,
  type AskResult,
  type Audit,
  address,
  type Context,
  type createErrorResponse,
  createMessage,
  createRouter,
  createSystem,
  type DeadLetter,
  type DeliveryError,
  type Dropped,
  drop,
  type Feed,
  type Interceptor,
  type Message,
  type Next,
  ok,
  type Passage,
  type publicError,
  type Ref,
  type Router,
  type ShutdownReport,
  type Stream,
  type Topic,
} from "../../src/index";
import { type Equal, expectType } from "./expect";

const router = createRouter();
expectType<Equal<typeof router, Router>>();

// Addresses and messages.
const echo = address("echo");
expectType<Equal<typeof echo, Address<"echo">>>();
export const widened: Address = echo;
const message = createMessage(echo, "say", { text: "hi" });
expectType<Equal<typeof message, Message<{ text: string }>>>();
export const untyped: Message = message;
expectType<Equal<ReturnType<typeof publicError>["kind"], DeliveryError["kind"]>>();
expectType<Equal<ReturnType<typeof createErrorResponse>["error"]["kind"], string>>(); // As a response from outside has it.
// @ts-expect-error — a text is no address
createMessage("echo", "say", 1);
// @ts-expect-error — a type is a text
createMessage(echo, 1, 1);
// @ts-expect-error — a payload is asked for, be it undefined
createMessage(echo, "say");
// @ts-expect-error — a pattern that there is not
createMessage(echo, "say", 1, { pattern: "shout" });
// @ts-expect-error — a message is not written
message.payload = { text: "ho" };

// Registering.
const ref = router.register(echo, (received, ctx) => {
  expectType<Equal<typeof received, Message>>();
  expectType<Equal<typeof ctx, Context<AnySignatures>>>();
  expectType<Equal<typeof received.payload, unknown>>();
  return received.payload;
});
expectType<Equal<typeof ref, Ref<AnySignatures>>>();
router.register(echo, () => {});
router.register(echo, async () => 1);
// @ts-expect-error — a text is no address
router.register("echo", () => 1);
// @ts-expect-error — a handler is a function
router.register(echo, {});
// @ts-expect-error — a handler takes a message
router.register(echo, (received: string) => received);

export async function calls(): Promise<void> {
  router.tell(message);
  const reply = await router.ask(message, { timeout: 500 });
  expectType<Equal<typeof reply, AskResult<unknown>>>();
  expectType<Equal<Awaited<ReturnType<Router["offer"]>>, Result<void, DeliveryError>>>();
  expectType<Equal<ReturnType<Router["unregister"]>, Promise<boolean>>>();
  expectType<Equal<ReturnType<Router["has"]>, boolean>>();
  expectType<Equal<ReturnType<Router["audit"]>, Audit>>();
  expectType<Equal<Router["deadLetters"], Feed<DeadLetter>>>();
  for await (const letter of router.deadLetters) expectType<Equal<typeof letter, DeadLetter>>();
  // @ts-expect-error — a reply of a router is not known
  const text: string = reply.unwrapOr("");
  // @ts-expect-error — an option that there is not
  await router.ask(message, { timout: 500 });
  // @ts-expect-error — a tell has no options
  router.tell(message, { timeout: 500 });
  // @ts-expect-error — an address is no message
  router.tell(echo);
  // @ts-expect-error — a part of a message is no message
  router.tell({ to: echo, type: "say" });
  return void text;
}

// Interceptors.
const remove = router.use((received, next) => {
  expectType<Equal<typeof received, Message>>();
  expectType<Equal<typeof next, Next>>();
  return next({ ...received, payload: 1 });
});
expectType<Equal<typeof remove, () => void>>();
expectType<Equal<ReturnType<typeof drop>, Dropped>>();
expectType<Equal<Awaited<ReturnType<Next>>, Result<unknown, DeliveryError>>>();
expectType<Equal<Passage, Result<unknown, DeliveryError> | Dropped>>();
router.use(() => ok("cached"));
router.use(() => drop("no token"));
router.use((received, next) => (received.from === undefined ? drop("no sender") : next()));
router.use(async (received, next) => (received.type === "ping" ? ok("pong") : next()));
router.use(async (_, next) => (await next()).map((reply) => [reply]));
router.use(async (_, next) => {
  const allowed = await router.ask(message);
  return allowed.isErr() ? allowed : next();
});
export const named: Interceptor = (_, next) => next();
// @ts-expect-error — nothing is returned
router.use((_, next) => void next());
// @ts-expect-error — an answer is a Result
router.use(() => "cached");
// @ts-expect-error — what looks like a drop is none: drop() makes them
router.use(() => ({ why: "no token" }));
// @ts-expect-error — a message is handed on whole
router.use((_, next) => next({ payload: 1 }));
// @ts-expect-error — a drop says why
drop();

// Systems.
const system = createSystem({ validate: "always", askTimeout: 100, logger: console });
expectType<Equal<typeof system.router, Router>>();
expectType<Equal<ReturnType<typeof system.shutdown>, Promise<ShutdownReport>>>();
expectType<Equal<ReturnType<typeof system.stop>, Promise<void>>>();
void system.stop(ref, { drain: true });
void system.shutdown({ timeout: 5, drain: true });
// @ts-expect-error — an option that there is not
createSystem({ timeout: 5 });
// @ts-expect-error — a way to validate that there is not
createSystem({ validate: "never" });
// @ts-expect-error — a logger has the shape of console
createSystem({ logger: { log() {} } });
// @ts-expect-error — a timeout is a number
createRouter({ askTimeout: "5s" });
// @ts-expect-error — an address is no reference
void system.stop(echo);
// @ts-expect-error — an option that there is not
void system.shutdown({ force: true });

// A topic is heard by an operation that takes each of its items, inside of a generic function, too.
declare const numbers: Topic<number>;
declare const either: Topic<number | string>;
declare const hearer: Ref<{
  number: (item: number) => void;
  text: (item: string) => void;
  nothing: () => void;
  maybe: (item?: number) => boolean;
  stream: (item: number) => Stream<number>;
  method(item: number): void;
}>;
// biome-ignore lint/suspicious/noExplicitAny: users write it.
declare const anyRef: Ref<any>;
declare const handler: Ref<AnySignatures>;
numbers.subscribe(hearer, "number");
numbers.subscribe(hearer, "maybe");
numbers.subscribe(hearer, "method");
numbers.subscribe(anyRef, "number");
numbers.subscribe(handler, "number");
// @ts-expect-error — it takes a text
numbers.subscribe(hearer, "text");
// @ts-expect-error — it takes nothing
numbers.subscribe(hearer, "nothing");
// @ts-expect-error — a stream is not told
numbers.subscribe(hearer, "stream");
// @ts-expect-error — it cannot take a text
either.subscribe(hearer, "number");
// @ts-expect-error — it cannot take a text, written as a method either
either.subscribe(hearer, "method");
export const hear = <T>(items: Topic<T>, by: Ref<{ hear: (item: T) => void }>) => items.subscribe(by, "hear");
export const mishear = <T>(
  items: Topic<T>,
  by: Ref<{ number: (item: number) => void; nothing: () => void; list: (items: T[]) => void }>,
) => {
  // @ts-expect-error — not any item is a number
  items.subscribe(by, "number");
  // @ts-expect-error — it takes nothing
  items.subscribe(by, "nothing");
  // @ts-expect-error — an item is no list
  items.subscribe(by, "list");
};
