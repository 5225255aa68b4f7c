import { type Clock, type ClockTimer, systemClock } from "../../index";

interface SetTimer {
  readonly due: number;
  readonly order: number;
  readonly callback: () => void;
}

/** Turns of the event loop without anything of the system's own, after which it counts as quiet. */
const QUIET_TURNS = 2;
/** Most turns of one wait for quiet: a system that never rests is moved on in time all the same. */
const MOST_TURNS = 10_000;

/**
 * The clock of a replay. It stands still until the replay moves it to the time of the next line of the recording, and its timers fire
 * in their order on the way. Turns are those of the machine.
 */
export class ReplayClock implements Clock {
  readonly #startedAt: number;
  readonly #timers = new Set<SetTimer>();
  #now = 0;
  #order = 0;
  /** Macrotasks that have not run. */
  #waiting = 0;
  /** Counts what the system does by its clock. */
  #activity = 0;

  /** @param startedAt the wall time at the beginning, in milliseconds since 1970. */
  constructor(startedAt: number) {
    this.#startedAt = startedAt;
  }

  /** The replay's time, in milliseconds since the recording began. */
  get now(): number {
    return this.#now;
  }
  wallTime(): number {
    return Math.floor(this.#startedAt + this.#now);
  }
  monotonicTime(): number {
    return this.#now;
  }
  setTimer(callback: () => void, delay: number): ClockTimer {
    this.#activity++;
    const timer: SetTimer = { due: this.#now + Math.max(delay, 0), order: this.#order++, callback };
    this.#timers.add(timer);
    return { cancel: () => void this.#timers.delete(timer), unref() {}, ref() {} };
  }
  microtask(callback: () => void): void {
    systemClock.microtask(callback);
  }
  macrotask(callback: () => void): void {
    this.#waiting++;
    this.#activity++;
    systemClock.macrotask(() => {
      this.#waiting--;
      callback();
    });
  }

  /** Lets everything that is ready run, without time passing. */
  async settle(): Promise<void> {
    let turns = 0;
    for (let quiet = 0; quiet < QUIET_TURNS && turns < MOST_TURNS; quiet++, turns++) {
      const before = this.#activity;
      await turn();
      if (this.#waiting > 0 || this.#activity !== before) quiet = -1;
    }
  }

  /** Lets time pass up to a moment, timer by timer, and lets everything ready run after each. */
  async advanceTo(moment: number): Promise<void> {
    await this.settle();
    while (await this.fireNext(moment)) {}
    this.#now = Math.max(this.#now, moment);
  }

  /** As `advanceTo`; but timers that are due at the moment itself fire later. */
  async advanceBefore(moment: number): Promise<void> {
    await this.settle();
    while (await this.fireNext(moment, true)) {}
    this.#now = Math.max(this.#now, moment);
  }

  /** Moves to the next timer that is due by a moment, and fires it. False when there is none. */
  async fireNext(by: number, isBefore = false): Promise<boolean> {
    let next: SetTimer | undefined;
    for (const timer of this.#timers) {
      if (timer.due > by || (isBefore && timer.due === by)) continue;
      if (next !== undefined && !isEarlier(timer, next)) continue;
      next = timer;
    }
    if (next === undefined) return false;
    this.#timers.delete(next);
    this.#now = Math.max(this.#now, next.due);
    next.callback();
    await this.settle();
    return true;
  }
}

const isEarlier = (a: SetTimer, b: SetTimer): boolean => a.due < b.due || (a.due === b.due && a.order < b.order);

/** Waits for a turn of the machine's event loop: it comes after all microtasks, including those that microtasks add. */
const turn = (): Promise<void> => new Promise((resolve) => systemClock.macrotask(resolve));
