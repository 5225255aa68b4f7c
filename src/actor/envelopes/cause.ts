import type { Envelope } from "../contract";
import { PendingAsk } from "./ask";
import { isFromOutside } from "./origin";
import { PendingStream } from "./stream";

/**
 * True when a message from outside caused an envelope: directly, or by a chain of handlings that each asked or read for
 * the one before. A tell starts anew, as from within: nobody waits for it.
 */
export const isCausedFromOutside = (envelope: Envelope): boolean => isFromOutside(envelope) || servesOutside(envelope);

/**
 * True when the asking or reading handler handled a message that was caused from outside. Set when the envelope is
 * sent.
 */
export const servesOutside = (envelope: Envelope): boolean =>
  (envelope instanceof PendingAsk || envelope instanceof PendingStream) && envelope.servesOutside;
