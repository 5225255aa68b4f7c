import type { Interval } from "./bootstrap";
import type { Seen } from "./look";
import type { ComparedFigure, ComparedRow, NotCompared } from "./plan";
import { firstInterval, isSuspect, type Pairs, secondInterval, type Verdict, verdictOf } from "./verdict";

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
    .filter(([row, seen]) => assess(row, seen).some(({ isSuspected }) => isSuspected))
    .map(([row]) => row);
}

/** A figure as the first look shows it. */
interface Assessed {
  readonly figure: ComparedFigure;
  readonly pairs: Pairs;
  readonly isSuspected: boolean;
}

function assess(row: ComparedRow, seen: Seen): Assessed[] {
  if (seen.failed) return [];
  return row.figures.map((figure) => {
    const pairs = pairsOf(seen, figure);
    return { figure, pairs, isSuspected: isComparable(pairs) && isSuspect(pairs) };
  });
}

/** Judges every figure by the second look where there is one, else by the first. */
export function judge(first: Looked, second: Looked): Judged {
  const comparisons: Comparison[] = [];
  const notCompared: NotCompared[] = [];
  const assessed = [...first].map(([row, seen]) => [row, seen, assess(row, seen)] as const);
  const suspects = assessed.flatMap(([, , figures]) => figures.filter(({ isSuspected }) => isSuspected)).length;
  for (const [row, seen, figures] of assessed) {
    const leave = (why: string, isBroken = false): void => {
      notCompared.push({ suite: row.suite, row: row.row, why, isBroken });
    };
    const anew = second.get(row);
    const failed = seen.failed ?? anew?.failed;
    if (failed) {
      const isPresent = failed.by === "present";
      leave(`with ${isPresent ? "this tree" : "the base"}: ${failed.why}`, isPresent);
      continue;
    }
    for (const { figure, pairs, isSuspected } of figures) {
      const repeated = isSuspected && anew ? pairsOf(anew, figure) : undefined;
      const isRepeated = repeated !== undefined && repeated.base.length >= FEWEST;
      if (pairs.base.length < FEWEST) leave("the run ended before it was measured often enough");
      else if (!isComparable(pairs) || (isRepeated && !isComparable(repeated))) {
        leave(`${figure.name}: a reading was not above zero, and of such there is no ratio`);
      } else if (isRepeated) {
        const again = secondInterval(repeated, suspects);
        comparisons.push(tell(row, figure, repeated, again, true, verdictOf(again, figure.better)));
      } else {
        const interval = firstInterval(pairs);
        comparisons.push(tell(row, figure, pairs, interval, false, isSuspected ? "seen once" : "no difference"));
      }
    }
  }
  return { comparisons, notCompared };
}

/** Pairs below which there is no interval. */
const FEWEST = 3;

const pairsOf = (seen: Seen, { name, better }: ComparedFigure): Pairs => ({
  better,
  base: seen.base.get(name) ?? [],
  present: seen.present.get(name) ?? [],
});

const isComparable = ({ base, present }: Pairs): boolean =>
  base.length >= FEWEST && [...base, ...present].every((each) => each > 0);

function tell(
  { suite, row }: ComparedRow,
  { name, unit }: ComparedFigure,
  { base, present }: Pairs,
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
