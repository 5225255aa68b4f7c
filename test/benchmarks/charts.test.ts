import { describe, expect, test } from "bun:test";
import { parseHTML } from "linkedom";
import { logTicks, named } from "../../benchmarks/charts/marks";
import { peersPicture } from "../../benchmarks/charts/peers";
import { percentilesPicture } from "../../benchmarks/charts/percentiles";
import type { Picture } from "../../benchmarks/charts/picture";
import { picturesOf } from "../../benchmarks/charts/pictures";
import { laddersPicture } from "../../benchmarks/charts/stress";
import { dark, light, type Theme } from "../../benchmarks/charts/theme";
import type { SuiteResult } from "../../benchmarks/harness/results";
import type { Target } from "../../benchmarks/harness/target";
import { peerResult, peerRow } from "./peers/sample";
import { result } from "./sample-result";
import { results as stress } from "./stress/sample";

const limits: readonly Target[] = [
  { suite: "routing", row: "ref.ask", figure: "ratio", atMost: 1.5, aim: 1.25, reason: "" },
];

const series = (name: string, along: string, unit: "MB" | "ns") => ({
  name,
  along,
  unit,
  points: Array.from({ length: 20 }, (_, i) => [i / 20, 30 + Math.sin(i)] as const),
});

/** A suite with a probe that has two lines, and one that has a percentile curve. */
const charted: SuiteResult = {
  ...result({ suite: "memory" }),
  rows: [
    {
      kind: "probe",
      row: "messages <told> & asked",
      floor: { none: "" },
      figures: [],
      series: [series("heap", "messages", "MB"), series("RSS", "messages", "MB")],
      seconds: 1,
    },
    {
      kind: "probe",
      row: "an ask",
      floor: { none: "" },
      figures: [],
      series: [series("latency", "share of the operations", "ns")],
      seconds: 1,
    },
  ],
};

const medians = { envoi: 90, rival: 300, promise: 30 };
const actors = (isMoreBetter = false) =>
  peersPicture(peerResult(medians, { promise: "less" }, [peerRow("tell", medians, { isMoreBetter })]));

const pictures: readonly Picture[] = [
  ...picturesOf(result({}), limits),
  ...picturesOf(charted, limits),
  actors(),
  laddersPicture(stress),
].filter((picture) => picture !== undefined);

const pictureOf = (name: string): Picture => {
  const found = pictures.find((picture) => picture.name === name);
  if (found === undefined) throw new Error(`there is no ${name}; there are ${pictures.map((each) => each.name)}`);
  return found;
};

const parsed = (svg: string) => parseHTML(`<body>${svg}</body>`).document;
const textsOf = (svg: string): string[] =>
  [...parsed(svg).querySelectorAll("text")].map((text) => `${text.textContent}`);

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

test("contrast is measured as WCAG does", () => {
  expect(contrast("#000000", "#ffffff")).toBeCloseTo(21);
  expect(contrast("#777777", "#ffffff")).toBeCloseTo(4.48, 2);
});

