import { expect, test } from "bun:test";
import { Schedule, type ScheduleOptions } from "../../../benchmarks/stress/schedule";

const schedule = (options: Partial<ScheduleOptions> = {}): Schedule =>
  new Schedule({ rate: 1_000, mix: { ask: 1 }, arrivals: "poisson", seed: 7, ...options }, 0);

/** When requests are due, and what they ask for. */
function taken(from: Schedule, count: number): { readonly due: number; readonly operation: string }[] {
  return Array.from({ length: count }, () => {
    const { due } = from;
    return { due, operation: from.take() };
  });
}

const gapsOf = (requests: readonly { readonly due: number }[]): number[] =>
  requests.slice(1).map(({ due }, index) => due - (requests[index]?.due ?? 0));

const mean = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0) / values.length;
const variance = (values: readonly number[]): number => {
  const middle = mean(values);
  return mean(values.map((value) => (value - middle) ** 2));
};

test("the same seed gives the same schedule, and another one another", () => {
  const mix = { ask: 1, code: 1 };
  const first = taken(schedule({ mix }), 100);
  expect(taken(schedule({ mix }), 100)).toEqual(first);
  expect(taken(schedule({ mix, seed: 8 }), 100)).not.toEqual(first);
});

test("constant arrivals have one gap between all", () => {
  for (const gap of gapsOf(taken(schedule({ arrivals: "constant", rate: 250 }), 1_000))) expect(gap).toBeCloseTo(4, 9);
});

test("arrivals by chance come at the rate, with gaps as a Poisson process has them", () => {
  const gaps = gapsOf(taken(schedule(), 100_000));
  // Of an exponential distribution, the deviation is the mean, and a share of 1/e is above it.
  expect(mean(gaps)).toBeCloseTo(1, 1);
  expect(Math.sqrt(variance(gaps)) / mean(gaps)).toBeCloseTo(1, 1);
  expect(gaps.filter((gap) => gap > 1).length / gaps.length).toBeCloseTo(1 / Math.E, 1);
});

test("operations are asked for in the parts of the mix", () => {
  const operations = taken(schedule({ mix: { ask: 6, never: 0, code: 2 } }), 20_000).map(({ operation }) => operation);
  const share = (name: string) => operations.filter((operation) => operation === name).length / operations.length;
  expect([share("ask"), share("code"), share("never")]).toEqual([expect.closeTo(0.75, 1), expect.closeTo(0.25, 1), 0]);
});

test("a change of rate and mix takes hold at once", () => {
  const changing = schedule({ rate: 0.001, arrivals: "constant" });
  changing.change({ rate: 1_000, mix: { code: 1 } }, 5);
  expect(taken(changing, 2)).toEqual([
    { due: 6, operation: "code" },
    { due: 7, operation: "code" },
  ]);
});

test("at a rate of 0 nothing is due, and a change begins again", () => {
  const resting = schedule({ rate: 0, arrivals: "constant" });
  expect(resting.due).toBe(Number.POSITIVE_INFINITY);
  resting.change({ rate: 10 }, 50);
  expect(resting.due).toBe(150);
});
