interface Timer {
  due: number;
  /** Milliseconds between repetitions; undefined for a timer that fires once. */
  readonly every: number | undefined;
}

/** Most timers that a run may have at once. */
const MOST_TIMERS = 1_000;
/** Longest delay in milliseconds, as in every runtime. A missing or longer delay counts as 1. */
const LONGEST = 2 ** 31 - 1;

/** The timers of one run, by the numbers that its code knows them by. */
export class Timers {
  readonly #timers = new Map<number, Timer>();
  /** Never reset while the process lives: a session's code may still have a number from an earlier run. */
  #count = 0;

  /** Returns 0 if there are too many. Each delay is at least 1 ms, so that no interval is a busy loop. */
  set(delay: number, isRepeated: boolean, now: number): number {
    if (this.#timers.size >= MOST_TIMERS) return 0;
    const milliseconds = delay >= 1 && delay <= LONGEST ? Math.trunc(delay) : 1;
    this.#timers.set(++this.#count, { due: now + milliseconds, every: isRepeated ? milliseconds : undefined });
    return this.#count;
  }

  clear(id: number): void {
    this.#timers.delete(id);
  }

  clearAll(): void {
    this.#timers.clear();
  }

  /** The time at which the next timer is due; undefined if there is none. */
  get next(): number | undefined {
    let next: number | undefined;
    for (const { due } of this.#timers.values()) if (next === undefined || due < next) next = due;
    return next;
  }

  /** Takes the timer that has been due for longest, and sets it again if it is repeated. */
  take(now: number): number | undefined {
    let first: number | undefined;
    let earliest = now;
    for (const [id, { due }] of this.#timers) {
      if (due > earliest || (due === earliest && first !== undefined)) continue;
      first = id;
      earliest = due;
    }
    const timer = first === undefined ? undefined : this.#timers.get(first);
    if (first === undefined || timer === undefined) return undefined;
    if (timer.every === undefined) this.#timers.delete(first);
    else timer.due = now + timer.every;
    return first;
  }
}
