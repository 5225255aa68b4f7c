import type { Clock, ClockTimer, System } from "../../index";
import { Census } from "./census";
import { Journal } from "./journal";
import { OperationRates } from "./operation-rates";
import type { OperationRow, Totals } from "./shapes";

/** Actors that are looked at in one turn of the event loop: some 100 µs. */
const SLICE = 500;
/** The pause after a look is so many times as long as the look took: it takes a third of a percent of a processor at most. */
const SHARE = 300;
/** Looks of which the quickest says how long a look takes. The others may have met a collection of garbage, or another process. */
const LAST = 3;

/**
 * Looks at a system for all who watch, and at nothing while nobody does: once in a while at the actors, a few at a time, and at events
 * as they come.
 */
export class Lookout {
  readonly journal: Journal;
  /** The last look that is over. */
  census: Census | null = null;
  totals: Totals = { actors: 0, queued: 0, rate: 0, failed: 0, dead: 0, restarts: 0 };
  operations: readonly OperationRow[] | null = null;
  /** Looks that are over, since the gateway was made. */
  looks = 0;
  /** Milliseconds between the last look and the one before; 0 for the first one. */
  period = 0;
  /** True while a look is under way, and the census is not whole. */
  isLooking = false;
  readonly #system: System;
  readonly #clock: Clock;
  readonly #every: number;
  readonly #rates: OperationRates;
  readonly #waiting = new Set<() => void>();
  #watchers = 0;
  #timer: ClockTimer | null = null;
  /** When the last look began; null before the first one. */
  #begun: number | null = null;
  /** Milliseconds that were spent since the last look began. */
  #spent = 0;
  /** The milliseconds that the last looks took. */
  #costs: readonly number[] = [];

  constructor(system: System, every: number, log: number) {
    this.#system = system;
    this.#clock = system.clock;
    this.#every = every;
    this.journal = new Journal(system, log);
    this.#rates = new OperationRates(system);
  }

  /** The number of those who watch. */
  get watchers(): number {
    return this.#watchers;
  }

  /** Begins to watch. Gives the function that ends it. */
  watch(): () => void {
    if (++this.#watchers === 1) this.#begin();
    let isWatching = true;
    return () => {
      if (!isWatching) return;
      isWatching = false;
      if (--this.#watchers === 0) this.close();
    };
  }

  /** Resolves after the look that comes next, or once the signal is aborted. */
  changed(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener("abort", wake);
    });
  }

  /** Does some work for those who watch, which counts as a part of the look. */
  spend<Value>(work: () => Value): Value {
    const begun = this.#clock.monotonicTime();
    const value = work();
    this.#spent += this.#clock.monotonicTime() - begun;
    return value;
  }

  /** Looks at nothing any more, and forgets the actors. */
  close(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.journal.close();
    this.#rates.forget();
    this.census = null;
    this.isLooking = false;
    this.#begun = null;
    this.#costs = [];
  }

  #begin(): void {
    this.census = new Census(this.#system);
    this.#look(this.census);
  }

  #look(census: Census): void {
    const now = this.#clock.monotonicTime();
    this.period = this.#begun === null ? 0 : now - this.#begun;
    this.#begun = now;
    this.#spent = 0;
    this.isLooking = true;
    this.journal.listen();
    census.begin(this.#perSecond);
    this.#lookOn(census);
  }

  get #perSecond(): number {
    return this.period === 0 ? 0 : 1_000 / this.period;
  }

  #lookOn(census: Census): void {
    if (census !== this.census) return; // Nobody watches any more, or somebody does again.
    const isDone = this.spend(() => census.look(SLICE));
    if (isDone) this.spend(() => this.#finish(census));
    else this.#clock.macrotask(() => this.#lookOn(census));
  }

  #finish(census: Census): void {
    const { queued, rate, known } = census;
    const operations = this.#rates.look(this.#perSecond);
    // The audit counts what waits in each mailbox once more: it takes as long as a third of a look.
    const { failed, dead } = operations ?? this.#system.router.audit();
    this.totals = { actors: known.length, queued, rate, failed, dead, restarts: this.#system.restarts };
    this.operations = operations?.rows ?? null;
    this.looks++;
    this.isLooking = false;
    this.#tell(census, [...this.#waiting]);
  }

  /** Wakes those who wait, one in a turn of the event loop: a frame of many actors takes some milliseconds. */
  #tell(census: Census, waiting: (() => void)[]): void {
    if (census !== this.census) return;
    waiting.shift()?.();
    // Those who watch get their frames first: their part of the look is known when the timer is set.
    this.#clock.macrotask(() => (waiting.length > 0 ? this.#tell(census, waiting) : this.#lookLater(census)));
  }

  #lookLater(census: Census): void {
    if (census !== this.census) return;
    this.#costs = [...this.#costs.slice(1 - LAST), this.#spent];
    // The first looks make what the others keep, and are compiled: they tell nothing of the others.
    const cost = this.#costs.length < LAST ? 0 : Math.min(...this.#costs);
    this.#timer = this.#clock.setTimer(() => this.#look(census), Math.max(this.#every, cost * SHARE));
    this.#timer.unref();
  }
}
