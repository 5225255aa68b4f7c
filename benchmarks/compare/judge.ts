import type { Interval } from "./bootstrap";
import type { Seen } from "./look";
import type { ComparedFigure, ComparedRow, NotCompared } from "./plan";
import { firstInterval, isSuspect, secondInterval, type Verdict, verdictOf } from "./verdict";

/** A figure of a row, compared. */
export interface Comparison extends Interval {
  readonly suite: string;
  readonly row: string;
  readonly figure: string;
  readonly unit: ComparedFigure["unit"];
  /** Geometric means over the processes, as the ratio is. */
  readonly base: number;
  readonly present: number;
  /** Pairs of processes. */
  readonly pairs: number;
  /** Whether it was looked at a second time, which is what is told here. */
  readonly isSecondLook: boolean;
  /** `seen once` where the run ended before the second look. */
  readonly verdict: Verdict | "seen once";
}

/** What both looks add up to. */
export interface Judged {
  readonly comparisons: readonly Comparison[];
  readonly notCompared: readonly NotCompared[];
}

type Looked = ReadonlyMap<ComparedRow, Seen>;

/** Rows with a figure that is to be looked at again. */
export function suspectRows(first: Looked): ComparedRow[] {
  return [...first]
    .filter(([row, seen]) => row.figures.some((figure) => isSuspected(seen, figure)))
    .map(([row]) => row);
}

function isSuspected(seen: Seen, figure: ComparedFigure): boolean {
  const pairs = pairsOf(seen, figure);
  return seen.failed === undefined && isComparable(pairs) && isSuspect(firstInterval(pairs));
}

/** Judges every figure by the second look where there is one, else by the first. */
export function judge(first: Looked, second: Looked): Judged {
  const comparisons: Comparison[] = [];
  const notCompared: NotCompared[] = [];
  const again = [...first].flatMap(([row, seen]) => row.figures.filter((figure) => isSuspected(seen, figure)));
  for (const [row, seen] of first) {
    const { suite, row: name } = row;
    const leave = (why: string, isBroken = false): void => {
      notCompared.push({ suite, row: name, why, isBroken });
    };
    const failed = seen.failed ?? second.get(row)?.failed;
    if (failed) {
      const build = failed.by === "present" ? "this tree" : "the base";
      leave(`with ${build}: ${failed.why}`, failed.by === "present");
      continue;
    }
    for (const figure of row.figures) {
      const pairs = pairsOf(seen, figure);
      const anew = isSuspected(seen, figure) ? second.get(row) : undefined;
      const repeated = anew && pairsOf(anew, figure);
      if (pairs.base.length < FEWEST) leave("the run ended before it was measured often enough");
      else if (!isComparable(pairs) || (repeated && repeated.base.length >= FEWEST && !isComparable(repeated))) {
        leave(`${figure.name}: a reading was not above zero, and of such there is no ratio`);
      } else if (repeated && repeated.base.length >= FEWEST) {
        const interval = secondInterval(repeated, again.length);
        comparisons.push(tell(row, figure, repeated, interval, true, verdictOf(interval, figure.better)));
      } else {
        const interval = firstInterval(pairs);
        const verdict = isSuspect(interval) ? "seen once" : "no difference";
        comparisons.push(tell(row, figure, pairs, interval, false, verdict));
      }
    }
  }
  return { comparisons, notCompared };
}

/** Pairs below which there is no interval. */
const FEWEST = 3;

interface SeenPairs {
  readonly better: ComparedFigure["better"];
  readonly base: readonly number[];
  readonly present: readonly number[];
}

const pairsOf = (seen: Seen, { name, better }: ComparedFigure): SeenPairs => ({
  better,
  base: seen.base.get(name) ?? [],
  present: seen.present.get(name) ?? [],
});

const isComparable = ({ base, present }: SeenPairs): boolean =>
  base.length >= FEWEST && [...base, ...present].every((each) => each > 0);

function tell(
  { suite, row }: ComparedRow,
  { name, unit }: ComparedFigure,
  { base, present }: SeenPairs,
  interval: Interval,
  isSecondLook: boolean,
  verdict: Comparison["verdict"],
): Comparison {
  const pairs = base.length;
  const means = { base: geometricMean(base), present: geometricMean(present) };
  return { suite, row, figure: name, unit, ...means, pairs, isSecondLook, verdict, ...interval };
}

const geometricMean = (values: readonly number[]): number =>
  Math.exp(values.reduce((sum, each) => sum + Math.log(each), 0) / values.length);
