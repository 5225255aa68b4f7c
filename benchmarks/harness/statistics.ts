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
const SAMPLES_FOR_P99 = 1000;

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

/** The shares of which a curve tells. */
const SHARES = [0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 1];

/** How the samples lie: the value below which each of some shares is, as far as there are samples to tell. */
export function curve(samples: readonly number[]): (readonly [share: number, value: number])[] {
  const sorted = ascending(samples);
  const told = SHARES.filter((share) => share === 1 || (1 - share) * sorted.length >= 10 || share <= 0.5);
  return told.map((share) => [share, quantile(sorted, share)]);
}

/** Operations a second: those completed, over the wall time that passed meanwhile. */
export function throughput(operations: number, wallNanoseconds: number): number {
  return (operations / wallNanoseconds) * 1e9;
}
