import { describe, expect, test } from "bun:test";
import type { Noise, RowResult } from "../../benchmarks/harness/results";
import { median } from "../../benchmarks/harness/statistics";
import {
  checkTargets,
  describeNoise,
  deviation,
  isUnjudged,
  noiseOf,
  QUIET,
  type Target,
} from "../../benchmarks/harness/target";
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

describe("a target cannot be judged, whichever way it looks,", () => {
  const target: Target = { suite: "routing", row: "ref.ask", figure: "ratio", atMost: 2, aim: 1, reason: "" };
  const judged = (row: RowResult, changes: object = {}) => {
    const { misses, unjudged } = checkTargets(
      [{ ...target, ...changes }],
      [{ ...result({ ratio: 1.5 }), rows: [row] }],
    );
    return { misses: misses.length, unjudged: unjudged.length };
  };

  test("where the rounds of its row's floor lie far apart", () => {
    for (const atMost of [1, 100]) {
      expect(judged(rowWith([100, 130, 160]), { atMost })).toEqual({ misses: 0, unjudged: 1 });
    }
    expect(judged(rowWith([100, 100, 101]), { atMost: 1 })).toEqual({ misses: 1, unjudged: 0 });
    expect(judged(rowWith([100, 100, 101]))).toEqual({ misses: 0, unjudged: 0 });
  });

  test("where it is a time without a floor, and the floors of the run lie far apart; bytes and counts are what they are", () => {
    const noise = (spread: number): Noise => ({ spread, floors: 10, isNoisy: spread > QUIET });
    const read = (unit: "ms" | "B" | ""): RowResult => ({
      kind: "probe",
      row: "a probe",
      floor: { none: "" },
      figures: [{ figure: "it", unit, median: 1, min: 1, max: 1, floor: null, ratio: null }],
      seconds: 1,
    });
    expect(isUnjudged("it", read("ms"), noise(2 * QUIET))).toBe(true);
    expect(isUnjudged("it", read("ms"), noise(QUIET))).toBe(false);
    for (const unit of ["B", ""] as const) expect(isUnjudged("it", read(unit), noise(1))).toBe(false);
  });
});

test("a noisy machine is told with its figure, a quiet one is not worth a word", () => {
  expect(describeNoise({ spread: 0.124, floors: 38, isNoisy: true })).toContain(
    "the floors of 38 rows lie 12 % from their middle, and on a quiet machine 6 % at most",
  );
  expect(describeNoise({ spread: 0.02, floors: 38, isNoisy: false })).toBeUndefined();
  expect(describeNoise(undefined)).toBeUndefined();
});
