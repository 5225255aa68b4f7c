import type { Noise, RowResult } from "./results";
import { median } from "./statistics";

/**
 * What a floor's rounds may differ by on a machine that is quiet, as a share: twice what they did there in full runs (0.03, by
 * the range of their ratios), and less than beside six busy processes on two cores (0.07 to 0.26).
 */
export const QUIET = 0.06;

/** The same of one row, whose few rounds may differ by more than those in the middle of all rows. */
const QUIET_ROW = 2 * QUIET;

/** Units of figures that another process changes; bytes and counts are what they are. */
const DISTURBED = ["ns", "µs", "ms", "s", "/s"];

/**
 * How much the machine was disturbed: how far the floors lie from their middle, over the rounds of each row and over the run,
 * whichever is more. Undefined where no row tells.
 */
export function noiseOf(rows: readonly RowResult[]): Noise | undefined {
  const floors = rows.flatMap(floorOf);
  if (floors.length === 0) return undefined;
  const within = median(floors.map(({ rounds }) => deviation(rounds)));
  const alike = floors.filter(({ varies }) => varies !== true);
  const repeated = Object.values(Object.groupBy(alike, ({ work }) => work)).flatMap((same = []) =>
    same.length < 3 ? [] : [deviation(same.map(({ p50 }) => p50))],
  );
  const spread = Math.max(within, ...(repeated.length > 0 ? [median(repeated)] : []));
  return { spread, floors: floors.length, isNoisy: spread > QUIET };
}

/** The floor of a row, if it has one with rounds that can differ, and what makes it the same work as that of another row. */
function floorOf(row: RowResult) {
  if (row.kind === "probe" || "none" in row.floor || row.floor.rounds.length < 3) return [];
  const { name, p50, rounds, varies } = row.floor;
  return [{ work: `${name}, ${row.per}, ${row.operationsPerSample}`, p50, rounds, varies }];
}

/**
 * The standard deviation of values whose extremes are not trusted, as a share of their median: the median absolute deviation
 * (Hampel 1974), made larger for few values, of which the one in the middle deviates by nothing.
 */
export function deviation(values: readonly number[]): number {
  const middle = median(values);
  const away = median(values.map((value) => Math.abs(value - middle)));
  return (1.4826 * away) / (1 - 1.3 / values.length) / middle;
}

/**
 * Whether nobody can tell if a target is kept or missed, whichever it seems: the rounds of its row's floor lie far apart, or, of a time
 * that has no floor, those of the run.
 */
export function isUnjudged(figure: string, row: RowResult, noise: Noise | undefined): boolean {
  if (row.kind === "timed") return floorOf(row).some(({ rounds }) => deviation(rounds) > QUIET_ROW);
  const unit = row.figures.find((each) => each.figure === figure)?.unit ?? "";
  return noise?.isNoisy === true && DISTURBED.includes(unit);
}

/** What is told of the noise at the end of a run; undefined where the machine was quiet. */
export function describeNoise(noise: Noise | undefined): string | undefined {
  if (!noise?.isNoisy) return undefined;
  const percent = (share: number) => `${Math.round(share * 100)} %`;
  return (
    `The machine was too noisy to judge by: the floors of ${noise.floors} ${noise.floors === 1 ? "row" : "rows"} lie ${percent(noise.spread)} from their ` +
    `middle, and on a quiet machine ${percent(QUIET)} at most. Run again when nothing else runs.`
  );
}
