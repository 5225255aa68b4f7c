import type { AsyncLocalStorage } from "node:async_hooks";
import type { DeliveryError } from "../../message/delivery-error";
import { each, type Few, withOne, without } from "../../runtime/few";
import type { Timeout } from "../../runtime/timer-wheel";
import type { EndReason, Envelope, Recipient, Wait, Waiter } from "../contract";
import type { Ending } from "../observers";
import { BACKGROUND, Signal } from "./signal";

/** A handling remembers this many waits before it drops the ended ones. */
const FIRST_SWEEP = 16;

/** Removes a wait from its list and returns the next one. The link is cleared, so a kept wait keeps no others. */
function unlink(wait: Wait): Wait | null {
  const next = wait.nextWait;
  if (next !== null) wait.nextWait = null; // Most waits are the only one.
  return next;
}

interface Listener {
  readonly callback: () => void;
}

/** State that only some messages' handlings need, made on demand. */
export class Handling implements Waiter {
  readonly cell: Recipient;
  readonly envelope: Envelope;
  controller: AbortController | null = null;
  /** The time when its handler began to wait, in milliseconds of the system's clock, to the turn; negative before. */
  since = -1;
  /** The timer that reports a slow handler. */
  slowness: Timeout | null = null;
  /** Set when another handling will end the message. */
  passedOn: "stashed" | "forwarded" | null = null;
  /** True once its handler has ended or was abandoned: it can wait for nothing any more. */
  isOver = false;
  /** True once it has had several waits at once. When one of them ends, the others may be stuck. */
  isSeveral = false;
  /** True while a search for a circle is due. */
  isLookDue = false;
  /** The reader that its stream waits for, while the stream has no credit left. */
  parkedFor: Waiter | null = null;
  /** Learns how it ends, where the system has observers or metrics. */
  observation: Ending | null = null;
  #waits: Wait | null = null;
  /** The number of waits the list may take, ended ones included, until the next sweep. */
  #untilSweep = FIRST_SWEEP;
  #hasLostWait = false;
  #isListened = false;
  #listeners: Few<Listener> = null;

  constructor(cell: Recipient, envelope: Envelope) {
    this.cell = cell;
    this.envelope = envelope;
  }

  /** Remembers a wait. */
  add(wait: Wait): void {
    const next = this.firstOpen();
    wait.waiter = this;
    this.#waits = wait;
    if (next === null) return;
    wait.nextWait = next;
    this.isSeveral = true;
    if (--this.#untilSweep <= 0) this.#sweep();
  }

  /** Drops ended waits on the way. */
  firstOpen(): Wait | null {
    while (this.#waits !== null && !this.#waits.isOpen) this.#waits = unlink(this.#waits);
    return this.#waits;
  }

  /** Drops ended waits behind open ones: a handler may run for long, and always wait for something. */
  #sweep(): void {
    let open = 0;
    for (let last = this.firstOpen(); last !== null; last = last.nextWait) {
      open++;
      while (last.nextWait !== null && !last.nextWait.isOpen) last.nextWait = unlink(last.nextWait);
    }
    this.#untilSweep = Math.max(FIRST_SWEEP, open);
  }

  /** True for the handling that holds its actor's asks and reads outside of messages. */
  get isBackground(): boolean {
    return this.envelope instanceof Signal && this.envelope.type === BACKGROUND;
  }

  /** True while it waits for anything. */
  get isWaiting(): boolean {
    if (this.parkedFor !== null) return true;
    for (let wait = this.firstOpen(); wait !== null; wait = wait.nextWait) if (wait.isWaiting) return true;
    return false;
  }

  /** The present waits. */
  *waits(): Iterable<Wait> {
    for (let wait = this.firstOpen(); wait !== null; wait = wait.nextWait) if (wait.isWaiting) yield wait;
  }

  /** Its handler has ended or was abandoned: all its asks and reads end too (P7). */
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
      wait.endWith(reason);
      if (!wait.isOpen) hasEnded = true;
    }
    return hasEnded;
  }

  /** True when its handler could know that its sender gave up: it read its signal, or lost a wait. */
  get isToldOfEnd(): boolean {
    return this.controller !== null || this.#isListened || this.#hasLostWait;
  }

  /** Calls back once when it is aborted, or at once if it already is. The returned function ends that. */
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
    const tell = (): void => {
      this.controller?.abort(reason);
      each(this.#listeners, (listener) => this.#call(listener));
    };
    // Not in the context of the sender that gave up, or of the timer (P16), and as a part of this handling.
    this.cell.environment.enter(() => within(this, tell));
  }

  #call(listener: Listener): void {
    this.#forget(listener);
    try {
      listener.callback();
    } catch (thrown) {
      // As with a signal's listener: the error is uncaught, and the other listeners are called.
      this.cell.environment.clock.macrotask(() => {
        throw thrown;
      });
    }
  }

  /** A new ask came back at once, because the handling's own sender had given up. */
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

