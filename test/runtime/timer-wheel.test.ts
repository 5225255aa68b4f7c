import { heapStats } from "bun:jsc";
import { beforeEach, describe, expect, test } from "bun:test";
import { type Staged, Timeout, TimerWheel, type WheelTimer } from "../../src/runtime/timer-wheel";
import { createManualClock, type ManualClock } from "../../src/testing/manual-clock";
import { HandClock } from "./hand-clock";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const YEAR = 365 * DAY;

let clock: ManualClock;
let wheel: TimerWheel;
let fired: string[];

/** What an ask is to the wheel: it may be over before it is placed, and before it is due. */
class Waiting implements WheelTimer, Staged {
  wheelPrevious: WheelTimer | null = null;
  wheelNext: WheelTimer | null = null;
  wheelSlot = -1;
  wheelDue = 0;
  isWaiting = true;

  constructor(
    readonly name: string,
    readonly delay: number,
  ) {}
  get timer(): WheelTimer {
    return this;
  }
  expire(): void {
    fired.push(this.name);
  }
}

const timeout = (name: string, delay: number, then: () => void = () => undefined): Timeout =>
  new Timeout(delay, () => {
    fired.push(name);
    then();
  });

beforeEach(() => {
  clock = createManualClock();
  wheel = new TimerWheel(clock);
  fired = [];
});

describe("a timer of the wheel", () => {
  test.each([0.5, 1, 1.5, 63, 64, 65, 4_095, 4_096, 4_097, MINUTE, 262_144, DAY, 2 ** 31, 2 ** 31 + 1, 90 * DAY, YEAR])(
    "P15: of %d ms fires when these have passed, not before and at most 1 ms after",
    async (delay) => {
      wheel.add(timeout("it", delay));
      await clock.advance(delay - 0.25);
      expect(fired).toEqual([]);
      await clock.advance(1.25);
      expect(fired).toEqual(["it"]);
    },
  );

  test("counts from the time of its adding, between two ticks too", async () => {
    await clock.advance(10.75);
    wheel.add(timeout("it", 5));
    await clock.advance(4.75);
    expect(fired).toEqual([]);
    await clock.advance(1.25);
    expect(fired).toEqual(["it"]);
  });

  test("fires once", async () => {
    wheel.add(timeout("it", 10));
    await clock.advance(YEAR);
    expect(fired).toEqual(["it"]);
  });

  test("without a delay fires within a tick, and never while it is added", async () => {
    wheel.add(timeout("it", 0));
    expect(fired).toEqual([]);
    await clock.advance(1);
    expect(fired).toEqual(["it"]);
  });

  test("never fires when it was removed", async () => {
    const [kept, removed] = [timeout("kept", 10), timeout("removed", 10)];
    wheel.add(kept);
    wheel.add(removed);
    wheel.remove(removed);
    await clock.advance(DAY);
    expect(fired).toEqual(["kept"]);
  });

  test("may be removed twice, after it fired, and when it was never added", async () => {
    const [one, two] = [timeout("one", 10), timeout("two", 20)];
    wheel.add(one);
    wheel.add(two);
    await clock.advance(15);
    wheel.remove(one);
    wheel.remove(one);
    wheel.remove(timeout("never", 1));
    expect(wheel.size).toBe(1);
    await clock.advance(15);
    expect(fired).toEqual(["one", "two"]);
  });

  test("may be added again after it fired, and after it was removed", async () => {
    const timer = timeout("it", 10);
    wheel.add(timer);
    await clock.advance(10);
    wheel.add(timer);
    wheel.remove(timer);
    wheel.add(timer);
    await clock.advance(9);
    expect(fired).toEqual(["it"]);
    await clock.advance(1);
    expect(fired).toEqual(["it", "it"]);
  });

  test("fires in the order in which it is due, whatever the order of adding", async () => {
    for (const delay of [5 * DAY, 100, 70, 4_200, 1, 64, DAY]) wheel.add(timeout(String(delay), delay));
    await clock.advance(10 * DAY);
    expect(fired).toEqual([1, 64, 70, 100, 4_200, DAY, 5 * DAY].map(String));
  });

  test("fires in the order of adding, of those that are due in one tick", async () => {
    wheel.add(timeout("long before", 100));
    await clock.advance(40);
    for (const name of ["a", "b", "c"]) wheel.add(timeout(name, 60));
    const gone = timeout("gone", 60);
    wheel.add(gone);
    wheel.add(timeout("d", 60));
    wheel.remove(gone);
    await clock.advance(36); // Past the slot that held them all: they have moved down.
    wheel.add(timeout("last", 24));
    await clock.advance(24);
    expect(fired).toEqual(["long before", "a", "b", "c", "d", "last"]);
  });

  test("is not called back when it is over by the time that it is due", async () => {
    const [over, waiting] = [new Waiting("over", 10), new Waiting("waiting", 10)];
    wheel.add(over);
    wheel.add(waiting);
    over.isWaiting = false;
    await clock.advance(20);
    expect(fired).toEqual(["waiting"]);
  });

  test.each([2 ** 53, Number.MAX_VALUE, Number.POSITIVE_INFINITY])(
    "of %d ms, further than the wheel reaches, waits and keeps no other from firing",
    async (delay) => {
      const far = timeout("far", delay);
      wheel.add(far);
      wheel.add(timeout("near", 10));
      await clock.advance(200 * YEAR);
      expect(fired).toEqual(["near"]);
      expect(wheel.size).toBe(1);
      wheel.remove(far);
      await clock.settle();
      expect(clock.timers).toBe(0);
    },
  );

  test("of 150 years, further than the wheel reaches at once, fires on time", async () => {
    wheel.add(timeout("far", 150 * YEAR));
    await clock.advance(150 * YEAR - 1);
    expect(fired).toEqual([]);
    await clock.advance(1);
    expect(fired).toEqual(["far"]);
  });
});

