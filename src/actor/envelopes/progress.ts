import { quote } from "../../message/address";
import { sentenceOf } from "../../message/sentence-of";
import { hearRejection } from "../../runtime/thenable";
import type { Envelope, ProgressListener, Wait } from "../contract";
import type { Progress } from "./call-options";
import { type Handling, within } from "./handling";
import { isSent, sentAs } from "./origin";

/** True for finite numbers, and a note that is a text. */
export const isProgress = (done: unknown, total: unknown, note: unknown): boolean =>
  Number.isFinite(done) &&
  (total === undefined || Number.isFinite(total)) &&
  (note === undefined || typeof note === "string");

/**
 * Throws for a progress that says nothing, whether anybody listens or not.
 *
 * @throws TypeError when a number is not finite, or the note is no text.
 * @example
 * checkProgress(3, 10, "pages"); // returns
 * checkProgress(Number.NaN, undefined, undefined); // throws
 */
export function checkProgress(done: unknown, total: unknown, note: unknown): void {
  if (isProgress(done, total, note)) return;
  if (isProgress(done, total, undefined)) {
    throw new TypeError(`The note of ctx.progress() is a text; got ${quote(note)}.`);
  }
  throw new TypeError(
    `ctx.progress() takes finite numbers, such as ctx.progress(3, 10); got ${quote(done)} and ${quote(total)}.`,
  );
}

/** Tells the asker of an envelope, if it listens and still waits. */
export function tellProgress(envelope: Envelope, done: number, total?: number, note?: string): void {
  progressOf(envelope)?.hear(done, total, note);
}

/** The listener for the progress of an envelope; null for most. */
export const progressOf = ({ origin }: Envelope): ProgressListener | null => (isSent(origin) ? origin.progress : null);

type Callback = (progress: Progress) => unknown;

/**
 * Lets a callback hear the progress of an ask that is about to be sent. The last one is kept until the event loop has had
 * its turn: however often a handler says how far it is, its asker hears of it once a turn.
 */
export function listen(ask: Envelope & Wait, callback: Callback, asker: Handling | null): void {
  const { clock, settling, enter, logger, logLimit } = ask.cell.environment; // Of the actor that was asked first.
  let last: Progress | null = null;
  const call = (progress: Progress): unknown =>
    asker === null ? callback(progress) : within(asker, () => callback(progress));
  const log = (cause: unknown): void => {
    const { address } = ask.cell;
    if (!logLimit.admit()) return;
    const what = `the onProgress of an ask, ${quote(ask.type)} to ${address}`;
    logger.error(`${what}, threw: ${sentenceOf(cause)}`, { address, cause });
  };
  const tell = (): void => {
    const progress = last;
    last = null;
    if (progress === null || !ask.isWaiting) return; // Nothing is told after the reply.
    try {
      hearRejection(enter(call, progress), log);
    } catch (thrown) {
      log(thrown);
    }
  };
  const hear = (done: number, total?: number, note?: string): void => {
    if (!ask.isWaiting) return;
    // Spent from the turn (P5), because many asks may have been told at once.
    if (last === null) clock.macrotask(() => settling.settle(tell, undefined));
    last = { done, ...(total !== undefined && { total }), ...(note !== undefined && { note }) };
  };
  ask.origin = sentAs(ask.origin, { progress: { hear } });
}
