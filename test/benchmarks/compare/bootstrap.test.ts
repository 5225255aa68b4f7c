import { describe, expect, test } from "bun:test";
import { createRandom, type SeededRandom } from "envoi/testing";
import { ratioInterval } from "../../../benchmarks/compare/bootstrap";

const RUNS = process.env["ENVOI_LONG"] ? 2_000 : 160;

/** Two uniform numbers give one that is normally distributed (G. Box and M. Muller, 1958). */
const normal = (random: SeededRandom): number =>
  Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());

/** Ways in which processes of one build differ. */
const differing: Record<string, (random: SeededRandom) => number> = {
  "by a little, normally distributed": (random) => Math.exp(0.02 * normal(random)),
  "by a mode: one in five was compiled to slower code": (random) =>
    Math.exp(0.01 * normal(random)) * (random.chance(0.2) ? 1.2 : 1),
  "by what else the machine does: one in twelve takes up to half as long again": (random) =>
    Math.exp(0.02 * normal(random)) * (random.chance(0.08) ? 1 + random.next() / 2 : 1),
  "with a long tail": (random) => 1 + 0.05 * Math.exp(0.8 * normal(random)),
};

/** How many of the intervals hold the true ratio, and half their width in the middle. */
function simulate(draw: (random: SeededRandom) => number, pairs: number, confidence: number, ratio: number) {
  const random = createRandom(pairs);
  let held = 0;
  const widths: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const base = Array.from({ length: pairs }, () => draw(random));
    const present = Array.from({ length: pairs }, () => ratio * draw(random));
    const { low, high } = ratioInterval(base, present, confidence);
    if (low <= ratio && ratio <= high) held++;
    widths.push(Math.sqrt(high / low) - 1);
  }
  return { held: held / RUNS, width: widths.sort((a, b) => a - b)[RUNS / 2] ?? 0 };
}

describe("an interval of 95 % holds the true ratio in 95 of 100 runs or more, where processes differ", () => {
  for (const [how, draw] of Object.entries(differing)) {
    for (const pairs of [5, 8, 16]) {
      test(`${how}: ${pairs} pairs`, () => {
        const { held } = simulate(draw, pairs, 0.95, 1.25);
        // Three errors of a share of so many runs below.
        expect(held).toBeGreaterThan(0.95 - 3 * Math.sqrt((0.95 * 0.05) / RUNS));
      });
    }
  }
});

test("an interval of 95 % is no wider than it must be: some of them do not hold the ratio", () => {
  expect(simulate(differing["by a little, normally distributed"] ?? normal, 16, 0.95, 1).held).toBeLessThan(0.99);
});

test("a process in twelve that was disturbed makes the interval hardly wider, since the outer fifths are left out", () => {
  const [calm, , disturbed] = Object.values(differing).map((draw) => simulate(draw, 16, 0.95, 1).width);
  expect(calm).toBeGreaterThan(0.005);
  expect(disturbed).toBeLessThan(2 * (calm ?? 0));
});

test("more confidence makes it wider, more pairs narrower", () => {
  const [draw = normal] = Object.values(differing);
  expect(simulate(draw, 16, 0.995, 1).width).toBeGreaterThan(1.3 * simulate(draw, 16, 0.95, 1).width);
  expect(simulate(draw, 8, 0.95, 1).width).toBeGreaterThan(1.3 * simulate(draw, 16, 0.95, 1).width);
});

test("figures that do not vary have an interval of no width", () => {
  expect(ratioInterval([350, 350, 350, 350], [700, 700, 700, 700], 0.95)).toEqual({ ratio: 2, low: 2, high: 2 });
});

test("pairs are compared with each other: a machine that gets slower between them changes nothing", () => {
  const { ratio, low, high } = ratioInterval([1, 2, 4, 8, 16], [1.5, 3, 6, 12, 24], 0.95);
  for (const each of [ratio, low, high]) expect(each).toBeCloseTo(1.5, 9);
});

test("the same figures give the same interval, in whatever order the pairs come", () => {
  const base = [1, 1.1, 0.9, 1.05, 1.2, 0.95, 1, 1.02];
  const present = [1.1, 1.2, 1.15, 1.3, 1.1, 1, 1.2, 1.4];
  const interval = ratioInterval(base, present, 0.95);
  expect(ratioInterval(base, present, 0.95)).toEqual(interval);
  expect(ratioInterval(base.toReversed(), present.toReversed(), 0.95)).toEqual(interval);
});

test("what has no ratio is refused: fewer than three pairs, pairs without one of the two, figures that are not above zero", () => {
  expect(() => ratioInterval([1, 2], [1, 2], 0.95)).toThrow(
    "A ratio needs 3 pairs or more; there are 2 figures, and 2.",
  );
  expect(() => ratioInterval([1, 2, 3], [1, 2, 3, 4], 0.95)).toThrow("there are 3 figures, and 4");
  expect(() => ratioInterval([1, 0, 3], [1, 2, 3], 0.95)).toThrow("A ratio needs figures above zero; got 0.");
  expect(() => ratioInterval([1, 2, 3], [1, Number.NaN, 3], 0.95)).toThrow("got NaN");
});
