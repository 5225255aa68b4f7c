import { type Static, Type } from "envoi";

/** The figures of one group. */
export const GroupSummary = Type.Object({
  name: Type.String(),
  count: Type.Integer({ minimum: 1 }),
  mean: Type.Number(),
  median: Type.Number(),
  lowerQuartile: Type.Number(),
  upperQuartile: Type.Number(),
  lowest: Type.Number(),
  highest: Type.Number(),
});
export type GroupSummary = Static<typeof GroupSummary>;

/** What the analysis is to return; what really came is held against it. */
export const Summary = Type.Object({
  rows: Type.Integer({ minimum: 1 }),
  /** Rows that have no value. */
  gaps: Type.Integer({ minimum: 0 }),
  groups: Type.Array(GroupSummary, { minItems: 1 }),
  /** Groups that are not shown, since they have the fewest rows. */
  groupsLeftOut: Type.Integer({ minimum: 0 }),
  chart: Type.String(),
});
export type Summary = Static<typeof Summary>;

/** The figures of one group. It goes into the sandbox as its own source text, and so uses nothing from around it. */
export function summaryOf(name: string, numbers: readonly number[]): GroupSummary {
  const sorted = numbers.toSorted((a, b) => a - b);
  const at = (index: number): number => sorted[index] ?? Number.NaN;
  /** Between two numbers, as far along as the quantile is. */
  const quantile = (part: number): number => {
    const position = (sorted.length - 1) * part;
    const below = at(Math.floor(position));
    return below + (at(Math.ceil(position)) - below) * (position % 1);
  };
  return {
    name,
    count: sorted.length,
    mean: sorted.reduce((sum, number) => sum + number, 0) / sorted.length,
    median: quantile(0.5),
    lowerQuartile: quantile(0.25),
    upperQuartile: quantile(0.75),
    lowest: at(0),
    highest: at(sorted.length - 1),
  };
}
