import { beforeEach, describe, expect, test } from "bun:test";
import { createManualClock, type ManualClock } from "../../src/testing";

let clock: ManualClock;
let seen: string[];

/** Sets a timer that says when it fired. */
const set = (name: string, delay: number, then: () => void = () => undefined) =>
  clock.setTimer(() => {
    seen.push(`${name} at ${clock.monotonicTime()}`);
    then();
  }, delay);

beforeEach(() => {
  clock = createManualClock();
  seen = [];
});

describe("a manual clock", () => {
  test("stands still until it is moved", async () => {
    set("it", 1);
    await clock.settle();
    expect([clock.monotonicTime(), clock.wallTime(), clock.timers, seen.length]).toEqual([0, 0, 1, 0]);
  });

  test("starts its wall time where it is told to, and its running time at 0", async () => {
    clock = createManualClock(1_700_000_000_000);
    expect([clock.wallTime(), clock.monotonicTime()]).toEqual([1_700_000_000_000, 0]);
    await clock.advance(250);
    expect([clock.wallTime(), clock.monotonicTime()]).toEqual([1_700_000_000_250, 250]);
  });

  test("fires timers in the order in which they are due, each at its time", async () => {
    for (const delay of [30, 10, 20, 40]) set("timer", delay);
    await clock.advance(35);
    expect(seen).toEqual(["timer at 10", "timer at 20", "timer at 30"]);
    expect([clock.monotonicTime(), clock.timers]).toEqual([35, 1]);
  });

  test("fires timers that are due at once in the order of their setting", async () => {
    for (const name of ["a", "b", "c"]) set(name, 10);
    await clock.advance(10);
    expect(seen).toEqual(["a at 10", "b at 10", "c at 10"]);
  });

  test("fires a timer that is due at the very end, and none a moment later", async () => {
    set("at the end", 10);
    set("after it", 10.001);
    await clock.advance(10);
    expect(seen).toEqual(["at the end at 10"]);
  });

  test("fires timers that are set while it advances, where they fall inside", async () => {
    set("first", 10, () => {
      set("inside", 5);
      set("outside", 50);
    });
    set("last", 20);
    await clock.advance(30);
    expect(seen).toEqual(["first at 10", "inside at 15", "last at 20"]);
    await clock.advance(30);
    expect(seen.at(-1)).toBe("outside at 60");
  });

  test("fires a timer that a promise set, on the way to it", async () => {
    const chain = (async () => {
      await new Promise<void>((resolve) => void set("first", 10, resolve));
      await Promise.resolve();
      await new Promise<void>((resolve) => void set("second", 10, resolve));
      return clock.monotonicTime();
    })();
    await clock.advance(100);
    expect(await chain).toBe(20);
  });

  test("takes a delay below 0 as 0, and fires it by the next advance of 0", async () => {
    set("it", -5);
    await clock.advance(0);
    expect(seen).toEqual(["it at 0"]);
  });

  test("does not fire a timer that was cancelled, nor counts it", async () => {
    const timer = set("cancelled", 10);
    set("canceller", 5, () => timer.cancel());
    set("first", 1).cancel();
    expect(clock.timers).toBe(2);
    await clock.advance(20);
    expect(seen).toEqual(["canceller at 5"]);
    expect(clock.timers).toBe(0);
    timer.cancel();
  });

  test("fires a timer once", async () => {
    set("it", 10);
    await clock.advance(10);
    await clock.advance(10);
    expect(seen).toEqual(["it at 10"]);
  });

  test("lets a timer be unreferenced, and fires it all the same", async () => {
    set("it", 10).unref();
    set("other", 20);
    expect([clock.timers, clock.heldTimers]).toEqual([2, 1]);
    await clock.advance(10);
    expect(seen).toEqual(["it at 10"]);
    expect([clock.timers, clock.heldTimers]).toEqual([1, 1]);
  });

  test.each([-1, -0.001, Number.NaN, Number.NEGATIVE_INFINITY])("refuses to advance by %d", async (by) => {
    set("it", 0);
    await expect(clock.advance(by)).rejects.toThrow(RangeError);
    await expect(clock.advance(by)).rejects.toThrow("Time goes forward");
    await clock.settle();
    expect([clock.monotonicTime(), seen.length]).toEqual([0, 0]);
  });

  test("does not go back when it is advanced twice at once", async () => {
    await Promise.all([clock.advance(100), clock.advance(10)]);
    expect(clock.monotonicTime()).toBe(100);
  });
});

describe("settle()", () => {
  test("runs a chain of microtasks to its end", async () => {
    let left = 1_000;
    const next = (): void => {
      if (--left > 0) clock.microtask(next);
    };
    clock.microtask(next);
    await clock.settle();
    expect(left).toBe(0);
  });

  test("runs a chain of promises to its end", async () => {
    let steps = 0;
    void (async () => {
      for (; steps < 1_000; steps++) await null;
    })();
    await clock.settle();
    expect(steps).toBe(1_000);
  });

  test("runs macrotasks and microtasks that set off each other to the end", async () => {
    let left = 100;
    const macro = (): void => {
      if (--left > 0) clock.microtask(() => void Promise.resolve().then(() => clock.macrotask(macro)));
    };
    clock.macrotask(macro);
    await clock.settle();
    expect(left).toBe(0);
  });

  test("runs macrotasks in order, and those that they add in a later turn", async () => {
    clock.macrotask(() => {
      seen.push("first");
      clock.macrotask(() => seen.push("added"));
      clock.microtask(() => seen.push("microtask"));
    });
    clock.macrotask(() => seen.push("second"));
    await clock.settle();
    expect(seen).toEqual(["first", "second", "microtask", "added"]);
  });

  test("runs nothing on the caller's stack", async () => {
    clock.macrotask(() => seen.push("macrotask"));
    clock.microtask(() => seen.push("microtask"));
    const settled = clock.settle();
    expect(seen).toEqual([]);
    await settled;
    expect(seen).toEqual(["microtask", "macrotask"]);
  });

  test("fires no timer", async () => {
    set("it", 0);
    await clock.settle();
    expect(seen).toEqual([]);
  });
});
