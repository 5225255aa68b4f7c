import { describe, expect, test } from "bun:test";
import type { ProbeReading, SuiteResult } from "../../benchmarks/harness/results";
import { type PublishedName, publishedNames, publishedTable } from "../../benchmarks/pages/published";
import { published } from "../../benchmarks/pages/shown";
import figures from "../../benchmarks/published-figures.json";
import { result } from "./sample-result";

/** A suite with a probe whose figures are these, and the row of the sample with its ratio. */
function measured(
  units: Record<string, readonly [value: number, unit: ProbeReading["unit"]]>,
  ratio = 1.31,
): SuiteResult {
  const sample = result({ suite: "latency", ratio });
  const readings = Object.entries(units).map(([figure, [median, unit]]) => {
    return { figure, unit, median, min: median, max: median, floor: null, ratio: null };
  });
  return {
    ...sample,
    rows: [...sample.rows, { kind: "probe", row: "read", floor: { none: "" }, figures: readings, seconds: 1 }],
  };
}

const figure = (name: string) => ({ suite: "latency", row: "read", figure: name });

function cellsOf(target: PublishedName, results: readonly SuiteResult[], ...names: string[]): string[] {
  const text = publishedTable([{ target, about: "it", shownBy: names.map(figure) }], results);
  return (text.split("\n")[2] ?? "").slice(2, -2).split(" | ");
}

describe("a published target", () => {
  test("is met by a figure within it, whatever its unit", () => {
    expect(cellsOf("files p95", [measured({ p95: [0.9, "ms"] })], "p95")).toEqual([
      "it",
      "p95 under 1 ms",
      "900 µs",
      "met",
      "latency: *read*, p95",
    ]);
    expect(cellsOf("files p95", [measured({ p95: [4.5, "µs"] })], "p95")).toContain("4.5 µs");
  });

  test("is missed by one that is not", () => {
    expect(cellsOf("files p95", [measured({ p95: [1.1, "ms"] })], "p95")).toContain("missed");
    expect(cellsOf("createMessage p95", [measured({ p95: [1_001, "ns"] })], "p95")).toContain("missed");
    expect(cellsOf("throughput per second", [measured({ rate: [9_999, "/s"] })], "rate")).toContain("missed");
    expect(cellsOf("heap growth", [measured({ least: [0.01, "B"] })], "least")).toContain("missed");
  });

  test("of a rate is met by more, one of what is left by nothing or less", () => {
    expect(cellsOf("throughput per second", [measured({ rate: [1e6, "/s"] })], "rate")).toContain("met");
    expect(cellsOf("heap growth", [measured({ least: [0, "B"] })], "least")).toContain("met");
    expect(cellsOf("heap growth", [measured({ least: [-3, "B"] })], "least")).toContain("met");
  });

  test("of a share is about what a row adds to its floor", () => {
    const shown = [{ suite: "latency", row: "ref.ask", figure: "ratio" }];
    const share = (ratio: number) =>
      publishedTable([{ target: "tool overhead", about: "it", shownBy: shown }], [measured({}, ratio)]);
    expect(share(1.1)).toContain("| it | under 10 % | 9.09 % (16.7–33.3 over its rounds) | met |");
    expect(share(1.25)).toContain("| 20 % (16.7–33.3 over its rounds) | missed |");
    expect(share(0.8)).toContain("| 0 % (16.7–33.3 over its rounds) | met |");
  });

  test("that several figures show is as good as the worst of them", () => {
    const results = [measured({ read: [2, "µs"], write: [3, "ms"], list: [5, "µs"] })];
    expect(cellsOf("files p95", results, "read", "write", "list")).toEqual([
      "it",
      "p95 under 1 ms",
      "3 ms",
      "missed",
      "latency: *read*, write, the worst of 3",
    ]);
  });

  test("is not met while one of its figures is not there", () => {
    const results = [measured({ read: [2, "µs"] })];
    expect(cellsOf("files p95", results, "read", "write").slice(2, 4)).toEqual(["–", "not measured"]);
  });

  test("is not met by what is no time, or no number", () => {
    expect(() => cellsOf("files p95", [measured({ read: [2, "B"] })], "read")).toThrow('is shown by a figure in "B"');
    expect(cellsOf("files p95", [measured({ read: [Number.NaN, "µs"] })], "read")).toContain("missed");
  });

  test("without a figure is told as not measured", () => {
    expect(cellsOf("files p95", [measured({})], "p95").slice(2)).toEqual(["–", "not measured", "latency: *read*, p95"]);
  });
});

test("each published target has figures that show it", () => {
  expect(publishedNames).toContain("routing p95");
  expect(published.map(({ target }) => target as string).toSorted()).toEqual(publishedNames.toSorted());
  for (const { shownBy } of published) expect(shownBy).not.toBeEmpty();
  expect(Object.keys(figures.targets).every((name) => publishedNames.includes(name))).toBe(true);
});
