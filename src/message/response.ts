import type { Address } from "./address";
import { isDeliveryError, sentenceOf } from "./delivery-error";
import { generateMessageId } from "./id";
import type { Message } from "./message";
import { wallTime } from "./wall-time";

interface ReplyShape {
  readonly id: string;
  readonly pattern: "reply";
  /** The asker, where the message named one. */
  readonly to?: Address | undefined;
  readonly from: Address;
  /** The operation that this answers. */
  readonly type: string;
  /** The message's correlation id, or its id where it has none. */
  readonly correlationId: string;
  /** When it was made, in milliseconds since 1970. */
  readonly timestamp: number;
}

/** The wire form of a reply. */
export interface SuccessResponse<Payload = unknown> extends ReplyShape {
  readonly ok: true;
  readonly payload: Payload;
}

/** The wire form of a failure: its kind and its sentence; no stack and no cause leave the process. */
export interface ErrorResponse extends ReplyShape {
  readonly ok: false;
  readonly error: { readonly kind: string; readonly message: string; readonly retryable: boolean };
}

/** What comes back for a message from outside. */
export type MessageResponse<Payload = unknown> = SuccessResponse<Payload> | ErrorResponse;

/**
 * Makes the wire form of a reply to a message, with a new id and the machine's time. What JSON cannot carry is told by
 * `serializeMessage`.
 *
 * @example
 * JSON.stringify(createResponse(message, { total: 3 }))
 */
export function createResponse<Payload>(message: Message, payload: Payload): SuccessResponse<Payload> {
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
 * Makes the wire form of a failure. A delivery error keeps its kind; anything else thrown becomes `handler-failed`.
 *
 * @example
 * const reply = await router.ask(message);
 * const wire = reply.match((value) => createResponse(message, value), (error) => createErrorResponse(message, error));
 */
export function createErrorResponse(message: Message, error: unknown): ErrorResponse {
  const told = isDeliveryError(error)
    ? { kind: error.kind, message: error.message, retryable: error.retryable }
    : { kind: "handler-failed", message: sentenceOf(error), retryable: false };
  return {
    id: generateMessageId(),
    pattern: "reply",
    to: message.from,
    from: message.to,
    type: message.type,
    correlationId: message.correlationId ?? message.id,
    timestamp: wallTime(),
    ok: false,
    error: told,
  };
}
