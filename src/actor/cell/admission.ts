import { type DeliveryError, deliveryError } from "../../message/delivery-error";
import type { Operation } from "../../protocol/protocol";
import type { MessageQueue } from "../../runtime/mailbox";
import type { Envelope, Recipient } from "../contract";
import { endError } from "../envelopes/ends";
import { EnvelopeSource, markEntry } from "../envelopes/envelope";
import { isFromOutside } from "../envelopes/origin";
import { Signal } from "../envelopes/signal";
import { PendingStream } from "../envelopes/stream";
import { checkPayload } from "../envelopes/validation";
import type { Overflow } from "../options";

/** The mailbox's view of its actor. */
interface Owner extends Recipient {
  readonly extras: { readonly bound: MailboxBound | null } | null;
  readonly isEnding: boolean;
  readonly mailbox: MessageQueue<Envelope>;
  enqueue(envelope: Envelope): void;
  refuse(envelope: Envelope, error: DeliveryError, isPlanned?: boolean): DeliveryError;
  deadLetter(envelope: Envelope, error: DeliveryError): DeliveryError;
}

/** The bound of a mailbox, and the senders that wait for room in it (P11). */
export class MailboxBound {
  readonly capacity: number;
  readonly overflow: Overflow;
  /** Messages in the mailbox; signals are none. */
  size = 0;
  /** Messages that wait for room, and the signals behind them, in order. */
  readonly waiting = new Set<Envelope>();
  /** Messages in the mailbox that their senders gave up. */
  givenUp = 0;
  /** True once its overflow was published, until there is room. */
  isOverflowing = false;
  /** True for the mailbox of an address that is being opened: an offer waits on for that of the actor. */
  isProvisional = false;
  /** True while a sweep of given-up messages is due. */
  isSweepDue = false;

  constructor(capacity: number, overflow: Overflow) {
    this.capacity = capacity;
    this.overflow = overflow;
  }

  get hasRoom(): boolean {
    return this.size < this.capacity;
  }
}

const isMessage = (envelope: Envelope): boolean => !(envelope instanceof Signal);

/** Puts an envelope into an actor's mailbox, or hands it to the actor's relay. Returns an error if it is not in. */
export function admit(cell: Owner, envelope: Envelope, operation: Operation | null | undefined): DeliveryError | null {
  const relay = cell.isAlive ? cell.relay : null;
  if (relay !== null && !isFromOutside(envelope)) return relay.accept(envelope, operation); // The next recipient counts it.
  const error = objectionTo(cell, envelope, operation);
  if (relay !== null && error === null) return relay.accept(envelope, operation);
  const { counts, meters } = cell.environment;
  counts.accepted++;
  if (error !== null) return cell.refuse(envelope, error);
  markEntry(envelope, cell.environment);
  meters?.enter(envelope);
  const bound = cell.extras === null ? null : cell.extras.bound;
  if (bound !== null) return admitBounded(cell, bound, envelope);
  if (cell.relay !== null) envelope.admitted(); // The pool restarts: its own mailbox has it.
  cell.enqueue(envelope);
  return null;
}

/** The reason why a message may not be handled; null when it may. */
export function objectionTo(
  cell: Owner,
  envelope: Envelope,
  operation: Operation | null | undefined,
): DeliveryError | null {
  if (cell.isEnding) return endError(envelope, cell);
  if (operation === null) return null;
  if (operation === undefined || operation.isStream !== envelope instanceof PendingStream) {
    return cell.error("unknown-operation", envelope);
  }
  return checkPayload(envelope, operation, cell);
}

/**
 * Puts a message into a bounded mailbox, lets it wait, or applies the overflow policy. Returns an error if it is not
 * in.
 */
function admitBounded(cell: Owner, bound: MailboxBound, envelope: Envelope): DeliveryError | null {
  if (bound.hasRoom || bound.givenUp === 0) return place(cell, bound, envelope);
  const removed = sweep(cell, bound);
  const error = place(cell, bound, envelope);
  deadLetterAll(cell, removed);
  return error;
}

