import { ascending, chanceOf, quantile, rankInterval } from "../harness/statistics";
import type { Look, Looked, RowName } from "./measure";

/** How thorough a comparison is. */
export interface Thoroughness {
  readonly first: Look;
  readonly second: Look;
  /** A difference that is not beyond this share is none, however certain it is. */
  readonly resolution: Readonly<Record<Figure, number>>;
}

/**
 * Another pair tells more than a longer turn, since processes differ by more than samples do. With 12 pairs in the second look, one
 * disturbed process in twenty hid every fourth row that took 20 % longer; with 20 pairs, one row in fifty.
 */
export const FULL: Thoroughness = {
  first: { name: "first look", pairs: 8, fewest: 4, minutes: 10 },
  second: { name: "second look", pairs: 20, fewest: 12, minutes: 5 },
  resolution: { time: 0.03, p99: 0.1 },
};
export const QUICK: Thoroughness = {
  first: { ...FULL.first, minutes: 2.5 },
  second: { ...FULL.second, minutes: 1 },
  resolution: { time: 0.05, p99: 0.2 },
};

/** That of all verdicts of a run together; of an interval by itself. */
export const CONFIDENCE = 0.95;
/** How likely a difference may be by chance alone to be looked at again: what is let pass here is never found. */
const SUSPICIOUS = 1 / 8;

const FIGURES = ["time", "p99"] as const;
type Figure = (typeof FIGURES)[number];

/** A figure of a row, compared; times in nanoseconds. */
export interface Comparison extends RowName {
  readonly figure: Figure;
  /** Geometric means over the processes. */
  readonly base: number;
  readonly present: number;
  /** How many times the present figure is that of the base, and what it lies between. */
  readonly ratio: number;
  readonly low: number;
  readonly high: number;
  /** Pairs of processes, of the second look alone where there was one. */
  readonly pairs: number;
  /** `seen once` where the run ended, or its time, before the second look. */
  readonly verdict: "slower" | "faster" | "no difference" | "seen once";
}

/** A row that is not compared. */
export interface NotCompared extends RowName {
  readonly why: string;
  /** Whether the present build is the one that cannot run it. */
  readonly isBroken: boolean;
}

export interface Judged {
  readonly comparisons: readonly Comparison[];
  readonly notCompared: readonly NotCompared[];
}

/** A figure as one look saw it: logarithms of the base's readings and of the present ones, pair by pair. */
interface Reading {
  readonly name: RowName;
  readonly figure: Figure;
  readonly base: readonly number[];
  readonly present: readonly number[];
  readonly ratios: readonly number[];
}

/** The figures that have enough pairs. */
const readingsOf = (looked: Looked, { fewest }: Look): Reading[] =>
  [...looked].flatMap(([name, { pairs, failed }]) =>
    FIGURES.flatMap((figure) => {
      // A row may have the samples for a p99 at times only.
      const both = pairs.flatMap(({ base: { [figure]: base }, present: { [figure]: present } }) =>
        base && present ? [[Math.log(base), Math.log(present)] as const] : [],
      );
      if (failed || both.length < fewest) return [];
      const [base, present] = [both.map(([each]) => each), both.map(([, each]) => each)];
      return [{ name, figure, base, present, ratios: both.map(([one, other]) => other - one) }];
    }),
  );

const edgeOf = ({ figure }: Reading, { resolution }: Thoroughness): number => Math.log(1 + resolution[figure]);

function isSuspect(reading: Reading, how: Thoroughness): boolean {
  const { middle } = rankInterval(reading.ratios);
  const away = reading.ratios.map((ratio) => ratio * Math.sign(middle));
  return Math.abs(middle) > edgeOf(reading, how) && chanceOf(away) <= SUSPICIOUS;
}

const suspectsIn = (first: Looked, how: Thoroughness): Reading[] =>
  readingsOf(first, how.first).filter((reading) => isSuspect(reading, how));

/** Rows with a figure that is to be looked at again. */
export const suspectRows = (first: Looked, how: Thoroughness): RowName[] => [
  ...new Set(suspectsIn(first, how).map(({ name }) => name)),
];

/** How likely it is, by chance alone, that so much of a figure lies beyond the resolution; two-sided. */
function chanceBeyond(reading: Reading, how: Thoroughness): number {
  const edge = edgeOf(reading, how);
  return 2 * Math.min(...[1, -1].map((sign) => chanceOf(reading.ratios.map((ratio) => sign * ratio - edge))));
}

/** Judges every figure by the second look where there is one, which counts alone; else by the first. */
export function judge(first: Looked, second: Looked, how: Thoroughness): Judged {
  const notCompared = [...first].flatMap(([name, { pairs, failed = second.get(name)?.failed }]): NotCompared[] => {
    const isBroken = failed?.by === "present";
    if (failed) return [{ ...name, isBroken, why: `with ${isBroken ? "this tree" : "the base"}: ${failed.why}` }];
    if (pairs.length >= how.first.fewest) return [];
    const why = `there was no time for ${how.first.fewest} pairs of it: name its suite, or end what else runs here`;
    return [{ ...name, isBroken, why }];
  });
  const isLeft = ({ name }: Reading): boolean => second.get(name)?.failed === undefined;
  const suspects = suspectsIn(first, how);
  const isIn = (readings: readonly Reading[], { name, figure }: Reading): Reading | undefined =>
    readings.find((each) => each.name === name && each.figure === figure);
  const repeated = readingsOf(second, how.second).filter((reading) => isIn(suspects, reading));
  const below = believedBelow(repeated.map((reading) => chanceBeyond(reading, how)));
  const comparisons = readingsOf(first, how.first)
    .filter(isLeft)
    .map((reading) => {
      const again = isIn(repeated, reading);
      if (again === undefined) return told(reading, isIn(suspects, reading) ? "seen once" : "no difference");
      return told(again, chanceBeyond(again, how) <= below ? undefined : "no difference");
    });
  return { comparisons, notCompared };
}

/** @param verdict Default: that it differs. */
function told({ name, figure, base, present, ratios }: Reading, verdict?: Comparison["verdict"]): Comparison {
  const { middle, low, high } = rankInterval(ratios, CONFIDENCE);
  const mean = (logs: readonly number[]): number => Math.exp(logs.reduce((sum, log) => sum + log, 0) / logs.length);
  const range = { ratio: Math.exp(middle), low: Math.exp(low), high: Math.exp(high), pairs: ratios.length };
  const found = middle > 0 ? "slower" : "faster";
  return { ...name, figure, base: mean(base), present: mean(present), ...range, verdict: verdict ?? found };
}

/**
 * The chance below which a second look is believed: of all differences that are told, one in twenty is none, and of two like builds
 * one run in twenty tells any (Y. Benjamini and Y. Hochberg, "Controlling the false discovery rate", 1995).
 */
function believedBelow(chances: readonly number[]): number {
  const sorted = ascending(chances);
  const believed = sorted.filter((chance, index) => chance <= ((index + 1) / sorted.length) * (1 - CONFIDENCE));
  return believed.at(-1) ?? -1;
}

/**
 * The factor by which a share of the times could have changed without being noticed: half the width of their intervals. Of a p99 more
 * is expected, and it tells nothing of the machine.
 */
export function blindness(comparisons: readonly Comparison[], share: number): number {
  const widths = comparisons.filter(({ figure }) => figure !== "p99").map(({ low, high }) => Math.sqrt(high / low));
  return widths.length === 0 ? 1 : quantile(ascending(widths), share);
}
