import { digits, duration, NANOSECONDS } from "../harness/format";
import type { RowResult, SuiteResult } from "../harness/results";
import { median } from "../harness/statistics";
import { type Line, linesOf } from "../harness/tables";
import type { Target } from "../harness/target";
import { charts, partsOf } from "../pages/shown";
import { compose, drawing, FONT_SIZE, logTicks, type Picture, Plot, type Theme, WIDTH, widthOf } from "./picture";

export function picturesOf(result: SuiteResult, targets: readonly Target[]): Picture[] {
  const [question = "How many times its floor does each row take?", ...figures] = charts[result.suite] ?? [];
  return partsOf(result).flatMap(({ name, rows }) => {
    const lines = linesOf({ ...result, rows }, targets);
    const draw = figures.length > 0 ? drawTimes(lines, figures) : (drawSeries(rows) ?? drawRatios(lines));
    return draw === undefined ? [] : [{ name, question, alt: `${name}: ${question} The table has the figures.`, draw }];
  });
}

const HEIGHT = 22;
const AXIS = 44;
const PART = 100;
const VALUE = 130; // For the text that stands right of a row.

interface Row {
  readonly row: string;
  readonly dots: readonly number[];
  readonly from: number;
  readonly to: number;
  readonly limit: number | undefined;
  readonly says: string;
  readonly isMissed: boolean;
}

const limitOf = ({ target }: Line, size = 1): number | undefined =>
  target !== undefined && "atMost" in target ? target.atMost * size : undefined;

function drawRatios(lines: readonly Line[]) {
  const rows = lines.flatMap((line): Row[] => {
    const { figure, row, ratio, here, isMissed } = line;
    if (figure !== "ratio" || ratio === null) return [];
    return [{ row, dots: [ratio.median], from: ratio.min, to: ratio.max, limit: limitOf(line), says: here, isMissed }];
  });
  return drawRows(rows, "times the floor or the baseline: ● median, ━ its rounds, ┃ limit", (ratio) => `${ratio} ×`, 1);
}

function drawTimes(lines: readonly Line[], figures: readonly string[]) {
  const shown = lines.filter(({ figure }) => figures.includes(figure));
  const rows = Object.entries(Object.groupBy(shown, ({ row }) => row)).map(([row, [...all] = []]): Row => {
    const sizeOf = ({ unit }: Line) => NANOSECONDS[unit] ?? 1;
    const dots = all.map((line) => line.value * sizeOf(line));
    const [from, to] = [Math.min(...dots), Math.max(...dots)];
    const limit = all.flatMap((line) => limitOf(line, sizeOf(line)) ?? [])[0];
    const says = [...new Set([from, to])].map(duration).join(" … ");
    return { row, dots, from, to, limit, says, isMissed: all.some(({ isMissed }) => isMissed) };
  });
  return drawRows(rows, `time: ● ${figures.join(" ● ")}, ┃ limit`, duration);
}