describe("an expiry", () => {
  test("may add timers, which count from then", async () => {
    wheel.add(timeout("one", 10, () => wheel.add(timeout("two", 10, () => wheel.add(timeout("three", 0.5))))));
    await clock.advance(19);
    expect(fired).toEqual(["one"]);
    await clock.advance(1);
    expect(fired).toEqual(["one", "two"]);
    await clock.advance(1);
    expect(fired).toEqual(["one", "two", "three"]);
  });

  test("may add its own timer again, as an interval does", async () => {
    const timer = timeout("tick", 10, () => wheel.add(timer));
    wheel.add(timer);
    await clock.advance(35);
    expect(fired).toEqual(["tick", "tick", "tick"]);
  });

  test("may remove a timer that is due later", async () => {
    const later = timeout("later", 11);
    wheel.add(later);
    wheel.add(timeout("first", 10, () => wheel.remove(later)));
    await clock.advance(20);
    expect(fired).toEqual(["first"]);
  });

  test("may remove a timer that is due at the same time", async () => {
    const one: Timeout = timeout("it", 10, () => wheel.remove(two));
    const two: Timeout = timeout("it", 10, () => wheel.remove(one));
    wheel.add(one);
    wheel.add(two);
    await clock.advance(20);
    expect(fired).toEqual(["it"]);
  });

  test("may start a timer anew that is due at the same time", async () => {
    const restart = (timer: Timeout): void => {
      if (fired.length > 1) return;
      wheel.remove(timer);
      wheel.add(timer);
    };
    const one: Timeout = timeout("it", 10, () => restart(two));
    const two: Timeout = timeout("it", 10, () => restart(one));
    wheel.add(one);
    wheel.add(two);
    await clock.advance(19);
    expect(fired).toEqual(["it"]);
    await clock.advance(1);
    expect(fired).toEqual(["it", "it"]);
  });

  test("may remove the last other timer, and leaves nothing on the clock", async () => {
    const other = timeout("other", DAY);
    wheel.add(other);
    wheel.add(timeout("it", 10, () => wheel.remove(other)));
    await clock.advance(10);
    expect(fired).toEqual(["it"]);
    expect(clock.timers).toBe(0);
  });
});

