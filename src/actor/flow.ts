import { type DeliveryError, deliveryError } from "../message/delivery-error";
import type { Cell } from "./cell";
import { type Envelope, EnvelopeSource } from "./envelope";
import type { Overflow } from "./options";
import { Signal } from "./signal";

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
export function admit(cell: Cell, flow: Flow, envelope: Envelope): DeliveryError | null {
  if (!flow.hasRoom && flow.givenUp > 0) sweep(cell, flow);
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
      cell.refuse(oldest, full(cell, flow, oldest), isPlanned);
      enter(cell, flow, envelope);
      return null;
    }
  }
  return cell.refuse(envelope, full(cell, flow, envelope), isPlanned);
}

/** A message has left the mailbox: whoever waits longest gets its place. */
export function release(cell: Cell, flow: Flow): void {
  flow.size--;
  flow.isOverflowing = false;
  refill(cell, flow);
}

/** Puts a signal where it belongs: behind what waits already (P2). */
export function putSignal(cell: Cell, flow: Flow, signal: Signal): void {
  if (flow.waiting.size === 0) cell.enqueue(signal);
  else flow.waiting.add(signal);
}

/** The sender of a message gave up: whoever waited for room leaves at once. */
export function forget(cell: Cell, flow: Flow, envelope: Envelope, error: DeliveryError): void {
  if (flow.waiting.delete(envelope)) {
    cell.refuse(envelope, error);
    refill(cell, flow); // A signal may have waited behind it.
  } else flow.givenUp++;
}

function refill(cell: Cell, flow: Flow): void {
  for (const envelope of flow.waiting) {
    const isSignal = envelope instanceof Signal;
    if (!isSignal && !flow.hasRoom) return;
    flow.waiting.delete(envelope);
    if (isSignal) cell.enqueue(envelope);
    else enter(cell, flow, envelope);
  }
}

function enter(cell: Cell, flow: Flow, envelope: Envelope): void {
  flow.size++;
  envelope.admitted();
  cell.enqueue(envelope);
}

/** Takes out what nobody waits for any more, which must not keep others out. */
function sweep(cell: Cell, flow: Flow): void {
  flow.givenUp = 0;
  const kept: Envelope[] = [];
  for (let envelope = cell.mailbox.take(); envelope !== null; envelope = cell.mailbox.take()) {
    if (envelope.failure === null) {
      kept.push(envelope);
      continue;
    }
    flow.size--;
    cell.refuse(envelope, envelope.failure);
  }
  for (const envelope of kept) cell.mailbox.put(envelope);
  refill(cell, flow);
}

const full = (cell: Cell, flow: Flow, envelope: Envelope): DeliveryError =>
  deliveryError("mailbox-full", new EnvelopeSource(envelope, cell), flow.capacity);

function tellOfOverflow(cell: Cell, flow: Flow, envelope: Envelope): void {
  if (flow.isOverflowing) return;
  flow.isOverflowing = true;
  const { events } = cell.environment;
  if (!events.hasSubscribers) return;
  const { capacity, overflow } = flow;
  events.publish({ kind: "overflow", address: cell.address, operation: envelope.type, capacity, overflow });
}
