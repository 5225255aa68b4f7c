/** The value below which a share of the sorted samples lies, by linear interpolation between the two nearest (R's type 7). */
export function quantile(sorted: readonly number[], share: number): number {
  const position = share * (sorted.length - 1);
  const below = sorted[Math.floor(position)];
  const above = sorted[Math.ceil(position)];
  if (below === undefined || above === undefined) throw new Error("a quantile of no samples does not exist");
  return below + (above - below) * (position - Math.floor(position));
}

export const ascending = (samples: readonly number[]): number[] => [...samples].sort((a, b) => a - b);

export const median = (samples: readonly number[]): number => quantile(ascending(samples), 0.5);

export type Spread = { readonly median: number; readonly min: number; readonly max: number };

export function spread(samples: readonly number[]): Spread {
  return { median: median(samples), min: Math.min(...samples), max: Math.max(...samples) };
}

/** How often each round's figure contains its own floor's: dividing by the same moment cancels what else the machine was doing. */
export function ratios(figures: readonly number[], floors: readonly number[]): Spread {
  return spread(
    figures.map((figure, round) => {
      const times = figure / (floors[round] ?? Number.NaN);
      if (!Number.isFinite(times)) throw new Error(`round ${round} has no floor that it is a multiple of`);
      return times;
    }),
  );
}

export const SAMPLES_FOR_P99 = 1000;

export function summarise(samples: readonly number[]) {
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

/** The middle of differences (J. Hodges and E. Lehmann, 1963), with the interval that Wilcoxon's test of signed ranks does not refuse. */
export function rankInterval(differences: readonly number[], confidence = 0.95) {
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

/** The one-sided p of Wilcoxon's test of signed ranks (1945), exact but for ties: that chance alone gives ranks as high. */
export function chanceOf(differences: readonly number[]): number {
  const ranks = ranksOf(differences.map(Math.abs));
  const sum = differences.reduce((all, each, i) => all + (each < 0 ? 0 : (ranks[i] ?? 0) / (each > 0 ? 1 : 2)), 0);
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

export type Point = readonly [along: number, value: number];

/** The normal deviate of a two-sided interval of 99 %: of 10 figures that are flat, one in 20 runs is called a growth. */
const DEVIATE = 2.576;
const FEWEST = 10; // Of fewer points, no interval is worth the name.

/**
 * The median of the slopes between each two points (Theil and Sen), which a step here and there moves little, with the interval of
 * P. K. Sen (JASA 63, 1968). Readings of memory depend on each other, so its variance is multiplied as K. H. Hamed and A. R. Rao show
 * (J. Hydrology 204, 1998), by the lags from the first one on whose correlation is surely positive. The confidence is 99 %.
 */
export function trend(points: readonly Point[]) {
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

const slopesOf = (points: readonly Point[]): number[] =>
  ascending(
    points.flatMap(([along, value], i) => points.slice(i + 1).map(([later, next]) => (next - value) / (later - along))),
  );

/** How many times larger the variance is, since what is left of the values once the trend is out goes on from one to the next. */
function inflation(rest: readonly number[]): number {
  const count = rest.length;
  const away = ranksOf(rest).map((rank) => rank - (count + 1) / 2);
  const square = away.reduce((sum, each) => sum + each ** 2, 0);
  const surely = 1.645 / Math.sqrt(count); // The correlation that chance alone exceeds once in 20 times.
  let sum = 0;
  for (let lag = 1; lag < count - 2 && square > 0; lag++) {
    const product = away.slice(lag).reduce((all, each, index) => all + each * (away[index] ?? 0), 0);
    if (product / square < surely) break;
    sum += ((count - lag) * (count - lag - 1) * (count - lag - 2) * product) / square;
  }
  return 1 + (2 * sum) / (count * (count - 1) * (count - 2));
}

function ranksOf(values: readonly number[]): number[] {
  const sorted = ascending(values);
  return values.map((value) => (sorted.indexOf(value) + sorted.lastIndexOf(value)) / 2 + 1);
}
