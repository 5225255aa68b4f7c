import { chanceOf, type Interval, rankInterval } from "../harness/statistics";
import type { Look, Looked, Seen } from "./look";
import type { ComparedFigure, ComparedRow, NotCompared } from "./plan";

/** What a comparison looks for, and how thoroughly. */
export interface Thoroughness {
  readonly first: Look;
  readonly second: Look;
  /** A difference that is not beyond this share is none, however certain it is: of a p99, and of all other figures. */
  readonly resolution: { readonly p99: number; readonly others: number };
}

const MS = 1e6;
const MINUTE = 60_000;
const WARM_UP = { least: 60 * MS, most: 400 * MS };
/**
 * Ends within 20 minutes, with all rows. Another pair tells more than a longer turn, since processes differ by more than samples do; and
 * many short turns more than few long ones, since the quickest is taken. What time there is beyond that goes into warming up: on a busy
 * machine a row of the routing got twice as fast between the 50th and the 300th millisecond.
 */
export const FULL: Thoroughness = {
  first: { name: "first look", pairs: 8, fewest: 4, time: 11 * MINUTE, turns: 8, turn: 8 * MS, warmUp: WARM_UP },
  second: { name: "second look", pairs: 12, fewest: 8, time: 5 * MINUTE, turns: 8, turn: 8 * MS, warmUp: WARM_UP },
  resolution: { p99: 0.1, others: 0.03 },
};
/** Ends within 5 minutes, with all rows. */
export const QUICK: Thoroughness = {
  first: { ...FULL.first, fewest: 3, time: 2.7 * MINUTE, turns: 6 },
  second: { ...FULL.second, time: 1.1 * MINUTE, turns: 6 },
  resolution: { p99: 0.2, others: 0.05 },
};

/** That of all verdicts of a run together; of an interval by itself. */
export const CONFIDENCE = 0.95;
/** How likely a difference may be by chance alone to be looked at again: what is let pass here is never found. */
const SUSPICIOUS = 1 / 8;

/** A figure of a row, compared. */
export interface Comparison {
  readonly suite: string;
  readonly row: string;
  readonly figure: string;
  readonly unit: ComparedFigure["unit"];
  /** Geometric means over the processes. */
  readonly base: number;
  readonly present: number;
  /** How many times the present figure is that of the base, and what it lies between. */
  readonly ratio: number;
  readonly low: number;
  readonly high: number;
  /** Pairs of processes. */
  readonly pairs: number;
  /** Whether it was looked at a second time, which is what is told here. */
  readonly isSecondLook: boolean;
  /** `seen once` where the run ended, or its time, before the second look. */
  readonly verdict: "slower" | "faster" | "no difference" | "seen once";
}

/** What both looks add up to. */
export interface Judged {
  readonly comparisons: readonly Comparison[];
  readonly notCompared: readonly NotCompared[];
}

/** A figure of a row, as the logarithms of its ratios say it. */
interface Told {
  readonly row: ComparedRow;
  readonly figure: ComparedFigure;
  readonly logs: readonly number[];
  readonly base: number;
  readonly present: number;
  readonly edge: number;
}

/** The figure where all of its pairs have it; a p99 may have fewer, since a row may have the samples at times only. */
function toldBy(row: ComparedRow, figure: ComparedFigure, seen: Seen, { resolution }: Thoroughness): Told {
  const both = seen.pairs.flatMap(({ base, present }) => {
    const [one, other] = [base[figure.name], present[figure.name]];
    return one === undefined || other === undefined ? [] : [[Math.log(one), Math.log(other)] as const];
  });
  const mean = (side: 0 | 1): number => Math.exp(both.reduce((sum, logs) => sum + logs[side], 0) / both.length);
  const logs = both.map(([one, other]) => other - one);
  const edge = Math.log(1 + (figure.name === "p99" ? resolution.p99 : resolution.others));
  return { row, figure, logs, base: mean(0), present: mean(1), edge };
}

const allOf = (looked: Looked, how: Thoroughness): Told[] =>
  [...looked].flatMap(([row, seen]) =>
    seen.failed ? [] : row.figures.map((figure) => toldBy(row, figure, seen, how)),
  );

/** Whether nothing keeps the figure from being compared: as many pairs as the look is to have, each with a ratio. */
const isComparable = ({ logs }: Told, { fewest }: Look): boolean =>
  logs.length >= fewest && logs.every(Number.isFinite);

