import { ascending, quantile } from "./statistics";

/** What each step along adds, and between which two slopes the true one lies, with 99 % confidence. */
export interface Trend {
  readonly slope: number;
  readonly least: number;
  readonly most: number;
}

export type Point = readonly [along: number, value: number];

/** The normal deviate of a two-sided interval of 99 %: of 10 figures that are flat, one in 20 runs is called a growth. */
const DEVIATE = 2.576;
/** Of fewer points, no interval is worth the name. */
const FEWEST = 10;

/**
 * The trend of points by Theil and Sen: the median of the slopes between each two of them, which a step here and there
 * moves little, as memory makes when a page is taken or given back. The interval is that of P. K. Sen, "Estimates of the
 * regression coefficient based on Kendall's tau" (JASA 63, 1968), by the normal approximation and without its correction
 * for ties, so wider where values repeat, and at most from the least of all slopes to the largest. That one takes the points
 * for independent of each other, which readings of memory are not: one step makes all readings after it higher. So its variance
 * is multiplied as K. H. Hamed and A. R. Rao show in "A modified Mann–Kendall trend test for autocorrelated data" (J. Hydrology
 * 204, 1998), here by the lags from the first one on whose correlation is surely positive.
 *
 * @throws RangeError with fewer than 10 points.
 */
export function trend(points: readonly Point[]): Trend {
  const count = points.length;
  if (count < FEWEST) throw new RangeError(`A trend needs ${FEWEST} points or more; got ${count}.`);
  const slopes = slopesOf(points);
  const slope = quantile(slopes, 0.5);
  const rest = points.map(([along, value]) => value - slope * along);
  const variance = ((count * (count - 1) * (2 * count + 5)) / 18) * inflation(rest);
  const outside = Math.max(0, (1 - (DEVIATE * Math.sqrt(variance)) / slopes.length) / 2);
  return { slope, least: quantile(slopes, outside), most: quantile(slopes, 1 - outside) };
}

/** The slope alone of `values` at 0, 1, 2 …, of however many. */
export const medianSlope = (values: readonly number[]): number =>
  quantile(slopesOf(values.map((value, index) => [index, value])), 0.5);

/** Those between each two points, in ascending order. */
function slopesOf(points: readonly Point[]): number[] {
  const slopes: number[] = [];
  for (const [index, [along, value]] of points.entries()) {
    for (const [laterAlong, laterValue] of points.slice(index + 1)) {
      slopes.push((laterValue - value) / (laterAlong - along));
    }
  }
  return ascending(slopes);
}

/** How many times larger the variance is, since what is left of the values once the trend is out goes on from one to the next. */
function inflation(rest: readonly number[]): number {
  const count = rest.length;
  const ranks = ranksOf(rest);
  const middle = (count + 1) / 2;
  const square = ranks.reduce((sum, rank) => sum + (rank - middle) ** 2, 0);
  if (square === 0) return 1;
  let sum = 0;
  for (let lag = 1; lag < count - 2; lag++) {
    let product = 0;
    for (let i = lag; i < count; i++) product += ((ranks[i] ?? 0) - middle) * ((ranks[i - lag] ?? 0) - middle);
    const correlation = product / square;
    if (correlation < surely(count)) break;
    sum += (count - lag) * (count - lag - 1) * (count - lag - 2) * correlation;
  }
  return 1 + (2 * sum) / (count * (count - 1) * (count - 2));
}

/** The correlation that chance alone exceeds once in 20 times. */
const surely = (count: number): number => 1.645 / Math.sqrt(count);

/** The rank of each value; equal ones share the mean of theirs. */
function ranksOf(values: readonly number[]): number[] {
  const order = values.map((_, index) => index).sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0));
  const ranks = new Array<number>(values.length).fill(0);
  for (let start = 0; start < order.length; ) {
    const value = values[order[start] ?? 0];
    let end = start;
    while (end < order.length && values[order[end] ?? 0] === value) end++;
    for (const index of order.slice(start, end)) ranks[index] = (start + 1 + end) / 2;
    start = end;
  }
  return ranks;
}
