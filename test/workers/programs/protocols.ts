import { defineProtocol, refSchema, Type } from "../../../src/index";
import { Bytes } from "../../../src/workers/index";

export const Log = defineProtocol("log", {
  note: { payload: Type.String() },
  notes: { reply: Type.Array(Type.String()) },
});

export const Kitchen = defineProtocol("kitchen", {
  cook: { payload: Type.Unknown(), reply: Type.Unknown() },
  who: { reply: Type.Object({ pid: Type.Number(), worker: Type.Number(), data: Type.Unknown() }) },
  never: { payload: Type.String(), reply: Type.Null() },
  die: { payload: Type.String() },
  count: { payload: Type.Number(), stream: Type.Number() },
  watch: { payload: refSchema(Log), reply: Type.Null() },
  pad: { reply: refSchema(Log) },
  order: { payload: Type.Number() },
  ordered: { reply: Type.Array(Type.Number()) },
  context: { reply: Type.Unknown() },
  flood: { payload: Type.Number(), reply: Type.Null() },
  grill: { payload: Type.Object({ meat: Bytes, by: Type.Number() }), reply: Type.Object({ meat: Bytes }) },
  slice: { payload: Bytes, stream: Bytes },
  slow: { payload: Type.Number(), reply: Type.Null() },
});

/** Ends its worker. */
export const Reaper = defineProtocol("reaper", { die: { payload: Type.String() } });

/** Posts what it is told, beside envoi. */
export const Rude = defineProtocol("rude", {
  say: { payload: Type.Unknown(), reply: Type.Null() },
  sayForEver: { payload: Type.Unknown(), reply: Type.Null() },
  hearForEver: { payload: Type.Unknown(), reply: Type.Null() },
});
