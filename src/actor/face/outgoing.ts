import type { Address } from "../../message/address";
import { errorFrom, timeoutBy } from "../../message/create-error";
import { type AskError, type DeliveryError, deliveryError } from "../../message/delivery-error";
import { generateMessageId } from "../../message/id";
import type { Metadata, Pattern } from "../../message/message";
import { sentenceOf } from "../../message/sentence-of";
import type { Operation } from "../../protocol/protocol";
import { hearRejection } from "../../runtime/thenable";
import { objectionTo } from "../cell/admission";
import type { Cell } from "../cell/cell";
import type { Envelope, Exposure, Recipients, Relay } from "../contract";
import { PendingAsk } from "../envelopes/ask";
import { endError } from "../envelopes/ends";
import { EnvelopeSource, overdue } from "../envelopes/envelope";
import { PendingOffer } from "../envelopes/offer";
import { deadlineIn, deadlineOf, knownMessage, metadataOf, senderOf } from "../envelopes/origin";
import { isProgress, progressOf, tellProgress } from "../envelopes/progress";
import { PendingStream } from "../envelopes/stream";
import { checkedItem, checkedReply } from "../envelopes/validation";
import { deadLetterLateReply } from "../life/outcome";
import type { Chain, HandlingOutcome } from "../observers";
import { LEFT } from "../reasons";
import type { Outgoing, Transport } from "../transport";
import { pushItem, Relaying } from "./relaying";

const NOBODY: Recipients = { parts: [], isOneEnough: true };

/** Stands before the cell of an attached reference, and hands each message to its transport. */
export class Link implements Relay {
  readonly cell: Cell;
  /** Gives references for the addresses in replies and items; null when they stay texts. */
  readonly exposure: Exposure | null;
  readonly #transport: Transport;
  /** The messages whose senders wait. */
  readonly #pending = new Map<Envelope, OutgoingMessage>();

  constructor(cell: Cell, transport: Transport, exposure: Exposure | null) {
    this.cell = cell;
    this.exposure = exposure;
    this.#transport = transport;
  }

