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
