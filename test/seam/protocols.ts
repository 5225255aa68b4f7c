import { defineProtocol, Type } from "../../src/index";

/** What an actor far away tells to the side that called it. */
export const Log = defineProtocol("log", { note: { payload: Type.String() } });

/** An actor far away, with an operation for each way of sending. */
export const Subject = defineProtocol("subject", {
  note: { payload: Type.String() },
  echo: { payload: Type.String(), reply: Type.String() },
  /** Says that it has begun, and never replies. */
  wait: { payload: Type.String(), reply: Type.Null() },
  /** Gives one item, and no further one. */
  items: { stream: Type.Number() },
  /** A durable message: its first handler never ends, and the next one notes the text. */
  pay: { payload: Type.String() },
  /** The texts that came to `note` and `pay`. */
  noted: { reply: Type.Array(Type.String()) },
  /** Stops the actor. */
  stop: {},
  /** Ends its thread or its process. */
  end: {},
});

/** An actor with room for one message, whose senders wait: it handles one, and never comes to its end. */
export const Narrow = defineProtocol("narrow", { take: { payload: Type.String() } });
