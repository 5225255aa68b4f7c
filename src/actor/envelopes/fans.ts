import type { Envelope, Fan, Recipient, Recipients, Wait } from "../contract";

const NOBODY: Recipients = { parts: [], isOneEnough: true };

/** By envelope, and not at the pool: it may stop, or begin anew, while others have what its workers handed on. */
const fans = new WeakMap<Envelope | Wait, Fan>();

export const fanOf = (envelope: Envelope): Fan | undefined => fans.get(envelope);

export function keepFan(envelope: Envelope, fan: Fan): void {
  fans.set(envelope, fan);
}

export function forgetFan(envelope: Envelope): void {
  fans.delete(envelope);
}

/**
 * Whom a message to an actor goes to, where that is not the actor itself: those that have not answered it yet, or all, for one
 * that is not sent yet.
 */
export function recipientsOf(to: Recipient, wait: Wait | null): Recipients | null {
  const { relay } = to;
  if (wait === null) return relay === null ? null : relay.recipients();
  if (relay === null && to.isAlive) return null; // Most.
  return fans.get(wait)?.recipients() ?? (relay === null ? null : NOBODY);
}
