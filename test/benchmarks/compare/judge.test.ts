import { describe, expect, test } from "bun:test";
import { createRandom, type SeededRandom } from "envoi/testing";
import { type Report, render, statusOf } from "../../../benchmarks/compare/compare";
import { type Comparison, FULL, judge, QUICK, suspectRows } from "../../../benchmarks/compare/judge";
import type { Looked, RowName, Seen } from "../../../benchmarks/compare/measure";
import { quickOr } from "../long";

const RUNS = quickOr(20, 200);
const ROWS = quickOr(30, 150);
const rows: readonly RowName[] = Array.from({ length: ROWS }, (_, index) => ({
  suite: "simulated",
  row: `row ${index}`,
}));

const seen = (base: readonly number[], present: readonly number[], figure = "time"): Seen => ({
  pairs: base.map((time, pair) => ({ base: { [figure]: time }, present: { [figure]: present[pair] ?? Number.NaN } })),
  took: 0,
});

/** A pair of readings of like builds. */
type Noise = (random: SeededRandom) => readonly [number, number];

/** Of a quiet machine: within 5 %, and a process in twenty was disturbed. */
const quiet: Noise = (random) => {
  const time = () => (1 + 0.05 * random.next()) * (random.chance(0.05) ? 1 + random.next() : 1);
  return [time(), time()];
};

/** As 64 rows had it in pairs of like builds, with seven others at work on two cores: a half common to a pair, a tenth of each alone. */
const busy: Noise = (random) => {
  const normal = () => Array.from({ length: 12 }, () => random.next()).reduce((sum, each) => sum + each, -6);
  const common = 0.22 * normal();
  const time = () => Math.exp(common + 0.1 * normal() + (random.chance(0.1) ? 0.5 * random.next() : 0));
  return [time(), time()];
};

/** Two looks at builds of which the present one takes so many times as long as the base. */
function run(random: SeededRandom, noise: Noise, ratioOf: (index: number) => number, how = FULL) {
  const look = (chosen: readonly RowName[], pairs: number): Looked =>
    new Map(
      chosen.map((each) => {
        const ratio = ratioOf(rows.indexOf(each));
        const drawn = Array.from({ length: pairs }, () => noise(random));
        const taken = drawn.map(([base, time]) => ({ base: { time: base }, present: { time: ratio * time } }));
        return [each, { pairs: taken, took: 0 }];
      }),
    );
  const first = look(rows, how.first.pairs);
  return judge(first, look(suspectRows(first, how), how.second.pairs), how).comparisons;
}

const differing = (told: readonly Comparison[]) => told.filter(({ verdict }) => verdict !== "no difference");

describe("simulated runs", () => {
  for (const [name, noise, how] of [
    ["quiet", quiet, FULL],
    ["busy", busy, FULL],
    ["busy, with --quick,", busy, QUICK],
  ] as const) {
    test(`of two like builds on a ${name} machine tell no difference in all ${ROWS} rows, in 19 of 20 runs or more`, () => {
      const random = createRandom(1);
      let wrong = 0;
      for (let i = 0; i < RUNS; i++) if (differing(run(random, noise, () => 1, how)).length > 0) wrong++;
      expect(wrong).toBeLessThanOrEqual(RUNS / 20);
    }, 60_000);
  }

  for (const [share, percent, name, noise] of [
    [0.9, 20, "quiet", quiet],
    [0.75, 50, "busy", busy],
  ] as const) {
    test(`find ${share * 100} % of the rows that take ${percent} % longer, or less, on a ${name} machine`, () => {
      const random = createRandom(2);
      const ratio = 1 + percent / 100;
      let found = 0;
      for (let i = 0; i < RUNS; i++) {
        const told = run(random, noise, (index) => (index === 7 ? ratio : index === 9 ? 1 / ratio : 1));
        found += Number(told[7]?.verdict === "slower") + Number(told[9]?.verdict === "faster");
      }
      expect(found).toBeGreaterThanOrEqual(share * 2 * RUNS);
    }, 60_000);
  }
});

const steady = (value: number, pairs = 12) => Array.from({ length: pairs }, (_, index) => value * (1 + index / 1e4));
const one = { suite: "routing", row: "one" };
const judged = (first: Seen, second?: Seen) => judge(new Map([[one, first]]), new Map(second && [[one, second]]), FULL);

