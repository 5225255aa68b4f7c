import { defineProtocol, Type } from "envoi";

/** An actor that answers with what it is sent. */
export const Echo = defineProtocol("echo", { say: { payload: Type.Number(), reply: Type.Number() } });

/** An actor that is told numbers, and answers nothing. */
export const Sink = defineProtocol("sink", { take: { payload: Type.Number() } });
