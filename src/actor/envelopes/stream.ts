import type { Address } from "../../message/address";
import { type AskError, deliveryError } from "../../message/delivery-error";
import type { Operation } from "../../protocol/protocol";
import type { Enter } from "../../runtime/contexts";
import type { Dispatcher } from "../../runtime/dispatcher";
import { Queue } from "../../runtime/queue";
import { heard } from "../../runtime/thenable";
import { Timeout } from "../../runtime/timer-wheel";
import type { EndReason, Envelope, Origin, Recipient, Wait, Waiter } from "../contract";
import { LEFT } from "../reasons";
import { untilOver } from "./abort";
import { ABANDONED_AFTER, type StreamOptions } from "./call-options";
import { lookForCircle, producerWaits, readerWaits, waitEnds } from "./deadlock";
import { EnvelopeSource } from "./envelope";
import { deadlineIn } from "./origin";
import { ReaderWatch } from "./reader-watch";
import { DONE, END, type Step, StreamError, strideBehind } from "./stream-step";
import { checkedItem } from "./validation";

type Read = (step: Step | Promise<Step>) => void;
/** The resolve function of the promise that was made last with `capture`: a closure for each read would be one more. */
let captured: Read;
const capture = (resolve: Read): void => {
  captured = resolve;
};

/** The envelope of a stream, and the channel between its two ends. */
export class PendingStream implements Envelope, Wait {
  next: Envelope["next"] = null;
  readonly pattern = "stream";
  readonly type: string;
  payload: unknown;
  origin: Origin;
  declare context?: Enter;
  failure: AskError | null = null;
  /** The actor that has it; changes when it is forwarded. */
  cell: Recipient;
  nextWait: Wait | null = null;
  /** The handling that reads it, and ends it at its own end; null for any other reader. */
  waiter: Waiter | null = null;
  servesOutside = false;
  readonly #dispatcher: Dispatcher;
  /** The schema of its items; null when they are not checked. */
  readonly #schema: Operation | null;
  /** Items that the producer may be ahead of the reader. */
  readonly credit: number;
  readonly #timer: Timeout | null = null;
  #stopListening: (() => void) | null = null;
  /** The producer's limit for an idle reader, and the watch that enforces it; made when the producer first waits. */
  readonly #patience: number;
  #watch: ReaderWatch | null = null;
  /** Produced items that are not read yet. */
  readonly items = new Queue<unknown>();
  /** The read that waits while there are no items, and those called ahead of it. */
  #read: Read | null = null;
  #promise: Promise<Step> | null = null;
  #laterReads: Queue<{ readonly read: Read; readonly promise: Promise<Step> }> | null = null;
  #wakeProducer: (() => void) | null = null;
  /** Items from one check of the turn to the next, and those left until then. */
  #stride = 1;
  #untilLook = 1;
  /** The reader's own: its speed says nothing about the producer's. */
  #readStride = 1;
  #untilReadLook = 1;
  /** Reads that are answered in the next turn. Until then, no later read is answered. */
  #late = 0;
  /** True once nothing more will be produced. */
  #isClosed = false;
  /** True once the reader knows of the end: it was told, or left. */
  #isOver = false;

  constructor(
    cell: Recipient,
    type: string,
    payload: unknown,
    { credit = 16, timeout = Number.POSITIVE_INFINITY, signal, abandonedAfter }: StreamOptions,
    origin: Origin,
    patience = ABANDONED_AFTER,
  ) {
    const { dispatcher, validatesAlways } = cell.environment;
    this.cell = cell;
    this.#dispatcher = dispatcher;
    this.#schema = validatesAlways ? (cell.operation(type) ?? null) : null;
    this.type = type;
    this.payload = payload;
    this.origin = origin;
    this.credit = credit;
    this.#patience = abandonedAfter ?? patience;
    if (timeout !== Number.POSITIVE_INFINITY)
      this.#timer = new Timeout(timeout, () => this.#giveUp(deliveryError("timeout", this.#source(), timeout)));
    const deadline = deadlineIn(origin);
    if (signal === undefined && deadline === null) return;
    const giveUp = (error: AskError): void => this.#giveUp(error);
    this.#stopListening = untilOver(signal, deadline, cell.environment.timers, () => this.#source(), giveUp);
  }

