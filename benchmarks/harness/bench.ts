import { join } from "node:path";
import { type Arguments, expectFolder } from "./arguments";
import { align, span } from "./format";
import { describeMachine, revisionOf } from "./machine";
import { type Effort, FULL, measureRow, QUICK, smokeRow } from "./measure";
import { Interrupted, unlessInterrupted } from "./processes";
import { type RowResult, type RunResult, readResults, type SuiteResult, serialise, writeResults } from "./results";
import { commandFor, missingPeers, needOf } from "./shipped";
import type { Probe, Row, Suite } from "./suite";
import { SuiteProcess } from "./suite-process";
import { suiteTable } from "./tables";
import { checkTargets, describeLeftOut, describeMiss, describeNoise, describeUnjudged, noiseOf } from "./target";
import type { Status, Surroundings, Terminal } from "./terminal";
import { faultOf } from "./worker";

export const RESULTS = "benchmarks/results";

/** How often a row is measured again that misses a target, or cannot be judged: a target is missed by a row that misses each time. */
const AGAIN = 2;

const PATIENCE = 60;

type Failed = RunResult["failed"][number];

export async function bench(suites: readonly Suite[], options: Arguments, around: Surroundings): Promise<Status> {
  if (options.out !== undefined) await expectFolder(options.out);
  const run = await new Bench(options, around, await timesIn(join(around.root, RESULTS))).measure(suites);
  if (options.json) around.out(serialise(run));
  // Rows that were left out may want nothing but packages.
  const lacking = run.results.filter(({ leftOut }) => leftOut).map(({ suite }) => needOf(suite));
  const missing = [...new Set(lacking)].flatMap((needed) => missingPeers(around.root, needed));
  if (missing.length > 0) around.err(`What is not installed, \`${commandFor(missing)}\` brings.\n`);
  const noise = describeNoise(run.noise);
  if (noise !== undefined) around.err(`${noise}\n`);
  if (run.interrupted) {
    around.err("Interrupted: nothing was written.\n");
    return 130;
  }
  try {
    await keep(run, options, around);
  } catch (error) {
    around.err(`The results could not be kept: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
  return options.check ? check(run, around) : run.failed.length > 0 ? 1 : 0;
}

export async function smoke(suites: readonly Suite[], around: Surroundings): Promise<Status> {
  const failed: Failed[] = [];
  let rows = 0;
  for (const suite of suites) {
    await runRows(suite, suite.rows, undefined, failed, around, (row) => {
      rows++;
      around.progress(`${suite.name}: ${row.name}`);
      return PATIENCE;
    });
    if (around.signal.aborted) return 130;
  }
  const ran = rows - failed.length;
  around.out(ran === 1 ? "1 row ran and did its work\n" : `${ran} rows ran and did their work\n`);
  return failed.length > 0 ? 1 : 0;
}

/**
 * Runs rows of a suite, in a process of their own where it has a file. One that fails is told, and the others go on. Without an effort,
 * a few calls of each are enough, of which there are no results. `begin` returns how many seconds a row may take.
 */
async function runRows(
  { name: suite, file }: Suite,
  rows: Suite["rows"],
  effort: Effort | undefined,
  failed: Failed[],
  { signal, progress, err }: Surroundings,
  begin: (row: Suite["rows"][number]) => number,
): Promise<readonly RowResult[]> {
  const measured: RowResult[] = [];
  const apart = file === undefined ? undefined : new SuiteProcess(file);
  for (const row of rows) {
    if (signal.aborted) break;
    const patience = begin(row);
    try {
      const here = async () => (effort === undefined ? smokeRow(row) : measureRow(row, effort, signal));
      const result = await unlessInterrupted(apart?.run(row.name, effort, patience) ?? here(), signal);
      if (result) measured.push(result);
    } catch (error) {
      if (error instanceof Interrupted) break;
      const { kind, why, told } = faultOf(error);
      failed.push({ suite, row: row.name, why });
      progress("");
      err(kind === "RefusedRow" ? `${why}\n` : `Row "${row.name}" failed: ${told}\n`);
    }
    progress("");
  }
  await apart?.end();
  return measured;
}

class Bench {
  readonly #failed: Failed[] = [];

  constructor(
    private readonly options: Arguments,
    private readonly around: Surroundings,
    private readonly times: Times,
  ) {}

  async measure(suites: readonly Suite[]): Promise<RunResult> {
    const start = performance.now();
    const { options, around } = this;
    const effort = options.quick || options.check ? QUICK : FULL;
    const progress = new Progress(around, suites, effort, this.times);
    const results: SuiteResult[] = [];
    for (const suite of suites) {
      if (around.signal.aborted) break;
      progress.suite(suite);
      const measured = await this.#rows(suite, suite.rows, effort, progress);
      const rows = options.check ? await this.#again(suite, measured, progress) : measured;
      const result = resultOf(this.#withoutFailed(suite, rows), rows, effort, around.root);
      if (rows.length === 0 && (around.signal.aborted || (suite.leftOut ?? []).length === 0)) continue;
      results.push(result);
      if (!options.json) around.out(tell(result, around));
    }
    const noise = noiseOf(results.flatMap(({ rows }) => rows));
    const { misses, unjudged, leftOut } = checkTargets(around.targets, results, noise);
    return {
      results,
      missed: misses.map(describeMiss),
      undecided: [...unjudged.map(describeUnjudged), ...leftOut.map(describeLeftOut)],
      failed: this.#failed,
      ...(noise && { noise }),
      seconds: (performance.now() - start) / 1_000,
      interrupted: around.signal.aborted,
    };
  }

  /** The suite, which leaves out the rows that failed: they cost the others nothing, and the results name them. */
  #withoutFailed(suite: Suite, measured: readonly RowResult[]): Suite {
    const failed = new Set(this.#failed.flatMap((each) => (each.suite === suite.name ? each.row : [])));
    for (const { row } of measured) failed.delete(row); // It failed when it was measured again.
    const leftOut = [...failed].map((row) => ({ row, why: "it failed when the others were measured" }));
    return { ...suite, leftOut: [...(suite.leftOut ?? []), ...leftOut] };
  }

  #rows(suite: Suite, rows: Suite["rows"], effort: Effort, progress: Progress): Promise<readonly RowResult[]> {
    return runRows(suite, rows, effort, this.#failed, this.around, (row) => progress.row(suite, row));
  }

  /** Measures the rows again that do not surely keep their targets, with more effort, and gives the last figures of each. */
  async #again(suite: Suite, measured: readonly RowResult[], progress: Progress): Promise<readonly RowResult[]> {
    const { options, around } = this;
    let rows = measured;
    for (let attempts = 2; attempts <= 1 + AGAIN; attempts++) {
      const { misses, unjudged } = checkTargets(around.targets, [{ suite: suite.name, rows }]);
      const open = [...misses, ...unjudged].map(({ target }) => target.row);
      if (open.length === 0 || around.signal.aborted) break;
      const repeated = suite.rows.filter(({ name }) => open.includes(name));
      const anew = await this.#rows(suite, repeated, options.quick ? QUICK : FULL, progress);
      const last = new Map(anew.map((row) => [row.row, { ...row, attempts }]));
      rows = rows.map((row) => last.get(row.row) ?? row);
    }
    return rows;
  }
}

function resultOf(suite: Suite, rows: readonly RowResult[], effort: Effort, root: string): SuiteResult {
  const { name, about, leftOut = [] } = suite;
  const { rounds, probeRounds } = effort;
  const noise = noiseOf(rows);
  return {
    ...{ suite: name, about, machine: describeMachine(root), rounds, probeRounds, rows },
    ...(leftOut.length > 0 && { leftOut }),
    ...(noise && { noise }),
  };
}

function tell(result: SuiteResult, { targets }: Surroundings): string {
  const parts = [`\n${result.suite}, ${revisionOf(result.machine)}\n`];
  if (result.rows.length > 0) parts.push(align(suiteTable(result, targets)));
  for (const [why, [first, ...more] = []] of Object.entries(Object.groupBy(result.leftOut ?? [], ({ why }) => why)))
    parts.push(`${more.length === 0 ? `"${first?.row}" is` : `${more.length + 1} rows are`} left out, because ${why}.`);
  return `${parts.join("\n")}\n`;
}

async function keep(run: RunResult, options: Arguments, around: Surroundings): Promise<void> {
  const { out, quick, check, filter } = options;
  if (out === undefined && (quick || check || filter !== undefined)) return;
  if (out === undefined && !around.isCheckout) {
    around.err("The results were not written: --out FOLDER says where.\n");
    return;
  }
  if (run.results.length === 0) {
    around.err("No row was measured: nothing was written.\n");
    return;
  }
  await writeResults(out ?? join(around.root, RESULTS), run.results);
  if (out === undefined) await around.writePages(around.root);
  if (run.failed.length > 0) around.err(`${counted(run.failed.length)} failed: the results have those that did not.\n`);
}

function check(run: RunResult, { targets, err }: Surroundings): Status {
  for (const each of run.missed) err(`missed: ${each}\n`);
  for (const each of run.undecided) err(`could not be judged: ${each}\n`);
  const { checked, leftOut } = checkTargets(targets, run.results);
  const all = checked + leftOut.length;
  const kept = all - run.missed.length - run.undecided.length;
  const open = run.undecided.length > 0 ? `, ${run.undecided.length} could not be judged` : "";
  err(`${kept} of ${all} limits kept${open} (${targets.length} in all)\n`);
  if (run.missed.length > 0 || run.failed.length > 0) return 1;
  return run.undecided.length > 0 ? 3 : 0;
}

const UNKNOWN = { timed: 1.6, probe: 1.5 };

export type Times = (suite: string, row: Row | Probe, effort: Effort) => number;

export async function timesIn(folder: string): Promise<Times> {
  const known = new Map<string, number>();
  for (const { suite, rounds, probeRounds = rounds, rows } of await readResults(folder).catch(() => [])) {
    for (const { row, kind, seconds } of rows) {
      known.set(`${suite}\n${row}`, kind === "probe" ? seconds / probeRounds : (seconds * FULL.rounds) / rounds);
    }
  }
  return (suite, row, effort) => {
    const last = known.get(`${suite}\n${row.name}`) ?? UNKNOWN[row.kind];
    if (row.kind === "probe") return last * (row.rounds ?? effort.probeRounds);
    return (last * effort.rounds * effort.turn) / (FULL.rounds * FULL.turn);
  };
}

export const counted = (rows: number): string => `${rows} ${rows === 1 ? "row" : "rows"}`;

/** Tells where a run is: a line that changes on a terminal, else a line for each suite. */
export class Progress {
  #left: number;

  constructor(
    private readonly around: Terminal,
    suites: readonly Suite[],
    private readonly effort: Effort,
    private readonly times: Times,
  ) {
    const each = suites.flatMap((suite) => suite.rows.map((row) => times(suite.name, row, effort)));
    this.#left = each.reduce((sum, seconds) => sum + seconds, 0);
    const of = suites.length === 1 ? "" : ` of ${suites.length} suites`;
    around.err(`${counted(each.length)}${of}: about ${span(this.#left)}.\n`);
  }

  suite({ name, rows }: Suite): void {
    if (!this.around.isTerminal) this.around.err(`${name}: ${counted(rows.length)}; ${span(this.#left)} left\n`);
  }

  /** A row begins; returns how many seconds it may take: so many more than expected, that it will never end. */
  row({ name, rows }: Suite, row: Row | Probe): number {
    const seconds = this.times(name, row, this.effort);
    this.around.progress(`${name} ${rows.indexOf(row) + 1}/${rows.length}, ${span(this.#left)} left: ${row.name}`);
    this.#left = Math.max(0, this.#left - seconds);
    return 60 + 20 * seconds;
  }
}
