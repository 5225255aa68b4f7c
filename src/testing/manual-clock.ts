import type { Clock, ClockTimer } from "../index";

/** A clock that stands still until a test moves it. */
export interface ManualClock extends Clock {
  /** The number of timers that are set. */
  readonly timers: number;
  /** The number of timers that would keep a process alive: all but those that were `unref()`ed. */
  readonly heldTimers: number;
  /**
   * Lets everything that is ready run, without time passing. Never returns if actors send to each other without end: time
   * stands still, so no turn ends by the clock.
   */
  settle(): Promise<void>;
  /** Lets `milliseconds` pass, timer by timer, and lets everything ready run after each. Rejects with a RangeError below 0. */
  advance(milliseconds: number): Promise<void>;
}

interface SetTimer {
  readonly due: number;
  readonly order: number;
  readonly callback: () => void;
  isHeld: boolean;
}

/**
 * Makes a clock for tests: hand it to `createSystem({ clock })`, and a timeout of a minute takes no time at all.
 *
 * @param start the wall time at the beginning, in milliseconds since 1970. Default: 0.
 * @throws RangeError when `start` is not finite.
 * @example
 * const clock = createManualClock();
 * const system = createSystem({ clock });
 * const reply = slow.ask("work", { timeout: 60_000 });
 * await clock.advance(60_000);
 * (await reply).isErr(); // true
 */
export function createManualClock(start = 0): ManualClock {
  if (!Number.isFinite(start)) throw new RangeError(`A clock starts at a number of milliseconds; got ${start}.`);
  const timers = new Set<SetTimer>();
  let now = 0;
  let order = 0;
  let macrotasks: (() => void)[] = [];

  const settle = async (): Promise<void> => {
    // A macrotask of the real loop comes after all microtasks, including those that microtasks add.
    do {
      await new Promise<void>((resolve) => setImmediate(resolve));
      const ready = macrotasks;
      macrotasks = [];
      for (const callback of ready) callback();
      if (ready.length > 0) await new Promise<void>((resolve) => setImmediate(resolve));
    } while (macrotasks.length > 0);
  };

  const nextBy = (limit: number): SetTimer | undefined =>
    [...timers].filter((timer) => timer.due <= limit).sort((a, b) => a.due - b.due || a.order - b.order)[0];

  return {
    get timers() {
      return timers.size;
    },
    get heldTimers() {
      return [...timers].filter((timer) => timer.isHeld).length;
    },
    wallTime: () => start + now,
    monotonicTime: () => now,
    setTimer(callback, delay): ClockTimer {
      const timer: SetTimer = { due: now + Math.max(delay, 0), order: order++, callback, isHeld: true };
      timers.add(timer);
      return {
        cancel: () => void timers.delete(timer),
        unref: () => {
          timer.isHeld = false;
        },
      };
    },
    microtask: (callback) => queueMicrotask(callback),
    macrotask: (callback) => void macrotasks.push(callback),
    settle,
    async advance(milliseconds) {
      if (!(milliseconds >= 0 && Number.isFinite(milliseconds))) {
        throw new RangeError(`Time goes forward: advance by 0 ms or more, and not for ever; got ${milliseconds}.`);
      }
      const end = now + milliseconds;
      await settle();
      for (let timer = nextBy(end); timer !== undefined; timer = nextBy(end)) {
        timers.delete(timer);
        now = Math.max(now, timer.due);
        timer.callback();
        await settle();
      }
      now = Math.max(now, end); // Another advance may have gone further meanwhile.
    },
  };
}

export const isManual = (clock: Clock): boolean =>
  typeof clock === "object" && clock !== null && "advance" in clock && "settle" in clock && "heldTimers" in clock;

/** A clock that several systems share, as one of them has it: it counts the timers of that one alone. */
export function ownPartOf(clock: ManualClock): ManualClock {
  const timers = new Set<ClockTimer>();
  const held = new Set<ClockTimer>();
  const forget = (timer: ClockTimer): void => {
    timers.delete(timer);
    held.delete(timer);
  };
  return {
    get timers() {
      return timers.size;
    },
    get heldTimers() {
      return held.size;
    },
    wallTime: () => clock.wallTime(),
    monotonicTime: () => clock.monotonicTime(),
    setTimer(callback, delay): ClockTimer {
      const timer = clock.setTimer(() => {
        forget(timer);
        callback();
      }, delay);
      timers.add(timer);
      held.add(timer);
      return {
        cancel() {
          forget(timer);
          timer.cancel();
        },
        unref() {
          held.delete(timer);
          timer.unref();
        },
      };
    },
    microtask: (callback) => clock.microtask(callback),
    macrotask: (callback) => clock.macrotask(callback),
    settle: () => clock.settle(),
    advance: (milliseconds) => clock.advance(milliseconds),
  };
}
