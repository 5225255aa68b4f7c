import { describe, expect, test } from "bun:test";
import { createRandom, type SeededRandom } from "envoi/testing";
import { FULL, judge, suspectRows, type Thoroughness } from "../../../benchmarks/compare/judge";
import type { Looked, Seen } from "../../../benchmarks/compare/look";
import type { ComparedRow } from "../../../benchmarks/compare/plan";
import { quickOr } from "../long";

const RUNS = quickOr(20, 200);
const ROWS = quickOr(30, 150);

const row = (name: string, better: "lower" | "higher" = "lower", figure = "time"): ComparedRow => ({
  suite: "simulated",
  row: name,
  kind: "timed",
  figures: [{ name: figure, unit: "ns", better }],
  reading: 0,
});

const seen = (base: readonly number[], present: readonly number[], figure = "time"): Seen => ({
  pairs: base.map((time, pair) => ({ base: { [figure]: time }, present: { [figure]: present[pair] ?? Number.NaN } })),
  took: 0,
});

const rows = Array.from({ length: ROWS }, (_, index) => row(`row ${index}`));

/** A process of a build, one in twenty of which was disturbed. */
const figure = (random: SeededRandom): number =>
  100 * (1 + 0.05 * random.next()) * (random.chance(0.05) ? 1 + random.next() : 1);

/** Two looks at builds of which the present one takes so many times as long as the base. */
function run(random: SeededRandom, ratioOf: (index: number) => number, how: Thoroughness = FULL) {
  const look = (chosen: readonly ComparedRow[], pairs: number): Looked =>
    new Map(
      chosen.map((each) => {
        const draw = (times: number) => Array.from({ length: pairs }, () => times * figure(random));
        return [each, seen(draw(1), draw(ratioOf(rows.indexOf(each))))] as const;
      }),
    );
  const first = look(rows, 8);
  return judge(first, look(suspectRows(first, how), how.second.pairs), how).comparisons;
}

describe("simulated runs", () => {
  test(`of two like builds tell no difference in all ${ROWS} rows, in 19 of 20 runs or more`, () => {
    const random = createRandom(1);
    let wrong = 0;
    for (let i = 0; i < RUNS; i++) {
      if (run(random, () => 1).some(({ verdict }) => verdict !== "no difference")) wrong++;
    }
    expect(wrong).toBeLessThanOrEqual(RUNS / 20);
  });

  test("find a row that takes 20 % longer, and one that takes 20 % less, among rows that do not change", () => {
    const random = createRandom(2);
    let found = 0;
    for (let i = 0; i < RUNS; i++) {
      const told = run(random, (index) => (index === 7 ? 1.2 : index === 9 ? 1 / 1.2 : 1));
      if (told[7]?.verdict === "slower" && told[9]?.verdict === "faster") found++;
    }
    expect(found).toBeGreaterThanOrEqual(0.75 * RUNS);
  });

  test("find all rows of a build that takes 15 % longer in each of them", () => {
    const told = run(createRandom(4), () => 1.15);
    expect(told.filter(({ verdict }) => verdict === "slower").length).toBeGreaterThan(0.8 * ROWS);
  });

  test("call a change below the resolution no difference", () => {
    const told = run(createRandom(3), () => 1.01);
    expect(told.filter(({ verdict }) => verdict !== "no difference")).toEqual([]);
  });
});

const steady = (value: number, pairs = 8) => Array.from({ length: pairs }, (_, index) => value * (1 + index / 1e4));

describe("a difference", () => {
  const one = row("one");

  test("is none when the second look does not show it", () => {
    const first = new Map([[one, seen(steady(100), steady(120))]]);
    expect(suspectRows(first, FULL)).toEqual([one]);
    const { comparisons } = judge(first, new Map([[one, seen(steady(100, 12), steady(101, 12))]]), FULL);
    expect(comparisons).toMatchObject([{ verdict: "no difference", isSecondLook: true, pairs: 12 }]);
    expect(comparisons[0]?.ratio).toBeCloseTo(1.01, 6); // What the first look saw has no part in it.
  });

  test("that was seen once, because there was no time for the second look, is told as such", () => {
    const first = new Map([[one, seen(steady(100), steady(120))]]);
    for (const second of [new Map(), new Map([[one, seen(steady(100, 3), steady(120, 3))]])]) {
      expect(judge(first, second, FULL).comparisons).toMatchObject([{ verdict: "seen once", isSecondLook: false }]);
    }
  });

  test("of a figure that is better when it is higher is faster when it is higher", () => {
    const rate = row("rate", "higher");
    for (const [figures, verdict] of [
      [steady(120), "faster"],
      [steady(80), "slower"],
    ] as const) {
      const looked = new Map([[rate, seen(steady(100), figures)]]);
      expect(judge(looked, looked, FULL).comparisons).toMatchObject([{ verdict }]);
    }
  });

  test("of a p99 must be larger than one of another figure", () => {
    for (const [name, verdict] of [
      ["time", "slower"],
      ["p99", "no difference"],
    ] as const) {
      const looked = new Map([[row("one", "lower", name), seen(steady(100), steady(108), name)]]);
      expect(judge(looked, looked, FULL).comparisons).toMatchObject([{ verdict }]);
    }
  });
});

describe("no comparison is made", () => {
  const one = row("one");
  const left = (first: Seen, second?: Seen) => judge(new Map([[one, first]]), new Map(second && [[one, second]]), FULL);

  test("of readings that are not all above zero: they have no ratio", () => {
    const why = "time: a reading was not above zero, and of such there is no ratio";
    const { comparisons, notCompared } = left(seen([0, 1, 2, 3], [1, 2, 3, 4]));
    expect({ comparisons, notCompared }).toMatchObject({ comparisons: [], notCompared: [{ why, isBroken: false }] });
  });

  test("of a row that one of the builds could not run; it is broken when that is the present one", () => {
    const by = (build: "base" | "present"): Seen => ({ ...seen([], []), failed: { why: "it did nothing", by: build } });
    expect(left(by("base")).notCompared).toMatchObject([{ why: "with the base: it did nothing", isBroken: false }]);
    expect(left(by("present")).notCompared).toMatchObject([{ why: "with this tree: it did nothing", isBroken: true }]);
    const late = left(seen(steady(100), steady(120)), by("present"));
    expect(late).toMatchObject({ comparisons: [], notCompared: [{ isBroken: true }] });
  });

  test("of a row that there was no time for, nor of a p99 without its samples, which goes without saying", () => {
    const { comparisons, notCompared } = left(seen([1, 1], [2, 2]));
    expect(comparisons).toEqual([]);
    expect(notCompared[0]?.why).toStartWith("there was no time for 4 pairs of it");
    const tail = new Map([[row("one", "lower", "p99"), seen([1, 1], [2, 2], "p99")]]);
    expect(judge(tail, new Map(), FULL)).toEqual({ comparisons: [], notCompared: [] });
  });
});
