import type { Result } from "neverthrow";
import Type from "typebox";
import * as v from "valibot";
import { z } from "zod";
import { jsonSchemaOf, type OperationJsonSchema } from "../../src/protocol/json-schema";
import { type Outcome, outcomeOf } from "../../src/protocol/outcome-of";
import { defineProtocol, type Protocol, type SignaturesOf } from "../../src/protocol/protocol";
import type { Infer, Schema } from "../../src/protocol/schema";
import type {
  AskName,
  Handlers,
  ItemOf,
  PayloadArgs,
  ReplyOf,
  Stream,
  StreamName,
} from "../../src/protocol/signatures";
import { type Equal, expectType } from "./expect";

const Counter = defineProtocol("counter", {
  add: { payload: Type.Number() },
  total: { reply: Type.Number() },
  ticks: { payload: Type.Number(), stream: Type.Number() },
  reset: {},
});
type S = SignaturesOf<typeof Counter>;

// The signatures are function types, inferred without a cast.
expectType<Equal<(typeof Counter)["name"], "counter">>();
expectType<Equal<S["add"], (payload: number) => void>>();
expectType<Equal<S["total"], () => number>>();
expectType<Equal<S["ticks"], (payload: number) => Stream<number>>>();
expectType<Equal<S["reset"], () => void>>();

// Names are told apart by pattern.
expectType<Equal<AskName<S>, "add" | "total" | "reset">>();
expectType<Equal<StreamName<S>, "ticks">>();

// Payloads, replies and items.
expectType<Equal<PayloadArgs<S, "add">, [payload: number]>>();
expectType<Equal<PayloadArgs<S, "total">, []>>();
expectType<Equal<ReplyOf<S, "total">, number>>();
expectType<Equal<ReplyOf<S, "add">, void>>();
expectType<Equal<ReplyOf<S, "ticks">, never>>();
expectType<Equal<ItemOf<S, "ticks">, number>>();
expectType<Equal<ItemOf<S, "total">, never>>();

// Zod and valibot infer their output; any and unknown stay replies; undefined makes a payload optional.
const Mixed = defineProtocol("mixed", {
  zod: { payload: z.object({ id: z.string().transform(Number) }), reply: z.array(z.boolean()) },
  valibot: { payload: v.pipe(v.string(), v.transform(Number)), stream: v.object({ a: v.optional(v.string()) }) },
  maybe: { payload: Type.Union([Type.String(), Type.Undefined()]) },
  anything: { payload: Type.Unknown(), reply: Type.Any() },
  voided: { reply: Type.Union([Type.Void(), Type.Number()]) },
});
type M = SignaturesOf<typeof Mixed>;
expectType<Equal<PayloadArgs<M, "zod">, [payload: { id: number }]>>();
expectType<Equal<ReplyOf<M, "zod">, boolean[]>>();
expectType<Equal<PayloadArgs<M, "valibot">, [payload: number]>>();
expectType<Equal<ItemOf<M, "valibot">, { a?: string | undefined }>>();
expectType<Equal<PayloadArgs<M, "maybe">, [payload?: string | undefined]>>();
expectType<Equal<PayloadArgs<M, "anything">, [payload?: unknown]>>();
expectType<Equal<AskName<M>, "zod" | "maybe" | "anything" | "voided">>();
expectType<Equal<StreamName<M>, "valibot">>();
expectType<Equal<Infer<typeof UserSchema>, { name: string }>>();
const UserSchema = Type.Object({ name: Type.String() });
export const schemas: Schema[] = [UserSchema, z.string(), v.string()];

// Handlers: payloads are inferred from the context; generators of both kinds, promises and plain values fit.
let total = 0;
export const handlers: Handlers<S> = {
  add(n) {
    expectType<Equal<typeof n, number>>();
    total += n;
  },
  total: () => total,
  async *ticks(n) {
    expectType<Equal<typeof n, number>>();
    for (let i = 0; i < n; i++) yield total + i;
  },
  reset: () => total++, // what a void operation returns is ignored
};
export const others: Handlers<S> = {
  async add(n) {
    total += n;
  },
  total: async () => total,
  *ticks(n) {
    yield n;
  },
  async reset() {},
};
export const mixedHandlers: Handlers<M> = {
  zod: ({ id }) => [id > 1],
  valibot: async function* (n) {
    yield { a: n.toFixed() };
  },
  maybe: (text) => text?.length,
  anything: (value) => value,
  voided: () => 1,
};

