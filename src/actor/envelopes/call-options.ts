import { quote } from "../../message/address";
import type { Metadata } from "../../message/message";
import { option } from "../../message/option";
import { sentenceOf } from "../../message/sentence-of";

// The options of a tell, an ask, an offer and a stream.

/** The metadata and the deadline beside the payload of a message. */
export interface TellOptions {
  /**
   * Data for the handler beside the payload, such as a trace context: its `ctx.metadata`. A plain object, which is copied at the
   * call; the values in it are not. Default: none, and in a handler what `inheritedMetadata` names of the message that it
   * handles. A key that is set to `undefined` is not inherited.
   */
  readonly metadata?: Metadata;
  /**
   * The milliseconds, from the call on, after which the message is not handled any more. It then becomes a dead letter with the
   * reason `timeout`, when its turn comes; a handler that has begun is not ended. The handler sees what is left of it as
   * `ctx.deadline`, and nothing that it sends through `ctx` is handled later. Default: `Infinity`, and in a handler that of the
   * message that it handles.
   */
  readonly deadline?: number;
}

/** The progress of an ask, as its handler said by `ctx.progress`. */
export interface Progress {
  /** The amount that is done so far, in the handler's own unit. */
  readonly done: number;
  /** The amount that is to be done in all, in the same unit. Left out when the handler did not say. */
  readonly total?: number;
  /** The present work of the handler, in words. Left out when the handler did not say. */
  readonly note?: string;
}

/** The limits of the wait for a reply. */
export interface AskOptions {
  /** In milliseconds; `Infinity` waits for ever. Default: the system's `askTimeout`, 5,000. */
  readonly timeout?: number;
  /** Gives up when aborted: the ask comes back `cancelled`, and the handler's own signal is aborted. Default: none. */
  readonly signal?: AbortSignal;
  /**
   * Called at once with a function that gives the ask up, for a reason, as an aborted signal does; it does nothing once the ask has settled.
   * For code that sends many asks and cancels few, such as a door: a signal costs an ask more than a microsecond. Default: none.
   */
  readonly canceller?: (cancel: (reason?: unknown) => void) => void;
  /**
   * Data for the handler beside the payload, such as a trace context: its `ctx.metadata`. A plain object, which is copied at the
   * call; the values in it are not. Default: none, and in a handler what `inheritedMetadata` names of the message that it
   * handles. A key that is set to `undefined` is not inherited.
   */
  readonly metadata?: Metadata;
  /**
   * Called while the ask waits, after its handler has said by `ctx.progress` how far it is: once in a turn of the event loop
   * at most, with what was said last. Never called once the ask has settled. If it throws, that is logged. Default: none.
   */
  readonly onProgress?: (progress: Progress) => void;
}

/** The limits of the wait for room in a mailbox, and what travels beside the payload. */
export interface OfferOptions extends TellOptions {
  /**
   * The longest wait for room, in milliseconds, but never longer than the `deadline`; `Infinity` waits for ever. Default: the
   * system's `askTimeout`, 5,000.
   */
  readonly timeout?: number;
  /** Gives up when aborted: the offer comes back `cancelled`. Default: none. */
  readonly signal?: AbortSignal;
  /**
   * Called where the message has to wait for room, with a function that gives the offer up, for a reason, as an aborted signal does; it does
   * nothing once the offer has settled. A signal costs an offer 3 microseconds, and this costs one that finds room nothing. Default: none.
   */
  readonly canceller?: (cancel: (reason?: unknown) => void) => void;
}

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

const { count: COUNT, duration: DURATION } = option;
const SIGNAL = option.rule(
  "is an AbortSignal, such as new AbortController().signal",
  (value) => value instanceof AbortSignal,
);
const CANCELLER = option.function(", such as (cancel) => { giveUp = cancel; }");
const PROGRESS = option.function(", such as ({ done, total }) => show(done, total)");

// Each option is looked at by itself: a loop over their names would cost an ask with a timeout a third more.

/** Throws on invalid options, before anything is sent. */
export function checkTellOptions(options: TellOptions, what = "a tell"): void {
  try {
    checkObject(options, what, '{ metadata: { user: "Ada" } }');
    const { metadata, deadline } = options;
    if (metadata !== undefined) checkMetadata(metadata, what);
    if (deadline !== undefined) DURATION(deadline, "deadline", what);
  } catch (thrown) {
    throw unreadable(thrown, what);
  }
}

/** Throws on invalid options, before anything is sent. */
export function checkAskOptions(options: AskOptions, what = "an ask"): void {
  try {
    checkObject(options, what, "{ timeout: 500 }");
    const { timeout, signal, metadata, onProgress, canceller } = options;
    if (metadata !== undefined) checkMetadata(metadata, what);
    if (signal !== undefined) SIGNAL(signal, "signal", what);
    if (canceller !== undefined) CANCELLER(canceller, "canceller", what);
    if (onProgress !== undefined) PROGRESS(onProgress, "onProgress", what);
    if (timeout !== undefined) DURATION(timeout, "timeout", what);
  } catch (thrown) {
    throw unreadable(thrown, what);
  }
}

/** Throws on invalid options, before anything is sent. */
export function checkOfferOptions(options: OfferOptions): void {
  checkAskOptions(options, "an offer");
  checkTellOptions(options, "an offer");
}

/** Throws on invalid options, before anything is sent. */
export function checkStreamOptions(options: StreamOptions): void {
  try {
    checkObject(options, "a stream", "{ credit: 4 }");
    const { credit, timeout, abandonedAfter, signal } = options;
    if (credit !== undefined) COUNT(credit, "credit", "a stream");
    if (timeout !== undefined) DURATION(timeout, "timeout", "a stream");
    if (abandonedAfter !== undefined) DURATION(abandonedAfter, "abandonedAfter", "a stream");
    if (signal !== undefined) SIGNAL(signal, "signal", "a stream");
  } catch (thrown) {
    throw unreadable(thrown, "a stream");
  }
  checkTellOptions(options, "a stream");
}

/** The error for options that a getter or a proxy refuses to give; that of a check stays as it is. */
export function unreadable(thrown: unknown, what: string): unknown {
  if (thrown instanceof TypeError || thrown instanceof RangeError) return thrown;
  return new TypeError(`The options of ${what} cannot be read: ${sentenceOf(thrown)}`, { cause: thrown });
}

function checkObject(options: object, what: string, example: string): void {
  if (typeof options === "object" && options !== null) return;
  throw new TypeError(
    `The options of ${what} are an object, such as ${example}; got ${quote(options)}. An operation without a ` +
      "payload takes its options in the place of the payload.",
  );
}

/** Throws unless it is a plain object of data. */
export function checkMetadata(metadata: unknown, what: string): void {
  if (!isPlain(metadata)) {
    throw new TypeError(
      `The metadata of ${what} is a plain object of data, such as { user: "Ada" }; got ${quote(metadata)}.`,
    );
  }
  for (const key of Object.keys(metadata)) {
    const kind = typeof metadata[key];
    if (kind !== "function" && kind !== "symbol") continue;
    throw new TypeError(`The metadata of ${what} is data; ${quote(key)} in it is a ${kind}: send what it stands for.`);
  }
}

/** True for an object that a literal or JSON.parse made, also in another realm. */
function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
