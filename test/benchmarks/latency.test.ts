import { describe, expect, test } from "bun:test";
import { Latencies, latencyFigures, sustain, timeEach } from "../../benchmarks/harness/latency";
import { mixed } from "../../benchmarks/subjects/latency";

/** As many times as asked for of a distribution, by its quantile function, in an order that is none. */
function recorded(count: number, quantile: (share: number) => number): Latencies {
  const latencies = new Latencies();
  for (let i = 0; i < count; i++) latencies.record(quantile((((i * 7919) % count) + 0.5) / count));
  return latencies;
}

/** A bin is a thousandth wide. */
const near = (value: number) => expect.closeTo(value, -Math.log10(value * 0.004));

/** A clock that stands still but for what is done. */
function manual() {
  let now = 1_000;
  const pass = (time: number) => {
    now += time;
  };
  return { clock: () => now, pass };
}

describe("times of single operations", () => {
  test("lie where they must, of an even spread and of a heavy tail, and have the figures that the probe says it has", () => {
    const even = recorded(10_007, (share) => 1e6 * share).told("ns");
    expect(even).toEqual({ p50: near(5e5), p95: near(9.5e5), p99: near(9.9e5), "p99.9": near(9.99e5), max: near(1e6) });
    expect(latencyFigures("ns").map(({ name }) => name)).toEqual(Object.keys(even));
    const heavy = recorded(10_007, (share) => 1_000 * (1 - share) ** (-1 / 1.1)).told("µs");
    expect(heavy["p99"]).toEqual(near(100 ** (1 / 1.1)));
  });
});

describe("timing each operation", () => {
  test("takes the time of each by itself, to the end of what it promises: one that stalls is one that was slow", async () => {
    const { clock, pass } = manual();
    const operation = async (index: number) => {
      await Promise.resolve();
      pass(index === 900 ? 200e6 : 50);
      return index;
    };
    const latencies = await timeEach(1_000, { operation, isDone: (answer, index) => answer === index }, clock);
    expect(latencies.told("ns")).toEqual({ p50: 50, p95: 50, p99: 50, "p99.9": 50, max: near(200e6) });
  });

  test("is refused when an operation did not do its work, also while it warms up", async () => {
    for (const at of [2, 14]) {
      const timing = timeEach(10, { operation: (index) => index, isDone: (answer) => answer !== at }, manual().clock);
      await expect(timing).rejects.toThrow("1 of 15 operations did not do their work");
    }
  });
});

describe("streams, files and code in turn", () => {
  /** Files by their paths, code that is right, and streams of ten; each may be another. */
  async function measure({ length = 10, isKept = true, extra = 0 }) {
    const files = new Map<string, string>();
    const bench = {
      run: async (_: string, input: unknown) => 18 + Number(input) + extra,
      told: (value: number) => ({ value, logs: 0 }),
      read: (path: string) => files.get(path) ?? "",
      write: (path: string, content: string) => void (isKept && files.set(path, content)),
      folder: "",
    };
    return mixed(50, bench, (from) => Array.from({ length }, (_, i) => from + i));
  }

  test("are measured where each did its work, and refused where a kind of them did not", async () => {
    expect(Object.keys(await measure({}))).toEqual(["rate", "heap growth", "streaming p95", "files p95", "code p95"]);
    await expect(measure({ length: 9 })).rejects.toThrow("of streaming, did not do its work");
    await expect(measure({ isKept: false })).rejects.toThrow("of files, did not do its work");
    await expect(measure({ extra: 1 })).rejects.toThrow("of code, did not do its work");
  });
});

describe("a rate that is sustained", () => {
  /** Batches, each of which takes so many milliseconds. */
  const sustained = (take: (batch: number) => number, messages = 1_000) => {
    const { clock, pass } = manual();
    let batch = 0;
    const work = async () => {
      pass(take(batch++));
      return messages;
    };
    return sustain(2_000, work, clock);
  };

  test("is what was handled over the time that it took, without what came before everything was compiled", async () => {
    const rate = { rate: 500_000, "slowest tenth of a second": 500_000, messages: 1_000_000 };
    expect(await sustained(() => 2)).toEqual(rate);
    expect(await sustained((batch) => (batch < 2 ? 50 : 2))).toEqual(rate);
    await expect(sustained(() => 10, 0)).rejects.toThrow("no message was handled");
  });

  test("shows a pause that the mean hides", async () => {
    const readings = await sustained((batch) => (batch === 1_000 ? 90 : 1));
    expect(readings["rate"]).toBeGreaterThan(950_000);
    expect(readings["slowest tenth of a second"]).toBeLessThan(120_000);
  });
});
