import { parseHTML } from "linkedom";

// Plot draws half a pixel aside in what it takes for a test, which is any process that has a global `it`, unless a window tells it
// of a fine screen. What it draws is to be the same everywhere.
Object.assign(globalThis, { window: { devicePixelRatio: 2 } });
export const Plot = await import("@observablehq/plot");
Reflect.deleteProperty(globalThis, "window");

export type PlotOptions = import("@observablehq/plot").PlotOptions;

/** The colours of a chart on a page that is light, or dark. Whatever is text has a contrast of 4.5 : 1 or more there (WCAG 2.2, 1.4.3). */
export interface Theme {
  readonly name: "light" | "dark";
  /** Expected behind the chart, which has no background of its own. */
  readonly page: string;
  readonly text: string;
  readonly muted: string;
  readonly grid: string;
  /** What the chart is about, and what that stands beside. */
  readonly accent: string;
  readonly other: string;
  readonly limit: string;
}

export const light: Theme = {
  ...{ name: "light", page: "#ffffff", text: "#1f2328", muted: "#59636e", grid: "#d1d9e0" },
  ...{ accent: "#0969da", other: "#6e7781", limit: "#cf222e" },
};

export const dark: Theme = {
  ...{ name: "dark", page: "#0d1117", text: "#f0f6fc", muted: "#9198a1", grid: "#3d444d" },
  ...{ accent: "#4493f8", other: "#8b949e", limit: "#f85149" },
};

export interface Picture {
  readonly name: string;
  readonly alt: string;
  readonly question: string;
  readonly draw: (theme: Theme) => string;
}

export type Panel = { readonly x: number; readonly y: number; readonly options: PlotOptions };

/** Pixels of a letter on average in a wide font, at the size that all text has: nothing here can measure it. */
const LETTER = 7;
export const FONT_SIZE = 12;
export const WIDTH = 860;

export const widthOf = (text: string): number => Math.ceil(text.length * LETTER);

const { document } = parseHTML("<!doctype html><html></html>");

/** One SVG of several plots, the same text for the same plots: without a background, and coordinates to a hundredth. */
export function compose(size: { readonly width: number; readonly height: number }, panels: readonly Panel[]): string {
  const inner = panels.map(({ x, y, options }) => {
    const svg = Plot.plot({ document, className: "plot", ...options });
    for (const style of svg.querySelectorAll("style")) style.remove();
    for (const name of ["class", "viewBox"]) svg.removeAttribute(name);
    svg.setAttribute("x", String(x));
    svg.setAttribute("y", String(y));
    svg.setAttribute("overflow", "visible"); // A label may stand out by a letter.
    return svg.toString();
  });
  const { width, height } = size;
  const box = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
  const head = `<svg xmlns="http://www.w3.org/2000/svg" ${box} font-family="system-ui, sans-serif" font-size="${FONT_SIZE}">`;
  // The last digits of a logarithm are the machine's own.
  const text = [head, ...inner]
    .join("\n")
    .replace(/-?\d+\.\d{3,}/g, (number) => String(Number(Number(number).toFixed(2))));
  return `${text}\n</svg>\n`;
}

const SIGNS = { dot: "●", ring: "○", bar: "┃", span: "━" } as const;

export type Sign = keyof typeof SIGNS;

/** The key of a picture: each sign with what it stands for, in one line from `x` on. */
export function key(
  { x, y, width }: { readonly x: number; readonly y: number; readonly width: number },
  theme: Theme,
  signs: readonly { readonly sign: Sign; readonly color: string; readonly says: string }[],
): Panel {
  let at = 2;
  const placed = signs.map((each) => {
    const place = at;
    at += widthOf(each.says) + 32;
    return { ...each, drawn: SIGNS[each.sign], at: place };
  });
  const line = { y: () => 9, textAnchor: "start", fontSize: FONT_SIZE } as const;
  const marks = [
    Plot.text(placed, { ...line, x: "at", text: "drawn", fill: "color" }),
    Plot.text(placed, { ...line, x: ({ at }) => at + 16, text: "says", fill: theme.muted }),
  ];
  return { x, y, options: { ...drawing({ width, height: 18 }), marks } };
}

/** A plot without margins whose coordinates are pixels and whose colours are colours. */
export function drawing(size: { readonly width: number; readonly height: number }): PlotOptions {
  const pixels = { type: "identity", axis: null } as const;
  const margin = { marginLeft: 0, marginRight: 0, marginTop: 0, marginBottom: 0 };
  const style = { fontSize: `${FONT_SIZE}px` };
  return { ...size, ...margin, style, x: pixels, y: pixels, color: pixels };
}

/** Ticks of a logarithmic axis, the densest first: steps in how many powers of ten. */
const DENSITIES = [
  { steps: [1, 2, 5], powers: 1 },
  { steps: [1, 3], powers: 1 },
  ...[1, 2, 3, 4, 6].map((powers) => ({ steps: [1], powers })),
];

const WIDEST = 58;

/** A logarithmic axis from the tick before the values to the one after them, with as many ticks as can be named in its length. */
export function logTicks(values: readonly number[], pixels = 320) {
  const [low, high] = [Math.min(...values) / 1.05, Math.max(...values) * 1.05];
  let ticks: number[] = [];
  for (const { steps, powers } of DENSITIES) {
    const first = Math.floor(Math.log10(low) / powers) * powers;
    const count = Math.ceil((Math.log10(high) - first) / powers) + 1;
    const all = Array.from({ length: count }, (_, index) => first + index * powers).flatMap((power) =>
      steps.map((step) => Number((step * 10 ** power).toPrecision(1))),
    );
    ticks = all.slice(
      all.findLastIndex((tick) => tick <= low),
      all.findIndex((tick) => tick >= high) + 1,
    );
    if (ticks.length * WIDEST <= pixels) break;
  }
  const domain: readonly [number, number] = [ticks[0] ?? low, ticks.at(-1) ?? high];
  return { domain, ticks };
}
