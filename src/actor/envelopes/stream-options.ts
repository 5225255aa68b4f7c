import { quote } from "../../message/address";
import { checkBeside, type TellOptions } from "./tell-options";

/** In milliseconds: long, because a reader may ask a model, or a person, about each item. */
export const ABANDONED_AFTER = 300_000;

/** The options of a stream's reader, and what travels beside its payload. The whole stream ends at its `deadline`. */
export interface StreamOptions extends TellOptions {
  /** The number of items that the producer may be ahead of the reader (P12), a whole number from 1. Default: 16. */
  readonly credit?: number;
  /** Longest wait for one item, in milliseconds. Default: `Infinity`. */
  readonly timeout?: number;
  /**
   * The time after which an idle reader counts as gone, in milliseconds, or `Infinity`. It begins when the producer is
   * `credit` items ahead and waits; each read begins it anew. Then the producer is ended and its actor is free, at most
   * a quarter of the time late. A reader that comes back later gets a StreamError of the kind `cancelled`. Set it
   * higher for a reader that works longer on one item. Default: 300,000 (5 minutes); `Infinity` for `ctx.stream` in a
   * handler, whose end ends it.
   */
  readonly abandonedAfter?: number;
  /** Ends the stream when aborted: the loop throws a StreamError of the kind `cancelled`. Default: none. */
  readonly signal?: AbortSignal;
}

/** Throws on invalid options, before anything is sent. */
export function checkStreamOptions(options: StreamOptions): void {
  if (typeof options !== "object") {
    throw new TypeError(
      `The options of a stream are an object, such as { credit: 4 }; got ${quote(options)}. An operation without a ` +
        "payload takes its options in the place of the payload.",
    );
  }
  const { credit = 1, timeout = 1, abandonedAfter = 1, signal } = options;
  if (!Number.isInteger(credit) || credit < 1) {
    throw new RangeError(`The credit of a stream is a whole number of items from 1; got ${quote(credit)}.`);
  }
  if (typeof timeout !== "number" || !(timeout > 0)) {
    throw new RangeError(
      `The timeout of a stream is a number of milliseconds above 0, or Infinity; got ${quote(timeout)}.`,
    );
  }
  if (typeof abandonedAfter !== "number" || !(abandonedAfter > 0)) {
    throw new RangeError(
      `The abandonedAfter of a stream is a number of milliseconds above 0, or Infinity; got ${quote(abandonedAfter)}.`,
    );
  }
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new TypeError("The signal of a stream is an AbortSignal, such as new AbortController().signal.");
  }
  checkBeside(options, "a stream");
}
