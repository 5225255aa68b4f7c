import { isDeliveryError } from "../../message/delivery-error";
import { StreamError } from "../envelopes/stream-step";

/** How many causes of causes are looked at: there may be a circle of them. */
const DEEPEST = 16;

/**
 * Whether a thrown value says no more than that its handler was given up: the reason of the signal, an AbortError, the
 * error of what the handler waited for, or an error that one of these caused.
 *
 * @param reason that of the handler's signal.
 */
export function isGivingUp(thrown: unknown, reason: unknown): boolean {
  try {
    let cause = thrown;
    for (let depth = 0; depth < DEEPEST && cause !== undefined; depth++) {
      if (cause === reason || isAbort(cause)) return true;
      cause = causeOf(cause);
    }
  } catch {
    // A value that cannot be looked at is told of.
  }
  return false;
}

function isAbort(thrown: unknown): boolean {
  const error: unknown = thrown instanceof StreamError ? thrown.error : thrown;
  if (isDeliveryError(error)) return error.kind === "cancelled" || error.kind === "timeout";
  return error instanceof Error && error.name === "AbortError";
}

const causeOf = (thrown: unknown): unknown =>
  isDeliveryError(thrown) ? (thrown.kind === "handler-failed" ? thrown.cause : undefined) : asError(thrown)?.cause;

const asError = (thrown: unknown): Error | undefined => (thrown instanceof Error ? thrown : undefined);
