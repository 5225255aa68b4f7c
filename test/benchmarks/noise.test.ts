import { describe, expect, test } from "bun:test";
import { describeNoise, deviation, isExplained, noiseOf, QUIET } from "../../benchmarks/harness/noise";
import type { Noise, RowResult } from "../../benchmarks/harness/results";
import { median } from "../../benchmarks/harness/statistics";
import type { Target } from "../../benchmarks/harness/target";
import { result } from "./sample-result";

/** Uniform random numbers that are the same each time (Mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Normal ones, by Box and Muller. */
const normal = (random: () => number) => () =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

const [timed] = result({}).rows;
/** A row whose floor had these rounds. */
function rowWith(rounds: readonly number[], name = "raw ask", varies = false): RowResult {
  if (timed?.kind !== "timed") throw new Error("the first row is timed");
  return { ...timed, floor: { name, about: "", ...(varies && { varies }), p50: median(rounds), rounds } };
}

describe("the spread of floors", () => {
  for (const rounds of [3, 9]) {
    test(`of ${rounds} rounds is the standard deviation that they were drawn with, in the middle of many rows`, () => {
      const draw = normal(seeded(rounds));
      const rows = Array.from({ length: 2_000 }, (_, index) =>
        rowWith(
          Array.from({ length: rounds }, () => 100 + 4 * draw()),
          `floor ${index}`,
        ),
      );
      const { spread = 0 } = noiseOf(rows) ?? {};
      expect(spread).toBeGreaterThan(0.036);
      expect(spread).toBeLessThan(0.044);
    });
  }

  test("is not moved by one round that was disturbed", () => {
    expect(deviation([100, 101, 99, 100, 102, 98, 100, 101, 400])).toBeLessThan(0.02);
  });

  test("is that of a floor over the run, where its rounds agree and its rows do not", () => {
    const rows = [100, 140, 180, 220].map((middle) => rowWith([middle - 1, middle, middle + 1]));
    expect(noiseOf(rows)?.isNoisy).toBe(true);
    expect(noiseOf(rows.map((_, index) => rowWith([99, 100, 101], `floor ${index}`)))?.isNoisy).toBe(false);
  });

  test("is not that of floors which differ by their work, as by the size of a file", () => {
    const rows = [100, 140, 180, 220].map((middle) => rowWith([middle - 1, middle, middle + 1], "raw read", true));
    expect(noiseOf(rows)?.isNoisy).toBe(false);
  });

  test("is not known where no row has a floor, or too few rounds of it", () => {
    expect(noiseOf(result({}).rows.slice(1))).toBeUndefined();
    expect(noiseOf([rowWith([100, 110])])).toBeUndefined();
  });
});

describe("a miss", () => {
  const target: Target = { suite: "routing", row: "ref.ask", figure: "ratio", atMost: 2, aim: 1, reason: "" };
  const least: Target = { suite: "routing", row: "ref.ask", figure: "ticks", atLeast: 40, aim: 40, reason: "" };
  const noise = (spread: number): Noise => ({ spread, floors: 10, isNoisy: spread > QUIET });
  const steady = [rowWith([100, 100, 101])];

  test("is one on a quiet machine, by however little", () => {
    expect(isExplained({ target, measured: 2.001 }, noise(QUIET), steady)).toBe(false);
    expect(isExplained({ target, measured: 2.001 }, undefined, steady)).toBe(false);
  });

  test("cannot be judged on a noisy one up to three times the spread, and is one beyond that", () => {
    expect(isExplained({ target, measured: 2.5 }, noise(0.1), steady)).toBe(true);
    expect(isExplained({ target, measured: 2.7 }, noise(0.1), steady)).toBe(false);
    expect(isExplained({ target: least, measured: 31 }, noise(0.1), steady)).toBe(true);
    expect(isExplained({ target: least, measured: 30 }, noise(0.1), steady)).toBe(false);
  });

  test("of a row that was disturbed more than the others is held against its own floor", () => {
    expect(isExplained({ target, measured: 4 }, noise(0.1), [rowWith([100, 200, 300])])).toBe(true);
    expect(isExplained({ target, measured: 4 }, noise(0.1), steady)).toBe(false);
  });
});

test("a noisy machine is told with its figure, a quiet one is not worth a word", () => {
  expect(describeNoise({ spread: 0.124, floors: 38, isNoisy: true })).toContain(
    "the floors of 38 rows lie 12 % from their middle, and on a quiet machine 6 % at most",
  );
  expect(describeNoise({ spread: 0.02, floors: 38, isNoisy: false })).toBeUndefined();
  expect(describeNoise(undefined)).toBeUndefined();
});
