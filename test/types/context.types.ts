import Type from "typebox";
import {
  type ActorStream,
  type AnyRef,
  type AnySignatures,
  type AskResult,
  type Context,
  defineProtocol,
  type Factory,
  type Message,
  type Progress,
  type Protocol,
  type Ref,
  type RefTo,
  type SignaturesOf,
} from "../../src/index";
import { type Equal, expectType } from "./expect";

const Echo = defineProtocol("echo", {
  say: { payload: Type.String(), reply: Type.String() },
  note: { payload: Type.String() },
  count: { reply: Type.Number() },
  chunks: { stream: Type.String() },
});
type Echoing = SignaturesOf<typeof Echo>;
declare const ctx: Context<Echoing>;
declare const echo: RefTo<typeof Echo>;

expectType<Equal<typeof ctx.self, Ref<Echoing>>>();
expectType<Equal<typeof ctx.message, Message>>();
expectType<Equal<typeof ctx.sender, Ref<AnySignatures> | undefined>>();
expectType<Equal<typeof ctx.signal, AbortSignal>>();

export async function calls(): Promise<void> {
  ctx.tell(echo, "note", "hi");
  ctx.tell(echo, "count");
  ctx.tell(ctx.self, "note", "hi");
  ctx.sender?.tell("anything", 1);
  if (ctx.sender !== undefined) ctx.tell(ctx.sender, "anything", 1);
  const said = await ctx.ask(echo, "say", "hi", { timeout: 5 });
  expectType<Equal<typeof said, AskResult<string>>>();
  const count = await ctx.ask(echo, "count", { signal: ctx.signal });
  expectType<Equal<typeof count, AskResult<number>>>();
  const chunks = ctx.stream(echo, "chunks", { credit: 1 });
  expectType<Equal<typeof chunks, ActorStream<string>>>();
  const child = ctx.spawn("child", Echo, () => ({
    say: (text) => {
      expectType<Equal<typeof text, string>>();
      return text;
    },
    note() {},
    count: () => 1,
    async *chunks() {
      yield "a";
    },
  }));
  expectType<Equal<typeof child, RefTo<typeof Echo>>>();
  ctx.stop();
  ctx.stop(child);
}

export function refused(): void {
  // @ts-expect-error — a wrong operation
  ctx.tell(echo, "shout", "hi");
  // @ts-expect-error — a wrong payload
  ctx.tell(echo, "note", 1);
  // @ts-expect-error — a missing payload
  ctx.tell(echo, "note");
  // @ts-expect-error — an extra payload
  ctx.tell(echo, "count", 1);
  // @ts-expect-error — a wrong operation
  void ctx.ask(echo, "shout");
  // @ts-expect-error — a wrong payload
  void ctx.ask(echo, "say", 1);
  // @ts-expect-error — a missing payload
  void ctx.ask(echo, "say");
  // @ts-expect-error — an extra payload, where the options stand
  void ctx.ask(echo, "count", 1);
  // @ts-expect-error — a stream is not asked
  void ctx.ask(echo, "chunks");
  // @ts-expect-error — a stream is not told
  ctx.tell(echo, "chunks");
  // @ts-expect-error — a stream asked of an operation that has none
  ctx.stream(echo, "say", "hi");
  // @ts-expect-error — a receive timeout without what it calls back
  ctx.timers.receiveTimeout(10);
  // @ts-expect-error — the sender may not be there
  ctx.sender.tell("anything");
  // @ts-expect-error — an address is no reference
  ctx.stop("@(child)");
  // @ts-expect-error — an address is no reference
  ctx.tell("@(echo)", "note", "hi");
  // @ts-expect-error — a context is read, not written
  ctx.self = echo;
  // @ts-expect-error — a child lacks a handler
  ctx.spawn("child", Echo, () => ({ say: (text) => text }));
}

export async function wrongReply(): Promise<unknown> {
  // @ts-expect-error — a reply used as the wrong type
  const reply: AskResult<number> = await ctx.ask(echo, "say", "hi");
  return reply;
}

