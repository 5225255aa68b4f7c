import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Machine } from "./machine";
import type { Spread, Summary } from "./statistics";
import type { LeftOut, NoFloor, ProbeFigure, Series } from "./suite";

/** The figures of a timed row, in nanoseconds for `per` operations. */
export interface TimedResult extends Summary {
  readonly kind: "timed";
  readonly row: string;
  readonly per: number;
  readonly operationsPerSample: number;
  /** Operations a second, over the wall time of all rounds. */
  readonly throughput: number;
  readonly floor: { readonly name: string; readonly about: string; readonly p50: number } | NoFloor;
  /** The row's median over its floor's, round by round. */
  readonly ratio: Spread | null;
  /** Nanoseconds below which a share of the samples lies: `[0.5, 98]`. */
  readonly curve: readonly (readonly [share: number, value: number])[];
  /** How long the row and its floor took to measure. */
  readonly seconds: number;
}

/** What a probe read: the median, lowest and highest of its rounds. */
export interface ProbeReading extends Spread {
  readonly figure: string;
  readonly unit: ProbeFigure["unit"];
  readonly floor: Spread | null;
  readonly ratio: Spread | null;
}

export interface ProbeResult {
  readonly kind: "probe";
  readonly row: string;
  readonly floor: { readonly name: string } | NoFloor;
  readonly figures: readonly ProbeReading[];
  /** Those of the last round. Left out where there is none. */
  readonly series?: readonly Series[];
  /** How long the row and its floor took to measure. */
  readonly seconds: number;
}

export type RowResult = TimedResult | ProbeResult;

/** One run of one suite, as `benchmarks/results/<suite>.json` keeps it. */
export interface SuiteResult {
  readonly suite: string;
  readonly about: string;
  readonly machine: Machine;
  /** Rounds of floor and row in turn. */
  readonly rounds: number;
  readonly rows: readonly RowResult[];
  /** Left out where there is none. */
  readonly leftOut?: readonly LeftOut[];
}

/** A result's JSON text: five digits of each figure, which is more than a run can tell. */
export function serialise(result: SuiteResult): string {
  const round = (_key: string, value: unknown) => (typeof value === "number" ? Number(value.toPrecision(5)) : value);
  return `${JSON.stringify(result, round, 2)}\n`;
}

/** Writes one suite's results. */
export async function writeResult(folder: string, result: SuiteResult): Promise<void> {
  await mkdir(folder, { recursive: true });
  await Bun.write(join(folder, `${result.suite}.json`), serialise(result));
}

/** What results of other systems begin with, which have a page of their own. */
const PEERS = "peers-";

/** Reads all results of a folder, in the order of their names; none when there is no such folder. */
export async function readResults(folder: string): Promise<SuiteResult[]> {
  const names = await readdir(folder).catch(() => []);
  const files = names.filter((name) => name.endsWith(".json") && !name.startsWith(PEERS)).sort();
  // Written by `writeResult` alone.
  return Promise.all(files.map(async (name) => (await Bun.file(join(folder, name)).json()) as SuiteResult));
}
