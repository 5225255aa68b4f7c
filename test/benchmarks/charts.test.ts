import { describe, expect, test } from "bun:test";
import { parseHTML } from "linkedom";
import { logTicks } from "../../benchmarks/charts/marks";
import { peersPicture } from "../../benchmarks/charts/peers";
import type { Picture } from "../../benchmarks/charts/picture";
import { picturesOf } from "../../benchmarks/charts/pictures";
import { laddersPicture } from "../../benchmarks/charts/stress";
import { dark, light } from "../../benchmarks/charts/theme";
import type { ProbeResult, SuiteResult } from "../../benchmarks/harness/results";
import type { Target } from "../../benchmarks/harness/target";
import { peerResult } from "./peers/sample";
import { result } from "./sample-result";
import { results as stress } from "./stress/sample";

const limit = { suite: "routing", row: "ref.ask", figure: "ratio", atMost: 1.5, aim: 1.25, reason: "" };

const points = Array.from({ length: 20 }, (_, i) => [i, 30 + Math.sin(i)] as const);
const lines = ["heap", "RSS"].map((name) => ({ name, along: "messages", unit: "MB" as const, points }));
const probe = { kind: "probe", floor: { none: "" }, figures: [], seconds: 1 } as const;
const memory: SuiteResult = {
  ...result({ suite: "memory" }),
  rows: [{ ...probe, row: "messages <told> & asked", series: lines }],
};

/** The results of a suite of probes, each with these figures in ns. */
function probes(suite: string, rows: Record<string, Record<string, number>>): SuiteResult {
  const rowOf = ([row, figures]: [string, Record<string, number>]): ProbeResult => ({
    ...{ ...probe, row },
    figures: Object.entries(figures).map(([figure, median]) => {
      return { figure, unit: "ns", median, min: median, max: median, floor: null, ratio: null };
    }),
  });
  return { ...result({ suite }), rows: Object.entries(rows).map(rowOf) };
}
const latency = probes("latency", { ask: { p50: 90, p95: 200, p99: 300, "p99.9": 1e4, max: 1e6 } });
const gaps = probes("gaps", { read: { "gap, least of 5": 0, "gap, most of 5": 5e6 } });

const medians = { envoi: 90, rival: 300, promise: 30 };
const actors = () => peersPicture(peerResult(medians, { promise: "less" }));

const of = (suite: SuiteResult, targets: readonly Target[] = [limit]): Picture => {
  const [picture, ...more] = picturesOf(suite, targets);
  if (picture === undefined || more.length > 0) throw new Error(`${suite.suite} has not one picture`);
  return picture;
};
const pictures = [of(result({})), of(memory), of(latency), of(gaps), actors(), laddersPicture(stress)].filter(
  (picture) => picture !== undefined,
);

const parsed = (svg: string) => parseHTML(`<body>${svg}</body>`).document;
const textsOf = (svg: string): string[] =>
  [...parsed(svg).querySelectorAll("text")].map((text) => `${text.textContent}`);
const dotsOf = (svg: string, color: string) =>
  [...parsed(svg).querySelectorAll("circle")].filter(
    (each) => each.closest("[fill^='#']")?.getAttribute("fill") === color,
  );

