import { wallTime } from "../message/message";

/** A timer that was set on a clock. */
export interface ClockTimer {
  cancel(): void;
  /** Lets the process exit while this timer waits. */
  unref(): void;
  /** Undoes `unref`. Without it, timers are cancelled and set anew instead. */
  ref?(): void;
}

/**
 * The source of time, timers and turns. Actors, routers and systems read time nowhere else, so a test with a manual clock
 * (`envoi/testing`) never sleeps. (`createMessage` and the responses belong to no system: they are stamped with the
 * machine's clock, and `createMessage` takes a `timestamp` instead.)
 */
export interface Clock {
  /** Milliseconds since 1970, for timestamps; may jump when the machine's time is set. */
  wallTime(): number;
  /** Milliseconds since some start, never going back. Timeouts are measured with it. */
  monotonicTime(): number;
  /** Calls back once, after at least `delay` milliseconds. */
  setTimer(callback: () => void, delay: number): ClockTimer;
  /** Calls back before the event loop goes on. */
  microtask(callback: () => void): void;
  /** Calls back after the event loop has served timers and I/O. */
  macrotask(callback: () => void): void;
}

const LONGEST_DELAY = 2 ** 31 - 1; // setTimeout fires at once beyond this.

/** The real clock, the default of every system. It cuts a delay at 2³¹−1 ms; the timer wheel sets the rest anew. */
export const systemClock: Clock = {
  wallTime,
  monotonicTime: () => performance.now(),
  setTimer(callback, delay) {
    const timer = setTimeout(callback, Math.min(delay, LONGEST_DELAY));
    return { cancel: () => clearTimeout(timer), unref: () => void timer.unref(), ref: () => void timer.ref() };
  },
  microtask: (callback) => queueMicrotask(callback),
  macrotask: (callback) => void setImmediate(callback),
};
