import type { Noise, RowResult, SuiteResult } from "./results";
import { median } from "./statistics";
import type { Limit } from "./suite";

export interface FigureName {
  readonly suite: string;
  readonly row: string;
  /** `ratio` for a timed row, else the name of a probe's figure. */
  readonly figure: string;
}

export type Target = Limit & { readonly suite: string };

type Miss = { readonly target: Target; readonly measured: number };

export function describeMiss({ target, measured }: Miss): string {
  const [sign, limit] = "atMost" in target ? ["≤", target.atMost] : ["≥", target.atLeast];
  const shown = limit.toLocaleString("en", { maximumFractionDigits: 20 });
  const told = [4, 17].map((digits) => Number(measured.toPrecision(digits))).find((rounded) => rounded !== limit);
  return `${target.suite}: "${target.row}" has ${target.figure} ${told}; its limit is ${sign} ${shown}`;
}

export const describeUnjudged = (miss: Miss): string =>
  `${describeMiss(miss)}, but the floors of its row, or of the run, lie far apart`;

export const describeLeftOut = ({ suite, row, figure }: Target): string =>
  `${suite}: "${row}" was left out, and with it its ${figure}`;

export const isSame = (one: FigureName, other: FigureName): boolean =>
  one.suite === other.suite && one.row === other.row && one.figure === other.figure;

type Checkable = Pick<SuiteResult, "suite" | "rows" | "leftOut">;

const rowOf = ({ suite, row }: FigureName, results: readonly Checkable[]): RowResult | undefined =>
  results.find((each) => each.suite === suite)?.rows.find((each) => each.row === row);

export function figureOf(name: FigureName, results: readonly Checkable[]): number | undefined {
  const found = rowOf(name, results);
  if (found?.kind === "timed") return name.figure === "ratio" ? found.ratio?.median : undefined;
  return found?.figures.find(({ figure }) => figure === name.figure)?.median;
}

export const isKept = (target: Target, measured: number): boolean =>
  "atMost" in target ? measured <= target.atMost : measured >= target.atLeast;

export const isAimMet = (target: Target, measured: number): boolean =>
  "atMost" in target ? measured <= target.aim : measured >= target.aim;

/**
 * What the results say of the targets that they hold a figure for, and which they hold none for, as their row was left out.
 *
 * @param noise That of the run; by default that of these results.
 */
export function checkTargets(
  targets: readonly Target[],
  results: readonly Checkable[],
  noise: Noise | undefined = noiseOf(results.flatMap(({ rows }) => rows)),
) {
  const [misses, unjudged]: [Miss[], Miss[]] = [[], []];
  let checked = 0;
  for (const target of targets) {
    const measured = figureOf(target, results);
    const row = rowOf(target, results);
    if (measured === undefined || row === undefined) continue;
    checked++;
    if (isUnjudged(target.figure, row, noise)) unjudged.push({ target, measured });
    else if (!isKept(target, measured)) misses.push({ target, measured });
  }
  const leftOut = targets.filter(({ suite, row }) =>
    results.some((each) => each.suite === suite && each.leftOut?.some((left) => left.row === row)),
  );
  return { checked, misses, unjudged, leftOut };
}

/** What a quiet machine's floors may differ by, as a share: full runs had 0.03 there, and 0.07 to 0.26 beside six busy processes. */
export const QUIET = 0.06;

export const QUIET_ROW = 2 * QUIET;

// What other processes change; bytes and counts are what they are.
const DISTURBED = ["ns", "µs", "ms", "s", "/s"];

/** How far the floors lie from their middle, over the rounds of each row or over the run. Undefined where no row tells. */
export function noiseOf(rows: readonly RowResult[]): Noise | undefined {
  const floors = rows.flatMap(floorOf);
  if (floors.length === 0) return undefined;
  const alike = Object.groupBy(
    floors.filter(({ varies }) => varies !== true),
    ({ work }) => work,
  );
  const repeated = Object.values(alike).flatMap((same = []) =>
    same.length < 3 ? [] : [deviation(same.map(({ p50 }) => p50))],
  );
  const within = median(floors.map(({ rounds }) => deviation(rounds)));
  const spread = Math.max(within, repeated.length > 0 ? median(repeated) : 0);
  return { spread, floors: floors.length, isNoisy: spread > QUIET };
}

/** The floor of a row, if it has one with rounds that can differ, and what makes it the same work as that of another row. */
function floorOf(row: RowResult) {
  if (row.kind === "probe" || "none" in row.floor || row.floor.rounds.length < 3) return [];
  return [{ ...row.floor, work: `${row.floor.name}, ${row.per}, ${row.operationsPerSample}` }];
}

/** A standard deviation as a share of the median, extremes not trusted: the median absolute deviation (Hampel 1974). */
export function deviation(values: readonly number[]): number {
  const middle = median(values);
  const away = median(values.map((value) => Math.abs(value - middle)));
  return (1.4826 * away) / (1 - 1.3 / values.length) / middle;
}

/** Whether nobody can tell: the rounds of its row's floor lie far apart, or, of a time without a floor, those of the run. */
export function isUnjudged(figure: string, row: RowResult, noise: Noise | undefined): boolean {
  if (row.kind === "timed") return floorOf(row).some(({ rounds }) => deviation(rounds) > QUIET_ROW);
  const unit = row.figures.find((each) => each.figure === figure)?.unit ?? "";
  return noise?.isNoisy === true && DISTURBED.includes(unit);
}

export function describeNoise(noise: Noise | undefined): string | undefined {
  if (!noise?.isNoisy) return undefined;
  const percent = (share: number) => `${Math.round(share * 100)} %`;
  const floors = `the floors of ${noise.floors} ${noise.floors === 1 ? "row" : "rows"} lie ${percent(noise.spread)}`;
  return (
    `The machine was too noisy to judge by: ${floors} from their middle, and on a quiet machine ${percent(QUIET)} at most. ` +
    "Run again when nothing else runs."
  );
}
