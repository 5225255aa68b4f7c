import { describe, expect, test } from "bun:test";
import type { ProbeReading, SuiteResult } from "../../benchmarks/harness/results";
import { publishedTable, publishedTargets } from "../../benchmarks/pages/published";
import figures from "../../benchmarks/published-figures.json";
import { result } from "./sample-result";

type Read = Record<string, readonly [value: number, unit: ProbeReading["unit"]]>;

/** A suite with a probe whose figures are these, and the row of the sample with its ratio. */
function measured(units: Read, ratio = 1.31): SuiteResult {
  const sample = result({ suite: "latency", ratio });
  const readings = Object.entries(units).map(([figure, [median, unit]]) => {
    return { figure, unit, median, min: median, max: median, floor: null, ratio: null };
  });
  const probe = { kind: "probe", row: "read", floor: { none: "" }, figures: readings, seconds: 1 } as const;
  return { ...sample, rows: [...sample.rows, probe] };
}

/** The cells of a target that these figures show. */
function cellsOf(name: string, units: Read, ratio?: number): string[] {
  const target = publishedTargets.find((each) => each.name === name);
  if (target === undefined) throw new Error(`there is no ${name}`);
  const shownBy = Object.keys(units).map((figure) => ({ suite: "latency", row: "read", figure }));
  const shown = {
    ...target,
    about: "it",
    shownBy: ratio ? [{ suite: "latency", row: "ref.ask", figure: "ratio" }] : shownBy,
  };
  const [, , line = ""] = publishedTable([measured(units, ratio)], [shown]).split("\n");
  return line.slice(2, -2).split(" | ");
}

describe("a published target", () => {
  test("is met by a figure within it, whatever its unit, and missed by one that is not", () => {
    const shown = ["met", "latency: *read*, p95"];
    expect(cellsOf("files p95", { p95: [0.9, "ms"] })).toEqual(["it", "p95 under 1 ms", "900 µs", ...shown]);
    expect(cellsOf("files p95", { p95: [4.5, "µs"] })).toContain("met");
    expect(cellsOf("files p95", { p95: [1.1, "ms"] })).toContain("missed");
    expect(cellsOf("files p95", { p95: [Number.NaN, "ms"] })).toContain("missed");
  });

  test("of a rate is met by more, one of what is left by nothing or less, one of a share by what a row adds to its floor", () => {
    expect(cellsOf("throughput per second", { rate: [1e6, "/s"] })).toContain("met");
    expect(cellsOf("throughput per second", { rate: [9_999, "/s"] })).toContain("missed");
    expect(cellsOf("heap growth", { least: [-3, "B"] })).toContain("met");
    expect(cellsOf("heap growth", { least: [0.01, "B"] })).toContain("missed");
    expect(cellsOf("tool overhead", {}, 1.1)).toEqual(
      expect.arrayContaining(["under 10 %", "9.09 % (16.7–33.3 over its rounds)", "met"]),
    );
    expect(cellsOf("tool overhead", {}, 1.25)).toEqual(
      expect.arrayContaining(["20 % (16.7–33.3 over its rounds)", "missed"]),
    );
  });

  test("that several figures show is as good as the worst of them", () => {
    const cells = cellsOf("files p95", { read: [2, "µs"], write: [3, "ms"], list: [5, "µs"] });
    expect(cells.slice(2)).toEqual(["3 ms", "missed", "latency: *read*, write, the worst of 3"]);
  });

  test("without one of its figures is told as not measured", () => {
    const [, , line] = publishedTable([], publishedTargets.slice(0, 1)).split("\n");
    expect(line).toContain("| – | not measured |");
  });
});

test("each published target has figures that show it", () => {
  const names = publishedTargets.map(({ name }) => name);
  expect(names.toSorted()).toEqual([...Object.keys(figures.targets), "heap growth"].toSorted());
  for (const { shownBy } of publishedTargets) expect(shownBy).not.toBeEmpty();
});
