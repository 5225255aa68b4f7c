import { type Interval, ratioInterval, ratioOf } from "./bootstrap";
import type { Better } from "./direction";
import { CONFIDENCE, RESOLUTION } from "./looks";

/** What is said of a figure. */
export type Verdict = "slower" | "faster" | "no difference";

/** Figures of the two builds, pair by pair. */
export interface Pairs {
  readonly better: Better;
  readonly base: readonly number[];
  readonly present: readonly number[];
}

/**
 * Whether a figure is to be looked at again: its ratio is beyond the resolution, and an interval of little confidence leaves out 1.
 * What is let pass here is never found, and the second look judges by itself.
 */
export function isSuspect({ base, present }: Pairs): boolean {
  if (Math.abs(Math.log(ratioOf(base, present))) <= Math.log(1 + RESOLUTION)) return false;
  const { low, high } = ratioInterval(base, present, LITTLE_CONFIDENCE);
  return low > 1 || high < 1;
}

/** With 0.95, the simulated run of the tests let pass a third of the changes of 15 %; with this, one in ten, and hardly more like rows are suspected. */
const LITTLE_CONFIDENCE = 0.8;

/** The interval that is told of a figure which is not looked at again. */
export const firstInterval = ({ base, present }: Pairs): Interval => ratioInterval(base, present, CONFIDENCE);

/**
 * The interval of a second look, at figures measured anew: so wide that those of all the figures which were looked at again hold
 * together with the stated confidence (Bonferroni). What made the first look suspicious has no part in it, so of two like builds
 * one run in twenty, at most, tells a difference, however many rows there are.
 */
export const secondInterval = ({ base, present }: Pairs, suspects: number): Interval =>
  ratioInterval(base, present, 1 - (1 - CONFIDENCE) / suspects);

/** What a second look says: a difference is one when the whole interval lies beyond the resolution. */
export function verdictOf({ low, high }: Interval, better: Better): Verdict {
  if (low > 1 + RESOLUTION) return better === "lower" ? "slower" : "faster";
  if (high < 1 / (1 + RESOLUTION)) return better === "lower" ? "faster" : "slower";
  return "no difference";
}

/** The factor by which a figure could have changed without being noticed: half the width of its interval. */
export const blindness = ({ low, high }: Interval): number => Math.sqrt(high / low);
