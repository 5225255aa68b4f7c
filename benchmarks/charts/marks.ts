import { FONT_SIZE, type Panel, widthOf } from "./picture";
import { type Markish, type PlotOptions, ruleX, text } from "./plot";
import type { Theme } from "./theme";

const SIGNS = { dot: "●", ring: "○", bar: "┃", span: "━" } as const;

/** What a sign of the key looks like. */
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
    text(placed, { ...line, x: "at", text: "drawn", fill: "color" }),
    text(placed, { ...line, x: ({ at }) => at + 16, text: "says", fill: theme.muted }),
  ];
  return { x, y, options: drawing({ width, height: 18 }, marks) };
}

/** A plot without margins whose coordinates are pixels and whose colours are colours. */
export function drawing(
  size: { readonly width: number; readonly height: number },
  marks: readonly Markish[] = [],
): PlotOptions {
  const pixels = { type: "identity", axis: null } as const;
  const margin = { marginLeft: 0, marginRight: 0, marginTop: 0, marginBottom: 0 };
  const style = { fontSize: `${FONT_SIZE}px` };
  return { ...size, ...margin, style, x: pixels, y: pixels, color: pixels, marks: [...marks] };
}

/** Lines behind a plot at the ticks of its x axis. */
export const gridX = (ticks: readonly number[], { grid }: Theme): Markish => ruleX(ticks, { stroke: grid });

/** Ticks of a logarithmic axis, the densest first: steps in how many powers of ten. */
const DENSITIES = [
  { steps: [1, 2, 5], powers: 1 },
  { steps: [1, 3], powers: 1 },
  ...[1, 2, 3, 4, 6].map((powers) => ({ steps: [1], powers })),
];

/** Pixels of the name of a tick, with some space beside it. */
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
