import type { SuiteResult, TimedResult } from "../harness/results";
import { timeOf } from "../harness/tables";
import { figureOf, isKept, isSame, type Target } from "../harness/target";
import { drawing, gridX, key, limitTick, named } from "./marks";
import { compose, FONT_SIZE, type Picture, widthOf } from "./picture";
import { axisX, axisY, dot, link, type PlotOptions, ruleX, text } from "./plot";
import type { Theme } from "./theme";

const LINE = 22;
const WIDTH = 940;
const LONGEST_LABEL = 400;
const KEY = 24;
const AXIS = 44;
/** For the time of a row, right of its dot. */
const VALUE = 110;

interface Line {
  readonly row: string;
  readonly time: string;
  readonly ratio: NonNullable<TimedResult["ratio"]>;
  readonly limit: number | undefined;
  readonly isMissed: boolean;
}

/** How many times its floor each timed row of a suite takes, with its limit. */
export function rowsPicture(
  result: SuiteResult,
  targets: readonly Target[],
  name: string = result.suite,
): Picture | undefined {
  const lines = result.rows.flatMap((row) => lineOf(row, result, targets));
  if (lines.length === 0) return undefined;
  return {
    name,
    question: "How many times its floor does each row take?",
    alt: `${name}: how many times its floor each row takes, with its limit; the table below has the figures`,
    draw: (theme) => draw(lines, theme),
  };
}

function lineOf(row: SuiteResult["rows"][number], result: SuiteResult, targets: readonly Target[]): Line[] {
  if (row.kind !== "timed" || row.ratio === null) return [];
  const target = targets.find((each) => isSame(each, { suite: result.suite, row: row.row, figure: "ratio" }));
  const measured = target && figureOf(target, [result]);
  const limit = target && "atMost" in target ? target.atMost : undefined;
  const isMissed = target !== undefined && measured !== undefined && !isKept(target, measured);
  return [{ row: row.row, time: timeOf(row), ratio: row.ratio, limit, isMissed }];
}

function draw(lines: readonly Line[], theme: Theme): string {
  const labels = Math.min(LONGEST_LABEL, Math.max(...lines.map(({ row }) => widthOf(row))) + 12);
  const height = AXIS + lines.length * LINE;
  return compose({ width: WIDTH, height: KEY + height }, [
    key({ x: labels, y: 2, width: WIDTH - labels }, theme, [
      { sign: "dot", color: theme.accent, says: "median of the rounds, with its time" },
      { sign: "span", color: theme.accent, says: "all rounds" },
      { sign: "bar", color: theme.limit, says: "limit" },
    ]),
    { x: 0, y: KEY, options: ratios(lines, { labels, height }, theme) },
  ]);
}

/** The ends of the axis, at the least; what lies outside of 1/20 and 100 is at its edge. */
const RATIOS = { least: 0.05, most: 100, ticks: [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100] };

function ratios(
  lines: readonly Line[],
  { labels, height }: { readonly labels: number; readonly height: number },
  theme: Theme,
): PlotOptions {
  const within = (ratio: number) => Math.min(RATIOS.most, Math.max(RATIOS.least, ratio));
  const spread = lines.map(({ ratio: { median, min, max }, ...line }) => {
    return { ...line, at: within(median), from: within(min), to: within(max) };
  });
  const values = [0.5, 2, ...spread.flatMap(({ from, to, limit }) => [from, to, limit ?? to])];
  const low = RATIOS.ticks.findLast((tick) => tick <= Math.min(...values)) ?? RATIOS.least;
  const high = RATIOS.ticks.find((tick) => tick >= Math.max(...values)) ?? RATIOS.most;
  const ticks = RATIOS.ticks.filter((tick) => tick >= low && tick <= high);
  const color = ({ isMissed }: { readonly isMissed: boolean }) => (isMissed ? theme.limit : theme.accent);
  return {
    ...drawing({ width: WIDTH, height }, []),
    ...{ marginLeft: labels, marginRight: VALUE, marginTop: AXIS, marginBottom: 0 },
    x: { type: "log", domain: [low, high], label: null },
    y: { type: "band", domain: lines.map(({ row }) => row), padding: 0.3, axis: null, label: null },
    marks: [
      gridX(ticks, theme),
      ruleX([1], { stroke: theme.other, strokeWidth: 1.5 }),
      axisX({
        anchor: "top",
        ticks: named(ticks, WIDTH - labels - VALUE),
        tickFormat: (ratio: number) => `${ratio} ×`,
        tickSize: 0,
        color: theme.muted,
        label: "times the floor; left of 1 is quicker than the floor",
        labelAnchor: "center",
        labelArrow: "none",
      }),
      axisY({ tickSize: 0, color: theme.text, label: null, fontSize: FONT_SIZE }),
      link(spread, { x1: "from", x2: "to", y: "row", stroke: color, strokeWidth: 2, strokeOpacity: 0.45 }),
      limitTick(
        spread.filter(({ limit }) => limit !== undefined),
        ({ limit }) => limit ?? Number.NaN,
        "row",
        theme,
      ),
      dot(spread, { x: "at", y: "row", r: 3.5, fill: color }),
      text(spread, {
        x: ({ to, limit }) => Math.max(to, limit ?? to),
        y: "row",
        text: "time",
        dx: 8,
        textAnchor: "start",
        fill: theme.muted,
      }),
    ],
  };
}
