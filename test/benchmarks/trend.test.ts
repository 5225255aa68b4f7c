import { describe, expect, test } from "bun:test";
import { createRandom, type SeededRandom } from "envoi/testing";
import { type Point, trend } from "../../benchmarks/harness/statistics";

const points = (values: readonly number[]): Point[] => values.map((value, index) => [index * 1_000, value]);
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

/** A deviate of the normal distribution (G. E. P. Box and M. E. Muller, 1958). */
const normal = (random: SeededRandom): number =>
  Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());

/** The share of so many series that grow, by their interval. */
function found(series: (random: SeededRandom) => readonly number[], runs = 1_000): number {
  const random = createRandom(7);
  let grown = 0;
  for (let run = 0; run < runs; run++) if (trend(points(series(random))).least > 0) grown++;
  return grown / runs;
}

describe("a trend", () => {
  test("of a line is that line, by what lies along", () => {
    expect(trend(points(upTo(20).map((i) => 5 + 3_000 * i)))).toEqual({ slope: 3, least: 3, most: 3 });
  });

  test("of what never changes is 0, and sure of it", () => {
    expect(trend(points(upTo(20).map(() => 7)))).toEqual({ slope: 0, least: 0, most: 0 });
  });

  test("goes down where the values do", () => {
    const { slope, least, most } = trend(points(upTo(20).map((i) => -2_000 * i + (i % 3))));
    expect(slope).toBeCloseTo(-2, 2);
    expect(least).toBeLessThanOrEqual(slope);
    expect(most).toBeLessThan(0);
  });

  test("is moved little by values that are far out", () => {
    const { slope, most } = trend(points(upTo(20).map((i) => (i === 11 ? 1e9 : 1_000 * i))));
    expect(slope).toBe(1);
    expect(most).toBe(1);
  });

  test("of fewer than ten points is refused", () => {
    expect(() => trend(points(upTo(9)))).toThrow("A trend needs 10 points or more; got 9.");
  });
});

describe("the interval of a trend", () => {
  test("holds the true slope in 99 of 100 series with noise that is normal", () => {
    const random = createRandom(11);
    let missed = 0;
    for (let run = 0; run < 2_000; run++) {
      const { slope, least, most } = trend(points(upTo(49).map((i) => 1_000 * i + 4_000 * normal(random))));
      expect(slope).toBeGreaterThanOrEqual(least);
      if (least > 1 || most < 1) missed++;
    }
    expect(missed / 2_000).toBeLessThan(0.02);
    expect(missed / 2_000).toBeGreaterThan(0.002); // Else it would be too wide to find anything.
  });

  test("calls what grows by noise alone a growth in fewer than 1 of 100 series", () => {
    expect(found((random) => upTo(49).map(() => normal(random)))).toBeLessThan(0.012);
  });

  test("calls noise that lingers a growth in fewer than 5 of 100 series", () => {
    const lingering = (share: number) => (random: SeededRandom) => {
      let last = normal(random);
      return upTo(49).map(() => {
        last = share * last + Math.sqrt(1 - share ** 2) * normal(random);
        return last;
      });
    };
    expect(found(lingering(0.3))).toBeLessThan(0.05);
    expect(found(lingering(0.6))).toBeLessThan(0.05);
  });

  test("calls one step up, wherever it is, a growth in fewer than 5 of 100 series", () => {
    const step = (random: SeededRandom) => {
      const at = random.below(49);
      return upTo(49).map((i) => (i < at ? 0 : 100) + normal(random));
    };
    expect(found(step)).toBeLessThan(0.05);
    const clean = (random: SeededRandom) => {
      const at = random.below(49);
      return upTo(49).map((i) => (i < at ? 0 : 100));
    };
    expect(found(clean)).toBeLessThan(0.05);
  });

  test("finds what grows by as much as its noise is wide in a tenth of the way", () => {
    expect(found((random) => upTo(49).map((i) => 0.2 * i + normal(random)))).toBeGreaterThan(0.99);
  });

  test("finds what grows by a step now and then, as RSS does", () => {
    expect(found((random) => upTo(49).map((i) => 10 * Math.floor(i / 5) + normal(random)))).toBeGreaterThan(0.99);
  });
});
