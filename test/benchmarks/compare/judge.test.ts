import { describe, expect, test } from "bun:test";
import { createRandom, type SeededRandom } from "envoi/testing";
import { judge, suspectRows } from "../../../benchmarks/compare/judge";
import type { Seen } from "../../../benchmarks/compare/look";
import { FULL } from "../../../benchmarks/compare/looks";
import type { ComparedRow } from "../../../benchmarks/compare/plan";

const RUNS = process.env["ENVOI_LONG"] ? 200 : 20;
const ROWS = process.env["ENVOI_LONG"] ? 150 : 30;

const row = (name: string, better: "lower" | "higher" = "lower"): ComparedRow => ({
  suite: "simulated",
  row: name,
  kind: "timed",
  figures: [{ name: "time", unit: "ns", better }],
});

const seen = (base: readonly number[], present: readonly number[]): Seen => ({
  base: new Map([["time", [...base]]]),
  present: new Map([["time", [...present]]]),
});

const rows = Array.from({ length: ROWS }, (_, index) => row(`row ${index}`));

/** A process of a build, one in twenty of which was disturbed. */
const figure = (random: SeededRandom): number =>
  100 * (1 + 0.05 * random.next()) * (random.chance(0.05) ? 1 + random.next() : 1);

/** Two looks at builds of which the present one takes so many times as long as the base. */
function run(random: SeededRandom, ratioOf: (index: number) => number) {
  const look = (chosen: readonly ComparedRow[], pairs: number) =>
    new Map(
      chosen.map((each) => {
        const draw = (times: number) => Array.from({ length: pairs }, () => times * figure(random));
        return [each, seen(draw(1), draw(ratioOf(rows.indexOf(each))))] as const;
      }),
    );
  const first = look(rows, FULL.first.pairs.timed);
  const second = look(suspectRows(first), FULL.second.pairs.timed);
  return judge(first, second).comparisons;
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
    expect(suspectRows(first)).toEqual([one]);
    const { comparisons } = judge(first, new Map([[one, seen(steady(100, 16), steady(101, 16))]]));
    expect(comparisons).toMatchObject([{ verdict: "no difference", isSecondLook: true, pairs: 16 }]);
    expect(comparisons[0]?.ratio).toBeCloseTo(1.01, 6); // What the first look saw has no part in it.
  });

  test("that was seen once, because the run ended, is told as such", () => {
    const { comparisons } = judge(new Map([[one, seen(steady(100), steady(120))]]), new Map());
    expect(comparisons).toMatchObject([{ verdict: "seen once", isSecondLook: false, pairs: 8 }]);
  });

  test("of a figure that is better when it is higher is faster when it is higher", () => {
    const rate = row("rate", "higher");
    for (const [figures, verdict] of [
      [steady(120), "faster"],
      [steady(80), "slower"],
    ] as const) {
      const looked = new Map([[rate, seen(steady(100), figures)]]);
      expect(judge(looked, looked).comparisons).toMatchObject([{ verdict }]);
    }
  });

  test("must be the more certain, the more figures are looked at again", () => {
    const varied = (value: number) => steady(value, 16).map((each, index) => each * (1 + (index % 4) / 20));
    const among = (count: number) => {
      const suspects = rows.slice(0, count);
      const first = new Map(suspects.map((each) => [each, seen(steady(100), steady(120))]));
      const second = new Map(suspects.map((each) => [each, seen(steady(100, 16), varied(120))]));
      const [told] = judge(first, second).comparisons;
      return (told?.high ?? 0) / (told?.low ?? 1);
    };
    expect(among(20)).toBeGreaterThan(1.02 * among(1));
  });

  test("must lie beyond the resolution with its whole interval", () => {
    const first = new Map([[one, seen(steady(100), steady(120))]]);
    const varied = steady(104, 16).map((each, index) => each * (index % 2 === 0 ? 0.97 : 1.03));
    const { comparisons } = judge(first, new Map([[one, seen(steady(100, 16), varied)]]));
    expect(comparisons[0]?.ratio).toBeGreaterThan(1.02);
    expect(comparisons[0]?.verdict).toBe("no difference");
  });
});

describe("no comparison is made", () => {
  const one = row("one");
  const left = (first: Seen, second?: Seen) => judge(new Map([[one, first]]), new Map(second && [[one, second]]));

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

  test("of a row that was measured in fewer than three pairs when the run ended", () => {
    const { comparisons, notCompared } = left(seen([1, 1], [2, 2]));
    expect(comparisons).toEqual([]);
    expect(notCompared[0]?.why).toBe("the run ended before it was measured often enough");
  });
});
