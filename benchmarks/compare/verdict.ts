import { type Interval, ratioInterval } from "./bootstrap";
import type { Better } from "./direction";

/** What is said of a figure. */
export type Verdict = "slower" | "faster" | "no difference";

/** Figures of the two builds, pair by pair. */
export interface Pairs {
  readonly better: Better;
  readonly base: readonly number[];
  readonly present: readonly number[];
}

/** A ratio nearer to 1 than this is no difference, however certain it is. */
export const RESOLUTION = 0.03;
/** That of an interval for itself, and that of all verdicts of a run together. */
export const CONFIDENCE = 0.95;

/** Whether a figure is to be looked at again: its interval leaves out 1, and the ratio itself is beyond the resolution. */
export function isSuspect({ ratio, low, high }: Interval): boolean {
  return (low > 1 || high < 1) && Math.abs(Math.log(ratio)) > Math.log(1 + RESOLUTION);
}

/** The interval of a first look, by itself. */
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
