import { defineProtocol, Type } from "envoi";

/** A singleton that says on which node it is. */
export const Keeper = defineProtocol("keeper", { where: { reply: Type.String() } });
