import type { Clock, ClockTimer } from "../../src/runtime/clock";

interface Alarm {
  readonly due: number;
  readonly callback: () => void;
}

/** A clock and an event loop that a test turns by hand: nothing runs unless it is told to, and time may leap. */
export class HandClock implements Clock {
  now: number;
  microtasks: (() => void)[] = [];
  macrotasks: (() => void)[] = [];
  readonly alarms = new Set<Alarm>();
  /** Each delay that a timer was set with. */
  readonly delays: number[] = [];
  /** How many alarms keep the process alive; only of a clock that can undo `unref`. */
  referenced = 0;
  readonly #canRef: boolean;
  /** As with `setTimeout`, a longer delay is cut to this. */
  readonly longestDelay: number;

  constructor(now = 0, longestDelay = Number.POSITIVE_INFINITY, canRef = false) {
    this.now = now;
    this.#canRef = canRef;
    this.longestDelay = longestDelay;
  }

  wallTime(): number {
    return this.now;
  }
  monotonicTime(): number {
    return this.now;
  }
  setTimer(callback: () => void, delay: number): ClockTimer {
    let isReferenced = true;
    const refer = (is: boolean): void => {
      if (is !== isReferenced) this.referenced += is ? 1 : -1;
      isReferenced = is;
    };
    const ring = (): void => {
      refer(false);
      callback();
    };
    const alarm = { due: this.now + Math.min(delay, this.longestDelay), callback: ring };
    this.delays.push(delay);
    this.alarms.add(alarm);
    this.referenced++;
    const cancel = (): void => {
      refer(false);
      this.alarms.delete(alarm);
    };
    const unref = () => refer(false);
    return this.#canRef ? { cancel, unref, ref: () => refer(true) } : { cancel, unref };
  }
  microtask(callback: () => void): void {
    this.microtasks.push(callback);
  }
  macrotask(callback: () => void): void {
    this.macrotasks.push(callback);
  }

  runMicrotasks(): void {
    for (let next = this.microtasks.shift(); next !== undefined; next = this.microtasks.shift()) next();
  }

  /** One turn of the event loop: the microtasks, then the macrotasks that wait, each with its microtasks. */
  turn(): void {
    this.runMicrotasks();
    for (const macrotask of this.macrotasks.splice(0)) {
      macrotask();
      this.runMicrotasks();
    }
  }

  /** Whether a turn would do anything. */
  get isIdle(): boolean {
    return this.microtasks.length === 0 && this.macrotasks.length === 0;
  }

  /** Turns until nothing is left to run. */
  settle(): void {
    while (!this.isIdle) this.turn();
  }

  /** Time passes at once, as when the machine was asleep: what fell due in the meantime fires only now. */
  leap(milliseconds: number): void {
    this.now += milliseconds;
    for (const alarm of [...this.alarms].filter(({ due }) => due <= this.now).sort((a, b) => a.due - b.due)) {
      if (this.alarms.delete(alarm)) alarm.callback();
    }
    this.settle();
  }
}
