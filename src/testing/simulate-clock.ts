import { type Clock, type ClockTimer, systemClock } from "../index";

interface SetTimer {
  readonly due: number;
  readonly order: number;
  readonly callback: () => void;
  /** True if the simulation has set it, not the system in it. */
  readonly isOwn: boolean;
  isUnref: boolean;
}

/** The clock of a simulated run. Time moves only when the run moves it to the next timer. */
export class SimulatedClock implements Clock {
  now = 0;
  readonly #timers = new Set<SetTimer>();
  #order = 0;
  #macrotasks: (() => void)[] = [];

  wallTime(): number {
    return this.now;
  }
  monotonicTime(): number {
    return this.now;
  }

  setTimer(callback: () => void, delay: number, isOwn = false): ClockTimer {
    const due = this.now + Math.max(delay, 0);
    const timer: SetTimer = { due, order: this.#order++, callback, isOwn, isUnref: false };
    this.#timers.add(timer);
    return {
      cancel: () => void this.#timers.delete(timer),
      unref: () => {
        timer.isUnref = true;
      },
    };
  }

  microtask(callback: () => void): void {
    systemClock.microtask(callback);
  }

  macrotask(callback: () => void): void {
    this.#macrotasks.push(callback);
  }

  /** The clock for the program: its timers are not those of a system. */
  get face(): Clock {
    return {
      wallTime: () => this.now,
      monotonicTime: () => this.now,
      setTimer: (callback, delay) => this.setTimer(callback, delay, true),
      microtask: (callback) => this.microtask(callback),
      macrotask: (callback) => this.macrotask(callback),
    };
  }

  get hasMacrotasks(): boolean {
    return this.#macrotasks.length > 0;
  }

  /** Runs the macrotasks that wait now. */
  runMacrotasks(): void {
    const ready = this.#macrotasks;
    this.#macrotasks = [];
    for (const callback of ready) callback();
  }

  /** True while a timer is set that would keep a process alive. */
  get isAwaited(): boolean {
    for (const { isUnref } of this.#timers) if (!isUnref) return true;
    return false;
  }

  /** The number of timers that the system has set, without those that keep no process alive. */
  get timers(): number {
    let count = 0;
    for (const { isOwn, isUnref } of this.#timers) if (!isOwn && !isUnref) count++;
    return count;
  }

  /** Moves time to the next timer and calls it back. */
  fireNext(): void {
    let first: SetTimer | null = null;
    for (const timer of this.#timers) {
      if (first === null || timer.due < first.due || (timer.due === first.due && timer.order < first.order))
        first = timer;
    }
    if (first === null) return;
    this.#timers.delete(first);
    this.now = Math.max(this.now, first.due);
    first.callback();
  }
}
