import type { AskError } from "../../message/delivery-error";

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

/** What one read gives. */
export type Step = IteratorResult<unknown, undefined>;
/** What a read gives at the end. */
export const DONE: Step = Object.freeze({ value: undefined, done: true });

/** In place of an item: that it is over. */
export const END: unique symbol = Symbol("the end of a stream");

/** Most items of one end between two looks at the turn. Some 8,000 fit into one. */
const LONGEST_STRIDE = 32;
/** How many go by until the next look: few behind one that showed that the turn is over, then more and more. */
export const strideBehind = (stride: number, isTurnOver: boolean): number =>
  isTurnOver ? 1 : Math.min(stride * 2, LONGEST_STRIDE);

export const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === "object" && value !== null && Symbol.asyncIterator in value;

export const isIterable = (value: unknown): value is Iterable<unknown> =>
  typeof value === "object" && value !== null && Symbol.iterator in value;
