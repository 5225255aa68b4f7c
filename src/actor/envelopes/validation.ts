import { type DeliveryError, deliveryError } from "../../message/delivery-error";
import type { Operation } from "../../protocol/protocol";
import type { Validator } from "../../protocol/validator";
import type { Envelope, Recipient } from "../contract";
import { EnvelopeSource, isFromDoor, isFromOutside, knownMessage, messageIn, Outside, routeOf } from "./envelope";

/**
 * Holds a payload against its schema where that is due: it came from outside, or the system or the actor validates always. The
 * envelope then has what the schema made of it, and its message keeps what was sent. No schema checks a payload twice, however often it is passed on: its output
 * need not be its input. Another schema checks it again only where its actor validates always.
 */
export function checkPayload(envelope: Envelope, operation: Operation, cell: Recipient): DeliveryError | null {
  const isOutside = isFromOutside(envelope);
  const strict = cell.isStrict;
  if (!isOutside && !strict) return null;
  const fits = isFromDoor(envelope.origin) ? envelope.origin.fits : (routeOf(envelope)?.fits ?? null);
  if (fits !== null && (!strict || fits === operation)) return null;
  const parsed = operation.payload.parse(envelope.payload);
  if (parsed.isErr()) return deliveryError("invalid-payload", new EnvelopeSource(envelope, cell), parsed.error);
  if (parsed.value !== envelope.payload) {
    messageIn(envelope, cell); // Keeps what was sent: an error hands it back.
    envelope.payload = parsed.value;
  }
  if (isOutside) envelope.origin = new Outside(knownMessage(envelope), operation);
  return null;
}

/** What the asker gets for a handler's result; throws what makes the handler fail. */
export function checkedReply(operation: Operation | null | undefined, result: unknown, validates: boolean): unknown {
  if (operation === null) return result;
  if (operation?.hasReply !== true) return undefined; // Whatever the handler returned.
  return validates ? fitting(operation.reply, result, "its reply") : result;
}

/** An item of a stream as it goes to the reader; throws what makes its handler fail. */
export function checkedItem(operation: Operation | null | undefined, item: unknown, validates: boolean): unknown {
  if (operation === null || operation === undefined || !validates) return item;
  return fitting(operation.item, item, "an item of its stream");
}

/** A value as its schema has it; throws an error that tells what does not fit. */
function fitting(schema: Validator, value: unknown, what: string): unknown {
  const parsed = schema.parse(value);
  if (parsed.isOk()) return parsed.value;
  const [first] = parsed.error();
  throw new TypeError(`${what} does not fit the schema: ${first?.path || "it"} ${first?.message}`);
}