function isSuspect({ logs, edge }: Told): boolean {
  const { middle } = rankInterval(logs);
  const away = logs.map((log) => (middle < 0 ? -log : log));
  return Math.abs(middle) > edge && chanceOf(away) <= SUSPICIOUS;
}

/** Rows with a figure that is to be looked at again. */
export function suspectRows(first: Looked, how: Thoroughness): ComparedRow[] {
  const suspects = allOf(first, how).filter((told) => isComparable(told, how.first) && isSuspect(told));
  return [...new Set(suspects.map(({ row }) => row))];
}

/** How likely it is, by chance alone, that so much of a figure lies beyond the resolution; two-sided. */
const chanceBeyond = ({ logs, edge }: Told): number =>
  2 * Math.min(...[1, -1].map((sign) => chanceOf(logs.map((log) => sign * log - edge))));

/**
 * The chance below which a second look is believed: of all differences that are told, one in twenty is none, and of two like builds
 * one run in twenty tells any (Y. Benjamini and Y. Hochberg, "Controlling the false discovery rate", 1995).
 */
function believedBelow(chances: readonly number[]): number {
  const sorted = chances.toSorted((a, b) => a - b);
  const believed = sorted.filter((chance, index) => chance <= ((index + 1) / sorted.length) * (1 - CONFIDENCE));
  return believed.at(-1) ?? -1;
}

/** Judges every figure by the second look where there is one, which counts alone; else by the first. */
export function judge(first: Looked, second: Looked, how: Thoroughness): Judged {
  const notCompared: NotCompared[] = [];
  for (const [row, seen] of first) {
    const failed = seen.failed ?? second.get(row)?.failed;
    if (failed === undefined) continue;
    const isBroken = failed.by === "present";
    const why = `with ${isBroken ? "this tree" : "the base"}: ${failed.why}`;
    notCompared.push({ suite: row.suite, row: row.row, why, isBroken });
  }
  const isOut = ({ row }: Told): boolean => Boolean(first.get(row)?.failed ?? second.get(row)?.failed);
  const all = allOf(first, how).filter((told) => !isOut(told));
  const suspects = new Set(all.filter((told) => isComparable(told, how.first) && isSuspect(told)));
  const again = allOf(second, how).filter((told) => isComparable(told, how.second));
  const anewOf = (told: Told): Told | undefined =>
    suspects.has(told) ? again.find(({ row, figure }) => row === told.row && figure === told.figure) : undefined;
  const repeated = [...suspects].flatMap((told) => anewOf(told) ?? []);
  const below = believedBelow(repeated.map(chanceBeyond));
  const comparisons: Comparison[] = [];
  for (const told of all) {
    const { row, figure, logs } = told;
    if (isComparable(told, how.first)) {
      const anew = anewOf(told);
      const verdict =
        anew === undefined ? (suspects.has(told) ? "seen once" : "no difference") : verdictOf(anew, below);
      comparisons.push(tell(anew ?? told, anew !== undefined, verdict));
    } else if (figure.name !== "p99") {
      const isBad = !logs.every(Number.isFinite);
      const why = isBad
        ? `${figure.name}: a reading was not above zero, and of such there is no ratio`
        : `there was no time for ${how.first.fewest} pairs of it: name its suite, or end what else runs here`;
      notCompared.push({ suite: row.suite, row: row.row, why, isBroken: false });
    }
  }
  return { comparisons, notCompared };
}

function verdictOf(told: Told, below: number): Comparison["verdict"] {
  if (chanceBeyond(told) > below) return "no difference";
  const isMore = rankInterval(told.logs).middle > 0;
  return isMore === (told.figure.better === "lower") ? "slower" : "faster";
}

function tell(
  { row, figure, logs, base, present }: Told,
  isSecondLook: boolean,
  verdict: Comparison["verdict"],
): Comparison {
  const { middle, low, high }: Interval = rankInterval(logs, CONFIDENCE);
  const ratios = { ratio: Math.exp(middle), low: Math.exp(low), high: Math.exp(high) };
  const { suite, row: name } = row;
  const named = { suite, row: name, figure: figure.name, unit: figure.unit };
  return { ...named, base, present, ...ratios, pairs: logs.length, isSecondLook, verdict };
}