// A message is forwarded to an actor that takes it as this one does, and replies as this one does.
const Texts = defineProtocol("texts", {
  say: { payload: Type.Unknown(), reply: Type.Literal("yes") },
  note: { payload: Type.Number() },
  chunks: { stream: Type.Literal("a") },
});
const Silent = defineProtocol("silent", { say: { payload: Type.String() }, count: { reply: Type.String() } });
declare const texts: RefTo<typeof Texts>;
declare const silent: RefTo<typeof Silent>;
declare const apart: RefTo<Protocol<"apart", { other: () => void }>>;
declare const noter: RefTo<Protocol<"noter", { note: (payload: number) => void }>>;
export const forwards: Factory<Echoing> = (own) => ({
  say: () => own.forward(texts),
  note: () => own.forward(own.self),
  count: async () => (Math.random() > 0.5 ? 1 : own.forward(echo)),
  chunks: () => own.forward(texts),
});
export const misdirects: Factory<Echoing> = (own) => ({
  // @ts-expect-error — it replies nothing
  say: () => own.forward(silent),
  // @ts-expect-error — it takes a number; of an operation without a reply, one that it shares is looked for
  note: () => own.forward(noter),
  // @ts-expect-error — it replies with a text
  count: async () => own.forward(silent),
  // @ts-expect-error — it has no stream
  chunks: () => own.forward(silent),
});
// @ts-expect-error — it takes nothing of what this one does
ctx.forward(apart);
// @ts-expect-error — nothing is known of it
ctx.forward(apart as AnyRef);
declare const routed: Context<AnySignatures>;
routed.forward(apart);
routed.forward(apart as AnyRef);

// To one of several actors, each of which takes it.
declare const either: RefTo<typeof Texts> | RefTo<typeof Echo>;
declare const oneIsSilent: RefTo<typeof Texts> | RefTo<typeof Silent>;
declare const oneIsApart: typeof echo | typeof apart;
export const toEither: Factory<Echoing> = (own) => ({
  say: () => own.forward(either),
  note: () => own.forward(Math.random() > 0.5 ? echo : texts),
  count: async () => own.forward(Math.random() > 0.5 ? echo : own.self),
  chunks: () => own.forward(either),
});
export const toOneTooMany: Factory<Echoing> = (own) => ({
  // @ts-expect-error — one of them replies nothing
  say: () => own.forward(oneIsSilent),
  // @ts-expect-error — one of them takes nothing of what this one does
  note: () => own.forward(oneIsApart),
  // @ts-expect-error — one of them does not have it
  count: async () => own.forward(either),
  // @ts-expect-error — one of them has no stream
  chunks: () => own.forward(oneIsSilent),
});

// A factory may be written apart, and is typed by its protocol.
export const factory: Factory<Echoing> = (own) => {
  expectType<Equal<typeof own, Context<Echoing>>>();
  return { say: (text) => text, note: () => own.self.tell("count"), count: () => 1, chunks: () => ["a"] };
};
// @ts-expect-error — a handler is missing
export const lacking: Factory<Echoing> = () => ({ say: (text) => text, note() {}, count: () => 1 });

// Progress: said with numbers and words, heard as an object.
export async function progress(): Promise<void> {
  ctx.progress(1);
  ctx.progress(1, 2, "half");
  await ctx.ask(echo, "say", "hi", {
    onProgress(progress) {
      expectType<Equal<typeof progress, Progress>>();
      expectType<Equal<typeof progress.total, number | undefined>>();
      ctx.progress(progress.done, progress.total, progress.note);
    },
  });
  await echo.ask("count", { onProgress: ({ done }) => void done.toFixed() });
  // @ts-expect-error — a number says how far it is
  ctx.progress("half");
  // @ts-expect-error — a note is a text
  ctx.progress(1, 2, 3);
  // @ts-expect-error — nobody hears how far a tell is
  echo.tell("note", "hi", { onProgress() {} });
  // @ts-expect-error — the items of a stream say how far it is
  echo.stream("chunks", { onProgress() {} });
}
