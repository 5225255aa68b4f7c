import { defineProtocol, type RefTo, refSchema, Type } from "../../../src/index";

export const Log = defineProtocol("log", { note: { payload: Type.String() } });

/** An actor that asks, and is asked meanwhile. */
export const Asker = defineProtocol("asker", {
  begin: { reply: Type.String() },
  ping: { reply: Type.Null() },
});

const Context = Type.Object({ metadata: Type.Unknown(), hasDeadline: Type.Boolean(), hasSender: Type.Boolean() });

export const Desk = defineProtocol("desk", {
  /** Says to whom the actor tells what it does. */
  meet: { payload: refSchema(Log), reply: Type.Unsafe<RefTo<typeof Log>>(refSchema(Log)) },
  add: { payload: Type.Number() },
  added: { reply: Type.Array(Type.Number()) },
  echo: { payload: Type.Unknown(), reply: Type.Unknown() },
  fill: { payload: Type.Object({ lines: Type.Array(Type.String()) }), reply: Type.Number() },
  fail: { payload: Type.String(), reply: Type.Null() },
  never: { payload: Type.String(), reply: Type.Null() },
  count: { payload: Type.Number(), stream: Type.Number() },
  failing: { stream: Type.Number() },
  context: { reply: Context },
  askBack: { payload: refSchema(Asker), reply: Type.String() },
  stop: {},
});

/** An actor with room for one message, which never comes to the end of its first. */
export const Narrow = defineProtocol("narrow", { take: { payload: Type.String(), reply: Type.Null() } });