function drawRows(rows: readonly Row[], label: string, say: (value: number) => string, base?: number) {
  if (rows.length === 0) return undefined;
  const labels = Math.max(...rows.map(({ row }) => widthOf(row))) + 12;
  const length = WIDTH - labels - VALUE;
  const values = rows.flatMap(({ from, to, limit = to }) => [from, to, limit]).concat(base ?? []);
  const least = Math.min(...values);
  const isLog = base !== undefined || (least > 0 && Math.max(...values) > 100 * least);
  const axis = isLog ? logTicks(values, length) : { domain: [0, Math.max(...values)], ticks: Math.floor(length / 70) };
  const dots = rows.flatMap(({ dots, ...row }) => dots.map((value) => ({ ...row, value })));
  const size = { width: WIDTH, height: AXIS + rows.length * HEIGHT };
  return (theme: Theme): string => {
    const color = ({ isMissed }: { readonly isMissed: boolean }) => (isMissed ? theme.limit : theme.accent);
    const options = {
      ...drawing(size),
      ...{ marginLeft: labels, marginRight: VALUE, marginTop: AXIS },
      x: { type: isLog ? ("log" as const) : ("linear" as const), domain: [...axis.domain], nice: !isLog, label: null },
      y: { type: "band" as const, domain: rows.map(({ row }) => row), padding: 0.3, label: null },
      marks: [
        Plot.gridX({ ticks: axis.ticks, stroke: theme.grid, strokeOpacity: 1 }),
        Plot.ruleX(base === undefined ? [] : [base], { stroke: theme.other, strokeWidth: 1.5 }),
        Plot.axisX({
          ...{ anchor: "top", ticks: axis.ticks, tickFormat: say, tickSize: 0, color: theme.muted },
          ...{ label, labelAnchor: "center", labelArrow: "none" },
        }),
        Plot.axisY({ tickSize: 0, color: theme.text, label: null, fontSize: FONT_SIZE }),
        Plot.link(rows, { x1: "from", x2: "to", y: "row", stroke: color, strokeWidth: 2, strokeOpacity: 0.45 }),
        Plot.tickX(
          rows.filter(({ limit }) => limit !== undefined),
          { x: "limit", y: "row", stroke: theme.limit, strokeWidth: 2 },
        ),
        Plot.dot(dots, { x: "value", y: "row", r: 3.5, fill: color }),
        Plot.text(rows, {
          y: "row",
          text: "says",
          frameAnchor: "right",
          textAnchor: "start",
          dx: 12,
          fill: theme.muted,
        }),
      ],
    };
    return compose(size, [{ x: 0, y: 0, options }]);
  };
}

/** What probes read along the way, each beside its own median: a line of parts for each row, a column for each series. */
function drawSeries(rows: readonly RowResult[]) {
  const read = rows.flatMap((row) => {
    const series = row.kind === "probe" ? (row.series ?? []) : [];
    return series.map(({ name, unit, points }) => {
      const middle = median(points.map(([, value]) => value));
      return { row: row.row, name, points, middle, says: `${row.row}: ${name} ${digits(middle)} ${unit}` };
    });
  });
  const points = read.flatMap(({ row, name, points, middle }) => {
    const end = points.at(-1)?.[0] ?? 1;
    return points.map(([at, value]) => ({ row, name, done: (100 * at) / end, times: value / middle }));
  });
  const facets = { fx: "name", fy: "row" } as const;
  const names = [...new Set(read.map(({ row }) => row))];
  const size = { width: WIDTH, height: names.length * PART + AXIS };
  if (points.length === 0) return undefined;
  return (theme: Theme): string => {
    const quiet = { color: theme.muted, tickSize: 0 };
    const options = {
      ...drawing(size),
      ...{ marginLeft: 40, marginRight: 10, marginBottom: AXIS },
      fx: { domain: [...new Set(read.map(({ name }) => name))], axis: null, padding: 0.08 },
      fy: { domain: names, axis: null, padding: 0.1 },
      x: { type: "linear" as const, domain: [0, 100], label: null },
      y: { type: "linear" as const, domain: [0, Math.max(2, ...points.map(({ times }) => times))], label: null },
      marks: [
        Plot.ruleY([0, 1], { stroke: theme.grid }),
        Plot.axisY({ ...quiet, ticks: [0, 1], tickFormat: (times: number) => `${times} ×`, label: null }),
        Plot.axisX({
          ...{ ...quiet, ticks: [25, 50, 75], tickFormat: (share: number) => `${share} %` },
          ...{ label: "share of the work that is done", labelAnchor: "center", labelArrow: "none" },
        }),
        Plot.lineY(points, { ...facets, x: "done", y: "times", stroke: theme.accent, strokeWidth: 2 }),
        Plot.text(read, { ...facets, text: "says", frameAnchor: "top-left", dy: 4, dx: 4, fill: theme.text }),
      ],
    };
    return compose(size, [{ x: 0, y: 0, options }]);
  };
}