  #source(): EnvelopeSource {
    return new EnvelopeSource(this, this.cell);
  }

  get isOpen(): boolean {
    return !this.#isClosed;
  }
  get isWaiting(): boolean {
    return this.#read !== null;
  }
  get isTold(): true {
    return true;
  }
  get canWait(): true {
    return true;
  }
  admitted(): void {}
  moveTo(cell: Recipient): void {
    this.cell = cell;
  }

  endWith(reason: EndReason): void {
    // Nobody may be left to read, and an unhandled rejection would end the process.
    this.#promise?.catch(() => undefined);
    this.#giveUp(this.ended(reason));
  }

  closeCircle(path: readonly Address[]): void {
    this.#giveUp(deliveryError("ask-cycle", this.#source(), path));
  }

  ended(reason: EndReason): AskError {
    return deliveryError("cancelled", this.#source(), reason);
  }

  // ——— The reader's end

  read(): Promise<Step> {
    if (this.items.size > 0) return this.#readItem();
    if (this.#isClosed) return this.#end();
    const promise = new Promise<Step>(capture);
    if (this.#read === null) {
      this.#read = captured;
      this.#promise = promise;
      if (this.waiter !== null) readerWaits(this, this.waiter);
      if (this.#timer !== null) this.cell.environment.timers.add(this.#timer);
    } else {
      this.#laterReads ??= new Queue();
      this.#laterReads.put({ read: captured, promise });
    }
    return promise;
  }

  #readItem(): Promise<Step> {
    const value = this.items.take();
    // Half of the credit at once: woken for each item, the producer and the reader would alternate.
    if (this.#wakeProducer !== null && this.items.size <= this.credit / 2) this.#goOn();
    return --this.#untilReadLook <= 0 && this.#isReadersTurnOver()
      ? this.#inNextTurn(value)
      : Promise.resolve({ value, done: false });
  }

  /** Takes at most `max` of the items that have come; none while an earlier read has no answer yet. */
  readReady(max: number): unknown[] {
    const items = this.#late > 0 ? [] : this.items.takeSome(max);
    if (items.length === 0) return items;
    if (this.#wakeProducer !== null && this.items.size <= this.credit / 2) this.#goOn();
    this.#untilReadLook = 1; // The next read looks: a whole row was taken at once.
    this.#dispatcher.spend(items.length);
    return items;
  }

  /** True when the turn is over after a read: a long row of items must not keep the event loop waiting. */
  #isReadersTurnOver(): boolean {
    const isOver = this.#dispatcher.spend(this.#readStride) || this.#late > 0;
    this.#readStride = this.#untilReadLook = strideBehind(this.#readStride, isOver);
    return isOver;
  }

  #inNextTurn(value: unknown): Promise<Step> {
    const promise = new Promise<Step>(capture);
    this.#resolveLater(captured, value);
    return promise;
  }

  /** A separate method: a closure over its callers' variables would cost them 10 ns an item. */
  #resolveLater(read: Read, value: unknown): false {
    this.#late++;
    this.#untilLook = this.#untilReadLook = 1;
    this.#nextTurn(() => {
      this.#late--;
      read(value === END ? heard(this.#tellEnd()) : { value, done: false });
    });
    return false;
  }

  #end(): Promise<Step> {
    return this.#late > 0 || this.#dispatcher.spend(1) ? this.#inNextTurn(END) : this.#tellEnd();
  }

  #tellEnd(): Promise<Step> {
    const isNews = !this.#isOver;
    this.#isOver = true;
    this.#endListening();
    return isNews && this.failure !== null ? Promise.reject(new StreamError(this.failure)) : Promise.resolve(DONE);
  }

  /** The reader wants no more. */
  leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancel(deliveryError("cancelled", this.#source(), LEFT));
  }

  #giveUp(error: AskError): void {
    if (this.#isOver) return;
    if (this.#isClosed) this.failure = error; // The producer's outcome was not read, and is not wanted any more.
    this.#cancel(error);
  }

  #cancel(error: AskError): void {
    this.items.clear();
    this.#endListening();
    if (this.#isClosed) return;
    this.#close(error);
    this.cell.abandon(this, error);
  }

  #endListening(): void {
    this.#stopListening?.();
    this.#stopListening = null;
  }

  // ——— The producer's end

  /** Gives an item to the waiting reader, or keeps it; false when the producer has to wait. */
  push(item: unknown): boolean {
    if (this.#isClosed) return false;
    const value = this.#schema === null ? item : checkedItem(this.#schema, item, true);
    const isTurnOver = --this.#untilLook <= 0 && this.#isTurnOver();
    const read = this.#read;
    if (read === null) {
      this.items.put(value);
      return !isTurnOver && this.items.size < this.credit;
    }
    this.#read = null;
    if (this.#laterReads !== null || this.#timer !== null) this.#nextRead();
    if (this.waiter?.isSeveral === true) lookForCircle(this.waiter);
    if (isTurnOver) return this.#resolveLater(read, value);
    read({ value, done: false });
    return true;
  }

  #nextRead(): void {
    const next = this.#laterReads?.take();
    this.#read = next?.read ?? null;
    this.#promise = next?.promise ?? null;
    if (this.#timer === null) return;
    const { timers } = this.cell.environment;
    timers.remove(this.#timer);
    if (this.#read !== null) timers.add(this.#timer);
  }

  /** Waits for credit, or for the event loop's turn. */
  rest(): Promise<void> | undefined {
    if (this.#isClosed) return undefined;
    return new Promise<void>((resolve) => {
      if (this.items.size >= this.credit) this.#park(resolve);
      else this.#nextTurn(resolve);
    });
  }

  /** Waits until half of the credit is free, and then until the end of the turn: a reader mostly reads on until then. */
  untilRoom(): Promise<void> | undefined {
    if (this.#isClosed) return undefined;
    return new Promise<void>((resolve) => {
      const atTurnsEnd = (): void => this.#nextTurn(resolve);
      if (this.items.size > this.credit / 2) this.#park(atTurnsEnd);
      else atTurnsEnd();
    });
  }

  /** Waits for the reader, but not for one that never comes back: it would occupy the actor for ever. */
  #park(wake: () => void): void {
    this.#wakeProducer = wake;
    if (this.waiter !== null) producerWaits(this, true);
    if (this.#patience === Number.POSITIVE_INFINITY) return;
    this.#watch ??= new ReaderWatch(
      this.#patience,
      this.cell.environment.clock,
      () => (this.#wakeProducer === null ? null : this.items.size),
      (reason) => this.#giveUp(deliveryError("cancelled", this.#source(), reason)),
    );
    this.#watch.begin();
  }

  /** True when the turn is over after an item. Checked for each item, it cost 7 ns an item. */
  #isTurnOver(): boolean {
    const isOver = this.#dispatcher.spend(this.#stride) || this.#late > 0;
    this.#stride = this.#untilLook = strideBehind(this.#stride, isOver);
    return isOver;
  }

  #nextTurn(callback: () => void): void {
    this.cell.environment.clock.macrotask(() => {
      this.#dispatcher.spend(0); // Begins the turn, so that the work on the next item is part of it.
      callback();
    });
  }

  #goOn(): void {
    const wake = this.#wakeProducer;
    this.#wakeProducer = null;
    if (wake === null) return;
    if (this.#watch !== null) this.#watch.hasRead = true;
    if (this.waiter !== null) producerWaits(this, false);
    if (!this.#isClosed && this.#dispatcher.spend(0)) this.#nextTurn(wake);
    else wake();
  }

  /** The producer has come to its end. */
  complete(): boolean {
    this.#close(null);
    return true; // The end of a stream is no reply that could be late.
  }

  fail(error: AskError): void {
    this.#close(error);
  }

  #close(failure: AskError | null): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.failure = failure;
    if (this.#timer !== null) this.cell.environment.timers.remove(this.#timer);
    this.#watch?.end();
    this.#goOn();
    for (let read = this.#read; read !== null; read = this.#laterReads?.take()?.read ?? null) read(heard(this.#end()));
    this.#read = this.#promise = null;
    waitEnds(this);
  }
}
