import type { SuiteResult, TimedResult } from "../harness/results";
import { figureOf, isKept, isSame, type Target } from "../harness/target";
import { drawing, durationTick, gridX, key, limitTick, logTicks, named } from "./marks";
import { compose, FONT_SIZE, type Panel, type Picture, widthOf } from "./picture";
import { axisX, axisY, dot, link, type PlotOptions, ruleX, text } from "./plot";
import type { Theme } from "./theme";

const LINE = 22;
const WIDTH = 940;
const LONGEST_LABEL = 360;
const BAND = { top: 44, bottom: 26 };

interface Line {
  readonly row: string;
  readonly from: number;
  readonly to: number;
  readonly at: number;
  readonly floor: number | undefined;
  readonly ratio: TimedResult["ratio"];
  readonly limit: number | undefined;
  readonly isMissed: boolean;
}

/** The timed rows of a suite: how long each takes beside its floor, and how many times the floor that is, with its limit. */
export function rowsPicture(result: SuiteResult, targets: readonly Target[]): Picture | undefined {
  const timed = result.rows.filter((row) => row.kind === "timed");
  if (timed.length === 0) return undefined;
  const lines = timed.map((row) => lineOf(row, result, targets));
  return {
    name: result.suite,
    alt: `${result.suite}: the time of each row beside its floor's, and the ratio of the two; the table below has the figures`,
    draw: (theme) => draw(lines, theme),
  };
}

function lineOf(row: TimedResult, result: SuiteResult, targets: readonly Target[]): Line {
  const target = targets.find((each) => isSame(each, { suite: result.suite, row: row.row, figure: "ratio" }));
  const measured = target && figureOf(target, [result]);
  return {
    row: row.row,
    from: row.min,
    to: row.p99 ?? row.p95,
    at: row.p50,
    floor: "none" in row.floor ? undefined : row.floor.p50,
    ratio: row.ratio,
    limit: target && "atMost" in target ? target.atMost : undefined,
    isMissed: target !== undefined && measured !== undefined && !isKept(target, measured),
  };
}

function draw(lines: readonly Line[], theme: Theme): string {
  const labels = Math.min(LONGEST_LABEL, Math.max(...lines.map(({ row }) => widthOf(row))) + 12);
  const width = Math.floor((WIDTH - labels - 30) / 2);
  const inner = BAND.bottom + lines.length * LINE;
  const panels: Panel[] = [
    key({ x: Math.max(0, labels - 80), y: 2, width: width + 80 }, theme, [
      { sign: "dot", color: theme.accent, says: "median" },
      { sign: "span", color: theme.accent, says: "shortest to p99" },
      { sign: "ring", color: theme.other, says: "the floor's median" },
    ]),
    key({ x: labels + width + 44, y: 2, width }, theme, [
      { sign: "dot", color: theme.accent, says: "× floor" },
      { sign: "span", color: theme.accent, says: "its rounds" },
      { sign: "bar", color: theme.limit, says: "limit" },
    ]),
    { x: 0, y: BAND.top - 20, options: times(lines, { labels, width, inner }, theme) },
    { x: labels + width + 30, y: BAND.top - 20, options: ratios(lines, { width, inner }, theme) },
  ];
  return compose({ width: WIDTH, height: BAND.top - 20 + inner }, panels);
}

const rowsScale = (lines: readonly Line[]) =>
  ({ type: "band", domain: lines.map(({ row }) => row), padding: 0.3, axis: null, label: null }) as const;

const margins = (left: number) => ({ marginLeft: left, marginRight: 14, marginTop: BAND.bottom, marginBottom: 0 });

function times(
  lines: readonly Line[],
  { labels, width, inner }: { readonly labels: number; readonly width: number; readonly inner: number },
  theme: Theme,
): PlotOptions {
  const { domain, ticks } = logTicks(lines.flatMap(({ from, to, floor }) => [from, to, floor ?? to]));
  const style = { stroke: theme.accent, strokeWidth: 2 };
  return {
    ...drawing({ width: labels + width, height: inner }, []),
    ...margins(labels),
    x: { type: "log", domain, label: null },
    y: rowsScale(lines),
    marks: [
      gridX(ticks, theme),
      axisX({
        anchor: "top",
        ticks: named(ticks, width),
        tickFormat: durationTick,
        tickSize: 0,
        color: theme.muted,
        label: null,
      }),
      axisY({ tickSize: 0, color: theme.text, label: null, fontSize: FONT_SIZE }),
      link(lines, { x1: "from", x2: "to", y: "row", ...style, strokeOpacity: 0.45 }),
      dot(lines, { x: "floor", y: "row", r: 4, stroke: theme.other, strokeWidth: 1.5 }),
      dot(lines, { x: "at", y: "row", r: 3.5, fill: theme.accent }),
    ],
  };
}

/** The ends of the axis of ratios, at the least; what lies outside of 1/20 and 50 is at its edge. */
const RATIOS = { least: 0.05, most: 50, ticks: [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50] };

function ratios(
  lines: readonly Line[],
  { width, inner }: { readonly width: number; readonly inner: number },
  theme: Theme,
): PlotOptions {
  const within = (ratio: number) => Math.min(RATIOS.most, Math.max(RATIOS.least, ratio));
  const spread = lines.flatMap(({ row, ratio, limit, isMissed }) =>
    ratio === null
      ? []
      : [{ row, limit, isMissed, at: within(ratio.median), from: within(ratio.min), to: within(ratio.max) }],
  );
  const values = [0.5, 2, ...spread.flatMap(({ from, to, limit }) => [from, to, limit ?? to])];
  const low = RATIOS.ticks.findLast((tick) => tick <= Math.min(...values)) ?? RATIOS.least;
  const high = RATIOS.ticks.find((tick) => tick >= Math.max(...values)) ?? RATIOS.most;
  const ticks = RATIOS.ticks.filter((tick) => tick >= low && tick <= high);
  const color = ({ isMissed }: { readonly isMissed: boolean }) => (isMissed ? theme.limit : theme.accent);
  return {
    ...drawing({ width, height: inner }, []),
    ...margins(14),
    x: { type: "log", domain: [low, high], label: null },
    y: rowsScale(lines),
    marks: [
      gridX(ticks, theme),
      ruleX([1], { stroke: theme.other, strokeWidth: 1.5 }),
      axisX({
        anchor: "top",
        ticks: named(ticks, width),
        tickFormat: (ratio: number) => `${ratio} ×`,
        tickSize: 0,
        color: theme.muted,
        label: null,
      }),
      link(spread, { x1: "from", x2: "to", y: "row", stroke: color, strokeWidth: 2, strokeOpacity: 0.45 }),
      limitTick(
        spread.filter(({ limit }) => limit !== undefined),
        ({ limit }) => limit ?? Number.NaN,
        "row",
        theme,
      ),
      dot(spread, { x: "at", y: "row", r: 3.5, fill: color }),
      text(
        lines.filter(({ ratio }) => ratio === null),
        { x: () => 1, y: "row", text: () => "no floor", fill: theme.muted, dx: 8, textAnchor: "start" },
      ),
    ],
  };
}