/** Subscribers may read the audit or send again, so all bookkeeping is done before a dead letter is published. */
function place(cell: Owner, bound: MailboxBound, envelope: Envelope): DeliveryError | null {
  if (bound.hasRoom) {
    enter(cell, bound, envelope);
    return null;
  }
  if (bound.overflow === "wait" && envelope.canWait) {
    bound.waiting.add(envelope);
    return null;
  }
  tellOfOverflow(cell, bound, envelope);
  const isPlanned = bound.overflow === "drop-oldest" || bound.overflow === "drop-newest";
  if (bound.overflow === "drop-oldest") {
    const oldest = cell.mailbox.takeOldest(isMessage);
    if (oldest !== null) {
      bound.size--;
      enter(cell, bound, envelope);
      cell.refuse(oldest, full(cell, bound, oldest), isPlanned);
      return null;
    }
  }
  return cell.refuse(envelope, full(cell, bound, envelope), isPlanned);
}

/** A message has left the mailbox: the longest waiting one gets its place. */
export function release(cell: Owner, bound: MailboxBound, envelope: Envelope): void {
  bound.size--;
  if (envelope.failure !== null && bound.givenUp > 0) bound.givenUp--;
  refill(cell, bound);
}

/** Puts a signal behind the messages that already wait (P2). */
export function putSignal(cell: Owner, bound: MailboxBound, signal: Signal): void {
  if (bound.waiting.size === 0) cell.enqueue(signal);
  else bound.waiting.add(signal);
}

/** The sender of a message gave up: a message that waited for room leaves at once. */
export function forget(cell: Owner, bound: MailboxBound, envelope: Envelope, error: DeliveryError): void {
  if (bound.waiting.delete(envelope)) {
    cell.refuse(envelope, error);
    return;
  }
  bound.givenUp++;
  if (bound.waiting.size === 0 || bound.isSweepDue) return;
  bound.isSweepDue = true;
  // Once for all that give up together: each sweep looks at the whole mailbox.
  cell.environment.clock.microtask(() => {
    bound.isSweepDue = false;
    if (bound.givenUp > 0 && bound.waiting.size > 0) deadLetterAll(cell, sweep(cell, bound));
  });
}

function refill(cell: Owner, bound: MailboxBound): void {
  for (const envelope of bound.waiting) {
    const isSignal = envelope instanceof Signal;
    if (!isSignal && !bound.hasRoom) return;
    bound.waiting.delete(envelope);
    if (isSignal) cell.enqueue(envelope);
    else enter(cell, bound, envelope);
  }
  if (bound.hasRoom) bound.isOverflowing = false;
}

function enter(cell: Owner, bound: MailboxBound, envelope: Envelope): void {
  bound.size++;
  if (!bound.isProvisional) envelope.admitted();
  cell.enqueue(envelope);
}

/**
 * Removes messages that nobody waits for, so that they keep no others out. They are counted here; the caller publishes
 * them.
 */
function sweep(cell: Owner, bound: MailboxBound): Envelope[] {
  bound.givenUp = 0;
  const removed = cell.mailbox.removeAll((envelope) => envelope.failure !== null);
  bound.size -= removed.length;
  cell.environment.counts.dead += removed.length;
  refill(cell, bound);
  return removed;
}

function deadLetterAll(cell: Owner, removed: readonly Envelope[]): void {
  for (const envelope of removed) if (envelope.failure !== null) cell.deadLetter(envelope, envelope.failure);
}

const full = (cell: Owner, bound: MailboxBound, envelope: Envelope): DeliveryError =>
  deliveryError("mailbox-full", new EnvelopeSource(envelope, cell), bound.capacity);

function tellOfOverflow(cell: Owner, bound: MailboxBound, envelope: Envelope): void {
  if (bound.isOverflowing) return;
  bound.isOverflowing = true;
  const { events } = cell.environment;
  if (!events.hasSubscribers) return;
  const { capacity, overflow } = bound;
  events.publish({ kind: "overflow", address: cell.address, operation: envelope.type, capacity, overflow });
}
