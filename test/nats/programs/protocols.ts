import { defineProtocol, Type } from "../../../src";

export const Log = defineProtocol("log", {
  write: { payload: Type.Object({ epoch: Type.Number(), node: Type.String() }) },
});
export const Writer = defineProtocol("writer", { begin: { reply: Type.Number() } });
