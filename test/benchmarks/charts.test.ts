import { describe, expect, test } from "bun:test";
import { parseHTML } from "linkedom";
import { laddersPicture, peersPicture } from "../../benchmarks/charts/columns";
import { dark, light, type Picture } from "../../benchmarks/charts/picture";
import { picturesOf } from "../../benchmarks/charts/suites";
import type { SuiteResult } from "../../benchmarks/harness/results";
import type { Target } from "../../benchmarks/harness/target";
import { peerResult } from "./peers/sample";
import { result } from "./sample-result";
import { results as stress } from "./stress/sample";

const limit = { suite: "routing", row: "ref.ask", figure: "ratio", atMost: 1.5, aim: 1.25, reason: "" };

/** A suite of one probe with these figures in ns, and what it read along the way. */
function probed(suite: string, figures: Record<string, number>, series: readonly string[] = []): SuiteResult {
  const readings = Object.entries(figures).map(([figure, median]) => {
    return { figure, unit: "ns" as const, median, min: median, max: median, floor: null, ratio: null };
  });
  const points = Array.from({ length: 20 }, (_, i) => [i, 30 + Math.sin(i)] as const);
  const lines = series.map((name) => ({ name, along: "messages", unit: "MB" as const, points }));
  const row = { kind: "probe", row: "<told> & asked", floor: { none: "" }, seconds: 1 } as const;
  return { ...result({ suite }), rows: [{ ...row, figures: readings, series: lines }] };
}
const memory = probed("memory", {}, ["heap", "RSS"]);
const latency = probed("latency", { p50: 90, p95: 200, p99: 300, "p99.9": 1e4, max: 1e6 });
const gaps = probed("gaps", { "gap, least of 5": 0, "gap, most of 5": 5e6 });

const medians = { envoi: 90, rival: 300, promise: 30 };
const actors = () => peersPicture(peerResult(medians, { promise: "less" }));

const drawn = (suite: SuiteResult, targets: readonly Target[] = [limit]) =>
  picturesOf(suite, targets)[0]?.draw(light) ?? "";
const suites = [result({}), memory, latency, gaps].flatMap((suite) => picturesOf(suite, [limit]));
const pictures = [...suites, actors(), laddersPicture(stress)].filter((picture) => picture !== undefined);

const marksOf = (svg: string, kind: string) => [...parseHTML(`<body>${svg}</body>`).document.querySelectorAll(kind)];
const textsOf = (svg = "") => marksOf(svg, "text").map((text) => `${text.textContent}`);
const dotsOf = (svg: string, color: string) =>
  marksOf(svg, "circle").filter((each) => each.closest("[fill^='#']")?.getAttribute("fill") === color);

describe.each([light, dark])("a chart on a page that is $name", (theme) => {
  test.each(pictures)("is the same text each time, in its colours: $name", ({ draw }: Picture) => {
    const svg = draw(theme);
    expect(svg).toContain(theme.text);
    expect(draw(theme)).toBe(svg);
    expect(svg).toStartWith('<svg xmlns="http://www.w3.org/2000/svg"');
    expect(svg).not.toMatch(/<style|<rect|<script|<image|href=|url\(|var\(|NaN|undefined|Infinity|null|\d\.\d{3}/);
  });
});

describe("the chart of a suite", () => {
  test("has each row with a floor, its time, and a dot in the limit's colour where it missed", () => {
    const draw = (ratio: number) => drawn(result({ ratio }));
    expect(textsOf(draw(1.31))).toEqual(expect.arrayContaining(["ref.ask", "128 ns"]));
    expect(textsOf(draw(1.31)).join()).toContain("times the floor");
    expect(textsOf(draw(1.31))).not.toContain("concurrent: 10 asks"); // It has none.
    expect([1.31, 1.51].map((ratio) => dotsOf(draw(ratio), light.limit).length)).toEqual([0, 1]);
    const at = (ratio: number) => Number(dotsOf(draw(ratio), light.accent)[0]?.getAttribute("cx"));
    expect(at(1.4)).toBeGreaterThan(at(1.1));
  });

  test("of times has a dot for each figure; the axis begins at 0 where one is nothing", () => {
    expect(textsOf(drawn(latency))).toEqual(expect.arrayContaining(["90 ns … 1 ms", "1 µs", "10 µs"]));
    expect(textsOf(drawn(gaps))).toEqual(expect.arrayContaining(["0 ns … 5 ms", "0 ns"]));
    expect(dotsOf(drawn(latency), light.accent)).toHaveLength(5);
    const p95 = { ...limit, suite: "latency", row: "<told> & asked", figure: "p95", atMost: 150 };
    expect(dotsOf(drawn(latency, [p95]), light.limit)).toHaveLength(5);
  });
});

test("peers stand the best first, and are hollow where they do less; none have no chart", () => {
  const svg = actors()?.draw(light) ?? "";
  const order = textsOf(svg).filter((text) => Object.hasOwn(medians, text));
  expect(order.slice(-3)).toEqual(["promise", "envoi", "rival"]);
  expect(marksOf(svg, "circle").filter((each) => each.closest("[fill='none']") !== null)).toHaveLength(1);
  expect(peersPicture(peerResult({}))).toBeUndefined();
});

test("the chart of a load that rises has each step but those that the generator could not make, and the one that broke", () => {
  const picture = laddersPicture(stress);
  const count = (color: string) => dotsOf(picture?.draw(light) ?? "", color).length;
  expect([light.accent, light.limit, light.other].map(count)).toEqual([2, 2, 4]);
  expect(picture?.alt).toContain("messaging only: 100,000 a second held");
  expect(laddersPicture({ ladders: stress.ladders.map((each) => ({ ...each, steps: [] })) })).toBeUndefined();
});
