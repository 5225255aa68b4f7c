import type { DeliveryError } from "../../message/delivery-error";
import type { Operation } from "../../protocol/protocol";
import type { Cell } from "../cell/cell";
import type { Envelope } from "./envelope";
import type { Wait } from "./handling";

/** What one of several actors gets of an ask. */
export interface Part {
  readonly cell: Cell;
  /** What was sent to it; null where nothing has been yet. */
  readonly wait: Wait | null;
}

/** Several actors that get one ask. */
export interface Recipients {
  readonly parts: Iterable<Part>;
  /** Whether one answer is enough; otherwise all have to come. */
  readonly isOneEnough: boolean;
}

/** Stands before the mailbox of an actor that handles no message itself, such as a pool, and hands each to another one. */
export interface Relay {
  /** Delivers as Cell.accept does: what it hands on is counted by who gets it. */
  accept(envelope: Envelope, operation: Operation | null | undefined): DeliveryError | null;
  /** The one actor that the next message is for; null where it goes to several. */
  pick(type: string, payload: unknown): Cell | null;
  /** Whom an ask goes to, where that is several: those that have not answered it yet, or all, for one that is not sent yet. */
  recipients(wait: Wait | null): Recipients;
  /** The sender of a message that went to several gave up. */
  abandon(envelope: Envelope, error: DeliveryError): void;
}

/** Who gets a message to an actor: the one that is picked for it, where the actor is a pool. */
export const recipientOf = (cell: Cell, type: string, payload: unknown): Cell =>
  (cell.isAlive ? cell.extras?.relay?.pick(type, payload) : null) ?? cell;
