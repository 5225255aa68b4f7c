import { type AskError, deliveryError } from "../message/delivery-error";
import { Timeout } from "../runtime/timer-wheel";
import { onAbort } from "./abort";
import type { Cell } from "./cell";
import { checkedItem } from "./checking";
import { type Envelope, EnvelopeSource, type Origin } from "./envelope";
import type { Wait } from "./handling";

/** How a stream is read. */
export interface StreamOptions {
  /** How many items the producer may be ahead of the reader (P12), a whole number from 1. Default: 16. */
  readonly credit?: number;
  /** Longest wait for one item, in milliseconds. Default: `Infinity`. */
  readonly timeout?: number;
  /** Ends the stream when aborted: the loop throws a StreamError of the kind `cancelled`. Default: none. */
  readonly signal?: AbortSignal;
}

/**
 * Items from an actor, for `for await`; leaving the loop ends the producer. One that waits for something else at that time
 * ends once it has that, or at once where it heeds `ctx.signal`. Nothing is sent before the first read.
 */
export interface ActorStream<Item> extends AsyncIterableIterator<Item, undefined, undefined> {
  return(): Promise<IteratorResult<Item, undefined>>;
}

/** What a loop over a stream throws: a delivery error as an Error, with its kind. */
export class StreamError extends Error {
  override readonly name = "StreamError";
  /** Told apart as an ask's errors are. */
  readonly kind: AskError["kind"];
  /** The delivery error itself, with the message. */
  readonly error: AskError;

  constructor(error: AskError) {
    super(error.message, error.kind === "handler-failed" ? { cause: error.cause } : undefined);
    this.kind = error.kind;
    this.error = error;
  }
}

type Step = IteratorResult<unknown, undefined>;
const DONE: Step = { value: undefined, done: true };
/** Items between two looks at the turn's clock. */
const STRIDE = 32;

/** The envelope of a stream, and the channel between its two ends. */
export class PendingStream implements Envelope, Wait {
  next: Envelope | null = null;
  readonly pattern = "stream";
  readonly type: string;
  payload: unknown;
  origin: Origin;
  /** Why it ended before its producer did. */
  failure: AskError | null = null;
  /** Who has it: another one once it is forwarded. */
  cell: Cell;
  nextWait: Wait | null = null;
  readonly #credit: number;
  readonly #timer: Timeout | null;
  #stopListening: (() => void) | null = null;
  #items: unknown[] = [];
  #readers: { resolve: (step: Step) => void; reject: (thrown: unknown) => void }[] = [];
  #wakeProducer: (() => void) | null = null;
  #isClosed = false;
  #isFailureTold = false;

  constructor(
    cell: Cell,
    type: string,
    payload: unknown,
    { credit = 16, timeout = Number.POSITIVE_INFINITY, signal }: StreamOptions,
    origin: Origin,
  ) {
    this.cell = cell;
    this.type = type;
    this.payload = payload;
    this.origin = origin;
    this.#credit = credit;
    this.#timer =
      timeout === Number.POSITIVE_INFINITY
        ? null
        : new Timeout(timeout, () => this.#giveUp(deliveryError("timeout", this.#source(), timeout)));
    if (signal !== undefined) this.#listenTo(signal);
  }

  #source(): EnvelopeSource {
    return new EnvelopeSource(this, this.cell);
  }

  #listenTo(signal: AbortSignal): void {
    const cancel = (): void => this.#giveUp(deliveryError("cancelled", this.#source(), signal.reason));
    if (signal.aborted) cancel();
    else this.#stopListening = onAbort(signal, cancel);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }
  get isWaiting(): boolean {
    return !this.#isClosed;
  }
  get isTold(): true {
    return true;
  }
  get canWait(): true {
    return true;
  }
  admitted(): void {}
  moveTo(cell: Cell): void {
    this.cell = cell;
  }

  endWith(error: AskError): void {
    this.#giveUp(this.ended(error));
  }

