import { describe, expect, test } from "bun:test";
import { createRandom, type SeededRandom } from "envoi/testing";
import {
  chanceOf,
  type Point,
  quantile,
  rankInterval,
  ratios,
  summarise,
  trend,
} from "../../benchmarks/harness/statistics";

const shuffled = (values: readonly number[]) => [...values].sort((a, b) => ((a * 7919) % 1009) - ((b * 7919) % 1009));
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);
describe("percentiles", () => {
  test("lie where they must, whatever the order of the samples, and between two of them in proportion", () => {
    const summary = summarise(shuffled(upTo(1001)));
    expect(summary).toEqual({ samples: 1001, min: 0, mean: 500, p50: 500, p75: 750, p95: 950, p99: 990 });
    expect(quantile([10, 20, 30, 40], 0.95)).toBeCloseTo(38.5, 10);
    expect(quantile([7], 0.99)).toBe(7);
  });

  test("have no p99 below a thousand samples, and are none of none", () => {
    expect(summarise(upTo(999)).p99).toBeNull();
    expect(summarise(upTo(1000)).p99).not.toBeNull();
    expect(() => summarise([])).toThrow("no samples");
  });
});

test("a ratio is the median of the ratios of each round, not the ratio of the medians; each round needs a floor", () => {
  // A machine that is four times slower in rounds 2 and 3: row and floor suffer alike.
  expect(ratios([20, 80, 88, 30, 24], [10, 40, 40, 10, 10])).toEqual({ median: 2.2, min: 2, max: 3 });
  for (const floors of [[1], [1, 0]]) expect(() => ratios([1, 2], floors)).toThrow("round 1 has no floor");
});

describe("a test of signed ranks", () => {
  test("gives the chances of Wilcoxon's table, one-sided", () => {
    const up = [1.1, 2.3, 3.2, 4.5, 5.7, 6.1];
    expect(chanceOf(up)).toBe(1 / 64);
    expect(chanceOf(up.with(0, -1.1))).toBe(2 / 64);
    expect(chanceOf(up.map((each) => -each))).toBe(1);
    expect(chanceOf([1, 2, 3, 4, -5, 6, 7, 8].map((each) => each + 0.001))).toBe(10 / 256); // W = 31 of 36.
    expect(chanceOf([2, 2, 2, 2])).toBe(1 / 16); // Equal ones share their ranks.
  });

  test("has an interval of those middles that it does not refuse, which one that was disturbed hardly moves", () => {
    const even = upTo(12).map((index) => 1 + index / 100);
    const { middle, low, high } = rankInterval(even);
    expect(middle).toBeCloseTo(1.055, 9);
    expect(chanceOf(even.map((each) => each - low - 0.004))).toBeGreaterThan(0.025);
    expect(chanceOf(even.map((each) => each - low + 0.004))).toBeLessThan(0.025);
    expect(high).toBeLessThan(1.11);
    expect(rankInterval(even.with(11, 9)).middle).toBeLessThan(1.07);
    expect(rankInterval([3, 1, 2, 4])).toEqual({ middle: 2.5, low: 1, high: 4 });
  });
});

describe("a trend", () => {
  const points = (values: readonly number[]): Point[] => values.map((value, index) => [index * 1_000, value]);
  const alongOf = (valueAt: (index: number) => number, count = 49) => upTo(count).map(valueAt);

  /** A deviate of the normal distribution (G. E. P. Box and M. E. Muller, 1958). */
  const normal = (random: SeededRandom): number =>
    Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());

  /** The share of so many series that grow, by their interval. */
  function found(series: (random: SeededRandom) => readonly number[], runs = 1_000): number {
    const random = createRandom(7);
    return upTo(runs).filter(() => trend(points(series(random))).least > 0).length / runs;
  }

  test("is the line's where there is one, moved little by values that are far out, and none of fewer than ten points", () => {
    expect(trend(points(alongOf((i) => 5 + 3_000 * i)))).toEqual({ slope: 3, least: 3, most: 3 });
    expect(trend(points(alongOf(() => 7)))).toEqual({ slope: 0, least: 0, most: 0 });
    expect(trend(points(alongOf((i) => -2_000 * i + (i % 3)))).most).toBeLessThan(0);
    expect(trend(points(alongOf((i) => (i === 11 ? 1e9 : 1_000 * i), 20)))).toMatchObject({ slope: 1, most: 1 });
    expect(() => trend(points(upTo(9)))).toThrow("A trend needs 10 points or more; got 9.");
  });

  test("has an interval that holds the true slope in 99 of 100 series with noise that is normal", () => {
    const random = createRandom(11);
    const intervals = upTo(2_000).map(() => trend(points(alongOf((i) => 1_000 * i + 4_000 * normal(random)))));
    const missed = intervals.filter(({ least, most }) => least > 1 || most < 1).length / intervals.length;
    expect(missed).toBeWithin(0.002, 0.02); // Below, it would be too wide to find anything.
  });

  test("calls noise a growth in fewer than 1 of 100 series, and noise that lingers in fewer than 5", () => {
    expect(found((random) => alongOf(() => normal(random)))).toBeLessThan(0.012);
    const lingering = (random: SeededRandom) => {
      let last = normal(random);
      return alongOf(() => (last = 0.6 * last + 0.8 * normal(random)));
    };
    expect(found(lingering)).toBeLessThan(0.05);
  });

  test("calls one step up, wherever it is, a growth in fewer than 5 of 100 series", () => {
    const step = (random: SeededRandom) => {
      const at = random.below(49);
      return alongOf((i) => (i < at ? 0 : 100) + normal(random));
    };
    expect(found(step)).toBeLessThan(0.05);
  });

  test("finds what grows by as much as its noise is wide in a tenth of the way, and by a step now and then, as RSS does", () => {
    expect(found((random) => alongOf((i) => 0.2 * i + normal(random)))).toBeGreaterThan(0.99);
    expect(found((random) => alongOf((i) => 10 * Math.floor(i / 5) + normal(random)))).toBeGreaterThan(0.99);
  });
});
