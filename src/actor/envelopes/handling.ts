import type { AsyncLocalStorage } from "node:async_hooks";
import type { DeliveryError } from "../../message/delivery-error";
import { each, type Few, withOne, without } from "../../runtime/few";
import type { Timeout } from "../../runtime/timer-wheel";
import type { EndReason, Envelope, Recipient, Wait, Waiter } from "../contract";
import { BACKGROUND, Signal } from "./signal";

/** How many waits a handling remembers before it looks for those that have ended. */
const FIRST_SWEEP = 16;

/** Whether a wait is an envelope: it is the one that was sent. */
export const isOf = (wait: Wait, envelope: Envelope | Wait): boolean => wait === envelope;

/** Takes a wait out of its list, and returns the one behind it: one that is kept keeps no other one. */
function unlink(wait: Wait): Wait | null {
  const next = wait.nextWait;
  if (next !== null) wait.nextWait = null; // Most are the only one.
  return next;
}

interface Listener {
  readonly callback: () => void;
}

/** What only some handlings of a message need, made when it is needed. */
export class Handling implements Waiter {
  readonly cell: Recipient;
  readonly envelope: Envelope;
  controller: AbortController | null = null;
  /** In milliseconds of the system's clock, to the turn: when its handler began to wait; negative before. */
  since = -1;
  /** Tells when it takes long. */
  slowness: Timeout | null = null;
  /** The message comes to its end elsewhere. */
  passedOn: "stashed" | "forwarded" | null = null;
  /** Whether its handler has ended, or was abandoned: nothing can be waited for any more. */
  isOver = false;
  /** Whether it has had several waits at once, so that one that ends may leave it with those that cannot end. */
  isSeveral = false;
  /** Whether a look for a circle is due. */
  isLookDue = false;
  /** The reader that its stream waits for, while it is as far ahead as its credit goes. */
  parkedFor: Waiter | null = null;
  #waits: Wait | null = null;
  /** How many waits the list may hold, those that have ended included, until the next sweep. */
  #untilSweep = FIRST_SWEEP;
  #hasLostWait = false;
  #isListened = false;
  #listeners: Few<Listener> = null;

  constructor(cell: Recipient, envelope: Envelope) {
    this.cell = cell;
    this.envelope = envelope;
  }

  /** Remembers what it waits for. */
  add(wait: Wait): void {
    const next = this.firstOpen();
    wait.waiter = this;
    this.#waits = wait;
    if (next === null) return;
    wait.nextWait = next;
    this.isSeveral = true;
    if (--this.#untilSweep <= 0) this.#sweep();
  }

  /** What has ended is dropped on the way. */
  firstOpen(): Wait | null {
    while (this.#waits !== null && !this.#waits.isOpen) this.#waits = unlink(this.#waits);
    return this.#waits;
  }

  /** Drops what has ended behind what has not: a handler may run for long, and always wait for something. */
  #sweep(): void {
    let open = 0;
    for (let last = this.firstOpen(); last !== null; last = last.nextWait) {
      open++;
      while (last.nextWait !== null && !last.nextWait.isOpen) last.nextWait = unlink(last.nextWait);
    }
    this.#untilSweep = Math.max(FIRST_SWEEP, open);
  }

  /** Whether it stands for what its actor asks and reads beside its messages. */
  get isBackground(): boolean {
    return this.envelope instanceof Signal && this.envelope.type === BACKGROUND;
  }

  /** Whether it waits for anything. */
  get isWaiting(): boolean {
    if (this.parkedFor !== null) return true;
    for (let wait = this.firstOpen(); wait !== null; wait = wait.nextWait) if (wait.isWaiting) return true;
    return false;
  }

  /** What it waits for now. */
  *waits(): Iterable<Wait> {
    for (let wait = this.firstOpen(); wait !== null; wait = wait.nextWait) if (wait.isWaiting) yield wait;
  }

  /** Its handler has ended, or was abandoned: so does all that it asks and reads (P7). */
  end(reason: EndReason): void {
    this.isOver = true;
    this.#endWaits(reason);
    this.controller = null;
    this.#listeners = null;
  }

  #endWaits(reason: EndReason): boolean {
    let hasEnded = false;
    let wait = this.firstOpen();
    this.#waits = null;
    for (let next = wait; wait !== null; wait = next) {
      next = unlink(wait);
      if (!wait.isOpen) continue;
      hasEnded = true;
      wait.endWith(reason);
    }
    return hasEnded;
  }

  /** Whether its handler could know that its sender gave up: it has read its signal, or lost what it waited for. */
  get isToldOfEnd(): boolean {
    return this.controller !== null || this.#isListened || this.#hasLostWait;
  }

  /** Calls back once when it is aborted, at once where it is already; what it returns ends that. */
  onAbort(callback: () => void, isAborted: boolean): () => void {
    this.#isListened = true;
    const listener = { callback };
    if (isAborted) this.cell.environment.enter(callback);
    else this.#listeners = withOne(this.#listeners, listener);
    return () => this.#forget(listener);
  }

  #forget(listener: Listener): void {
    this.#listeners = without(this.#listeners, listener);
  }

  /** Tells its handler that nobody waits for it any more (P7). */
  abort(reason: unknown): void {
    if (this.controller === null && this.#listeners === null) return;
    // Not in the context of whoever gave up, or of what set the timer (P16).
    this.cell.environment.enter(() => {
      this.controller?.abort(reason);
      each(this.#listeners, (listener) => this.#call(listener));
    });
  }

  #call(listener: Listener): void {
    this.#forget(listener);
    try {
      listener.callback();
    } catch (thrown) {
      // As of a listener of a signal: told as uncaught, and the others are called.
      this.cell.environment.clock.macrotask(() => {
        throw thrown;
      });
    }
  }

  /** What it asked for came back at once, because its sender had given up. */
  lostWait(): void {
    this.#hasLostWait = true;
  }

  /** Its sender gave up (P7). */
  abandon(error: DeliveryError): void {
    if (this.#endWaits(error)) this.#hasLostWait = true;
    this.abort(error);
  }
}

type Presence = AsyncLocalStorage<Handling>;
let presence: Presence | undefined;

/** One for all actors, loaded for the first one that needs it: it takes 1.5 ms. */
function sharedPresence(): Presence {
  presence ??= new (process.getBuiltinModule("node:async_hooks").AsyncLocalStorage)();
  return presence;
}

/** The handlings of an actor that handles several messages at once. */
export class Concurrency {
  readonly limit: number;
  readonly running = new Set<Handling>();
  /** Tells the handler that asks, of several, which message is its own; 15 ns, which an actor with one at a time need not pay. */
  readonly #presence = sharedPresence();

  constructor(limit: number) {
    this.limit = limit;
  }

  get isFull(): boolean {
    return this.running.size >= this.limit;
  }

  /** The handling of this actor that the running code belongs to. */
  get present(): Handling | null {
    const handling = this.#presence.getStore();
    return handling !== undefined && this.running.has(handling) ? handling : null;
  }

  /** The handling of an envelope: the one that has it now, where it came back to the actor that passed it on. */
  of(envelope: Envelope): Handling | null {
    let found: Handling | null = null;
    for (const handling of this.running) {
      if (handling.envelope === envelope && (found === null || handling.passedOn === null)) found = handling;
    }
    return found;
  }

  /** Runs a handler as that of a handling. */
  run<Result>(handling: Handling, handler: () => Result): Result {
    return this.#presence.run(handling, handler);
  }
}