describe("P6: the wheel leaves nothing on the clock", () => {
  test("while it never had a timer", () => {
    expect(clock.timers).toBe(0);
  });

  test("once its last timer fired", async () => {
    wheel.add(timeout("it", 10));
    wheel.add(timeout("it", MINUTE));
    await clock.advance(MINUTE);
    expect([wheel.size, clock.timers]).toEqual([0, 0]);
  });

  test("once its last timer was removed and the event loop turned", async () => {
    const timers = [timeout("one", 10), timeout("two", MINUTE), timeout("three", DAY)];
    for (const timer of timers) wheel.add(timer);
    for (const timer of timers) wheel.remove(timer);
    expect(wheel.size).toBe(0);
    await clock.settle();
    expect(clock.timers).toBe(0);
  });

  test("each time that it becomes empty", async () => {
    for (const delay of [5_000, 10, 100_000]) {
      const timer = timeout("it", delay);
      wheel.add(timer);
      wheel.remove(timer);
      await clock.settle();
      expect(clock.timers).toBe(0);
    }
  });

  test("and at most one timer of the clock for all of its own", async () => {
    for (let i = 1; i <= 100; i++) wheel.add(timeout("it", 1_000 - i));
    expect(clock.timers).toBe(1);
    await clock.advance(950);
    expect(clock.timers).toBe(1);
  });

  test("but does not set its timer anew for asks that follow each other within a turn", () => {
    const hand = new HandClock();
    const own = new TimerWheel(hand);
    for (let i = 0; i < 100; i++) {
      const timer = timeout("it", 5_000);
      own.add(timer);
      own.remove(timer);
    }
    expect(hand.delays.length).toBe(1);
    hand.settle();
    expect(hand.alarms.size).toBe(0);
  });

  test("but keeps it for a timer that was added after the last one was removed", async () => {
    const timer = timeout("removed", 10);
    wheel.add(timer);
    wheel.remove(timer);
    wheel.add(timeout("it", 20));
    await clock.settle();
    expect(clock.timers).toBe(1);
    await clock.advance(20);
    expect(fired).toEqual(["it"]);
  });
});

describe("where a clock can reference a timer again, the wheel's own", () => {
  let hand: HandClock;
  let own: TimerWheel;

  beforeEach(() => {
    hand = new HandClock(0, Number.POSITIVE_INFINITY, true);
    own = new TimerWheel(hand);
  });

  const addAndRemove = (delay: number): void => {
    const timer = timeout("it", delay);
    own.add(timer);
    own.remove(timer);
  };

  test("stays for asks that follow each other, needs no macrotask, and keeps no process alive between them", () => {
    for (let ask = 0; ask < 100; ask++) {
      addAndRemove(5_000);
      expect([hand.macrotasks.length, hand.alarms.size, hand.referenced]).toEqual([0, 1, 0]);
      hand.turn();
      hand.now += 0.05;
    }
    expect(hand.delays.length).toBe(1);
  });

  test("keeps the process alive again with the next timer, which fires when it is due", () => {
    addAndRemove(5_000);
    hand.now = 1_000;
    own.add(timeout("it", 5_000));
    expect(hand.referenced).toBe(1);
    hand.leap(4_999);
    expect(fired).toEqual([]);
    hand.leap(1);
    expect([fired, hand.alarms.size, hand.referenced]).toEqual([["it"], 0, 0]);
  });

  test("gives way to an earlier one", () => {
    addAndRemove(5_000);
    own.add(timeout("it", 10));
    expect([hand.alarms.size, hand.referenced]).toEqual([1, 1]);
    hand.leap(10);
    expect(fired).toEqual(["it"]);
  });

  test("is gone after ten seconds at most, and sooner where it would be set for longer", () => {
    addAndRemove(5_000);
    hand.leap(10_000);
    expect([hand.alarms.size, hand.referenced]).toEqual([0, 0]);
    addAndRemove(3_600_000);
    hand.settle();
    expect([hand.alarms.size, hand.referenced]).toEqual([0, 0]);
  });
});