/** The contrast of two colours by WCAG 2.2. */
function contrast(one: string, other: string): number {
  const luminance = (color: string) => {
    const [red = 0, green = 0, blue = 0] = [1, 3, 5]
      .map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [high = 0, low = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

describe.each([light, dark])("on a page that is $name, a chart", (theme) => {
  test.each(pictures)("has text and marks that can be told from the page: $name", ({ draw }: Picture) => {
    const least = { text: 4.5, "circle, path": 3 };
    for (const [kind, contrasts] of Object.entries(least)) {
      const seen = [...parsed(draw(theme)).querySelectorAll(kind)].flatMap((mark) =>
        ["fill", "stroke"].flatMap((paint) => mark.closest(`[${paint}]`)?.getAttribute(paint) ?? []),
      );
      const colors = seen.filter((color) => color.startsWith("#"));
      expect(colors).not.toBeEmpty();
      for (const color of colors) expect(contrast(color, theme.page)).toBeGreaterThanOrEqual(contrasts);
    }
  });

  test.each(pictures)("is the same text each time, with nothing from elsewhere: $name", ({ draw }: Picture) => {
    const svg = draw(theme);
    expect(draw(theme)).toBe(svg);
    expect(svg).toStartWith('<svg xmlns="http://www.w3.org/2000/svg"');
    expect(svg).not.toMatch(/<style|<rect|<script|<image|href=|url\(|var\(/);
    expect(svg).not.toMatch(/NaN|undefined|Infinity|null|\d\.\d{3}/);
  });
});

describe("the chart of a suite", () => {
  const draw = (ratio: number) => of(result({ ratio })).draw(light);

  test("has each row with a floor, its time, and the name of its axis", () => {
    const texts = textsOf(draw(1.31));
    expect(texts).toEqual(expect.arrayContaining(["ref.ask", "128 ns"]));
    expect(texts.join()).toContain("times the floor");
    expect(texts).not.toContain("concurrent: 10 asks"); // It has none.
  });

  test("has a dot in the limit's colour where a limit is missed; a larger ratio is further to the right", () => {
    expect(dotsOf(draw(1.31), light.limit)).toBeEmpty();
    expect(dotsOf(draw(1.51), light.limit)).toHaveLength(1);
    const at = (ratio: number) => Number(dotsOf(draw(ratio), light.accent)[0]?.getAttribute("cx"));
    expect(at(1.4)).toBeGreaterThan(at(1.1));
  });

  test("is one for each tier of code", () => {
    const [first] = result({}).rows;
    const namesOf = (suite: string, ...rows: string[]) =>
      picturesOf({ ...result({ suite }), rows: rows.flatMap((row) => (first ? { ...first, row } : [])) }, []).map(
        ({ name }) => name,
      );
    expect(namesOf("code", "addition, process", "addition", "addition, sandbox")).toEqual([
      "code-sandbox",
      "code-process",
      "code-trusted",
    ]);
  });

  test("of times has a dot for each figure, in whatever unit; one of nothing begins at 0", () => {
    expect(dotsOf(of(latency).draw(light), light.accent)).toHaveLength(5);
    expect(textsOf(of(latency).draw(light))).toEqual(expect.arrayContaining(["90 ns … 1 ms", "1 µs", "10 µs"]));
    expect(textsOf(of(gaps).draw(light))).toContain("0 ns … 5 ms");
    const target = { ...limit, suite: "latency", row: "ask", figure: "p95", atMost: 150 };
    expect(dotsOf(of(latency, [target]).draw(light), light.limit)).toHaveLength(5);
  });

  test("of memory has each series beside its median, and names of rows as text, not markup", () => {
    const svg = of(memory).draw(light);
    expect(textsOf(svg)).toEqual(expect.arrayContaining(["messages <told> & asked: heap 30.1 MB", "0 ×", "1 ×"]));
    expect(svg).toContain("messages &lt;told&gt; &amp; asked");
  });
});

describe("an axis holds its values, and has as many ticks as there is room for, where the values", () => {
  const cases: [what: string, values: number[], pixels: number, ticks: number[]][] = [
    ["go far", [1.3, 900], 300, [1, 10, 100, 1_000]],
    ["go further", [1.3, 9e5], 300, [1, 100, 10_000, 1e6]],
    ["go less far", [12, 900], 300, [10, 30, 100, 300, 1_000]],
    ["lie close to each other", [29, 31], 300, [20, 50]],
    ["are one value", [100], 300, [50, 100, 200]],
  ];
  test.each(cases)("%s", (_, values, pixels, ticks) => {
    expect(logTicks(values, pixels)).toEqual({ domain: [ticks[0] ?? 0, ticks.at(-1) ?? 0], ticks });
  });
});

describe("peers beside each other", () => {
  const order = (picture: Picture | undefined) =>
    textsOf(picture?.draw(light) ?? "").filter((text) => Object.hasOwn(medians, text));

  test("stand the best first, and are hollow where they do less", () => {
    expect(order(actors()).slice(-3)).toEqual(["promise", "envoi", "rival"]);
    const circles = [...parsed(actors()?.draw(light) ?? "").querySelectorAll("circle")];
    expect(circles.filter((each) => each.closest("[fill='none']") !== null)).toHaveLength(1);
  });

  test("have no chart without a figure", () => {
    expect(peersPicture(peerResult({}))).toBeUndefined();
  });
});

test("the chart of a load that rises has each step but those that the generator could not make, and the one that broke", () => {
  const picture = laddersPicture(stress);
  const count = (color: string) => dotsOf(picture?.draw(light) ?? "", color).length;
  expect([light.accent, light.limit, light.other].map(count)).toEqual([2, 2, 4]);
  expect(picture?.alt).toContain("messaging only: 100,000 a second held");
  expect(laddersPicture({ ladders: stress.ladders.map((each) => ({ ...each, steps: [] })) })).toBeUndefined();
});
