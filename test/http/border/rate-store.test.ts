import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { LocalRateStore } from "../../../src/http/border/rate-store";
import { rateWindowsOf } from "../../../src/http/border/rate-windows";
import { createManualClock } from "../../../src/testing/index";

const windows = (text: string) => rateWindowsOf(text, "a test");

describe("windows", () => {
  test("are read from a text", () => {
    expect(windows("10/s; 100/min;1000/15min;5/d;7/h")).toEqual([
      { name: "10/s", quota: 10, seconds: 1 },
      { name: "100/min", quota: 100, seconds: 60 },
      { name: "1000/15min", quota: 1000, seconds: 900 },
      { name: "5/d", quota: 5, seconds: 86_400 },
      { name: "7/h", quota: 7, seconds: 3_600 },
    ]);
  });

  test.each([
    "",
    ";",
    "10",
    "10/",
    "/s",
    "0/s",
    "-1/s",
    "1.5/s",
    "1e3/s",
    "10/0s",
    "10/m",
    "10/S",
    "10/s;",
    "10/s,100/min",
    10,
    null,
    {},
  ])("that are not written so are refused: %p", (text) => {
    expect(() => windows(text as string)).toThrow(/such as "10\/s;100\/min"/);
  });

  test("of one length are refused", () => {
    expect(() => windows("10/min;20/60s")).toThrow(/two windows of one length/);
  });
});

describe("token buckets", () => {
  test("give their quota at once, and then as much as time gives back", async () => {
    const clock = createManualClock();
    const store = new LocalRateStore(clock, 100);
    const ten = windows("10/s");
    for (let n = 9; n >= 0; n--) {
      expect(store.take("ada", 1, ten)).toEqual({
        isAllowed: true,
        windows: [{ remaining: n, wait: expect.closeTo(100, 3) }],
      });
    }
    expect(store.take("ada", 1, ten)).toEqual({
      isAllowed: false,
      windows: [{ remaining: 0, wait: expect.closeTo(100, 3) }],
    });
    await clock.advance(99);
    expect(store.take("ada", 1, ten).isAllowed).toBe(false);
    await clock.advance(1);
    expect(store.take("ada", 1, ten).isAllowed).toBe(true);
    expect(store.take("ada", 1, ten).isAllowed).toBe(false);
    expect(store.take("bob", 1, ten).isAllowed).toBe(true);
  });

  test("of several windows are taken from together, or none of them", async () => {
    const clock = createManualClock();
    const store = new LocalRateStore(clock, 100);
    const both = windows("2/s;3/min");
    expect([1, 2].map(() => store.take("ada", 1, both).isAllowed)).toEqual([true, true]);
    for (let n = 0; n < 50; n++) expect(store.take("ada", 1, both).isAllowed).toBe(false); // Costs nothing.
    await clock.advance(1_000);
    expect(store.take("ada", 1, both).isAllowed).toBe(true);
    const refused = store.take("ada", 1, both);
    expect(refused).toMatchObject({
      isAllowed: false,
      windows: [{ remaining: 1 }, { remaining: 0, wait: expect.closeTo(19_000, 3) }],
    });
  });

  test("never give more than the quota in a window, and the rate beside it (any times, any costs)", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 1, max: 4 })), { maxLength: 100 }),
        (steps) => {
          let now = 1e9;
          const store = new LocalRateStore({ ...createManualClock(), monotonicTime: () => now }, 10);
          const five = windows("5/s");
          let given = 0;
          for (const [pause, cost] of steps) {
            now += pause;
            const { isAllowed, windows: left } = store.take("ada", cost, five);
            if (isAllowed) given += cost;
            expect(given).toBeLessThanOrEqual(5 + ((now - 1e9) * 5) / 1_000 + 1e-3);
            const [{ remaining, wait } = { remaining: 0, wait: 0 }] = left;
            if (isAllowed) continue;
            expect(remaining).toBeLessThan(cost);
            now += wait; // It told the truth: now there are enough.
            if (cost <= 5) expect(store.take("ada", cost, five).isAllowed).toBe(true);
            given += cost;
          }
        },
      ),
    );
  });
});

describe("P18: a flood of callers", () => {
  test("keeps a bounded number of buckets", () => {
    const store = new LocalRateStore(createManualClock(), 1_000);
    const one = windows("1/d");
    for (let n = 0; n < 10_000; n++) store.take(`caller ${n}`, 1, one);
    expect(store.size).toBe(1_000);
  });

  test("drops full buckets first: whoever has used up a quota stays refused", async () => {
    const clock = createManualClock();
    const store = new LocalRateStore(clock, 1_000);
    const two = windows("10/min");
    for (let n = 0; n < 11; n++) store.take("mallory", 1, two);
    for (let n = 0; n < 20_000; n++) store.take(`caller ${n}`, 1, two);
    expect(store.take("mallory", 1, two).isAllowed).toBe(false);
    expect(store.size).toBe(1_000);
  });

  test("leaves no buckets behind: those that are full go as others come", async () => {
    const clock = createManualClock();
    const store = new LocalRateStore(clock, 10_000);
    const ten = windows("10/s");
    for (let n = 0; n < 5_000; n++) store.take(`caller ${n}`, 1, ten);
    expect(store.size).toBe(5_000);
    await clock.advance(1_000);
    for (let n = 0; n < 6_000; n++) {
      await (n % 100 === 0 ? clock.advance(200) : undefined);
      store.take(`later ${n}`, 1, ten);
    }
    expect(store.size).toBeLessThan(500);
  });

  test("keeps memory flat: 10,000 callers, many times over", () => {
    let now = 0;
    const store = new LocalRateStore({ ...createManualClock(), monotonicTime: () => now }, 1_000);
    const ten = windows("10/s;100/min");
    const flood = (round: number): number => {
      for (let n = 0; n < 10_000; n++) store.take(`198.51.${round}.${n}`, 1, ten);
      now += 50;
      Bun.gc(true);
      return process.memoryUsage().heapUsed;
    };
    for (let round = 0; round < 3; round++) flood(round);
    const before = flood(3);
    for (let round = 4; round < 8; round++) flood(round);
    expect(flood(8) - before).toBeLessThan(1_000_000);
    expect(store.size).toBeLessThanOrEqual(1_000);
  });
});
