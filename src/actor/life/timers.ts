import { quote } from "../../message/address";
import { isThenable } from "../../runtime/thenable";
import { Timeout } from "../../runtime/timer-wheel";
import type { Cell } from "../cell/cell";
import { endedSentence, type Instance, type InstanceTimers } from "../cell/state";
import { IDLE } from "../cell/transitions";
import { originBehind } from "../envelopes/handed-on";
import type { Signal } from "../envelopes/signal";
import { signalTo } from "./watch";

/**
 * The timers of an actor, by key. Setting a timer again replaces it. The callbacks run in the actor's turn, one at a
 * time with its messages. One that throws is a failure of the actor. All timers end with a stop or a restart, before
 * `onStop` runs. Setting one from then on throws an Error.
 *
 * @example
 * ctx.timers.fixedDelay("flush", 1_000, () => flush());
 */
export interface Timers {
  /**
   * Calls back once, after `delay` milliseconds. The callback hands on what the handler that set the timer hands on, such as
   * its trace context; those of the other timers, which have no end, hand on nothing.
   *
   * @throws RangeError or TypeError when an argument cannot be one.
   */
  once(key: string, delay: number, callback: () => unknown): void;
  /**
   * Calls back repeatedly, `delay` milliseconds after the last call was done (its promise included).
   *
   * @throws RangeError or TypeError when an argument cannot be one.
   */
  fixedDelay(key: string, delay: number, callback: () => unknown): void;
  /**
   * Calls back every `period` milliseconds, however long a call takes. If the actor is behind, one call stands for
   * several: `ticks` is the number of periods that it stands for, and their sum is right.
   *
   * @throws RangeError or TypeError when an argument cannot be one.
   */
  fixedRate(key: string, period: number, callback: (ticks: number) => unknown): void;
  /**
   * Calls back whenever neither a message nor another timer has come for `delay` milliseconds. One for each actor;
   * `null` ends it.
   *
   * @throws RangeError or TypeError when an argument cannot be one.
   */
  receiveTimeout(delay: number, callback: () => unknown): void;
  receiveTimeout(delay: null): void;
  /** Ends a timer, even one that is due and waits in the mailbox; false when there is none. */
  cancel(key: string): boolean;
  /** True while a timer is set or due. */
  has(key: string): boolean;
}

interface Entry {
  timeout: Timeout;
  /** The signal in the mailbox, if the timer is due. */
  signal: Signal | null;
}

class ActorTimers implements Timers, InstanceTimers {
  readonly #cell: Cell;
  readonly #instance: Instance;
  readonly #entries = new Map<string, Entry>();
  #idle: Timeout | null = null;
  /** The signal of the receive timeout, while it waits in the mailbox. */
  #idleSignal: Signal | null = null;

  constructor(cell: Cell, instance: Instance) {
    this.#cell = cell;
    this.#instance = instance;
  }

  once(key: string, delay: number, callback: () => unknown): void {
    check(key, delay, callback);
    const cell = this.#cell;
    const origin = originBehind(cell.present, cell);
    this.#set(key, delay, (entry) => {
      const call = (): unknown => {
        this.#entries.delete(key);
        return callback();
      };
      entry.signal = signalTo(cell, `timer ${key}`, call, origin);
    });
  }

  fixedDelay(key: string, delay: number, callback: () => unknown): void {
    check(key, delay, callback);
    this.#set(key, delay, (entry) => {
      const again = (): void => {
        entry.signal = null;
        if (this.#entries.get(key) === entry) this.#add(entry.timeout);
      };
      entry.signal = signalTo(this.#cell, `timer ${key}`, () => {
        let result: unknown;
        try {
          result = callback();
        } finally {
          if (!isThenable(result)) again();
        }
        return isThenable(result) ? Promise.resolve(result).finally(again) : result;
      });
    });
  }

  fixedRate(key: string, period: number, callback: (ticks: number) => unknown): void {
    check(key, period, callback);
    const { clock } = this.#cell.environment;
    const start = clock.monotonicTime();
    let counted = 0;
    let told = 0;
    this.#set(key, period, (entry) => {
      const passed = clock.monotonicTime() - start;
      counted = Math.max(counted + 1, Math.floor(passed / period)); // From the start: delays do not add up.
      entry.timeout = new Timeout((counted + 1) * period - passed, entry.timeout.expire);
      this.#add(entry.timeout);
      entry.signal ??= signalTo(this.#cell, `timer ${key}`, () => {
        const ticks = counted - told;
        told = counted;
        entry.signal = null;
        return callback(ticks);
      });
    });
  }

  receiveTimeout(delay: number, callback: () => unknown): void;
  receiveTimeout(delay: null): void;
  receiveTimeout(delay: number | null, callback?: () => unknown): void {
    if (delay === null) {
      this.#endIdle();
      return;
    }
    check("receiveTimeout", delay, callback);
    this.#refuseEnded("receiveTimeout");
    this.#endIdle();
    this.#idle = new Timeout(delay, () => {
      this.#idleSignal = signalTo(this.#cell, "receive timeout", callback);
    });
    if (this.#cell.activity === IDLE) this.onIdle(); // It was set outside of the actor's turns.
  }

  cancel(key: string): boolean {
    const entry = this.#entries.get(key);
    if (entry === undefined) return false;
    this.#entries.delete(key);
    this.#cell.environment.timers.remove(entry.timeout);
    entry.signal?.cancel();
    return true;
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /** The mailbox is empty: the receive timeout begins. */
  onIdle(): void {
    if (this.#idle === null) return;
    this.onBusy(); // An actor with a concurrency becomes idle more than once.
    this.#add(this.#idle);
  }

  onBusy(): void {
    if (this.#idle !== null) this.#cell.environment.timers.remove(this.#idle);
  }

  cancelAll(): void {
    for (const key of [...this.#entries.keys()]) this.cancel(key);
    this.#endIdle();
  }

  #endIdle(): void {
    this.onBusy();
    this.#idle = null;
    this.#idleSignal?.cancel();
    this.#idleSignal = null;
  }

  #set(key: string, delay: number, onDue: (entry: Entry) => void): void {
    this.#refuseEnded(key);
    this.cancel(key);
    const entry: Entry = { timeout: new Timeout(delay, () => onDue(entry)), signal: null };
    this.#entries.set(key, entry);
    this.#add(entry.timeout);
  }

  #refuseEnded(key: string): void {
    if (this.#instance.hasEnded) throw new Error(endedSentence(this.#cell.address, `the timer "${key}"`));
  }

  #add(timeout: Timeout): void {
    this.#cell.environment.timers.add(timeout);
  }
}

/** The timers of the present instance of an actor, made when they are first asked for. */
export function timersOf(cell: Cell): Timers {
  const { instance } = cell;
  if (instance.timers instanceof ActorTimers) return instance.timers;
  const timers = new ActorTimers(cell, instance);
  instance.timers = timers;
  return timers;
}

function check(key: string, delay: number, callback: ((ticks: number) => unknown) | undefined): asserts callback {
  if (typeof key !== "string" || key === "") throw new TypeError(`The key of a timer is a text; got ${quote(key)}.`);
  if (!(Number.isFinite(delay) && delay > 0)) {
    throw new RangeError(`The timer "${key}" needs a number of milliseconds above 0; got ${quote(delay)}.`);
  }
  if (typeof callback !== "function") {
    throw new TypeError(`The timer "${key}" needs a function to call back; got ${quote(callback)}.`);
  }
}
