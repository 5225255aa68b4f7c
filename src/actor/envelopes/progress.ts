import { quote } from "../../message/address";
import { sentenceOf } from "../../message/sentence-of";
import { hearRejection } from "../../runtime/thenable";
import type { Envelope, Environment, ProgressListener, Wait } from "../contract";
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

/** Lets a callback hear the progress of an ask that is about to be sent. */
export function listen(ask: Envelope & Wait, callback: Callback, asker: Handling | null): void {
  ask.origin = sentAs(ask.origin, { progress: new Listener(ask, callback, asker) });
}

/**
 * Keeps the last progress until the event loop has had its turn, and tells it then: however often a handler says how far it
 * is, its asker hears of it once a turn.
 */
class Listener implements ProgressListener {
  readonly #ask: Envelope & Wait;
  readonly #callback: Callback;
  readonly #asker: Handling | null;
  /** That of the actor that was asked first. */
  readonly #environment: Environment;
  #done = 0;
  #total: number | undefined;
  #note: string | undefined;
  #isDue = false;

  constructor(ask: Envelope & Wait, callback: Callback, asker: Handling | null) {
    this.#ask = ask;
    this.#callback = callback;
    this.#asker = asker;
    this.#environment = ask.cell.environment;
  }

  hear(done: number, total?: number, note?: string): void {
    if (!this.#ask.isWaiting) return;
    this.#done = done;
    this.#total = total;
    this.#note = note;
    if (this.#isDue) return;
    this.#isDue = true;
    const { clock, settling } = this.#environment;
    // Spent from the turn (P5), because many asks may have been told at once.
    clock.macrotask(() => settling.settle(this.#tell, undefined));
  }

  readonly #tell = (): void => {
    this.#isDue = false;
    if (!this.#ask.isWaiting) return; // Nothing is told after the reply.
    const [total, note] = [this.#total, this.#note];
    const progress: Progress = {
      done: this.#done,
      ...(total !== undefined && { total }),
      ...(note !== undefined && { note }),
    };
    try {
      hearRejection(this.#call(progress), this.#log);
    } catch (thrown) {
      this.#log(thrown);
    }
  };

  #call(progress: Progress): unknown {
    const { enter } = this.#environment;
    const asker = this.#asker;
    return asker === null
      ? enter(this.#callback, progress)
      : enter(() => within(asker, () => this.#callback(progress)));
  }

  readonly #log = (cause: unknown): void => {
    const { logger, logLimit } = this.#environment;
    const { address } = this.#ask.cell;
    if (logLimit.admit()) {
      const what = `the onProgress of an ask, ${quote(this.#ask.type)} to ${address}`;
      logger.error(`${what}, threw: ${sentenceOf(cause)}`, { address, cause });
    }
  };
}
