import { NANOSECONDS } from "../harness/format";
import type { SuiteResult } from "../harness/results";
import { isSame, type Target } from "../harness/target";
import { type Curve, percentilesPicture } from "./percentiles";
import type { Picture } from "./picture";
import { rowsPicture } from "./rows";
import { seriesPicture } from "./series";

/** The series of a probe that times single operations. */
const LATENCY = "latency";

/** The suites whose rows are messages: one percentile chart has those of their rows that have a limit. */
const MESSAGING = ["message-creation", "routing", "patterns"];

/** The pictures of a suite, in the order of the page. */
export function picturesOf(result: SuiteResult, all: readonly SuiteResult[], targets: readonly Target[]): Picture[] {
  const { suite } = result;
  const pictures = [
    rowsPicture(result, targets),
    suite === "routing"
      ? percentilesPicture("messaging-percentiles", MESSAGING_ALT, timedCurves(all, targets))
      : undefined,
    percentilesPicture(`${suite}-percentiles`, LATENCY_ALT, singleCurves(result)),
    seriesPicture(result, (name) => name !== LATENCY),
  ];
  return pictures.filter((picture) => picture !== undefined);
}

const MESSAGING_ALT =
  "How the samples of the rows with a limit lie: time by percentile; each sample averages many operations, as the tables say";
const LATENCY_ALT = "Time by percentile of each operation, timed by itself";

// Results of before kept no curves.
function timedCurves(all: readonly SuiteResult[], targets: readonly Target[]): Curve[] {
  const hasLimit = (suite: string, row: string) =>
    targets.some((each) => isSame(each, { suite, row, figure: "ratio" }));
  return MESSAGING.flatMap((name) => all.find(({ suite }) => suite === name) ?? []).flatMap(({ suite, rows }) =>
    rows.flatMap((row) =>
      row.kind === "timed" && row.per === 1 && hasLimit(suite, row.row)
        ? [{ name: row.row, points: row.curve ?? [] }]
        : [],
    ),
  );
}

function singleCurves({ rows }: SuiteResult): Curve[] {
  return rows.flatMap((row) => {
    const series = row.kind === "probe" ? row.series?.find(({ name }) => name === LATENCY) : undefined;
    if (series === undefined) return [];
    const size = NANOSECONDS[series.unit] ?? 1;
    return [{ name: row.row, points: series.points.map(([share, value]) => [share, value * size] as const) }];
  });
}
