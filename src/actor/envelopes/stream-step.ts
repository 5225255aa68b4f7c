import { quote } from "../../message/address";
import type { AskError } from "../../message/delivery-error";

/** The error that a loop over a stream throws: a delivery error as an Error, with its kind. */
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

/** The items of a handler's result. Throws when it has none. */
export function asIterable(value: unknown): Iterable<unknown> {
  if (isIterable(value)) return value;
  throw new TypeError("The handler of a stream returns an iterable, as a generator does: async *ticks() { yield 1; }.");
}
