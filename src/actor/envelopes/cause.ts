import type { Envelope } from "../contract";
import { PendingAsk } from "./ask";
import { isFromOutside } from "./envelope";
import { PendingStream } from "./stream";

/**
 * Whether a message from outside caused an envelope: by itself, or by a chain of handlings that each asked or read for the one
 * before. A tell begins anew, as from within: nobody waits for it.
 */
export const isCausedFromOutside = (envelope: Envelope): boolean => isFromOutside(envelope) || servesOutside(envelope);

/** Whether the handler that asked or read handled what a message from outside had caused: told to it when it was sent. */
export const servesOutside = (envelope: Envelope): boolean =>
  (envelope instanceof PendingAsk || envelope instanceof PendingStream) && envelope.servesOutside;
