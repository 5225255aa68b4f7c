import { Type } from "envoi";
import { type Machine, revisionOf } from "../harness/machine";
import type { Described } from "../harness/schema";
import { ascending, quantile } from "../harness/statistics";

// What the results of all rooms are made of. Each room has a schema of its whole file beside its runner.

/** Why there is no figure: it could not be installed, started, or do its work. */
export const failure = Type.Object({ failed: Type.String() });
export type Failure = Described<typeof failure>;

/** Of the samples of all rounds. */
export const summary = Type.Object({ median: Type.Number(), min: Type.Number(), samples: Type.Number() });
export type PeerFigure = Described<typeof summary>;

/** The figure of a row, in nanoseconds; null where a candidate has no such operation. */
export const row = Type.Object({ row: Type.String(), figure: Type.Union([summary, failure, Type.Null()]) });
export type PeerRow = Described<typeof row>;

export function figureOf(samples: readonly number[]): PeerFigure {
  const sorted = ascending(samples);
  return { median: quantile(sorted, 0.5), min: quantile(sorted, 0), samples: sorted.length };
}

export const hasFailed = (outcome: object): outcome is Failure => "failed" in outcome;

/** Says where and when, as the pages do. */
export function whereAndWhen(machine: Machine, rounds: number): string {
  const { cpu, cores, system, bun, date } = machine;
  return `${cpu}, ${cores} cores, ${system}; Bun ${bun}; ${revisionOf(machine)}; ${date}; ${rounds} rounds of all in turn.`;
}