/** One for all actors, loaded on first use: loading takes 1.5 ms. */
function sharedPresence(): Presence {
  presence ??= new (process.getBuiltinModule("node:async_hooks").AsyncLocalStorage)();
  return presence;
}

/**
 * Calls back as a part of a handling. An actor that handles several messages at once knows by that which of them the
 * callback belongs to.
 */
export const within = <Result>(handling: Handling, callback: () => Result): Result =>
  presence === undefined ? callback() : presence.run(handling, callback);

/** Among up to this many, a handling is found by a scan: most actors never pay for a map. */
const FEW = 16;

/** The handlings of an actor that handles several messages at once. */
export class Concurrency {
  readonly limit: number;
  readonly running: ReadonlySet<Handling> = new Set<Handling>();
  readonly #running = this.running as Set<Handling>; // The same set: it is changed here alone.
  /** Those of streams. */
  readonly #streams = new Set<Handling>();
  /** Made when one is looked for among many, and dropped with the last: all senders may give up at once (P5). */
  #byEnvelope: Map<unknown, Handling> | null = null;
  /** True when several have the same envelope. */
  #hasTwins = false;
  /**
   * Finds the running handler's own message among several. Costs 15 ns, which an actor with one at a time does not pay.
   */
  readonly #presence = sharedPresence();

  constructor(limit: number) {
    this.limit = limit;
  }

  get isFull(): boolean {
    return this.running.size >= this.limit;
  }

  /** The operation of a stream that it handles; undefined when it handles none. */
  get stream(): string | undefined {
    for (const { envelope } of this.#streams) return envelope.type;
    return undefined;
  }

  add(handling: Handling): void {
    this.#running.add(handling);
    if (handling.envelope.pattern === "stream") this.#streams.add(handling);
    if (this.#byEnvelope !== null) this.#note(this.#byEnvelope, handling);
  }

  drop(handling: Handling): void {
    const { envelope } = handling;
    this.#running.delete(handling);
    if (envelope.pattern === "stream") this.#streams.delete(handling);
    if (this.#byEnvelope === null) return;
    if (this.#hasTwins || this.#running.size === 0) this.#forgetAll();
    else this.#byEnvelope.delete(envelope);
  }

  #note(found: Map<unknown, Handling>, handling: Handling): void {
    const { envelope } = handling;
    const other = found.get(envelope);
    if (other !== undefined) this.#hasTwins = true;
    if (other === undefined || handling.passedOn === null) found.set(envelope, handling);
  }

  #forgetAll(): void {
    this.#byEnvelope = null;
    this.#hasTwins = false;
  }

  /** The handling of this actor that the running code belongs to. */
  get present(): Handling | null {
    const handling = this.#presence.getStore();
    return handling !== undefined && this.running.has(handling) ? handling : null;
  }

  /**
   * The handling of an envelope. If the envelope came back to an actor that passed it on, the handling that has it now.
   */
  of(envelope: Envelope | Wait): Handling | null {
    const wanted: unknown = envelope;
    if (this.#byEnvelope === null && this.running.size > FEW) {
      const found = new Map<unknown, Handling>();
      for (const handling of this.running) this.#note(found, handling);
      this.#byEnvelope = found;
    }
    if (this.#byEnvelope !== null) return this.#byEnvelope.get(wanted) ?? null;
    let found: Handling | null = null;
    for (const handling of this.running) {
      if (handling.envelope === wanted && (found === null || handling.passedOn === null)) found = handling;
    }
    return found;
  }

  /** Runs a handler so that `present` finds its handling. */
  run<Result>(handling: Handling, handler: () => Result): Result {
    return this.#presence.run(handling, handler);
  }
}
