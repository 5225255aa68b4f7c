/** The value below which a share of the sorted samples lies, by linear interpolation between the two nearest (R's type 7). */
export function quantile(sorted: readonly number[], share: number): number {
  const position = share * (sorted.length - 1);
  const below = sorted[Math.floor(position)];
  const above = sorted[Math.ceil(position)];
  if (below === undefined || above === undefined) throw new Error("a quantile of no samples does not exist");
  return below + (above - below) * (position - Math.floor(position));
}

/** The samples in ascending order, as a new array. */
export const ascending = (samples: readonly number[]): number[] => [...samples].sort((a, b) => a - b);

/** The middle one of unsorted samples, or the mean of the middle two. */
export const median = (samples: readonly number[]): number => quantile(ascending(samples), 0.5);

/** The median of some rounds, with the lowest and the highest. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function spread(samples: readonly number[]): Spread {
  return { median: median(samples), min: Math.min(...samples), max: Math.max(...samples) };
}

/** How often each round's figure contains its own floor's: dividing by the same moment cancels what else the machine was doing. */
export function ratios(figures: readonly number[], floors: readonly number[]): Spread {
  return spread(
    figures.map((figure, round) => {
      const floor = floors[round];
      if (floor === undefined) throw new Error(`round ${round} has no floor`);
      return figure / floor;
    }),
  );
}

/** A p99 of fewer samples than this is an anecdote. */
export const SAMPLES_FOR_P99 = 1000;

/** What is told about a row's samples, all rounds together. */
export interface Summary {
  readonly samples: number;
  readonly min: number;
  readonly mean: number;
  readonly p50: number;
  readonly p75: number;
  readonly p95: number;
  /** Null with fewer than a thousand samples. */
  readonly p99: number | null;
}

export function summarise(samples: readonly number[]): Summary {
  const sorted = ascending(samples);
  return {
    samples: sorted.length,
    min: quantile(sorted, 0),
    mean: sorted.reduce((sum, each) => sum + each, 0) / sorted.length,
    p50: quantile(sorted, 0.5),
    p75: quantile(sorted, 0.75),
    p95: quantile(sorted, 0.95),
    p99: sorted.length < SAMPLES_FOR_P99 ? null : quantile(sorted, 0.99),
  };
}

/** Operations a second: those completed, over the wall time that passed meanwhile. */
export function throughput(operations: number, wallNanoseconds: number): number {
  return (operations / wallNanoseconds) * 1e9;
}

/** A middle, and the limits that it lies between with a stated confidence. */
export interface Interval {
  readonly middle: number;
  readonly low: number;
  readonly high: number;
}

/**
 * Where the middle of some differences lies: the median of the means of all two of them (J. Hodges and E. Lehmann, 1963), with the
 * interval of those middles that Wilcoxon's test of signed ranks does not refuse. Fewer than six differences give no 95 %: the interval
 * is then the range of them, which holds the middle with 87 % for four and 94 % for five.
 */
export function rankInterval(differences: readonly number[], confidence = 0.95): Interval {
  const means: number[] = [];
  for (const [index, one] of differences.entries()) {
    for (const other of differences.slice(index)) means.push((one + other) / 2);
  }
  const sorted = ascending(means);
  const tails = tailsOf(differences.length);
  let cut = 0;
  while ((tails[sorted.length - cut - 1] ?? 1) <= (1 - confidence) / 2) cut++;
  const [low = Number.NaN, high = Number.NaN] = [sorted[cut], sorted[sorted.length - 1 - cut]];
  return { middle: quantile(sorted, 0.5), low, high };
}

/**
 * How likely differences of so high ranks are, or of higher ones, where nothing but chance makes them positive: the one-sided p of
 * Wilcoxon's test of signed ranks (F. Wilcoxon, "Individual comparisons by ranking methods", 1945), exact but for ties.
 */
export function chanceOf(differences: readonly number[]): number {
  const sorted = [...differences].sort((a, b) => Math.abs(a) - Math.abs(b));
  let sum = 0;
  for (let from = 0; from < sorted.length; ) {
    let to = from;
    while (to < sorted.length && Math.abs(sorted[to] ?? 0) === Math.abs(sorted[from] ?? 0)) to++;
    const rank = (from + 1 + to) / 2; // Equal ones share their ranks.
    for (const each of sorted.slice(from, to)) sum += each > 0 ? rank : each === 0 ? rank / 2 : 0;
    from = to;
  }
  return tailsOf(differences.length)[Math.floor(sum)] ?? 0;
}

/** The share of all ways to give signs to so many ranks whose positive ones add up to a sum or more, by that sum. */
function tailsOf(size: number): Float64Array {
  const largest = (size * (size + 1)) / 2;
  const tails = new Float64Array(largest + 1);
  tails[0] = 1;
  for (let rank = 1; rank <= size; rank++) {
    for (let sum = largest; sum >= rank; sum--) tails[sum] = (tails[sum] ?? 0) + (tails[sum - rank] ?? 0);
  }
  for (let sum = largest - 1; sum >= 0; sum--) tails[sum] = (tails[sum] ?? 0) + (tails[sum + 1] ?? 0);
  return tails.map((ways) => ways / 2 ** size);
}

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
