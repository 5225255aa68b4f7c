import { ascending, chanceOf, quantile, rankInterval } from "../harness/statistics";
import type { Side } from "./builds";
import type { Look, Looked, RowName } from "./measure";

export interface Thoroughness {
  readonly first: Look;
  readonly second: Look;
  /** A difference that is not beyond this share is none, however certain it is. */
  readonly resolution: Readonly<Record<Figure, number>>;
}

/** Another pair tells more than a longer turn: with 12 pairs in the second look, every fourth row that took 20 % longer was missed. */
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

export const CONFIDENCE = 0.95;
/** How likely a difference may be by chance alone to be looked at again: what is let pass here is never found. */
const SUSPICIOUS = 1 / 8;

const FIGURES = ["time", "p99"] as const;
type Figure = (typeof FIGURES)[number];

export interface Comparison extends RowName {
  readonly figure: Figure;
  readonly base: number;
  readonly present: number;
  readonly ratio: number;
  readonly low: number;
  readonly high: number;
  readonly pairs: number;
  /** `seen once` where the run ended, or its time, before the second look. */
  readonly verdict: "slower" | "faster" | "no difference" | "seen once";
}

export interface NotCompared extends RowName {
  readonly why: string;
  readonly isBroken: boolean;
}

interface Reading {
  readonly name: RowName;
  readonly isSuspect: boolean;
  /** How likely it is, by chance alone, that so much of the figure lies beyond the resolution; two-sided. */
  readonly chance: number;
  readonly told: Comparison;
}

/** The figures that have enough pairs. A row may have the samples for a p99 at times only. */
const readingsOf = (looked: Looked, { fewest }: Look, { resolution }: Thoroughness): Reading[] =>
  [...looked].flatMap(([name, { pairs }]) =>
    FIGURES.flatMap((figure): Reading[] => {
      const both = pairs.flatMap(({ base: { [figure]: base }, present: { [figure]: present } }) =>
        base && present ? [{ base: Math.log(base), present: Math.log(present) }] : [],
      );
      if (both.length < fewest) return [];
      const ratios = both.map(({ base, present }) => present - base);
      const mean = (side: Side): number => Math.exp(both.reduce((sum, each) => sum + each[side], 0) / both.length);
      const { middle, low, high } = rankInterval(ratios, CONFIDENCE);
      const edge = Math.log(1 + resolution[figure]);
      const chanceBeyond = (by: number): number => chanceOf(ratios.map((ratio) => ratio * Math.sign(middle) - by));
      const range = { ratio: Math.exp(middle), low: Math.exp(low), high: Math.exp(high), pairs: ratios.length };
      const verdict = middle > 0 ? "slower" : "faster";
      const told = { ...name, figure, base: mean("base"), present: mean("present"), ...range, verdict } as const;
      const isSuspect = Math.abs(middle) > edge && chanceBeyond(0) <= SUSPICIOUS;
      return [{ name, isSuspect, chance: 2 * chanceBeyond(edge), told }];
    }),
  );

export function suspectRows(first: Looked, how: Thoroughness): RowName[] {
  const suspects = readingsOf(first, how.first, how).filter(({ isSuspect }) => isSuspect);
  return [...new Set(suspects.map(({ name }) => name))];
}

/** Judges every figure by the second look where there is one, which counts alone; else by the first. */
export function judge(first: Looked, second: Looked, how: Thoroughness) {
  const whyNot = new Map<RowName, NotCompared>();
  for (const [name, { pairs, failed = second.get(name)?.failed }] of first) {
    const isBroken = failed?.by === "present";
    const time = `there was no time for ${how.first.fewest} pairs of it: name its suite, or end what else runs here`;
    const why = failed ? `with ${isBroken ? "this tree" : "the base"}: ${failed.why}` : time;
    if (failed || pairs.length < how.first.fewest) whyNot.set(name, { ...name, why, isBroken });
  }
  const again = readingsOf(second, how.second, how);
  const looks = readingsOf(first, how.first, how)
    .filter(({ name }) => !whyNot.has(name))
    .map((once) => {
      const isSame = ({ name, told }: Reading) => name === once.name && told.figure === once.told.figure;
      return { once, twice: once.isSuspect ? again.find(isSame) : undefined };
    });
  const below = believedBelow(looks.flatMap(({ twice }) => (twice ? [twice.chance] : [])));
  const comparisons = looks.map(({ once, twice }): Comparison => {
    if (twice === undefined) return { ...once.told, verdict: once.isSuspect ? "seen once" : "no difference" };
    return twice.chance <= below ? twice.told : { ...twice.told, verdict: "no difference" };
  });
  return { comparisons, notCompared: [...whyNot.values()] };
}

/** Of all differences that are told, one in twenty is none (Y. Benjamini and Y. Hochberg, 1995). */
function believedBelow(chances: readonly number[]): number {
  const sorted = ascending(chances);
  const believed = sorted.filter((chance, index) => chance <= ((index + 1) / sorted.length) * (1 - CONFIDENCE));
  return believed.at(-1) ?? -1;
}

/** The factor by which a share of the times could have changed unnoticed: half the width of their intervals. */
export function blindness(comparisons: readonly Comparison[], share: number): number {
  const widths = comparisons.filter(({ figure }) => figure !== "p99").map(({ low, high }) => Math.sqrt(high / low));
  return widths.length === 0 ? 1 : quantile(ascending(widths), share);
}
