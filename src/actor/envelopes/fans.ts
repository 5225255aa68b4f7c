import type { Envelope, Fan, Recipient, Recipients, Wait } from "../contract";

const NOBODY: Recipients = { parts: [], isOneEnough: true };

/**
 * Kept by envelope, not by pool: a pool may stop or restart while other actors have messages that its workers
 * forwarded.
 */
const fans = new WeakMap<Envelope | Wait, Fan>();

export const fanOf = (envelope: Envelope): Fan | undefined => fans.get(envelope);

export function keepFan(envelope: Envelope, fan: Fan): void {
  fans.set(envelope, fan);
}

export function forgetFan(envelope: Envelope): void {
  fans.delete(envelope);
}

/**
 * The recipients of a message that an actor passes to others: those that have not answered it yet, or all if it is not
 * sent yet. Null when the actor itself handles it.
 */
export function recipientsOf(to: Recipient, wait: Wait | null): Recipients | null {
  const { relay } = to;
  if (wait === null) return relay === null ? null : relay.recipients();
  if (relay === null && to.isAlive) return null; // The common case.
  return fans.get(wait)?.recipients() ?? (relay === null ? null : NOBODY);
}
