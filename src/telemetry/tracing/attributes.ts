import type { Attributes } from "@opentelemetry/api";
import { isDeliveryError, type ObservedHandling, StreamError } from "../../index";

// The names of spans and attributes: OpenTelemetry's semantic conventions for messaging, and `messaging.envoi.*` for what these lack.

/** The name of a span. It names protocol and operation, and no address: there may be a million of those. */
export function nameOf(verb: "process" | "send", { protocol, operation }: ObservedHandling): string {
  return protocol === undefined ? verb : `${verb} ${protocol}.${operation}`; // Without a protocol, operations are anyone's texts.
}

/** The name of the span of a hook, a timer or a watch. The key of a timer may have an id in it. */
export const signalName = ({ kind, protocol, operation }: ObservedHandling): string => {
  const what = kind === "hook" ? operation : kind;
  return protocol === undefined ? what : `${what} ${protocol}`;
};

export const OPERATION = "messaging.envoi.operation";
export const QUEUE_TIME = "messaging.envoi.queue_time";
export const OUTCOME = "messaging.envoi.outcome";
export const ITEM = "messaging.envoi.item";
export const ERROR_TYPE = "error.type";

/** The attributes of a message's span. */
export function attributesOf(verb: "process" | "send", handling: ObservedHandling): Attributes {
  const { protocol, id } = handling;
  return {
    "messaging.system": "envoi",
    "messaging.operation.type": verb,
    "messaging.operation.name": verb,
    "messaging.destination.name": handling.address,
    ...(protocol !== undefined && { "messaging.destination.template": protocol }),
    ...(id !== undefined && { "messaging.message.id": id }),
    [OPERATION]: handling.operation,
  };
}

/** Names that a program gives its errors, and no sentences. */
const NAME = /^[\w$.-]{1,64}$/;

/** The kind of an error: that of a delivery, or the name of the class. Never a text of whoever threw it. */
export function errorTypeOf(error: unknown): string {
  try {
    const known: unknown = error instanceof StreamError ? error.error : error;
    if (isDeliveryError(known)) return known.kind;
    if (!(known instanceof Error)) return "_OTHER";
    const { name } = known instanceof DOMException ? known : known.constructor;
    return typeof name === "string" && NAME.test(name) ? name : "_OTHER";
  } catch {
    return "_OTHER"; // A proxy that throws.
  }
}
