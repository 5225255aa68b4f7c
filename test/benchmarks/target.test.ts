import { describe, expect, test } from "bun:test";
import { createRandom } from "envoi/testing";
import type { RowResult, SuiteResult } from "../../benchmarks/harness/results";
import { median } from "../../benchmarks/harness/statistics";
import {
  checkTargets,
  describeLeftOut,
  describeMiss,
  deviation,
  isUnjudged,
  noiseOf,
  QUIET,
  type Target,
} from "../../benchmarks/harness/target";
import { result } from "./sample-result";

const limit = { suite: "routing", row: "ref.ask", figure: "ratio", atMost: 1.5, aim: 1.25, reason: "a reason" };
const target = (changes: object = {}): Target => ({ ...limit, ...changes });
const ticks: Target = { suite: "routing", row: "timer", figure: "ticks", atLeast: 38, aim: 40, reason: "fairness" };

describe("a target", () => {
  test("is kept by a figure at its limit; one that is missed names its row, figure, measurement and limit", () => {
    const checkedIn = (results: SuiteResult) => checkTargets([target(), ticks], [results]);
    expect(checkedIn(result({ ratio: 1.5, ticks: 38 }))).toEqual({ checked: 2, misses: [], unjudged: [], leftOut: [] });
    expect(checkedIn(result({ ratio: 1.50001, ticks: 12 })).misses.map(describeMiss)).toEqual([
      'routing: "ref.ask" has ratio 1.50001; its limit is ≤ 1.5',
      'routing: "timer" has ticks 12; its limit is ≥ 38',
    ]);
  });

  test("of a row that did not run is not judged, and of one that was left out is told", () => {
    const left = { ...result({}), leftOut: [{ row: "other", why: "there is no sandbox" }] };
    const targets = [target({ row: "other" }), target({ suite: "other", row: "other" }), target()];
    const { checked, leftOut } = checkTargets(targets, [left]);
    expect(checked).toBe(1);
    expect(leftOut.map(describeLeftOut)).toEqual(['routing: "other" was left out, and with it its ratio']);
  });
});

const [timed] = result({}).rows;
/** A row whose floor had these rounds. */
function rowWith(rounds: readonly number[], name = "raw ask", varies = false): RowResult {
  if (timed?.kind !== "timed") throw new Error("the first row is timed");
  return { ...timed, floor: { name, about: "", ...(varies && { varies }), p50: median(rounds), rounds } };
}

describe("the spread of floors", () => {
  for (const rounds of [3, 9]) {
    test(`of ${rounds} rounds is the standard deviation that they were drawn with, in the middle of many rows`, () => {
      const random = createRandom(rounds);
      const normal = () => Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
      const drawn = () => Array.from({ length: rounds }, () => 100 + 4 * normal());
      const { spread = 0 } = noiseOf(Array.from({ length: 2_000 }, (_, index) => rowWith(drawn(), `${index}`))) ?? {};
      expect(spread).toBeWithin(0.036, 0.044);
    });
  }

  test("is not moved by one round that was disturbed, and not known of too few", () => {
    expect(deviation([100, 101, 99, 100, 102, 98, 100, 101, 400])).toBeLessThan(0.02);
    expect(noiseOf(result({}).rows.slice(1))).toBeUndefined();
    expect(noiseOf([rowWith([100, 110])])).toBeUndefined();
  });

  test("is that of one floor over the run, where its rounds agree and its rows do not, unless its work differs", () => {
    const isNoisy = (name: (index: number) => string, varies = false) =>
      noiseOf([100, 140, 180, 220].map((middle, i) => rowWith([middle - 1, middle, middle + 1], name(i), varies)))
        ?.isNoisy;
    expect(isNoisy(() => "raw read")).toBe(true);
    expect(isNoisy(() => "raw read", true)).toBe(false);
    expect(isNoisy(String)).toBe(false);
  });
});

describe("a target cannot be judged, whichever way it looks,", () => {
  test("where the rounds of its row's floor lie far apart", () => {
    const judged = (floors: readonly number[], atMost: number) => {
      const { misses, unjudged } = checkTargets([target({ atMost })], [{ ...result({}), rows: [rowWith(floors)] }]);
      return { misses: misses.length, unjudged: unjudged.length };
    };
    for (const atMost of [1, 100]) expect(judged([100, 130, 160], atMost)).toEqual({ misses: 0, unjudged: 1 });
    expect(judged([100, 100, 101], 1)).toEqual({ misses: 1, unjudged: 0 });
    expect(judged([100, 100, 101], 100)).toEqual({ misses: 0, unjudged: 0 });
  });

  test("where it is a time without a floor, and the floors of the run lie far apart; bytes and counts are what they are", () => {
    const isOpen = (unit: "ms" | "B" | "", spread: number) => {
      const figures = [{ figure: "it", unit, median: 1, min: 1, max: 1, floor: null, ratio: null }];
      const read: RowResult = { kind: "probe", row: "a probe", floor: { none: "" }, figures, seconds: 1 };
      return isUnjudged("it", read, { spread, floors: 10, isNoisy: spread > QUIET });
    };
    expect([isOpen("ms", 2 * QUIET), isOpen("ms", QUIET), isOpen("B", 1), isOpen("", 1)]).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });
});
