import type { DeliveryError } from "../message/delivery-error";
import type { Operation } from "../protocol/protocol";
import type { Cell } from "./cell";
import type { Envelope } from "./envelope";
import type { Wait } from "./handling";

/** Stands before the mailbox of an actor that handles no message itself, such as a pool, and hands each to another one. */
export interface Relay {
  /** Delivers as Cell.accept does: what it hands on is counted by who gets it. */
  accept(envelope: Envelope, operation: Operation | null | undefined): DeliveryError | null;
  /** The one actor that the next message is for; null where it goes to several. */
  pick(type: string, payload: unknown): Cell | null;
  /** Those that must all answer before an ask that went to several comes back. */
  holders(wait: Wait): readonly Cell[];
  /** Those that a message would go to, where it goes to several that must all answer. */
  readonly all: readonly Cell[];
  /** The sender of a message that went to several gave up. */
  abandon(envelope: Envelope, error: DeliveryError): void;
}

/** Why those that answer later than the first one are given up. */
export const ANSWERED: unique symbol = Symbol("another one has answered first");
