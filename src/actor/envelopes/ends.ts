import { type DeliveryError, deliveryError } from "../../message/delivery-error";
import type { Envelope, Recipient } from "../contract";
import { EnvelopeSource } from "./envelope";

/** The end of the attachment of a reference. */
export interface End {
  readonly reason: "stopped" | "unreachable";
  readonly error: unknown;
  /** True while its side is gone and the attachment goes on: a watch that begins is told at once. */
  readonly isGone?: true;
}

/** The ends of actors elsewhere; there is none for an actor of this system. A field would cost each actor eight bytes. */
export const ends = new WeakMap<Recipient, End>();

/** The error of a message to an actor that has ended, here or elsewhere. */
export function endError(envelope: Envelope, cell: Recipient): DeliveryError {
  const end = ends.get(cell);
  return end?.reason === "unreachable"
    ? deliveryError("unreachable", new EnvelopeSource(envelope, cell), end.error)
    : cell.error("stopped", envelope);
}
