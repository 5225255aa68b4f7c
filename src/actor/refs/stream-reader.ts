import type { Settling } from "../../runtime/settling";
import type { PendingStream } from "../envelopes/stream";
import { checkMost, DONE, type Step } from "../envelopes/stream-step";

/**
 * Items from an actor, for `for await`. Leaving the loop ends the producer: once its present wait is over, or at once
 * if it heeds `ctx.signal`. Nothing is sent before the first read.
 *
 * Its prototype is the language's own for asynchronous iterators: `map`, `take` and the like are there once the runtime
 * has them (Bun 1.4 does not). Until then a generator does the same, and passes the end on in both directions.
 *
 * @example
 * async function* take<T>(items: AsyncIterable<T>, count: number) {
 *   if (count > 0) for await (const item of items) {
 *     yield item;
 *     if (--count === 0) return;
 *   }
 * }
 * for await (const tick of take(counter.stream("ticks", 1_000), 3)) console.log(tick);
 */
export interface ActorStream<Item> extends AsyncIteratorObject<Item, undefined, undefined> {
  /** Reads may be called ahead: each gets its own item, in order. */
  next(): Promise<IteratorResult<Item, undefined>>;
  /**
   * Takes the items that have come already, in order, without a promise for each: for a door that writes many items at
   * once. Gives at most `max` items (a whole number from 1; default: all), and an empty array if none has come. It never
   * waits, so the end of the stream, or its error, comes out of the `next()` that follows the last item. It gives none
   * while an earlier `next()` waits: no item overtakes another. The taken items are credit for the producer at once
   * (P12). If nothing was read before, it begins the stream, as `next()` does, and gives an empty array.
   *
   * @throws RangeError when `max` is neither a whole number from 1 nor Infinity.
   * @example
   * for (let step = await lines.next(); step.done !== true; step = await lines.next()) {
   *   socket.write([step.value, ...lines.ready(99)].join("\n"));
   * }
   */
  ready(max?: number): Item[];
  /** Leaves the stream, as `break` and `await using` do; pending reads come to the end. */
  return(): Promise<IteratorResult<Item, undefined>>;
  /** Leaves the stream, and rejects with the given value. */
  throw(thrown: unknown): Promise<IteratorResult<Item, undefined>>;
  [Symbol.asyncIterator](): this;
}

/** The iterator over a stream, which is opened at the first read, unless it is open already. */
export class StreamReader implements ActorStream<unknown> {
  // From the language's prototype of asynchronous iterators, below.
  declare readonly [Symbol.asyncIterator]: () => this;
  declare readonly [Symbol.asyncDispose]: () => Promise<void>;
  readonly #settling: Settling;
  #open: () => PendingStream;
  #stream: PendingStream | null;
  #isLeft = false;

  constructor(settling: Settling, open: () => PendingStream, opened: PendingStream | null = null) {
    this.#settling = settling;
    this.#open = open;
    this.#stream = opened;
  }

  next(): Promise<Step> {
    if (this.#stream !== null) return this.#stream.read();
    if (this.#isLeft) return this.#settling.resolved(DONE);
    try {
      this.#stream = this.#open();
    } catch (thrown) {
      this.#isLeft = true;
      return this.#settling.rejected(thrown);
    }
    return this.#stream.read();
  }

  ready(max = Number.POSITIVE_INFINITY): unknown[] {
    checkMost(max);
    if (this.#isLeft) return [];
    if (this.#stream !== null) return this.#stream.readReady(max);
    try {
      this.#stream = this.#open();
    } catch (thrown) {
      this.#open = () => {
        throw thrown; // The next read rejects with it.
      };
    }
    return []; // A transport may have answered already; who only begins the stream loses no item.
  }

  return(): Promise<Step> {
    this.#leave();
    return this.#settling.resolved(DONE);
  }

  throw(thrown: unknown): Promise<Step> {
    this.#leave();
    return this.#settling.rejected(thrown);
  }

  #leave(): void {
    this.#isLeft = true;
    this.#stream?.leave();
  }
}

const ofGenerators: object = Object.getPrototypeOf(async function* () {}.prototype);
/** The language's prototype of asynchronous iterators. */
export const asyncIteratorPrototype: object = Object.getPrototypeOf(ofGenerators);
Object.setPrototypeOf(StreamReader.prototype, asyncIteratorPrototype);
