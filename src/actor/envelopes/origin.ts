import { createMessage, inPattern, isReceived, type Message, type Metadata, markReceived } from "../../message/message";
import type { Deadline, Envelope, Environment, Origin, Recipient, Sent } from "../contract";

// The origin of a message, and what few messages carry beside their payload. A message without any of it has null, its
// sender or its Message as its origin: no record is made, and its envelope has no field for it.

/** The class of all records, by which they are told apart from messages and actors. */
class SentRecord implements Sent {
  readonly from: Sent["from"];
  readonly message: Sent["message"];
  readonly fits: Sent["fits"];
  readonly isFromOutside: boolean;
  readonly metadata: Sent["metadata"];
  readonly deadline: Sent["deadline"];

  constructor({ from, message, fits, isFromOutside, metadata, deadline }: Sent) {
    this.from = from;
    this.message = message;
    this.fits = fits;
    this.isFromOutside = isFromOutside;
    this.metadata = metadata;
    this.deadline = deadline;
  }
}

const NOTHING: Sent = {
  from: null,
  message: null,
  fits: null,
  isFromOutside: false,
  metadata: null,
  deadline: null,
};

/** True when an origin is a record. */
export const isSent = (origin: Origin): origin is Sent => origin instanceof SentRecord;

/** True when an origin is a message; an actor has no id. */
const isMessage = (origin: Message | Recipient): origin is Message => "id" in origin;

/** The record of an origin with some parts changed. */
export function sentAs(origin: Origin, changes: Partial<Sent>): Sent {
  if (origin === null) return new SentRecord({ ...NOTHING, ...changes });
  if (isSent(origin)) return new SentRecord({ ...origin, ...changes });
  return new SentRecord({ ...NOTHING, ...(isMessage(origin) ? { message: origin } : { from: origin }), ...changes });
}

/** The origin of all messages from `receive` that carry nothing else: such a sender has neither an address nor a message. */
export const OUTSIDE = sentAs(null, { isFromOutside: true });

/** The message of an envelope, if it was read or sent as one. */
export function knownMessage({ origin }: Envelope): Message | null {
  if (origin === null) return null;
  if (isSent(origin)) return origin.message;
  return isMessage(origin) ? origin : null;
}

/** True when an envelope came through a door (`parseMessage`, `receive`), even after its payload was checked. */
export function isFromOutside(envelope: Envelope): boolean {
  const { origin } = envelope;
  if (origin === null) return false;
  try {
    if (isSent(origin) && origin.isFromOutside) return true;
    const message = knownMessage(envelope);
    return message !== null && isReceived(message);
  } catch {
    return true; // A proxy that throws is not trusted.
  }
}

/** The actor that sent an envelope, where the system knows one. */
export function senderOf({ origin }: Envelope, { directory }: Environment): Recipient | undefined {
  const known = isSent(origin) ? (origin.from ?? origin.message) : origin;
  if (known === null || !isMessage(known)) return known ?? undefined;
  return known.from === undefined ? undefined : directory.get(known.from);
}

/** The metadata of an envelope, frozen; null when it has none. */
export function metadataOf({ origin }: Envelope): Metadata | null {
  if (origin === null) return null;
  if (isSent(origin)) return origin.metadata ?? metadataIn(origin.message);
  return isMessage(origin) ? metadataIn(origin) : null;
}

/** A message is its sender's own object, and one from outside may have any metadata. */
function metadataIn(message: Message | null): Metadata | null {
  const metadata: unknown = message?.metadata;
  if (typeof metadata !== "object" || metadata === null) return null;
  return (Object.isFrozen(metadata) ? metadata : Object.freeze({ ...metadata })) as Metadata; // An object has no other keys.
}

/** The deadline that an envelope carries, beside the timeout of an ask; null for most. */
export const explicitDeadlineOf = ({ origin }: { readonly origin: Origin }): Deadline | null =>
  isSent(origin) ? origin.deadline : null;

/** The milliseconds that are left until a deadline; negative once it is over. */
export const leftUntil = ({ at, clock }: Deadline): number => at - clock.monotonicTime();

/**
 * The milliseconds that are left to an envelope, at least 0: those of its ask, or until the deadline that it carries.
 * Infinity when it has neither.
 */
export function deadlineOf(envelope: Envelope): number {
  const { left = Number.POSITIVE_INFINITY } = envelope;
  const deadline = explicitDeadlineOf(envelope);
  return deadline === null ? left : Math.max(Math.min(left, leftUntil(deadline)), 0);
}

/** The message of an envelope to an actor, made at the first reading. */
export function messageIn(envelope: Envelope, to: Recipient): Message {
  const { origin, pattern } = envelope;
  const known = knownMessage(envelope);
  if (known?.pattern === pattern) return known;
  const message = known === null ? makeMessage(envelope, to) : inPattern(known, pattern);
  envelope.origin = isSent(origin) ? sentAs(origin, { message }) : message;
  return message;
}

/** A message from outside is marked: it has the sent payload, so it is validated again if a handler sends it on by itself. */
function makeMessage(envelope: Envelope, to: Recipient): Message {
  const { type, payload, pattern, origin } = envelope;
  const timestamp = to.environment.clock.wallTime();
  if (origin === null) return createMessage(to.address, type, payload, { pattern, timestamp });
  const from = senderOf(envelope, to.environment)?.address;
  const metadata = metadataOf(envelope);
  const message = createMessage(to.address, type, payload, {
    pattern,
    timestamp,
    ...(from !== undefined && { from }),
    ...(metadata !== null && { metadata }),
  });
  return isFromOutside(envelope) ? markReceived(message) : message;
}