const slower = seen(steady(100), steady(120));

test("a difference is none when the second look does not show it, and was seen once when that had no time", () => {
  const { comparisons } = judged(slower, seen(steady(100, 14), steady(101, 14)));
  expect(comparisons).toMatchObject([{ verdict: "no difference", pairs: 14 }]);
  expect(comparisons[0]?.ratio).toBeCloseTo(1.01, 6); // What the first look saw has no part in it.
  for (const second of [undefined, seen(steady(100, 3), steady(120, 3))])
    expect(judged(slower, second).comparisons).toMatchObject([{ verdict: "seen once" }]);
});

test("a row is not compared that one of the builds could not run, which is broken when that is the present one, nor one without time", () => {
  const by = (build: "base" | "present"): Seen => ({ ...seen([], []), failed: { why: "it did nothing", by: build } });
  const [base, present] = ["with the base: it did nothing", "with this tree: it did nothing"];
  expect(judged(by("base")).notCompared).toEqual([{ ...one, why: base, isBroken: false }]);
  const late = judged(slower, by("present"));
  expect(late).toEqual({ comparisons: [], notCompared: [{ ...one, why: present, isBroken: true }] });
  const why = expect.stringContaining("there was no time for 4 pairs of it");
  const short = judged(seen([1, 1], [2, 2]));
  expect(short).toEqual({ comparisons: [], notCompared: [{ ...one, why, isBroken: false }] });
});

const comparison = (changes: Partial<Comparison> = {}): Comparison => ({
  ...{ suite: "routing", row: "ref.ask", figure: "time", base: 100, present: 110 },
  ...{ ratio: 1.1, low: 1.05, high: 1.15, pairs: 16, verdict: "slower" },
  ...changes,
});
const same = comparison({ row: "ref.tell", ratio: 1, low: 0.98, high: 1.02, verdict: "no difference" });
const report = (changes: Partial<Report> = {}): Report => ({
  ...{ base: "v0.1.0 (0123456789)", how: FULL, minutes: 1.5, isInterrupted: false },
  ...{ comparisons: [same], notCompared: [] },
  ...changes,
});
const broken = { suite: "code", row: "a run", why: "with this tree: it did nothing", isBroken: true };
const noisy = comparison({ verdict: "no difference", low: 0.8, high: 1.25 });

describe("a comparison ends with status", () => {
  const cases: [status: number, what: string, changes: Partial<Report>, says: string][] = [
    [0, "when something is faster", { comparisons: [comparison({ verdict: "faster" })] }, "1 faster"],
    [0, "when the base cannot run a row", { notCompared: [{ ...broken, isBroken: false }] }, "1 not compared"],
    [1, "when something is slower", { comparisons: [same, comparison()] }, "1 slower, "],
    [1, "when this tree cannot run a row", { notCompared: [broken] }, `- code: ${broken.why} (a run)`],
    [3, "when half of the times could have changed by a tenth unseen", { comparisons: [noisy] }, "too noisy to judge"],
    [3, "when a difference was seen once only", { comparisons: [comparison({ verdict: "seen once" })] }, "no time"],
    [0, "whatever the interval of a p99", { comparisons: [same, { ...noisy, figure: "p99" }] }, "ref.ask: p99"],
    [3, "when nothing could be compared", { comparisons: [] }, "so nothing is known"],
    [1, "when something is slower in spite of the noise", { comparisons: [noisy, comparison()] }, "too noisy"],
    [130, "when it was interrupted", { isInterrupted: true, comparisons: [comparison()] }, "run was interrupted"],
  ];
  for (const [status, what, changes, says] of cases) {
    test(`${status} ${what}, and says so`, () => {
      expect(statusOf(report(changes))).toBe(status as 0);
      expect(render(report(changes))).toContain(says);
    });
  }
});

test("a report has both figures, their ratio with its interval, and the verdict of each row", () => {
  const text = render(report({ comparisons: [comparison()] }));
  expect(text).toMatch(/^ref\.ask +100 ns +110 ns +1\.100 +1\.050–1\.150 +2 × 16 +slower$/m);
  expect(text).toContain(
    "A time is that of the quickest tenth. Less than 3 % is no difference, of a p99 less than 10 %.",
  );
});
