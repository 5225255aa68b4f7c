import { duration } from "../harness/format";
import { FONT_SIZE, type Panel, widthOf } from "./picture";
import { dot, type Markish, type PlotOptions, ruleX, text, tickX } from "./plot";
import type { Theme } from "./theme";

/** What a sign of the key looks like. */
export type Sign = "dot" | "ring" | "bar" | "span";

/** The key of a picture: each sign with what it stands for, in one line from `x` on. */
export function key(
  { x, y, width }: { readonly x: number; readonly y: number; readonly width: number },
  theme: Theme,
  signs: readonly { readonly sign: Sign; readonly color: string; readonly says: string }[],
): Panel {
  let at = 6;
  const placed = signs.map((each) => {
    const place = at;
    at += widthOf(each.says) + 30;
    return { ...each, at: place };
  });
  const only = (sign: Sign) => placed.filter((each) => each.sign === sign);
  const marks: Markish[] = [
    dot(only("dot"), { x: "at", y: () => 9, r: 4, fill: "color" }),
    dot(only("ring"), { x: "at", y: () => 9, r: 4, stroke: "color", strokeWidth: 1.5 }),
    text(only("bar"), { x: "at", y: () => 9, text: () => "┃", fill: "color", fontSize: FONT_SIZE }),
    text(only("span"), { x: "at", y: () => 9, text: () => "━", fill: "color", fontSize: FONT_SIZE }),
    text(placed, { x: ({ at }) => at + 10, y: () => 9, text: "says", textAnchor: "start", fill: theme.muted }),
  ];
  return { x, y, options: drawing({ width, height: 18 }, marks) };
}

/** A plot whose coordinates are pixels. */
export function drawing(
  { width, height }: { readonly width: number; readonly height: number },
  marks: readonly Markish[],
): PlotOptions {
  const pixels = { type: "identity", axis: null } as const;
  const margin = { marginLeft: 0, marginRight: 0, marginTop: 0, marginBottom: 0 };
  return {
    width,
    height,
    ...margin,
    style: { fontSize: `${FONT_SIZE}px` },
    x: pixels,
    y: pixels,
    color: pixels,
    marks: [...marks],
  };
}

/** An axis that holds the values, with powers of ten for its ticks, and steps between them where these are few. */
export function logTicks(values: readonly number[]): { readonly domain: [number, number]; readonly ticks: number[] } {
  const [low, high] = [Math.min(...values) / ROOM, Math.max(...values) * ROOM];
  const decades = Math.log10(high / low);
  const steps = decades < 1.2 ? [1, 2, 5] : decades < 2.5 ? [1, 3] : [1];
  const all: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const step of steps) all.push(Number((step * 10 ** power).toPrecision(1)));
  }
  const ticks = all.filter((tick) => tick >= low && tick <= high);
  if (ticks.length > 1) return { domain: [low, high], ticks };
  // Values that lie between two ticks: the axis goes from the one to the other.
  const around = [all.findLast((tick) => tick <= low) ?? low, ...ticks, all.find((tick) => tick >= high) ?? high];
  return { domain: [Math.min(...around), Math.max(...around)], ticks: around };
}

/** Values stand so many times inside of the ends of their axis. */
const ROOM = 1.25;

/** Those of the ticks of a horizontal axis that there is room to name. */
export function named(ticks: readonly number[], width: number): number[] {
  const every = Math.ceil((ticks.length * WIDEST) / width);
  return ticks.filter((_, index) => index % every === 0);
}

/** Pixels of the name of a tick, with some space beside it. */
const WIDEST = 58;

/** A tick as a duration: `10 µs`. */
export const durationTick = (nanoseconds: number): string => duration(nanoseconds);

/** Lines behind a plot at the ticks of its x axis. */
export const gridX = (ticks: readonly number[], { grid }: Theme): Markish =>
  ruleX(ticks, { stroke: grid, strokeWidth: 1 });

/** A limit across its row. */
export const limitTick = <Row>(
  rows: readonly Row[],
  x: (row: Row) => number,
  y: keyof Row & string,
  theme: Theme,
): Markish => tickX(rows, { x, y, stroke: theme.limit, strokeWidth: 2 });