describe("a staged timer", () => {
  test("P6: that is over by the end of the turn is never placed", async () => {
    const timer = new Waiting("it", 10);
    wheel.stage(timer);
    expect(wheel.size).toBe(1);
    timer.isWaiting = false;
    expect(wheel.size).toBe(0);
    wheel.placeStaged();
    expect([timer.wheelSlot, clock.timers]).toEqual([-1, 0]);
    await clock.advance(DAY);
    expect(fired).toEqual([]);
  });

  test("that still waits is placed once, and fires after its delay from then", async () => {
    const [over, waiting] = [new Waiting("over", 10), new Waiting("waiting", 10)];
    wheel.stage(over);
    wheel.stage(waiting);
    over.isWaiting = false;
    await clock.advance(3);
    wheel.placeStaged();
    wheel.placeStaged();
    expect([wheel.size, clock.timers]).toEqual([1, 1]);
    await clock.advance(9);
    expect(fired).toEqual([]);
    await clock.advance(1);
    expect(fired).toEqual(["waiting"]);
  });

  test("sets nothing on the clock, and does not read it, before it is placed", () => {
    let reads = 0;
    const hand = new (class extends HandClock {
      override monotonicTime(): number {
        reads++;
        return this.now;
      }
    })();
    const own = new TimerWheel(hand);
    const before = reads;
    const timer = new Waiting("it", 10);
    own.stage(timer);
    expect([reads, hand.alarms.size]).toEqual([before, 0]);
    timer.isWaiting = false;
    own.placeStaged();
    expect([reads, hand.alarms.size]).toEqual([before, 0]);
  });
});

describe("on a clock that is not on time", () => {
  test("timers that fell due in a leap fire at its end, in the order in which they were due", () => {
    const hand = new HandClock(1_000.25);
    const own = new TimerWheel(hand);
    for (const delay of [DAY, 100, 70, 4_200, 1, 64, 2 * DAY]) own.add(timeout(String(delay), delay));
    hand.leap(DAY + 1);
    expect(fired).toEqual([1, 64, 70, 100, 4_200, DAY].map(String));
    hand.leap(DAY);
    expect(fired.at(-1)).toBe(String(2 * DAY));
    expect([own.size, hand.alarms.size]).toEqual([0, 0]);
  });

  test("a timer that is added after a leap counts from then, not from the wheel's last tick", () => {
    const hand = new HandClock();
    const own = new TimerWheel(hand);
    own.add(timeout("first", 10 * DAY));
    hand.leap(DAY + 0.5);
    own.add(timeout("second", 100));
    hand.leap(99.75);
    expect(fired).toEqual([]);
    hand.leap(1);
    expect(fired).toEqual(["second"]);
  });

  test("P15: a delay beyond 2^31 ms is not early where the clock cuts it, as setTimeout would", () => {
    const hand = new HandClock(0, 2 ** 31 - 1);
    const own = new TimerWheel(hand);
    const delay = 100 * DAY;
    own.add(timeout("it", delay));
    for (let passed = 0; passed < delay - DAY / 2; passed += DAY / 2) {
      expect(fired).toEqual([]);
      hand.leap(DAY / 2);
    }
    expect(fired).toEqual([]);
    hand.leap(DAY / 2);
    expect(fired).toEqual(["it"]);
  });

  test("an alarm that comes too early fires nothing, and is set again", () => {
    const hand = new HandClock();
    const own = new TimerWheel(hand);
    own.add(timeout("it", 10));
    hand.now = 9.5;
    for (const alarm of [...hand.alarms]) {
      hand.alarms.delete(alarm);
      alarm.callback();
    }
    expect(fired).toEqual([]);
    expect(hand.alarms.size).toBe(1);
    hand.leap(0.5);
    expect(fired).toEqual(["it"]);
  });
});

test("P14: a burst of timers that are staged and over leaves no large list behind", () => {
  const size = (): number => {
    Bun.gc(true);
    return heapStats().heapSize;
  };
  const over = new Waiting("over", 10);
  over.isWaiting = false;
  const wheels = Array.from({ length: 10 }, () => new TimerWheel(clock));
  const before = size();
  for (const each of wheels) {
    for (let i = 0; i < 500_000; i++) each.stage(over);
    each.placeStaged();
  }
  expect(size() - before).toBeLessThan(12_000_000); // Ten lists of 4 MB; the collector may still see the last one.
  expect(wheels.map((each) => each.size)).toEqual(Array(10).fill(0));
});
