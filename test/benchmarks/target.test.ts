import { describe, expect, test } from "bun:test";
import type { SuiteResult } from "../../benchmarks/harness/results";
import {
  checkTargets,
  describeLeftOut,
  describeMiss,
  expectTargetsExist,
  limitOf,
  type Target,
} from "../../benchmarks/harness/target";
import { probe, row } from "./rows";
import { result } from "./sample-result";

const target = (changes: object = {}): Target => ({
  suite: "routing",
  row: "ref.ask",
  figure: "ratio",
  atMost: 1.5,
  aim: 1.25,
  reason: "a reason",
  ...changes,
});
const ticks: Target = { suite: "routing", row: "timer", figure: "ticks", atLeast: 38, aim: 40, reason: "fairness" };

const sentences = (targets: readonly Target[], results: readonly SuiteResult[]) =>
  checkTargets(targets, results).misses.map(describeMiss);

describe("a target", () => {
  test("is kept by a figure at its limit", () => {
    const results = [result({ ratio: 1.5, ticks: 38 })];
    expect(checkTargets([target(), ticks], results)).toEqual({ checked: 2, misses: [], unjudged: [], leftOut: [] });
  });

  test("that is missed names its row, figure, measurement and limit", () => {
    expect(sentences([target(), ticks], [result({ ratio: 1.6251, ticks: 12 })])).toEqual([
      'routing: "ref.ask" has ratio 1.625; its target is ≤ 1.5',
      'routing: "timer" has ticks 12; its target is ≥ 38',
    ]);
  });

  test("of a row that did not run is not judged", () => {
    expect(checkTargets([target({ row: "other" }), target({ suite: "other" })], [result({})]).checked).toBe(0);
  });

  test("of a row that was left out is told, since nobody knows whether it is kept", () => {
    const left = { ...result({}), leftOut: [{ row: "other", why: "there is no sandbox" }] };
    const targets = [target({ row: "other" }), target({ suite: "other", row: "other" }), target()];
    const { checked, leftOut } = checkTargets(targets, [left]);
    expect({ checked, leftOut: leftOut.map(describeLeftOut) }).toEqual({
      checked: 1,
      leftOut: ['routing: "other" was left out, and with it its ratio'],
    });
  });

  test("shows its limit with its direction", () => {
    expect([limitOf(target()), limitOf(ticks)]).toEqual(["≤ 1.5", "≥ 38"]);
    expect(limitOf(target({ atMost: 12_345.678 }))).toBe("≤ 12,345.678");
  });
});

describe("a target that could never be checked is an error:", () => {
  const suites = [{ name: "routing", about: "", rows: [row({ name: "ref.ask" }), probe({ name: "idle" })] }];
  const error = (changes: object) => () => expectTargetsExist([target(changes)], suites);

  test("no such suite", () => {
    expect(error({ suite: "rooting" })).toThrow('in suite "rooting" names no suite; there are: "routing".');
  });

  test("no such row", () => {
    expect(error({ row: "ask" })).toThrow(
      'of row "ask" in suite "routing" names no row; there are: "ref.ask", "idle".',
    );
  });

  test("no such figure", () => {
    expect(error({ figure: "ticks" })).toThrow("names no figure; there are: ratio.");
    expect(error({ row: "idle" })).toThrow("names no figure; there are: bytes.");
  });

  test("a ratio to no floor", () => {
    const bare = [{ name: "routing", about: "", rows: [row({ name: "ref.ask", floor: { none: "why" } })] }];
    expect(() => expectTargetsExist([target()], bare)).toThrow("needs a floor, and the row has none.");
  });

  test("unless the row is left out on this machine", () => {
    const leftOut = [{ row: "ref.ask, tmpfs", why: "there is no tmpfs" }];
    const lacking = suites.map((suite) => ({ ...suite, leftOut }));
    expect(() => expectTargetsExist([target({ row: "ref.ask, tmpfs" })], lacking)).not.toThrow();
    expect(() => expectTargetsExist([target({ row: "other" })], lacking)).toThrow("names no row");
  });

  test("and none of these is no error", () => {
    expect(error({})).not.toThrow();
    expect(error({ row: "idle", figure: "bytes" })).not.toThrow();
  });
});
