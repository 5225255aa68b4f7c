import { describe, expect, test } from "bun:test";
import { Latencies, latencyFigures, sustain, timeEach } from "../../benchmarks/harness/latency";

const recorded = (times: Iterable<number>): Latencies => {
  const latencies = new Latencies();
  for (const time of times) latencies.record(time);
  return latencies;
};

/** As many times as asked for of a distribution, by its quantile function, in an order that is none. */
function* drawn(count: number, quantile: (share: number) => number): Generator<number> {
  for (let i = 0; i < count; i++) yield quantile((((i * 7919) % count) + 0.5) / count);
}

/** A bin is a thousandth wide. */
function expectNear(found: number | undefined, value: number): void {
  expect(Math.abs((found ?? 0) / value - 1)).toBeLessThan(0.002);
}

describe("times of single operations", () => {
  test("of an even spread lie where they must", () => {
    const { readings } = recorded(drawn(10_007, (share) => 1_000_000 * share)).told("ns");
    expectNear(readings["p50"], 500_000);
    expectNear(readings["p95"], 950_000);
    expectNear(readings["p99"], 990_000);
    expectNear(readings["p99.9"], 999_000);
    expectNear(readings["max"], 1_000_000);
  });

  test("of an exponential distribution have the tail of one: p99.9 is ten times as far as p50", () => {
    const mean = 20_000;
    const { readings } = recorded(drawn(100_003, (share) => -mean * Math.log(1 - share))).told("µs");
    expectNear(readings["p50"], (mean * Math.LN2) / 1e3);
    expectNear(readings["p95"], (mean * Math.log(20)) / 1e3);
    expectNear(readings["p99"], (mean * Math.log(100)) / 1e3);
    expectNear(readings["p99.9"], (mean * Math.log(1_000)) / 1e3);
  });

  test("show the few that were slow, and only where they are", () => {
    const times = Array.from({ length: 10_000 }, (_, i) => (i % 200 === 7 ? 5e6 : 100));
    const { readings } = recorded(times).told("ns");
    expect(readings).toMatchObject({ p50: 100, p95: 100, p99: 100 });
    expectNear(readings["p99.9"], 5e6);
    expectNear(readings["max"], 5e6);
  });

  test("are kept however long or short they were: a clock may stand still, and an operation may stall", () => {
    const latencies = recorded([0, 3.4, 100e9]);
    expect(latencies.count).toBe(3);
    expect(latencies.percentile(1)).toBe(1);
    expect(latencies.percentile(50)).toBe(3);
    expectNear(latencies.percentile(100), 100e9);
  });

  test("make a curve that rises to the slowest one, without points that fewer than ten stand for", () => {
    const { series } = recorded(drawn(1_009, (share) => 1_000 + 1_000_000 * share)).told("µs");
    const [{ name, unit, points }] = series as [(typeof series)[number]];
    expect([name, unit]).toEqual(["latency", "µs"]);
    expect(points.map(([share]) => share)).toEqual([0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.975, 0.99, 1]);
    expect(points.map(([, value]) => value)).toEqual(points.map(([, value]) => value).toSorted((a, b) => a - b));
    expect(points[0]?.[1]).toBeCloseTo(1, 0);
    expectNear(points.at(-1)?.[1], 1_001);
    expectNear(points.find(([share]) => share === 0.5)?.[1], 501);
  });

  test("have the figures that the probe says it has", () => {
    const { readings } = recorded([1]).told("ns");
    expect(latencyFigures("ns").map(({ name }) => name)).toEqual(Object.keys(readings));
  });
});

/** A clock that stands still but for what is done. */
function manual() {
  let now = 1_000;
  return {
    clock: () => now,
    pass: (time: number) => {
      now += time;
    },
  };
}

describe("timing each operation", () => {
  test("takes the time of each by itself: one that stalls is one that was slow", async () => {
    const { clock, pass } = manual();
    const operation = (index: number) => {
      pass(index === 900 ? 200e6 : 50);
      return index;
    };
    const latencies = await timeEach(1_000, { operation, isDone: (answer, index) => answer === index }, clock);
    const { readings } = latencies.told("ns");
    expect(readings).toMatchObject({ p50: 50, p95: 50, p99: 50, "p99.9": 50 });
    expectNear(readings["max"], 200e6);
  });

  test("counts neither those that warm it up, nor the look at the answer", async () => {
    const { clock, pass } = manual();
    let calls = 0;
    const operation = (index: number) => {
      calls++;
      pass(index < 50 ? 1e6 : 70);
    };
    const isDone = () => {
      pass(9e9);
      return true;
    };
    const latencies = await timeEach(100, { operation, isDone }, clock);
    expect([calls, latencies.count, latencies.percentile(100)]).toEqual([150, 100, 70]);
  });

  test("waits for what an operation promises", async () => {
    const { clock, pass } = manual();
    const operation = async (index: number) => {
      await Promise.resolve();
      pass(300);
      return index;
    };
    const latencies = await timeEach(10, { operation, isDone: (answer, index) => answer === index }, clock);
    expect([latencies.percentile(1), latencies.percentile(100)]).toEqual([300, 300]);
  });

  test("is refused when an operation did not do its work, also while it warms up", async () => {
    const wrong = (at: number) =>
      timeEach(10, { operation: (index) => index, isDone: (answer) => answer !== at }, manual().clock);
    await expect(wrong(2)).rejects.toThrow("1 of 15 operations did not do their work");
    await expect(wrong(14)).rejects.toThrow("1 of 15 operations did not do their work");
  });
});

describe("a rate that is sustained", () => {
  /** Batches of 1,000, each of which takes so many milliseconds. */
  const batches = (take: (batch: number) => number) => {
    const { clock, pass } = manual();
    let batch = 0;
    const work = async () => {
      pass(take(batch++));
      return 1_000;
    };
    return { clock, work };
  };

  test("is what was handled over the time that it took", async () => {
    const { clock, work } = batches(() => 2);
    const readings = await sustain(2_000, work, clock);
    expect(readings).toEqual({ rate: 500_000, "slowest tenth of a second": 500_000, messages: 1_000_000 });
  });

  test("shows a pause that the mean hides", async () => {
    const { clock, work } = batches((batch) => (batch === 1_000 ? 90 : 1));
    const readings = await sustain(2_000, work, clock);
    expect(readings["rate"]).toBeGreaterThan(950_000);
    expect(readings["slowest tenth of a second"]).toBeLessThan(120_000);
  });

  test("does not count what came before everything was compiled", async () => {
    const { clock, work } = batches((batch) => (batch < 2 ? 50 : 1));
    expect(await sustain(1_000, work, clock)).toMatchObject({
      rate: 1_000_000,
      "slowest tenth of a second": 1_000_000,
    });
  });

  test("is none where nothing was handled", async () => {
    const { clock, pass } = manual();
    const work = async () => {
      pass(10);
      return 0;
    };
    await expect(sustain(100, work, clock)).rejects.toThrow("no message was handled");
  });
});