describe.each([light, dark])("on a page that is $name, a chart", (theme: Theme) => {
  test.each(pictures)("has text that can be read: $name", ({ draw }: Picture) => {
    const texts = [...parsed(draw(theme)).querySelectorAll("text")];
    expect(texts).not.toBeEmpty();
    for (const text of texts) {
      const colored = text.closest("[fill]")?.getAttribute("fill") ?? "none";
      expect(colored).toMatch(/^#/);
      expect(contrast(colored, theme.page)).toBeGreaterThanOrEqual(4.5);
    }
  });

  test.each(pictures)("has marks that can be told from the page: $name", ({ draw }: Picture) => {
    const marks = [...parsed(draw(theme)).querySelectorAll("circle, path")];
    const colors = marks.flatMap((mark) => {
      return ["fill", "stroke"].flatMap((kind) => mark.closest(`[${kind}]`)?.getAttribute(kind) ?? []);
    });
    const seen = colors.filter((color) => color.startsWith("#"));
    expect(seen).not.toBeEmpty();
    for (const color of seen) expect(contrast(color, theme.page)).toBeGreaterThanOrEqual(3);
  });

  test.each(pictures)("has no background, no style sheet, and nothing from elsewhere: $name", ({ draw }: Picture) => {
    const svg = draw(theme);
    expect(svg).not.toMatch(/<style|<rect|<script|<image|href=|url\(|var\(/);
    expect(svg).toStartWith('<svg xmlns="http://www.w3.org/2000/svg"');
  });

  test.each(pictures)(
    "is the same text for the same figures, without a number that is none: $name",
    ({ draw }: Picture) => {
      const svg = draw(theme);
      expect(draw(theme)).toBe(svg);
      expect(svg).not.toMatch(/NaN|undefined|Infinity|null/);
      expect(svg).not.toMatch(/\d\.\d{3}/);
    },
  );
});

test("names of rows are text, not markup", () => {
  const svg = pictureOf("memory-series").draw(light);
  expect(svg).toContain("messages &lt;told&gt; &amp; asked");
  expect(textsOf(svg)).toContain("messages <told> & asked");
});

describe("the chart of a suite", () => {
  const draw = (ratio: number) => picturesOf(result({ ratio }), limits)[0]?.draw(light) ?? "";
  const dots = (svg: string, color: string) =>
    [...parsed(svg).querySelectorAll("circle")].filter((each) => each.getAttribute("fill") === color);

  test("has each row with a floor, its time, and the name of its axis", () => {
    const texts = textsOf(draw(1.31));
    expect(texts).toContain("ref.ask");
    expect(texts).toContain("128 ns");
    expect(texts.join()).toContain("times the floor");
    expect(texts).not.toContain("concurrent: 10 asks"); // It has none.
    expect(texts).not.toContain("timer");
  });

  test("has a dot in the limit's colour where a limit is missed, and none where all are kept", () => {
    expect(dots(draw(1.31), light.limit)).toBeEmpty();
    expect(dots(draw(1.51), light.limit)).toHaveLength(1);
  });

  test("has a larger ratio further to the right", () => {
    const at = (ratio: number) => Number(dots(draw(ratio), light.accent).at(-1)?.getAttribute("cx"));
    expect(at(1.4)).toBeGreaterThan(at(1.1));
  });

  test("is one for each tier of code", () => {
    const [first] = result({}).rows;
    if (first === undefined) throw new Error("there is a row");
    const rows = ["addition", "addition, sandbox"].map((row) => ({ ...first, row }));
    const names = picturesOf({ ...result({ suite: "code" }), rows }, limits).map(({ name }) => name);
    expect(names).toEqual(["code-sandbox", "code-trusted"]);
  });

  test("is none where no row is timed", () => {
    expect(picturesOf(charted, limits).map(({ name }) => name)).toEqual(["memory-percentiles", "memory-series"]);
  });
});

test("percentile curves end before the longest of all, which is one sample", () => {
  const draw = (points: readonly (readonly [number, number])[]) =>
    percentilesPicture("p", "", [{ name: "an ask", points }])?.draw(light);
  const points = [
    [0, 10],
    [0.5, 20],
    [0.99, 90],
  ] as const;
  expect(draw([...points, [1, 9e9]])).toBe(draw(points) ?? "none");
  expect(textsOf(draw(points) ?? "")).toContain("99 %");
  expect(draw([[1, 5]])).toBeUndefined();
});

describe("an axis holds its values, and has two ticks or more, also where the values", () => {
  const cases: [what: string, values: number[], ticks: number[]][] = [
    ["go far", [1.3, 900], [10, 100, 1_000]],
    ["go less far", [12, 900], [10, 30, 100, 300, 1_000]],
    ["lie close to each other", [29, 31], [20, 50]],
    ["are one value", [100], [50, 100, 200]],
  ];
  test.each(cases)("%s", (_, values, expected) => {
    const { domain, ticks } = logTicks(values);
    expect(ticks).toEqual(expected);
    for (const value of [...values, ...ticks]) {
      expect(value).toBeGreaterThanOrEqual(domain[0]);
      expect(value).toBeLessThanOrEqual(domain[1]);
    }
  });
});

test("the names of an axis' ticks have room beside each other", () => {
  const ticks = [1, 10, 100, 1_000, 10_000, 100_000, 1e6];
  expect(named(ticks, 600)).toEqual(ticks);
  expect(named(ticks, 250)).toEqual([1, 100, 10_000, 1e6]);
});

test("percentile curves beyond the colours that there are have dashes, and so have their names", () => {
  const draw = (count: number) => {
    const curves = Array.from({ length: count }, (_, i) => ({
      name: `operation ${i}`,
      points: [
        [0, 100],
        [0.9, 100 * (i + 2)],
      ] as const,
    }));
    const svg = percentilesPicture("p", "", curves)?.draw(light) ?? "";
    const dashed = [...parsed(svg).querySelectorAll("[stroke-dasharray] path")].length;
    return { dashed, named: textsOf(svg).filter((text) => text.startsWith("╌ ")) };
  };
  expect(draw(light.lines.length)).toEqual({ dashed: 0, named: [] });
  expect(draw(light.lines.length + 1)).toEqual({ dashed: 1, named: [`╌ operation ${light.lines.length}`] });
});

test("names at the ends of percentile curves never overlap, however close the curves end", () => {
  const curves = Array.from({ length: 8 }, (_, i) => ({
    name: `operation ${i}`,
    points: [
      [0, 100 + i],
      [0.99, 1_000 + i],
    ] as const,
  }));
  const svg = percentilesPicture("p", "", curves)?.draw(light) ?? "";
  const heights = [...parsed(svg).querySelectorAll("text")]
    .filter((text) => text.textContent?.startsWith("operation"))
    .map((text) => Number(/,([\d.]+)\)/.exec(text.getAttribute("transform") ?? "")?.[1]))
    .sort((a, b) => a - b);
  expect(heights).toHaveLength(8);
  heights.slice(1).forEach((height, index) => {
    expect(height - (heights[index] ?? 0)).toBeGreaterThanOrEqual(15.9);
  });
  expect(heights.at(-1)).toBeLessThan(420);
});

test("probes that timed single operations have a percentile curve, in whatever unit", () => {
  const [, latency] = charted.rows;
  if (latency?.kind !== "probe") throw new Error("it is a probe");
  const inUnit = (unit: "ns" | "µs") => {
    const row = { ...latency, series: latency.series?.map((each) => ({ ...each, unit })) ?? [] };
    const [picture] = picturesOf({ ...charted, rows: [row] }, limits);
    return textsOf(picture?.draw(light) ?? "");
  };
  expect(inUnit("ns")).toContain("20 ns");
  expect(inUnit("µs")).toContain("20 µs");
});

test("memory over time begins at 0, so that what is flat looks flat", () => {
  const texts = textsOf(pictureOf("memory-series").draw(light));
  expect(texts.filter((text) => text === "0").length).toBe(2 * 2); // Of both axes of both lines.
  expect(texts).toContain("heap, MB");
  expect(texts).toContain("RSS, MB");
  expect(texts.join()).not.toContain("latency");
});

describe("peers beside each other", () => {
  const order = (picture: Picture | undefined) =>
    textsOf(picture?.draw(light) ?? "").filter((text) => Object.hasOwn(medians, text));

  test("stand the best first", () => {
    expect(order(actors()).slice(-3)).toEqual(["promise", "envoi", "rival"]);
    expect(order(actors(true)).slice(-3)).toEqual(["rival", "envoi", "promise"]);
  });

  test("that count nothing are shown at 0, and those that take no time not at all", () => {
    const of = { envoi: 39, promise: 0 };
    const picture = (unit: "" | "ns") =>
      peersPicture(peerResult(of, {}, [peerRow("ticks", of, { unit, isMoreBetter: true })]));
    expect(order(picture("")).slice(-2)).toEqual(["envoi", "promise"]);
    expect(textsOf(picture("")?.draw(light) ?? "")).toContain("more is better");
    expect(order(picture("ns"))).not.toContain("promise");
  });

  test("are hollow where they overlap messages, or starve timers", () => {
    const circles = [...parsed(actors()?.draw(light) ?? "").querySelectorAll("circle")];
    const isHollow = (each: (typeof circles)[number]) => each.closest("[fill='none']") !== null;
    expect(circles.filter(isHollow)).toHaveLength(2); // One in the key, one at its value.
    const starving = peersPicture(peerResult(medians, { rival: "starves" }));
    expect(textsOf(starving?.draw(light) ?? "")).toContain("does not");
  });

  test("have no chart without a figure", () => {
    expect(peersPicture(peerResult({}))).toBeUndefined();
  });
});

describe("the chart of a load that rises", () => {
  const circles = (color: string) =>
    [...parsed(pictureOf("stress-ladders").draw(light)).querySelectorAll("circle")].filter(
      (each) => each.getAttribute("fill") === color || each.closest(`[fill='${color}']`) !== null,
    );

  test("has each step but those that the generator could not make, and the one that broke in the limit's colour", () => {
    expect(circles(light.accent)).toHaveLength(1 + 2); // One in the key, and one a ladder.
    expect(circles(light.limit)).toHaveLength(1 + 2);
    expect(circles(light.other)).toHaveLength(1 + 4);
  });

  test("is none without steps, and says in words what held", () => {
    expect(laddersPicture({ ladders: stress.ladders.map((each) => ({ ...each, steps: [] })) })).toBeUndefined();
    expect(pictureOf("stress-ladders").alt).toContain("messaging only: 100,000 a second held");
  });
});
