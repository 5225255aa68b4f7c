import { join } from "node:path";
import { type Arguments, expectFolder } from "./arguments";
import { Progress, type Times, timesIn } from "./estimate";
import { align } from "./format";
import { describeMachine, revisionOf } from "./machine";
import { type Effort, FULL, failureOf, measureRow, QUICK } from "./measure";
import { Interrupted, unlessInterrupted } from "./processes";
import { type RowResult, type RunResult, type SuiteResult, serialise, writeResult } from "./results";
import { commandFor, missingPeers } from "./shipped";
import type { Suite } from "./suite";
import { SuiteProcess } from "./suite-process";
import { suiteTable } from "./tables";
import { checkTargets, describeLeftOut, describeMiss, describeNoise, describeUnjudged, noiseOf } from "./target";
import type { Status, Surroundings } from "./terminal";

/** Where results are kept, in the project. */
export const RESULTS = "benchmarks/results";

/** How often a row is measured again that misses a target, or cannot be judged: a target is missed by a row that misses each time. */
const AGAIN = 2;

/** Measures suites, tells what came of it, and keeps it where that was asked for. */
export async function bench(suites: readonly Suite[], options: Arguments, around: Surroundings): Promise<Status> {
  if (options.out !== undefined) await expectFolder(options.out);
  const run = await new Bench(options, around, await timesIn(join(around.root, RESULTS))).measure(suites);
  if (options.json) around.out(serialise(run));
  // Rows that were left out may want nothing but packages.
  const missing = run.results.some(({ leftOut }) => leftOut) ? missingPeers(around.root) : [];
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

class Bench {
  readonly #failed: { suite: string; row: string; why: string }[] = [];

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
      const result = resultOf(suite, rows, effort, around.root);
      if (result.rows.length === 0 && (around.signal.aborted || result.leftOut === undefined)) continue;
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

  /** Measures rows of a suite, in a process of their own where it has a file; one that fails is told, and the others go on. */
  async #rows(suite: Suite, rows: Suite["rows"], effort: Effort, progress: Progress): Promise<readonly RowResult[]> {
    const { around } = this;
    const measured: RowResult[] = [];
    const apart = suite.file === undefined ? undefined : new SuiteProcess(suite.file);
    for (const row of rows) {
      if (around.signal.aborted) break;
      const patience = progress.row(suite, row);
      try {
        const work = apart?.measure(row.name, effort, patience) ?? measureRow(row, effort, around.signal);
        measured.push(await unlessInterrupted(work, around.signal));
      } catch (error) {
        if (error instanceof Interrupted) break;
        this.#failed.push({ suite: suite.name, row: row.name, why: tellFailure(row.name, error, around) });
      }
      progress.over(suite, row);
    }
    await apart?.end();
    return measured;
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

/** Tells of a row that failed, and gives what is kept of it; the others are run all the same. */
export function tellFailure(row: string, error: unknown, around: Surroundings): string {
  const { why, told } = failureOf(row, error);
  around.progress("");
  around.err(`${told}\n`);
  return why;
}

function tell(result: SuiteResult, { targets }: Surroundings): string {
  const parts = [`\n${result.suite}, ${revisionOf(result.machine)}\n`];
  if (result.rows.length > 0) parts.push(align(suiteTable(result, targets)));
  const reasons = Object.groupBy(result.leftOut ?? [], ({ why }) => why);
  for (const [why, rows = []] of Object.entries(reasons)) {
    const what = rows.length === 1 ? `"${rows[0]?.row}" is` : `${rows.length} rows are`;
    parts.push(`${what} left out, because ${why}.`);
  }
  return `${parts.join("\n")}\n`;
}

async function keep(run: RunResult, options: Arguments, around: Surroundings): Promise<void> {
  const { out, quick, check, filter } = options;
  if (out === undefined && (quick || check || filter !== undefined)) return;
  if (run.failed.length > 0) {
    around.err(`${run.failed.length === 1 ? "A row" : `${run.failed.length} rows`} failed: nothing was written.\n`);
  } else if (out === undefined && !around.isCheckout) {
    around.err("The results were not written: --out FOLDER says where.\n");
  } else {
    for (const result of run.results) await writeResult(out ?? join(around.root, RESULTS), result);
    if (out === undefined) await around.writePages(around.root);
  }
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
