import { type DeliveryError, deliveryError } from "../../message/delivery-error";
import type { Operation } from "../../protocol/protocol";
import type { Validator } from "../../protocol/validator";
import type { Envelope, Exposure, Recipient } from "../contract";
import { EnvelopeSource, routes } from "./envelope";
import { fittingOrigin, isFromOutside, isSent, messageIn } from "./origin";

/**
 * Checks a payload against its schema, if it came from outside, or if the system or the actor validates always. The
 * envelope then has the schema's output, and its message keeps the payload that was sent. No schema checks a payload
 * twice, however often it is passed on: its output need not be valid input. Another schema checks it again only if its
 * actor validates always.
 */
export function checkPayload(envelope: Envelope, operation: Operation, cell: Recipient): DeliveryError | null {
  const isOutside = isFromOutside(envelope);
  const strict = cell.isStrict;
  if (!isOutside && !strict) return null;
  const { origin } = envelope;
  const fits = (isOutside && isSent(origin) ? origin : routes.get(envelope))?.fits ?? null;
  if (fits !== null && (!strict || fits === operation)) return null;
  const exposure = fits === null && isSent(origin) ? origin.exposure : null;
  const parsed = exposure?.parse(operation.payload, envelope.payload) ?? operation.payload.parse(envelope.payload);
  if (parsed.isErr()) return deliveryError("invalid-payload", new EnvelopeSource(envelope, cell), parsed.error);
  if (parsed.value !== envelope.payload) {
    messageIn(envelope, cell); // Keeps the sent payload: an error hands it back.
    envelope.payload = parsed.value;
  }
  if (isOutside) envelope.origin = fittingOrigin(envelope.origin, operation);
  return null;
}

/**
 * The asker's reply for a handler's result. Throws if the handler must fail.
 *
 * @param exposure what gives references for addresses in a reply from elsewhere.
 */
export function checkedReply(
  operation: Operation | null | undefined,
  result: unknown,
  validates: boolean,
  exposure: Exposure | null = null,
): unknown {
  if (operation === null) return result;
  if (operation?.hasReply !== true) return undefined; // The return value is ignored.
  return validates ? fitting(operation.reply, result, "its reply", exposure) : result;
}

/** An item of a stream as the reader gets it. Throws if the handler must fail. */
export function checkedItem(
  operation: Operation | null | undefined,
  item: unknown,
  validates: boolean,
  exposure: Exposure | null = null,
): unknown {
  if (operation === null || operation === undefined || !validates) return item;
  return fitting(operation.item, item, "an item of its stream", exposure);
}

/** The schema's output for a value. Throws an error that names the mismatch. */
function fitting(schema: Validator, value: unknown, what: string, exposure: Exposure | null): unknown {
  const parsed = exposure?.parse(schema, value) ?? schema.parse(value);
  if (parsed.isOk()) return parsed.value;
  const [first] = parsed.error();
  throw new TypeError(`${what} does not fit the schema: ${first?.path || "it"} ${first?.message}`);
}
