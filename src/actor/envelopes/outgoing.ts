import type { Address } from "../../message/address";
import { errorFrom, timeoutBy } from "../../message/create-error";
import { type AskError, type DeliveryError, deliveryError } from "../../message/delivery-error";
import { generateMessageId } from "../../message/id";
import type { Metadata, Pattern } from "../../message/message";
import type { Envelope, Exposure, Recipient } from "../contract";
import type { Outgoing } from "../transport";
import { PendingAsk } from "./ask";
import { EnvelopeSource } from "./envelope";
import { PendingOffer } from "./offer";
import { deadlineIn, deadlineOf, knownMessage, metadataOf, senderOf } from "./origin";
import { isProgress, progressOf, tellProgress } from "./progress";
import { PendingStream } from "./stream";
import { checkedItem, checkedReply } from "./validation";

/** The end of the attachment of a reference. */
export interface End {
  readonly reason: "stopped" | "unreachable";
  readonly error: unknown;
}

/** Kept by actor: a field would cost each of them eight bytes. */
const ends = new WeakMap<Recipient, End>();

/** The end of the attachment of an actor elsewhere; undefined for an actor of this system. */
export const endOf = (cell: Recipient): End | undefined => ends.get(cell);

export function keepEnd(cell: Recipient, end: End): void {
  ends.set(cell, end);
}

/** The error of a message to an actor that has ended, here or elsewhere. */
export function endError(envelope: Envelope, cell: Recipient): DeliveryError {
  const end = endOf(cell);
  return end?.reason === "unreachable"
    ? deliveryError("unreachable", new EnvelopeSource(envelope, cell), end.error)
    : cell.error("stopped", envelope);
}

/** The attachment of an outgoing message. */
export interface Carrier {
  readonly cell: Recipient;
  /** Gives references for the addresses in replies and items; null when they stay texts. */
  readonly exposure: Exposure | null;
  /** Tells the transport that nobody waits any more. */
  cancel(out: Outgoing): void;
  /** Tells the transport that a reader has room for more items. */
  credit(out: Outgoing, count: number): void;
  /** The message is over. */
  forget(envelope: Envelope): void;
  /** The message never got there: it counts as a dead letter, and not as sent. */
  refuse(envelope: Envelope, error: DeliveryError): void;
  /** A reply came after its asker gave up (P7). */
  late(envelope: Envelope, reply: unknown): void;
}

/** A message that was handed to a transport. */
export class OutgoingMessage implements Outgoing {
  /** The error of a message that never got there. */
  refusal: DeliveryError | null = null;
  readonly #carrier: Carrier;
  readonly #envelope: Envelope;
  #id: string | null = null;
  #state: "open" | "given up" | "over" = "open";
  /** Items that the reader had room for, and that have not come. */
  #granted: number;
  #isAwaitingRoom = false;

  constructor(carrier: Carrier, envelope: Envelope) {
    this.#carrier = carrier;
    this.#envelope = envelope;
    this.#granted = this.credit;
  }

