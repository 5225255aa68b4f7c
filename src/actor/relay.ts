import type { DeliveryError } from "../message/delivery-error";
import type { Operation } from "../protocol/protocol";
import type { Envelope } from "./envelope";

/** Stands before the mailbox of an actor that handles no message itself, such as a pool, and hands each to another one. */
export interface Relay {
  /** Delivers as Cell.accept does: what it hands on is counted by who gets it. */
  accept(envelope: Envelope, operation: Operation | null | undefined): DeliveryError | null;
}
