import { type Address, quote } from "./address";
import { type DeliveryError, type InvalidPayloadError, isDeliveryError, listIssues } from "./delivery-error";
import { generateMessageId } from "./id";
import { isReceived, type Message, wallTime } from "./message";
import { hadLeft, withinTime } from "./sentence-of";
import { exposedText, publicIssues } from "./withhold";

interface ReplyShape {
  readonly id: string;
  readonly pattern: "reply";
  /** The sender of the message, if it named one. */
  readonly to?: Address | undefined;
  readonly from: Address;
  /** The operation that this answers. */
  readonly type: string;
  /** The message's correlation id, or its id if it has none. */
  readonly correlationId: string;
  /** The time at which it was made, in milliseconds since 1970. */
  readonly timestamp: number;
}

/** The wire form of a reply. */
export interface SuccessResponse<Payload = unknown> extends ReplyShape {
  readonly ok: true;
  readonly payload: Payload;
}

/** The wire form of a failure: its kind and a sentence. It tells a thrown error's text only if that was exposed. */
export interface ErrorResponse extends ReplyShape {
  readonly ok: false;
  /** Its kind is a text here: a response from outside may have one of a later version. */
  readonly error: PublicError<string>;
}

/** The part of a failure that a stranger may know. */
export interface PublicError<Kind extends string = DeliveryError["kind"]> {
  /** The kind of a delivery error; `handler-failed` for anything else. */
  readonly kind: Kind;
  /** A sentence without internal addresses. It tells a thrown error's text only if that was exposed. */
  readonly message: string;
  readonly retryable: boolean;
}

/** The answer to a message from outside. */
export type MessageResponse<Payload = unknown> = SuccessResponse<Payload> | ErrorResponse;

/**
 * Makes the wire form of a reply to a message, with a new id and the machine's time. `serializeMessage` refuses what JSON cannot
 * carry.
 *
 * @example
 * JSON.stringify(createResponse(message, { total: 3 }))
 */
export function createResponse<Payload>(message: Message, payload: Payload): SuccessResponse<Payload> {
  // Written out, here and below: a spread of what both have costs 20 ns.
  return {
    id: generateMessageId(),
    pattern: "reply",
    to: message.from,
    from: message.to,
    type: message.type,
    correlationId: message.correlationId ?? message.id,
    timestamp: wallTime(),
    ok: true,
    payload,
  };
}

/**
 * Makes the wire form of a failure. It has the kind of a delivery error (also of a StreamError); any other thrown value is
 * `handler-failed`. Its sentence tells only what the sender knows or can mend: the operation and the address of the message, and
 * for `invalid-payload` the issues of its payload. It tells nothing of thrown errors, of the reason of a cancellation, or of
 * other actors. The message of an error marked by `expose` is told as it is. Log the rest yourself.
 *
 * @example
 * const reply = await router.ask(message);
 * const wire = reply.match((value) => createResponse(message, value), (error) => createErrorResponse(message, error));
 */
export function createErrorResponse(message: Message, error: unknown): ErrorResponse {
  const known = deliveryErrorIn(error);
  return {
    id: generateMessageId(),
    pattern: "reply",
    to: message.from,
    from: message.to,
    type: message.type,
    correlationId: message.correlationId ?? message.id,
    timestamp: wallTime(),
    ok: false,
    error: publicParts(error, known, () => {
      const isOwn = known?.kind === "invalid-payload" && isAbout(known, message);
      return `${quote(message.type)} to ${message.to} ${publicSentence(known, isOwn)}`;
    }),
  };
}

/**
 * Tells what the sender of a message through a door (`receive`) may know of its failure: the kind, and a sentence like that of
 * `createErrorResponse`. The sentence has no address, since that sender named none.
 *
 * @example
 * const reply = await receive(counter).ask("add", await request.json());
 * const response = reply.isOk() ? Response.json(reply.value) : Response.json(publicError(reply.error), { status: 400 });
 */
export function publicError(error: unknown): PublicError {
  const known = deliveryErrorIn(error);
  return publicParts(error, known, () => {
    // The error of a message from within was made by a handler. Its operation and its payload are internal.
    const isOutside = known !== undefined && isFromOutside(known);
    return `${isOutside ? quote(known.operation) : "The message"} ${publicSentence(known, isOutside)}`;
  });
}

const publicParts = (error: unknown, known: DeliveryError | undefined, sentence: () => string): PublicError => ({
  kind: known?.kind ?? "handler-failed",
  message: exposedText(known === undefined ? error : detailOf(known)) ?? sentence(),
  retryable: known?.retryable ?? false,
});

function isFromOutside(error: DeliveryError): boolean {
  try {
    return isReceived(error.undelivered);
  } catch {
    return false;
  }
}

/** A delivery error, or the one that a StreamError carries; undefined for a hostile value. */
function deliveryErrorIn(thrown: unknown): DeliveryError | undefined {
  if (isDeliveryError(thrown)) return thrown;
  try {
    const carried: unknown = thrown instanceof Error && "error" in thrown ? thrown.error : undefined;
    return isDeliveryError(carried) ? carried : undefined;
  } catch {
    return undefined;
  }
}

/** The value that internal code threw, or gave as a reason. */
function detailOf(error: DeliveryError): unknown {
  if (error.kind === "cancelled") return error.reason;
  return error.kind === "handler-failed" ? error.cause : undefined;
}

const PUBLIC = {
  cancelled: "was given up before its reply came.",
  "no-recipient": "reached nobody; check the address.",
  stopped: "was not answered: its actor has stopped.",
  "mailbox-full": "found a full mailbox; send again later.",
  "unknown-operation": "asks for an operation that is not there in this pattern; check the name.",
  "handler-failed": "failed in its handler.",
  "ask-cycle": "would wait for itself, and was refused.",
  unreachable: "could not be delivered; send again later.",
} satisfies Partial<Record<DeliveryError["kind"], string>>;

/**
 * The end of a sentence for the sender of a message. It tells only what the sender sent or can mend.
 *
 * @param isOwn true when the refused payload is the sender's own.
 */
function publicSentence(error: DeliveryError | undefined, isOwn: boolean): string {
  switch (error?.kind) {
    case "timeout":
      return `got no reply${withinTime(error.timeout)}.`;
    case "invalid-payload":
      return `has a payload that is refused${isOwn ? issuesOf(error) : ""}.`;
    case "payload-too-large":
      return `has a payload over ${error.limit} bytes; send it in parts, or as a stream.`;
    case "unreachable":
      return hadLeft(error.cause) ? "was lost: nobody knows whether it was handled." : PUBLIC.unreachable;
    default:
      return PUBLIC[error?.kind ?? "handler-failed"];
  }
}

/** True when an error is about the payload of this message. The sender hears nothing of other payloads, such as a handler's. */
function isAbout(error: InvalidPayloadError, message: Message): boolean {
  try {
    return Object.is(error.undelivered.payload, message.payload);
  } catch {
    return false;
  }
}

function issuesOf(error: InvalidPayloadError): string {
  try {
    return `: ${listIssues(publicIssues(error.issues))}`;
  } catch {
    return "";
  }
}