  /** How it ends when the handler that reads it was given up. */
  ended(error: AskError): AskError {
    return deliveryError("cancelled", this.#source(), error);
  }

  // ——— The reader's end

  read(): Promise<Step> {
    if (this.#items.length > 0) {
      const value = this.#items.shift();
      this.#wakeProducer?.();
      return Promise.resolve({ value, done: false });
    }
    if (!this.#isClosed) {
      if (this.#timer !== null && this.#readers.length === 0) this.cell.environment.timers.add(this.#timer);
      return new Promise((resolve, reject) => this.#readers.push({ resolve, reject }));
    }
    if (this.failure === null || this.#isFailureTold) return Promise.resolve(DONE);
    this.#isFailureTold = true;
    return Promise.reject(new StreamError(this.failure));
  }

  /** The reader wants no more. */
  leave(): void {
    this.#isFailureTold = true;
    this.#giveUp(deliveryError("cancelled", this.#source(), "its reader left the stream"));
  }

  #giveUp(error: AskError): void {
    if (this.#isClosed) return;
    this.#items = [];
    this.#close(error);
    this.cell.abandonHandling(this, error);
  }

  // ——— The producer's end

  /** Iterates over what the handler returned, as far ahead of the reader as its credit goes. */
  async produce(result: unknown): Promise<void> {
    const { clock, dispatcher, validatesAlways } = this.cell.environment;
    const operation = this.cell.operation(this.type);
    const iterator = iteratorOf(await result);
    let isExhausted = false;
    let count = 0;
    try {
      while (!this.#isClosed) {
        if (this.#items.length >= this.#credit) {
          await new Promise<void>((resolve) => {
            this.#wakeProducer = resolve;
          });
          this.#wakeProducer = null;
          continue;
        }
        isExhausted = true; // An iterator that throws is not to be returned from.
        const step = await iterator.next();
        if (step.done === true) return;
        isExhausted = false;
        if (this.#isClosed) return;
        this.#push(checkedItem(operation, step.value, validatesAlways));
        if (++count % STRIDE === 0 && dispatcher.spend(STRIDE)) {
          await new Promise<void>((resolve) => clock.macrotask(resolve));
        }
      }
    } finally {
      if (!isExhausted) await iterator.return?.();
    }
  }

  #push(value: unknown): void {
    const reader = this.#readers.shift();
    if (reader === undefined) {
      this.#items.push(value);
      return;
    }
    if (this.#timer !== null) {
      this.cell.environment.timers.remove(this.#timer);
      if (this.#readers.length > 0) this.cell.environment.timers.add(this.#timer);
    }
    reader.resolve({ value, done: false });
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
    this.#stopListening?.();
    this.#wakeProducer?.();
    for (const reader of this.#readers) {
      if (failure === null || this.#isFailureTold) reader.resolve(DONE);
      else reader.reject(new StreamError(failure));
      this.#isFailureTold = true;
    }
    this.#readers = [];
  }
}

function iteratorOf(result: unknown): AsyncIterator<unknown> | Iterator<unknown> {
  if (typeof result === "object" && result !== null) {
    if (Symbol.asyncIterator in result) return (result as AsyncIterable<unknown>)[Symbol.asyncIterator]();
    if (Symbol.iterator in result) return (result as Iterable<unknown>)[Symbol.iterator]();
  }
  throw new TypeError("The handler of a stream returns an iterable, as a generator does: async *ticks() { yield 1; }.");
}

/** The iterator over a stream, which is opened at the first read. */
export class StreamReader implements ActorStream<unknown> {
  readonly #open: () => PendingStream;
  #stream: PendingStream | null = null;
  #isDone = false;

  constructor(open: () => PendingStream) {
    this.#open = open;
  }

  next(): Promise<Step> {
    if (this.#isDone) return Promise.resolve(DONE);
    try {
      this.#stream ??= this.#open();
    } catch (thrown) {
      this.#isDone = true;
      return Promise.reject(thrown);
    }
    return this.#stream.read();
  }

  return(): Promise<Step> {
    this.#isDone = true;
    this.#stream?.leave();
    return Promise.resolve(DONE);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

/** Refuses options that cannot be ones, before anything is sent. */
export function checkStreamOptions({ credit = 1, timeout = 1, signal }: StreamOptions): void {
  if (!Number.isInteger(credit) || credit < 1) {
    throw new RangeError(`The credit of a stream is a whole number of items from 1; got ${String(credit)}.`);
  }
  if (typeof timeout !== "number" || !(timeout > 0)) {
    throw new RangeError(
      `The timeout of a stream is a number of milliseconds above 0, or Infinity; got ${String(timeout)}.`,
    );
  }
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new TypeError("The signal of a stream is an AbortSignal, such as new AbortController().signal.");
  }
}
