import { quote } from "../../message/address";
import type { AskError } from "../../message/delivery-error";
import { isThenable } from "../../runtime/thenable";

/**
 * The error that a loop over a stream throws: a delivery error as an Error, with its kind.
 *
 * @example
 * try {
 *   for await (const tick of clock.stream("ticks")) console.log(tick);
 * } catch (error) {
 *   if (error instanceof StreamError) console.log(error.kind); // such as "stopped"
 * }
 */
export class StreamError extends Error {
  override readonly name = "StreamError";
  /** Told apart as an ask's errors are. */
  readonly kind: AskError["kind"];
  /** The delivery error itself, with the message. */
  readonly error: AskError;

  constructor(error: AskError) {
    super(error.message, "cause" in error && error.cause !== undefined ? { cause: error.cause } : undefined);
    this.kind = error.kind;
    this.error = error;
  }
}

/** The result of one read. */
export type Step = IteratorResult<unknown, undefined>;
/** The result of a read at the end. */
export const DONE: Step = Object.freeze({ value: undefined, done: true });

/** Throws unless `max` can be the most items of one `ready(max)`. */
export function checkMost(max: number): void {
  if (max === Number.POSITIVE_INFINITY || (Number.isInteger(max) && max >= 1)) return;
  throw new RangeError(`ready(max) takes a whole number of items from 1, or Infinity; got ${quote(max)}.`);
}

/** Stands for the end, in place of an item. */
export const END: unique symbol = Symbol("the end of a stream");

/** Most items of one end between two checks of the turn. A turn fits some 8,000. */
const LONGEST_STRIDE = 32;
/** The number of items until the next check: one after a check that found the turn over, then more and more. */
export const strideBehind = (stride: number, isTurnOver: boolean): number =>
  isTurnOver ? 1 : Math.min(stride * 2, LONGEST_STRIDE);

export const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === "object" && value !== null && Symbol.asyncIterator in value;

export const isIterable = (value: unknown): value is Iterable<unknown> =>
  typeof value === "object" && value !== null && Symbol.iterator in value;

/** The producer's end of a stream. */
interface Channel {
  readonly isOpen: boolean;
  push(item: unknown): boolean;
  rest(): Promise<void> | undefined;
}

/** Iterates over a handler's result, as far ahead of the stream's reader as its credit goes. */
export async function produce(stream: Channel, result: unknown): Promise<void> {
  const items = await result;
  if (!stream.isOpen) return;
  // Loops of the language: they close the iterator on leaving. Over an asynchronous generator a loop costs 59 ns an
  // item, and calls of next() cost 79. A loop over a synchronous iterable awaits nothing.
  if (isAsyncIterable(items)) {
    for await (const item of items) {
      if (stream.push(item)) continue;
      await stream.rest();
      if (!stream.isOpen) return;
    }
  } else {
    if (!isIterable(items)) throw new TypeError(NOT_ITERABLE);
    for (const item of items) {
      const value = isThenable(item) ? await item : item; // As `for await` does.
      if (stream.push(value)) continue;
      await stream.rest();
      if (!stream.isOpen) return;
    }
  }
}

const NOT_ITERABLE = "The handler of a stream returns an iterable, as a generator does: async *ticks() { yield 1; }.";