  accept(envelope: Envelope, operation: Operation | null | undefined): DeliveryError | null {
    const { cell } = this;
    const { counts, enter, observers } = cell.environment;
    counts.accepted++;
    // It may have waited at an actor that forwarded it.
    const error = envelope.failure ?? overdue(envelope, cell) ?? objectionTo(cell, envelope, operation);
    if (error !== null) return cell.refuse(envelope, error);
    counts.sent++;
    const out = new OutgoingMessage(this, envelope);
    if (envelope.isTold) this.#pending.set(envelope, out);
    try {
      const returned: unknown =
        observers.chain === null
          ? enter(sendBy, this.#transport, out)
          : enter(sendInside, this.#transport, out, observers.chain);
      if (returned !== undefined) hearRejection(returned, (cause) => this.#failSending(out, cause));
    } catch (thrown) {
      this.#failSending(out, thrown);
    }
    if (!out.isAwaited) out.relaying?.end(SENT); // Nothing answers a tell. What failed has been told so.
    return out.refusal;
  }

  #failSending(out: OutgoingMessage, thrown: unknown): void {
    if (out.relaying?.isHandedOver === false) out.relaying.log(thrown);
    else this.#log("send", thrown);
    out.fail("unreachable", thrown);
  }

  get load(): number {
    return this.#pending.size;
  }

  /** The actor is elsewhere: it is handed the message itself. */
  pick(): null {
    return null;
  }

  /** The waits of that actor cannot be seen from here: no circle is found (P8), and the timeout ends the ask. */
  recipients(): Recipients {
    return NOBODY;
  }

  abandon(envelope: Envelope, error: DeliveryError): void {
    this.#pending.get(envelope)?.abandon(error);
  }

  forget(envelope: Envelope): void {
    this.#pending.delete(envelope);
  }

  /** Its cell has stopped: those who wait are told, and then the transport. */
  end(): void {
    const { cell } = this;
    for (const [envelope, out] of this.#pending) {
      const error = endError(envelope, cell);
      // A message to an actor that was stopped may have been handled.
      const isLost = error.kind !== "unreachable";
      out.failWith(isLost ? deliveryError("stopped", new EnvelopeSource(envelope, cell), "abandoned") : error);
    }
    this.tell("close", (transport) => transport.close());
  }

  /** Tells the transport something. */
  tell(method: keyof Transport, call: (transport: Transport) => unknown): void {
    try {
      hearRejection(this.cell.environment.enter(call, this.#transport), (cause) => this.#log(method, cause));
    } catch (thrown) {
      this.#log(method, thrown);
    }
  }

  #log(method: keyof Transport, cause: unknown): void {
    const { environment, address } = this.cell;
    if (!environment.logLimit.admit()) return;
    environment.logger.error(`The transport of ${address} threw in ${method}(), which must not: ${sentenceOf(cause)}`, {
      address,
      cause,
    });
  }
}

/** Not a closure, which would be one for each message. */
const sendBy = (transport: Transport, out: Outgoing): unknown => transport.send(out);
const sendInside = (transport: Transport, out: OutgoingMessage, chain: Chain): unknown =>
  out.observe(chain, transport).begin();

const SENT: HandlingOutcome = Object.freeze({ kind: "sent" });
const handled = (result: unknown): HandlingOutcome => ({ kind: "handled", result });

/** A message that was handed to a transport. */
class OutgoingMessage implements Outgoing {
  /** The error of a message that never got there. */
  refusal: DeliveryError | null = null;
  /** Its observation; null without observers. */
  relaying: Relaying | null = null;
  readonly #link: Link;
  readonly #envelope: Envelope;
  #id: string | null = null;
  #state: "open" | "given up" | "over" = "open";
  /** Items that the reader had room for, and that have not come. */
  #granted: number;
  #isAwaitingRoom = false;

  constructor(link: Link, envelope: Envelope) {
    this.#link = link;
    this.#envelope = envelope;
    this.#granted = this.credit;
  }

  /** Is observed from now on, until it is answered. */
  observe(chain: Chain, transport: Transport): Relaying {
    this.relaying = new Relaying(this.#link.cell, this.#envelope, chain, this, transport);
    return this.relaying;
  }

  get pattern(): Pattern {
    return this.#envelope.pattern;
  }
  get id(): string {
    this.#id ??= generateMessageId();
    return this.#id;
  }
  get to(): Address {
    return this.#link.cell.address;
  }
  get from(): Address | undefined {
    return senderOf(this.#envelope, this.#link.cell.environment)?.address ?? knownMessage(this.#envelope)?.from;
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
      if (!this.#end("over")) return;
      if (envelope instanceof PendingOffer) envelope.admitted();
      else envelope.complete(undefined);
      this.relaying?.end(envelope instanceof PendingStream ? handled(undefined) : SENT);
      return;
    }
    if (this.#state === "given up") this.#deliver(reply);
    if (this.#state !== "open") return;
    let checked: unknown;
    try {
      checked = checkedReply(this.#operation, reply, true, this.#link.exposure);
    } catch (thrown) {
      this.fail("handler-failed", thrown);
      return;
    }
    this.#end("over");
    // Spent from the turn (P5): a transport may answer within send().
    this.#link.cell.environment.settling.settle((value) => this.#deliver(value), checked);
  }

  /** Gives an ask its reply. One that comes after its asker gave up is a dead letter (P7). */
  #deliver(reply: unknown): void {
    this.#state = "over";
    if (!this.#envelope.complete(reply)) deadLetterLateReply(this.#link.cell, this.#envelope, reply, true);
    this.relaying?.end(handled(reply)); // Its asker's giving up has ended it already.
  }

  fail(kind: AskError["kind"], detail?: unknown): void {
    if (this.#state !== "open") return;
    const source = new EnvelopeSource(this.#envelope, this.#link.cell);
    this.failWith(errorFrom(kind, source, kind === "timeout" ? timeoutBy(detail, this.#limit) : detail));
  }

  /** A message that never got there counts as a dead letter, and not as sent. */
  failWith(error: DeliveryError): void {
    if (!this.#end("over")) return;
    const envelope = this.#envelope;
    const { cell } = this.#link;
    const { settling, counts } = cell.environment;
    if (envelope.isTold && error.kind !== "unreachable" && error.kind !== "payload-too-large") {
      settling.settle(() => {
        envelope.fail(error);
        this.relaying?.end({ kind: "failed", error });
      }, undefined);
      return;
    }
    this.refusal = error;
    counts.sent--;
    cell.refuse(envelope, error);
    this.relaying?.end({ kind: "failed", error });
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

  /** Its sender gave up. A reader that leaves its stream has what it wanted. */
  abandon(error: DeliveryError): void {
    if (!this.#end(this.#envelope instanceof PendingAsk ? "given up" : "over")) return;
    this.#cancel();
    const hasLeft = error.kind === "cancelled" && error.reason === LEFT;
    this.relaying?.end(hasLeft ? handled(undefined) : { kind: "failed", error });
  }

  #cancel(): void {
    this.#link.tell("cancel", (transport) => transport.cancel(this));
  }

  /** Ends it once. */
  #end(state: "given up" | "over"): boolean {
    if (this.#state !== "open") return false;
    this.#state = state;
    this.#link.forget(this.#envelope);
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
        // The stream itself checks its items if each payload is checked. It knows no addresses.
        const { exposure } = this.#link;
        const checks = exposure !== null || !stream.cell.environment.validatesAlways;
        pushItem(this.#link.cell, stream, this.relaying, checkedItem(this.#operation, item, checks, exposure));
      }
    } catch (thrown) {
      this.fail("handler-failed", thrown);
      this.#cancel();
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
    this.#link.tell("credit", (transport) => transport.credit(this, room));
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

  get #operation(): Operation | null | undefined {
    return this.#link.cell.operation(this.#envelope.type);
  }
}

const BEYOND = "its transport handed it more items than its reader had room for: produce only what credit() allows";
