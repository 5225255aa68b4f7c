import { NANOSECONDS } from "../harness/format";
import type { SuiteResult } from "../harness/results";
import type { Target } from "../harness/target";
import { byTier } from "../pages/more";
import { APART } from "../pages/page";
import { type Curve, percentilesPicture } from "./percentiles";
import type { Picture } from "./picture";
import { rowsPicture } from "./rows";
import { seriesPicture } from "./series";

/** The series of a probe that times single operations. */
const LATENCY = "latency";

/** The pictures of a suite: one, but one for each tier of code. */
export function picturesOf(result: SuiteResult, targets: readonly Target[]): Picture[] {
  const { suite } = result;
  const rows =
    suite === APART
      ? byTier(result).map(([tier, of]) => rowsPicture(of, targets, `${suite}-${tier}`))
      : [rowsPicture(result, targets)];
  const pictures = [
    ...rows,
    percentilesPicture(
      `${suite}-percentiles`,
      "Time by percentile of each operation, timed by itself",
      singleCurves(result),
    ),
    seriesPicture(result, (name) => name !== LATENCY),
  ];
  return pictures.filter((picture) => picture !== undefined);
}

function singleCurves({ rows }: SuiteResult): Curve[] {
  return rows.flatMap((row) => {
    const series = row.kind === "probe" ? row.series?.find(({ name }) => name === LATENCY) : undefined;
    if (series === undefined) return [];
    const size = NANOSECONDS[series.unit] ?? 1;
    return [{ name: row.row, points: series.points.map(([share, value]) => [share, value * size] as const) }];
  });
}
