import type { Look } from "./look";

/** The two looks of a run. */
export interface Looks {
  readonly first: Look;
  readonly second: Look;
}

const MS = 1e6;
/**
 * Fewer than 8 pairs give wide intervals: with 5, one of normally distributed ratios is twice as wide as with 8. Turns are short, since
 * another pair tells more than a longer turn of the same.
 */
export const FULL: Looks = {
  first: { pairs: { timed: 8, probe: 6 }, turns: 3, turn: 25 * MS, warmUp: 50 * MS },
  second: { pairs: { timed: 16, probe: 10 }, turns: 3, turn: 25 * MS, warmUp: 50 * MS },
};
/** About half the time. */
export const QUICK: Looks = {
  first: { pairs: { timed: 5, probe: 5 }, turns: 2, turn: 20 * MS, warmUp: 40 * MS },
  second: { pairs: { timed: 10, probe: 10 }, turns: 3, turn: 20 * MS, warmUp: 40 * MS },
};

/** A ratio nearer to 1 than this is no difference, however certain it is. */
export const RESOLUTION = 0.02;
/** That of an interval for itself, and that of all verdicts of a run together. */
export const CONFIDENCE = 0.95;
