import { describe, expect, test } from "bun:test";
import {
  chanceOf,
  medianSlope,
  quantile,
  rankInterval,
  ratios,
  spread,
  summarise,
  throughput,
} from "../../benchmarks/harness/statistics";

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const shuffled = (values: readonly number[]) => [...values].sort((a, b) => ((a * 7919) % 1009) - ((b * 7919) % 1009));

describe("percentiles", () => {
  test("of a uniform distribution lie where they must, whatever the order of the samples", () => {
    const summary = summarise(shuffled(upTo(1001)));
    expect(summary).toEqual({ samples: 1001, min: 1, mean: 501, p50: 501, p75: 751, p95: 951, p99: 991 });
  });

  test("lie between two samples in proportion", () => {
    expect(quantile([10, 20], 0.5)).toBe(15);
    expect(quantile([10, 20, 30, 40], 0.95)).toBeCloseTo(38.5, 10);
    expect(quantile([7], 0.99)).toBe(7);
  });

  test("of a distribution with a slow tail show the tail in p99 alone", () => {
    const summary = summarise([...Array<number>(985).fill(100), ...Array<number>(15).fill(5000)]);
    expect([summary.p50, summary.p95, summary.p99]).toEqual([100, 100, 5000]);
    expect(summary.mean).toBe(173.5);
  });

  test("have no p99 below a thousand samples", () => {
    expect(summarise(upTo(999)).p99).toBeNull();
    expect(summarise(upTo(1000)).p99).not.toBeNull();
  });

  test("of no samples are an error, not NaN", () => {
    expect(() => summarise([])).toThrow("no samples");
  });
});

/** As many samples as asked for of a distribution, by its quantile function. */
const drawn = (count: number, quantileAt: (share: number) => number): number[] =>
  shuffled(Array.from({ length: count }, (_, i) => quantileAt((i + 0.5) / count)));

describe("percentiles of distributions whose answers are known:", () => {
  test("the exponential one, of response times", () => {
    const summary = summarise(drawn(10_007, (share) => -100 * Math.log(1 - share)));
    expect(summary.mean / 100).toBeCloseTo(1, 2);
    expect(summary.p50 / (100 * Math.LN2)).toBeCloseTo(1, 2);
    expect(summary.p95 / (100 * Math.log(20))).toBeCloseTo(1, 2);
    expect((summary.p99 ?? 0) / (100 * Math.log(100))).toBeCloseTo(1, 2);
  });

  test("Pareto's, whose tail is so heavy that its mean is above its p75", () => {
    const summary = summarise(drawn(10_007, (share) => (1 - share) ** (-1 / 1.1)));
    expect(summary.p75 / 4 ** (1 / 1.1)).toBeCloseTo(1, 2);
    expect(summary.p95 / 20 ** (1 / 1.1)).toBeCloseTo(1, 2);
    expect((summary.p99 ?? 0) / 100 ** (1 / 1.1)).toBeCloseTo(1, 2);
    expect(summary.mean).toBeGreaterThan(summary.p75);
  });

  test("two kinds of operation, one in four of which is slow: nothing lies between them", () => {
    const summary = summarise(drawn(10_007, (share) => (share < 0.76 ? 10 : 1_000)));
    expect([summary.p50, summary.p75, summary.p95, summary.p99]).toEqual([10, 10, 1_000, 1_000]);
  });
});

test("throughput is what was completed over the wall time", () => {
  expect(throughput(3_000_000, 1.5e9)).toBe(2_000_000);
});

describe("the ratio", () => {
  test("is the median of the ratios of each round, not the ratio of the medians", () => {
    // A machine that is four times slower in rounds 2 and 3: row and floor suffer alike.
    expect(ratios([20, 80, 88, 30, 24], [10, 40, 40, 10, 10])).toEqual({ median: 2.2, min: 2, max: 3 });
  });

  test("needs a floor in each round", () => {
    expect(() => ratios([1, 2], [1])).toThrow("round 1 has no floor");
  });
});

test("a spread tells median, lowest and highest", () => {
  expect(spread([9, 1, 5, 7])).toEqual({ median: 6, min: 1, max: 9 });
});

test("a median slope is what each step adds, jumps apart", () => {
  expect(medianSlope([3, 5, 7, 9])).toBe(2);
  expect(medianSlope([0, 1, 2, 3, 4, 500, 6, 7, 8, 9, 10])).toBe(1);
  expect(medianSlope([7, 7, 7, 7, 90, 90, 90, 7, 7, 7, 7])).toBe(0);
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
    const even = Array.from({ length: 12 }, (_, index) => 1 + index / 100);
    const { middle, low, high } = rankInterval(even);
    expect(middle).toBeCloseTo(1.055, 9);
    expect(chanceOf(even.map((each) => each - low - 0.004))).toBeGreaterThan(0.025);
    expect(chanceOf(even.map((each) => each - low + 0.004))).toBeLessThan(0.025);
    expect(high).toBeLessThan(1.11);
    expect(rankInterval(even.with(11, 9)).middle).toBeLessThan(1.07);
    expect(rankInterval([3, 1, 2, 4])).toEqual({ middle: 2.5, low: 1, high: 4 });
  });
});
