import { createRandom } from "envoi/testing";
import { ascending, quantile } from "../harness/statistics";

/** A ratio, and the limits that it lies between with a stated confidence. */
export interface Interval {
  readonly ratio: number;
  readonly low: number;
  readonly high: number;
}

/** The same figures give the same interval. */
const SEED = 20_250_605;
const FEWEST_RESAMPLES = 2_000;
/** How many resamples shall lie outside of the interval: with fewer, its ends would be those of a handful. */
const OUTSIDE = 20;
const FEWEST_PAIRS = 3;
/** The share of the pairs that is left out at either end, where there are enough of them. */
const TRIMMED = 0.2;
/** With fewer pairs than this none is left out: too few would be left to tell how they vary. */
const ENOUGH_TO_TRIM = 8;

/**
 * How many times the figures of `base` those of `present` are: the geometric mean of the ratios of the pairs, the highest and the
 * lowest fifth left out, so that a moment in which the machine did something else decides nothing.
 *
 * The interval is the bootstrap-t of B. Efron and R. Tibshirani, "An Introduction to the Bootstrap" (1993), 12.5, symmetric on the
 * scale of logarithms (P. Hall, "On symmetric bootstrap confidence intervals", 1988), with the error of a trimmed mean (K. Yuen,
 * "The two-sample trimmed t for unequal population variances", 1974). What is drawn again is pairs of processes, one of each build,
 * and not samples: those of one process share its compiled code and its memory, and would make the interval too narrow (T.
 * Kalibera and R. Jones, "Rigorous benchmarking in reasonable time", 2013).
 *
 * @param confidence such as 0.95.
 * @throws RangeError for fewer than three pairs, or a figure that is not above zero.
 */
export function ratioInterval(base: readonly number[], present: readonly number[], confidence: number): Interval {
  const logs = logRatios(base, present);
  const { middle, error } = trimmedMean(logs);
  const ratio = Math.exp(middle);
  const reach = error === 0 ? 0 : error * distance(logs, middle, confidence);
  return { ratio, low: ratio / Math.exp(reach), high: ratio * Math.exp(reach) };
}

/** The ratio without its interval, which takes longer to find. */
export const ratioOf = (base: readonly number[], present: readonly number[]): number =>
  Math.exp(trimmedMean(logRatios(base, present)).middle);

function logRatios(base: readonly number[], present: readonly number[]): Float64Array {
  const size = base.length;
  if (size < FEWEST_PAIRS || present.length !== size) {
    throw new RangeError(
      `A ratio needs ${FEWEST_PAIRS} pairs or more; there are ${size} figures, and ${present.length}.`,
    );
  }
  return Float64Array.from(base, (figure, pair) => logOf(present[pair]) - logOf(figure));
}

/** How many of its own errors a resample's middle is away from the one that it was drawn from, in a share of all resamples. */
function distance(logs: Float64Array, middle: number, confidence: number): number {
  const random = createRandom(SEED);
  const resamples = Math.max(FEWEST_RESAMPLES, Math.ceil(OUTSIDE / (1 - confidence)));
  const distances: number[] = [];
  const drawn = new Float64Array(logs.length);
  for (let i = 0; i < resamples; i++) {
    for (let j = 0; j < drawn.length; j++) drawn[j] = logs[random.below(logs.length)] ?? 0;
    const again = trimmedMean(drawn);
    const away = Math.abs(again.middle - middle);
    // One pair drawn over and over tells of no error, and is as far away as can be.
    distances.push(away === 0 ? 0 : Math.min(away / again.error, FARTHEST));
  }
  return quantile(ascending(distances), confidence);
}

const FARTHEST = 1e6;

/** Sorts what it is given. */
function trimmedMean(logs: Float64Array): { readonly middle: number; readonly error: number } {
  sort(logs);
  const size = logs.length;
  const cut = size < ENOUGH_TO_TRIM ? 0 : Math.floor(TRIMMED * size);
  const left = size - 2 * cut;
  const lowest = logs[cut] ?? 0;
  const highest = logs[size - 1 - cut] ?? 0;
  let kept = 0;
  for (let i = cut; i < size - cut; i++) kept += logs[i] ?? 0;
  // Those that are left out count as the nearest that is not, for the error.
  const mean = (kept + cut * (lowest + highest)) / size;
  let squares = cut * ((lowest - mean) ** 2 + (highest - mean) ** 2);
  for (let i = cut; i < size - cut; i++) squares += ((logs[i] ?? 0) - mean) ** 2;
  return { middle: kept / left, error: (Math.sqrt(squares / (size - 1) / size) * size) / left };
}

/** By insertion: for so few numbers, as often as here, that is ten times as fast as their own way to sort. */
function sort(numbers: Float64Array): void {
  for (let i = 1; i < numbers.length; i++) {
    const each = numbers[i] ?? 0;
    let at = i - 1;
    for (; at >= 0 && (numbers[at] ?? 0) > each; at--) numbers[at + 1] = numbers[at] ?? 0;
    numbers[at + 1] = each;
  }
}

function logOf(figure: number | undefined): number {
  if (figure === undefined || !(figure > 0)) throw new RangeError(`A ratio needs figures above zero; got ${figure}.`);
  return Math.log(figure);
}
