import { defineProtocol, Type } from "../../../src";

export const Log = defineProtocol("log", {
  write: { payload: Type.Object({ epoch: Type.Number(), node: Type.String() }) },
});
export const Writer = defineProtocol("writer", { begin: { reply: Type.Number() } });

export const Counter = defineProtocol("counter", {
  add: { payload: Type.Number(), reply: Type.Number() },
});
/** The next version of the counter: it has an operation more, and a wider schema. */
export const NextCounter = defineProtocol("counter", {
  add: { payload: Type.Union([Type.Number(), Type.String()]), reply: Type.Number() },
  peek: { reply: Type.Number() },
});
/** A store that keeps the highest epoch beside each count. */
export const Store = defineProtocol("store", {
  open: { payload: Type.Object({ id: Type.String(), epoch: Type.Number() }), reply: Type.Number() },
  /** Answers false, and writes nothing, where the epoch is an old one. */
  write: {
    payload: Type.Object({
      id: Type.String(),
      epoch: Type.Number(),
      node: Type.String(),
      count: Type.Number(),
      /** The part that the call added. */
      added: Type.Optional(Type.Number()),
    }),
    reply: Type.Boolean(),
  },
});
/** Numbers with much around them. */
const Large = Type.Object({ number: Type.Number(), filling: Type.String() });
export const Slow = defineProtocol("slow", {
  put: { payload: Large },
  take: { payload: Large, reply: Type.Number() },
});
