import type { AsyncLocalStorage } from "node:async_hooks";
import type { DeliveryError } from "../message/delivery-error";
import { each, type Few, withOne, without } from "../runtime/few";
import type { Timeout } from "../runtime/timer-wheel";
import type { Cell } from "./cell";
import type { Envelope } from "./envelope";

/** Something that a handler waits for at another actor: an ask, or a stream. */
export interface Wait {
  /** Who has the message now. */
  readonly cell: Cell;
  readonly isWaiting: boolean;
  /** The link of the list of its handling. */
  nextWait: Wait | null;
  /** The handler that waits was given up: nothing that it waits for outlives that. */
  endWith(error: DeliveryError): void;
}

/** Whether a wait is an envelope: it is the one that was sent. */
export const isOf = (wait: Wait, envelope: Envelope | Wait): boolean => wait === envelope;

interface Listener {
  readonly callback: () => void;
}

/** What only some handlings of a message need, made when it is needed. */
export class Handling {
  readonly cell: Cell;
  readonly envelope: Envelope;
  controller: AbortController | null = null;
  /** In milliseconds of the system's clock, to the turn: when its handler began to wait; negative before. */
  since = -1;
  /** Tells when it takes long. */
  slowness: Timeout | null = null;
  /** The message comes to its end elsewhere. */
  passedOn: "stashed" | "forwarded" | null = null;
  #waits: Wait | null = null;
  #hasLostWait = false;
  #isListened = false;
  #listeners: Few<Listener> = null;

  constructor(cell: Cell, envelope: Envelope) {
    this.cell = cell;
    this.envelope = envelope;
  }

  /** Remembers what it waits for; what is settled is dropped from the list on the way. */
  add(wait: Wait): void {
    wait.nextWait = this.#firstWait();
    this.#waits = wait;
  }

  #firstWait(): Wait | null {
    while (this.#waits !== null && !this.#waits.isWaiting) this.#waits = this.#waits.nextWait;
    return this.#waits;
  }

  /** What it waits for now. */
  *waits(): Iterable<Wait> {
    for (let wait = this.#firstWait(); wait !== null; wait = wait.nextWait) if (wait.isWaiting) yield wait;
  }

  /** Whether its handler could know that its sender gave up: it has read its signal, or lost what it waited for. */
  get isToldOfEnd(): boolean {
    return this.controller !== null || this.#isListened || this.#hasLostWait;
  }

  /** Calls back once when it is aborted, at once where it is already; what it returns ends that. */
  onAbort(callback: () => void, isAborted: boolean): () => void {
    this.#isListened = true;
    const listener = { callback };
    if (isAborted) callback();
    else this.#listeners = withOne(this.#listeners, listener);
    return () => this.#forget(listener);
  }

  #forget(listener: Listener): void {
    this.#listeners = without(this.#listeners, listener);
  }

  /** Tells its handler that nobody waits for it any more (P7). */
  abort(reason: unknown): void {
    this.controller?.abort(reason);
    each(this.#listeners, (listener) => this.#call(listener));
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
    for (const wait of [...this.waits()]) {
      this.#hasLostWait = true;
      wait.endWith(error);
    }
    this.abort(error);
  }
}

type Presence = AsyncLocalStorage<Handling | null>;
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
    return handling !== undefined && handling !== null && this.running.has(handling) ? handling : null;
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

  /** Runs what is no message as that of none, whoever it was set off by. */
  runSignal<Result>(callback: () => Result): Result {
    return this.#presence.run(null, callback);
  }
}