  get pattern(): Pattern {
    return this.#envelope.pattern;
  }
  get id(): string {
    this.#id ??= generateMessageId();
    return this.#id;
  }
  get to(): Address {
    return this.#carrier.cell.address;
  }
  get from(): Address | undefined {
    return senderOf(this.#envelope, this.#carrier.cell.environment)?.address ?? knownMessage(this.#envelope)?.from;
  }
  get type(): string {
    return this.#envelope.type;
  }
  get payload(): unknown {
    const message = knownMessage(this.#envelope);
    return message === null ? this.#envelope.payload : message.payload;
  }
  get metadata(): Metadata | undefined {
    return metadataOf(this.#envelope) ?? undefined;
  }
  get timeLeft(): number {
    const envelope = this.#envelope;
    if (this.#state !== "open" && this.isAwaited) return 0; // Its timer is no longer set.
    const left = deadlineOf(envelope);
    return envelope instanceof PendingOffer ? Math.min(left, envelope.waitsFor) : left;
  }
  get credit(): number {
    return this.#envelope instanceof PendingStream ? this.#envelope.credit : 0;
  }
  get isAwaited(): boolean {
    return this.#envelope.pattern !== "tell" || this.#envelope instanceof PendingOffer;
  }
  get wantsProgress(): boolean {
    return progressOf(this.#envelope) !== null;
  }

  // ——— What becomes of it

  complete(reply?: unknown): void {
    const envelope = this.#envelope;
    if (!(envelope instanceof PendingAsk)) {
      if (!this.#end()) return;
      if (envelope instanceof PendingOffer) envelope.admitted();
      else envelope.complete(undefined);
      return;
    }
    if (this.#state === "given up") this.#deliver(reply);
    if (this.#state !== "open") return;
    let checked: unknown;
    try {
      checked = checkedReply(this.#operation, reply, true, this.#carrier.exposure);
    } catch (thrown) {
      this.fail("handler-failed", thrown);
      return;
    }
    this.#end();
    // Spent from the turn (P5): a transport may answer within send().
    this.#carrier.cell.environment.settling.settle((value) => this.#deliver(value), checked);
  }

  /** Gives an ask its reply. */
  #deliver(reply: unknown): void {
    this.#state = "over";
    if (!this.#envelope.complete(reply)) this.#carrier.late(this.#envelope, reply);
  }

  fail(kind: AskError["kind"], detail?: unknown): void {
    if (!this.#end()) return;
    const envelope = this.#envelope;
    const source = new EnvelopeSource(envelope, this.#carrier.cell);
    const error = errorFrom(kind, source, kind === "timeout" ? timeoutBy(detail, this.#limit) : detail);
    const isElsewhere = envelope.isTold && kind !== "unreachable" && kind !== "payload-too-large";
    if (isElsewhere) this.#carrier.cell.environment.settling.settle(() => envelope.fail(error), undefined);
    else {
      this.refusal = error;
      this.#carrier.refuse(envelope, error);
    }
  }

  /** The milliseconds that its sender gave it; Infinity where none are known. */
  get #limit(): number {
    const envelope = this.#envelope;
    if (envelope instanceof PendingAsk || envelope instanceof PendingOffer) return envelope.delay;
    return deadlineIn(envelope.origin)?.given ?? Number.POSITIVE_INFINITY;
  }

  end(): void {
    if (this.#envelope instanceof PendingStream) this.complete();
  }

  /** The attachment has ended before the message was over. */
  endWith(error: DeliveryError): void {
    if (!this.#end()) return;
    if (error.kind === "unreachable") this.#carrier.refuse(this.#envelope, error);
    else this.#envelope.fail(error);
  }

  /** Its sender gave up. */
  abandon(): void {
    if (!this.#end()) return;
    if (this.#envelope instanceof PendingAsk) this.#state = "given up";
    this.#carrier.cancel(this);
  }

  /** Ends it once. */
  #end(): boolean {
    if (this.#state !== "open") return false;
    this.#state = "over";
    this.#carrier.forget(this.#envelope);
    return true;
  }

  // ——— A stream

  produce(items: readonly unknown[]): void {
    const stream = this.#envelope;
    if (!(stream instanceof PendingStream)) return;
    try {
      for (const item of items) {
        if (this.#state !== "open") return;
        if (this.#granted === 0) throw new RangeError(BEYOND);
        this.#granted--;
        // Where each payload is checked, the stream itself checks its items. It knows no addresses.
        const { exposure } = this.#carrier;
        const checks = exposure !== null || !stream.cell.environment.validatesAlways;
        stream.push(checkedItem(this.#operation, item, checks, exposure));
      }
    } catch (thrown) {
      this.fail("handler-failed", thrown);
      this.#carrier.cancel(this);
      return;
    }
    this.#grant(stream);
  }

  /** Grants what the reader has room for: half of its credit at once, or all of it when nothing is on its way. */
  #grant(stream: PendingStream): void {
    if (this.#state !== "open") return;
    const room = stream.credit - stream.items.size - this.#granted;
    const isGathered = this.#granted > 0 ? room >= stream.credit / 2 : stream.items.size === 0;
    if (isGathered) this.#tellRoom(room);
    else if (this.#granted === 0) this.#awaitRoom(stream);
  }

  #tellRoom(room: number): void {
    this.#granted += room;
    this.#carrier.credit(this, room);
  }

  /** The reader's credit is used up: nothing can come. What it reads now is granted together. */
  #awaitRoom(stream: PendingStream): void {
    if (this.#isAwaitingRoom) return;
    this.#isAwaitingRoom = true;
    void stream.untilRoom()?.then(() => {
      this.#isAwaitingRoom = false;
      if (this.#state === "open") this.#tellRoom(stream.credit - stream.items.size);
    });
  }

  /** Ignores a value that is no progress: it comes from outside (P18). */
  progress(done: number, total?: number, note?: string): void {
    if (this.#state === "open" && isProgress(done, total, note)) tellProgress(this.#envelope, done, total, note);
  }

  get #operation() {
    return this.#carrier.cell.operation(this.#envelope.type);
  }
}

const BEYOND = "its transport handed it more items than its reader had room for: produce only what credit() allows";
