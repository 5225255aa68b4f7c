import { digits } from "../harness/format";
import type { RowResult } from "../harness/results";
import { median } from "../harness/statistics";
import { drawing } from "./marks";
import { compose, WIDTH } from "./picture";
import { axisX, axisY, lineY, ruleY, text } from "./plot";
import type { Theme } from "./theme";

const HEIGHT = 100;
const FOOT = 40;

/** What probes read along the way, each beside its own median: a line of parts for each row, a column for each series. */
export function drawSeries(rows: readonly RowResult[]): ((theme: Theme) => string) | undefined {
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
  const size = { width: WIDTH, height: names.length * HEIGHT + FOOT };
  if (points.length === 0) return undefined;
  return (theme) => {
    const quiet = { color: theme.muted, tickSize: 0 };
    const options = {
      ...drawing(size),
      ...{ marginLeft: 40, marginRight: 10, marginBottom: FOOT },
      fx: { domain: [...new Set(read.map(({ name }) => name))], axis: null, padding: 0.08 },
      fy: { domain: names, axis: null, padding: 0.1 },
      x: { type: "linear" as const, domain: [0, 100], label: null },
      y: { type: "linear" as const, domain: [0, Math.max(2, ...points.map(({ times }) => times))], label: null },
      marks: [
        ruleY([0, 1], { stroke: theme.grid }),
        axisY({ ...quiet, ticks: [0, 1], tickFormat: (times: number) => `${times} ×`, label: null }),
        axisX({
          ...{ ...quiet, ticks: [25, 50, 75], tickFormat: (share: number) => `${share} %` },
          ...{ label: "share of the work that is done", labelAnchor: "center", labelArrow: "none" },
        }),
        lineY(points, { ...facets, x: "done", y: "times", stroke: theme.accent, strokeWidth: 2 }),
        text(read, { ...facets, text: "says", frameAnchor: "top-left", dy: 4, dx: 4, fill: theme.text }),
      ],
    };
    return compose(size, [{ x: 0, y: 0, options }]);
  };
}