// @ts-expect-error — a handler is missing
export const missing: Handlers<Pick<S, "add" | "total">> = { add() {} };
// @ts-expect-error — a reply of another type
export const wrongReply: Handlers<Pick<S, "total">> = { total: () => "1" };
// @ts-expect-error — a promise of another type
export const wrongPromise: Handlers<Pick<S, "total">> = { total: async () => "1" };
// @ts-expect-error — a payload of another type
export const wrongPayload: Handlers<Pick<S, "add">> = { add(_n: string) {} };
// @ts-expect-error — no payload comes with this operation
export const noPayload: Handlers<Pick<S, "total">> = { total: (n: number) => n };
// @ts-expect-error — a stream's handler gives an iterable
export const noStream: Handlers<Pick<S, "ticks">> = { ticks: () => 1 };
export const wrongItem: Handlers<Pick<S, "ticks">> = {
  // @ts-expect-error — an item of another type
  async *ticks() {
    yield "1";
  },
};

declare const Chars: Protocol<"chars", { chars: () => Stream<string> }>;
type C = SignaturesOf<typeof Chars>;
export const someChars: Handlers<C>[] = [
  { chars: () => ["a"] },
  { chars: () => new Set("abc") },
  { async *chars() {} },
];
// @ts-expect-error — a text is iterable, too, and no stream of its letters
export const textAsStream: Handlers<C> = { chars: () => "abc" };

// Variance comes from the function types: fewer operations, wider payloads, narrower replies.
declare const counter: Protocol<"counter", S>;
export const smaller: Protocol<string, Pick<S, "total">> = counter;
declare const wide: Protocol<"set", { set: (payload: number | string) => void }>;
declare const narrow: Protocol<"set", { set: (payload: number) => void }>;
export const narrowed: typeof narrow = wide;
// @ts-expect-error — an operation that it does not have
export const larger: Protocol<string, S & { undo: () => void }> = counter;
// @ts-expect-error — payloads are contravariant
export const widened: typeof wide = narrow;
// @ts-expect-error — a stream is no reply
export const asked: Protocol<string, { ticks: (payload: number) => number }> = counter;

// @ts-expect-error — a reply and a stream exclude each other
defineProtocol("both", { both: { reply: Type.Number(), stream: Type.Number() } });
// @ts-expect-error — a constructor is no schema
defineProtocol("text", { say: { payload: String } });
// @ts-expect-error — a constructor is no schema
defineProtocol("text", { say: { reply: Date } });
// @ts-expect-error — a constructor is no schema
defineProtocol("text", { say: { stream: class Item {} } });
// @ts-expect-error — a function that makes a schema is none
defineProtocol("text", { say: { payload: Type.String } });
// @ts-expect-error — a schema is an object
defineProtocol("text", { say: { payload: "string" } });

// A description, hints and JSON Schemas change nothing of the signature.
const Described = defineProtocol("described", {
  find: {
    description: "Finds.",
    hints: { readOnly: true, idempotent: true, destructive: false },
    payload: z.date(),
    reply: Type.Number(),
    schema: { payload: { type: "string" }, reply: { type: "number" } },
  },
  ticks: { description: "Ticks.", stream: Type.Number(), schema: { items: { type: "number" } } },
});
expectType<Equal<SignaturesOf<typeof Described>, { find: (payload: Date) => number; ticks: () => Stream<number> }>>();
// @ts-expect-error — a description is a text
defineProtocol("p", { o: { description: 1 } });
// @ts-expect-error — a hint is true or false
defineProtocol("p", { o: { hints: { readOnly: "yes" } } });
// @ts-expect-error — an operation that replies has no items
defineProtocol("p", { o: { reply: Type.Number(), schema: { items: {} } } });
// @ts-expect-error — a stream has no reply
defineProtocol("p", { o: { stream: Type.Number(), schema: { reply: {} } } });

// JSON Schemas by the protocol's names, or by those that are wanted.
expectType<Equal<keyof ReturnType<typeof jsonSchemaOf<S>>, "add" | "total" | "ticks" | "reset">>();
const some = jsonSchemaOf(Counter, ["add", "total"]);
expectType<Equal<typeof some, { readonly add: OperationJsonSchema; readonly total: OperationJsonSchema }>>();
declare const any: Protocol;
expectType<Equal<ReturnType<typeof jsonSchemaOf<unknown>>, { readonly [name: string]: OperationJsonSchema }>>();
export const ofAny: OperationJsonSchema | undefined = jsonSchemaOf(any, ["add"])["add"];
// @ts-expect-error — a misspelt name
jsonSchemaOf(Counter, ["ad"]);
// @ts-expect-error — an operation that was not asked for
some.ticks;

// An outcome is read as what the reply is.
declare const outcome: Outcome;
declare const reply: { ok: true; value: string } | { ok: false; error: Date };
expectType<Equal<ReturnType<typeof readKnown>, Result<string, Date>>>();
const readKnown = () => outcome.read(reply);
const readUnknown = (given: unknown) => outcome.read(given);
expectType<Equal<ReturnType<typeof readUnknown>, Result<unknown, unknown>>>();
// @ts-expect-error — it may be null
outcomeOf(Counter.operations["add"]).read(reply);
