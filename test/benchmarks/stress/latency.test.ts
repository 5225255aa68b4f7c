import { describe, expect, test } from "bun:test";
import { createRandom } from "envoi/testing";
import { RequestTimes } from "../../../benchmarks/stress/requests";

const COUNT = 100_000;

describe("percentiles are those of a distribution whose answers are known, to three digits:", () => {
  // The quantile functions; each share of one is drawn once, in an order by chance.
  const cases: [string, (share: number) => number][] = [
    ["uniform from 0 to 10 ms", (share) => share * 10],
    ["exponential with a mean of 0.02 ms", (share) => -Math.log(1 - share) * 0.02],
    ["Pareto from 1 ms, with a long tail", (share) => (1 - share) ** -0.5],
  ];
  for (const [name, quantile] of cases) {
    test(name, () => {
      const latencies = new RequestTimes();
      const shares = Array.from({ length: COUNT }, (_, index) => (index + 0.5) / COUNT);
      for (const share of createRandom(5).shuffle(shares)) latencies.record(quantile(share));
      const { count, p50, p95, p99, p999, max } = latencies.summary();
      const expected = [0.5, 0.95, 0.99, 0.999].map(quantile);
      for (const [index, told] of [p50, p95, p99, p999].entries()) {
        expect((told ?? 0) / (expected[index] ?? 0)).toBeWithin(0.997, 1.003);
      }
      expect({ count, max }).toEqual({ count: COUNT, max: quantile(1 - 0.5 / COUNT) });
    });
  }
});

test("a percentile is told when ten of the samples are above it", () => {
  const summaryOf = (count: number) => {
    const latencies = new RequestTimes();
    for (let i = 0; i < count; i++) latencies.record(1);
    return latencies.summary();
  };
  expect(summaryOf(999)).toMatchObject({ p99: null, p999: null });
  expect(summaryOf(1_000)).toMatchObject({ p99: expect.closeTo(1, 2), p999: null });
  expect(summaryOf(10_000)).toMatchObject({ p99: expect.closeTo(1, 2), p999: expect.closeTo(1, 2) });
});

test("a time of nothing, and none at all, are figures too", () => {
  const latencies = new RequestTimes();
  expect(latencies.summary()).toEqual({ count: 0, p50: 0, p95: 0, p99: null, p999: null, max: 0 });
  latencies.record(0);
  expect(latencies.summary()).toMatchObject({ count: 1, max: 0 });
});
