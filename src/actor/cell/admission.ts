import { type DeliveryError, deliveryError } from "../../message/delivery-error";
import type { MessageQueue } from "../../runtime/mailbox";
import type { Envelope, Recipient } from "../contract";
import { EnvelopeSource } from "../envelopes/envelope";
import { Signal } from "../envelopes/signal";
import type { Overflow } from "../options";

/** The actor of a bounded mailbox. */
interface Owner extends Recipient {
  readonly mailbox: MessageQueue<Envelope>;
  enqueue(envelope: Envelope): void;
  refuse(envelope: Envelope, error: DeliveryError, isPlanned?: boolean): DeliveryError;
  bury(envelope: Envelope, error: DeliveryError): DeliveryError;
}

/** The bound of a mailbox, and the senders that wait for room in it (P11). */
export class Flow {
  readonly capacity: number;
  readonly overflow: Overflow;
  /** Messages in the mailbox; signals are none. */
  size = 0;
  /** What waits for room, and the signals behind it, in order. */
  readonly waiting = new Set<Envelope>();
  /** Messages in the mailbox that their senders gave up. */
  givenUp = 0;
  /** Whether its overflow was told, and no room has been since. */
  isOverflowing = false;
  /** Whether what was given up will be swept out soon. */
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

/** Puts a message into a bounded mailbox, lets it wait, or does what the policy says; an error tells why it is not in. */
export function admit(cell: Owner, flow: Flow, envelope: Envelope): DeliveryError | null {
  if (flow.hasRoom || flow.givenUp === 0) return place(cell, flow, envelope);
  const removed = sweep(cell, flow);
  const error = place(cell, flow, envelope);
  buryAll(cell, removed);
  return error;
}

/** Whoever hears of a dead letter may look at the audit, or send again: everything is in its place before one is told. */
function place(cell: Owner, flow: Flow, envelope: Envelope): DeliveryError | null {
  if (flow.hasRoom) {
    enter(cell, flow, envelope);
    return null;
  }
  if (flow.overflow === "wait" && envelope.canWait) {
    flow.waiting.add(envelope);
    return null;
  }
  tellOfOverflow(cell, flow, envelope);
  const isPlanned = flow.overflow === "drop-oldest" || flow.overflow === "drop-newest";
  if (flow.overflow === "drop-oldest") {
    const oldest = cell.mailbox.takeOldest(isMessage);
    if (oldest !== null) {
      flow.size--;
      enter(cell, flow, envelope);
      cell.refuse(oldest, full(cell, flow, oldest), isPlanned);
      return null;
    }
  }
  return cell.refuse(envelope, full(cell, flow, envelope), isPlanned);
}

/** A message has left the mailbox: whoever waits longest gets its place. */
export function release(cell: Owner, flow: Flow, envelope: Envelope): void {
  flow.size--;
  if (envelope.failure !== null && flow.givenUp > 0) flow.givenUp--;
  refill(cell, flow);
}

/** Puts a signal where it belongs: behind what waits already (P2). */
export function putSignal(cell: Owner, flow: Flow, signal: Signal): void {
  if (flow.waiting.size === 0) cell.enqueue(signal);
  else flow.waiting.add(signal);
}

/** The sender of a message gave up: whoever waited for room leaves at once. */
export function forget(cell: Owner, flow: Flow, envelope: Envelope, error: DeliveryError): void {
  if (flow.waiting.delete(envelope)) {
    cell.refuse(envelope, error);
    return;
  }
  flow.givenUp++;
  if (flow.waiting.size === 0 || flow.isSweepDue) return;
  flow.isSweepDue = true;
  // Once for all that give up together: each sweep looks at the whole mailbox.
  cell.environment.clock.microtask(() => {
    flow.isSweepDue = false;
    if (flow.givenUp > 0 && flow.waiting.size > 0) buryAll(cell, sweep(cell, flow));
  });
}

function refill(cell: Owner, flow: Flow): void {
  for (const envelope of flow.waiting) {
    const isSignal = envelope instanceof Signal;
    if (!isSignal && !flow.hasRoom) return;
    flow.waiting.delete(envelope);
    if (isSignal) cell.enqueue(envelope);
    else enter(cell, flow, envelope);
  }
  if (flow.hasRoom) flow.isOverflowing = false;
}

function enter(cell: Owner, flow: Flow, envelope: Envelope): void {
  flow.size++;
  envelope.admitted();
  cell.enqueue(envelope);
}

/** Takes out what nobody waits for any more, which must not keep others out; it is counted, and to be told of. */
function sweep(cell: Owner, flow: Flow): Envelope[] {
  flow.givenUp = 0;
  const removed = cell.mailbox.removeAll((envelope) => envelope.failure !== null);
  flow.size -= removed.length;
  cell.environment.counts.dead += removed.length;
  refill(cell, flow);
  return removed;
}

function buryAll(cell: Owner, removed: readonly Envelope[]): void {
  for (const envelope of removed) if (envelope.failure !== null) cell.bury(envelope, envelope.failure);
}

const full = (cell: Owner, flow: Flow, envelope: Envelope): DeliveryError =>
  deliveryError("mailbox-full", new EnvelopeSource(envelope, cell), flow.capacity);

function tellOfOverflow(cell: Owner, flow: Flow, envelope: Envelope): void {
  if (flow.isOverflowing) return;
  flow.isOverflowing = true;
  const { events } = cell.environment;
  if (!events.hasSubscribers) return;
  const { capacity, overflow } = flow;
  events.publish({ kind: "overflow", address: cell.address, operation: envelope.type, capacity, overflow });
}
