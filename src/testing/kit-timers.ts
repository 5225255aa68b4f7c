import { quote, type Timers } from "../index";
import type { Effect } from "./effect";
import { show } from "./show";

interface Entry {
  readonly callback: (ticks: number) => unknown;
  readonly isOnce: boolean;
}

/** The timers of an actor in a kit. They are recorded, and fire when the test says so. */
export class KitTimers implements Timers {
  readonly #record: (effect: Effect) => void;
  readonly #entries = new Map<string, Entry>();
  #onIdle: (() => unknown) | null = null;

  constructor(record: (effect: Effect) => void) {
    this.#record = record;
  }

  once(key: string, delay: number, callback: () => unknown): void {
    this.#set("once", key, delay, callback);
  }
  fixedDelay(key: string, delay: number, callback: () => unknown): void {
    this.#set("fixedDelay", key, delay, callback);
  }
  fixedRate(key: string, period: number, callback: (ticks: number) => unknown): void {
    this.#set("fixedRate", key, period, callback);
  }

  receiveTimeout(delay: number, callback: () => unknown): void;
  receiveTimeout(delay: null): void;
  receiveTimeout(delay: number | null, callback?: () => unknown): void {
    if (delay !== null) check("receiveTimeout", delay, callback);
    this.#onIdle = delay === null ? null : (callback ?? null);
    this.#record({ kind: "receive-timeout", delay });
  }

  cancel(key: string): boolean {
    if (!this.#entries.delete(key)) return false;
    this.#record({ kind: "timer-cancelled", key });
    return true;
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /** A function that fires a timer. A timer set by `once` ends with it. */
  due(key: string, ticks: number): () => unknown {
    const entry = this.#entries.get(key);
    if (entry === undefined) {
      const others = [...this.#entries.keys()].map(show).join(", ");
      throw new Error(`No timer ${show(key)} is set; set: ${others === "" ? "none" : others}.`);
    }
    return () => {
      if (entry.isOnce) this.#entries.delete(key);
      return entry.callback(ticks);
    };
  }

  dueIdle(): () => unknown {
    if (this.#onIdle === null) throw new Error("No receive timeout is set.");
    return this.#onIdle;
  }

  #set(timer: "once" | "fixedDelay" | "fixedRate", key: string, delay: number, callback: Entry["callback"]): void {
    check(key, delay, callback);
    this.#entries.set(key, { callback, isOnce: timer === "once" });
    this.#record({ kind: "timer-set", timer, key, delay });
  }
}

function check(key: unknown, delay: unknown, callback: unknown): void {
  if (typeof key !== "string" || key === "") throw new TypeError(`The key of a timer is a text; got ${show(key)}.`);
  if (!(typeof delay === "number" && Number.isFinite(delay) && delay > 0)) {
    throw new RangeError(`The timer ${quote(key)} needs a number of milliseconds above 0; got ${show(delay)}.`);
  }
  if (typeof callback !== "function") {
    throw new TypeError(`The timer ${quote(key)} needs a function to call back; got ${show(callback)}.`);
  }
}
