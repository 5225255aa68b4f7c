import { type Envelope, isFromOutside } from "./envelope";
import { PendingAsk } from "./pending-ask";
import { PendingStream } from "./stream";

/**
 * Whether a message from outside caused an envelope: by itself, or by a chain of handlings that each asked or read for the one
 * before. It is looked at where a handler fails only. A tell begins anew, as from within: nobody waits for it.
 */
export function isCausedFromOutside(envelope: Envelope): boolean {
  const seen = new Set<Envelope>();
  for (let cause: Envelope | null = envelope; cause !== null && !seen.has(cause); cause = servedBy(cause)) {
    if (isFromOutside(cause)) return true;
    seen.add(cause); // A message that is forwarded may come back to who asked for it.
  }
  return false;
}

/** The message that the sender of an envelope handled when it asked: the wait has ended by now, and knows its handling still. */
const servedBy = (envelope: Envelope): Envelope | null =>
  envelope instanceof PendingAsk || envelope instanceof PendingStream ? (envelope.waiter?.envelope ?? null) : null;
