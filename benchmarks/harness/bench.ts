import { join } from "node:path";
import { type Arguments, expectFolder } from "./arguments";
import { Progress, Times } from "./estimate";
import { align } from "./format";
import { describeMachine, revisionOf } from "./machine";
import { type Effort, FULL, failureOf, measureRow, probeRoundsOf, QUICK } from "./measure";
import { commandFor, missingPeers } from "./parts";
import { Interrupted, unlessInterrupted } from "./processes";
import { type RowResult, type RunResult, type SuiteResult, serialise, writeResult } from "./results";
import type { Suite } from "./suite";
import { SuiteProcess } from "./suite-process";
import { suiteTable } from "./tables";
import { checkTargets, describeLeftOut, describeMiss, describeNoise, describeUnjudged, noiseOf } from "./target";
import type { Status, Surroundings } from "./terminal";

/** Where results are kept, in the project. */
export const RESULTS = "benchmarks/results";

/** How often a row that misses a target is measured again; it must miss each time. */
const AGAIN = 2;

/** Measures suites, tells what came of it, and keeps it where that was asked for. */
export async function bench(suites: readonly Suite[], options: Arguments, around: Surroundings): Promise<Status> {
  if (options.out !== undefined) await expectFolder(options.out);
  const run = await measureAll(suites, options, around);
  if (options.json) around.out(serialise(run));
  tellMissing(run, around);
  const noise = describeNoise(run.noise);
  if (noise !== undefined) around.err(`${noise}\n`);
  if (run.interrupted) {
    around.err("Interrupted: nothing was written.\n");
    return 130;
  }
  await keep(run, options, around);
  return options.check ? check(run, around) : run.failed.length > 0 ? 1 : 0;
}

async function measureAll(suites: readonly Suite[], options: Arguments, around: Surroundings): Promise<RunResult> {
  const start = performance.now();
  const { targets } = around;
  const effort = options.quick ? QUICK : FULL;
  const progress = new Progress(around, suites, effort, await Times.read(join(around.root, RESULTS)));
  const results: SuiteResult[] = [];
  const failed: Failed[] = [];
  for (const suite of suites) {
    if (around.signal.aborted) break;
    progress.suite(suite);
    const measured = await measureRows(suite, suite.rows, effort, progress, around);
    failed.push(...measured.failed);
    let result = resultOf(suite, measured.rows, effort, around);
    for (let again = 1; options.check && again <= AGAIN && !around.signal.aborted; again++) {
      const missed = checkTargets(targets, [result]).misses.map(({ target }) => target.row);
      const repeated = suite.rows.filter(({ name }) => missed.includes(name));
      if (repeated.length === 0) break;
      const { rows } = await measureRows(suite, repeated, effort, progress, around);
      const anew = new Map(rows.map((row) => [row.row, { ...row, attempts: again + 1 }]));
      result = resultOf(
        suite,
        result.rows.map((row) => anew.get(row.row) ?? row),
        effort,
        around,
      );
    }
    if (result.rows.length === 0 && (around.signal.aborted || result.leftOut === undefined)) continue;
    results.push(result);
    if (!options.json) around.out(tell(result, around));
  }
  const noise = noiseOf(results.flatMap((result) => result.rows));
  const { misses, unjudged, leftOut } = checkTargets(targets, results, noise);
  return {
    results,
    missed: misses.map(describeMiss),
    undecided: [...unjudged.map(describeUnjudged), ...leftOut.map(describeLeftOut)],
    failed,
    ...(noise && { noise }),
    seconds: (performance.now() - start) / 1_000,
    interrupted: around.signal.aborted,
  };
}

type Failed = RunResult["failed"][number];

/** Measures rows of a suite, in a process of their own where it has a file; one that fails is told, and the others go on. */
async function measureRows(
  suite: Suite,
  rows: Suite["rows"],
  effort: Effort,
  progress: Progress,
  around: Surroundings,
): Promise<{ readonly rows: readonly RowResult[]; readonly failed: readonly Failed[] }> {
  const measured: RowResult[] = [];
  const failed: Failed[] = [];
  const apart = suite.file === undefined ? undefined : new SuiteProcess(suite.file);
  for (const row of rows) {
    if (around.signal.aborted) break;
    progress.row(suite, row);
    try {
      const work =
        apart?.measure(row.name, effort, progress.patience(suite, row)) ?? measureRow(row, effort, around.signal);
      measured.push(await unlessInterrupted(work, around.signal));
    } catch (error) {
      if (error instanceof Interrupted) break;
      failed.push({ suite: suite.name, row: row.name, why: tellFailure(row.name, error, around) });
    }
    progress.over(suite, row);
  }
  await apart?.end();
  return { rows: measured, failed };
}

function resultOf(suite: Suite, rows: readonly RowResult[], effort: Effort, { root }: Surroundings): SuiteResult {
  const { name, about, leftOut = [] } = suite;
  const probeRounds = probeRoundsOf(effort);
  const noise = noiseOf(rows);
  return {
    suite: name,
    about,
    machine: describeMachine(root),
    rounds: effort.rounds,
    ...(probeRounds !== effort.rounds && { probeRounds }),
    rows,
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

/** Rows that were left out may want nothing but packages. */
function tellMissing({ results }: RunResult, { root, err }: Surroundings): void {
  if (results.every(({ leftOut }) => leftOut === undefined)) return;
  const missing = missingPeers(root);
  if (missing.length > 0) err(`What is not installed, \`${commandFor(missing)}\` brings.\n`);
}

async function keep(run: RunResult, options: Arguments, around: Surroundings): Promise<void> {
  const isWhole = !options.quick && options.filter === undefined;
  const isWanted = options.out !== undefined || options.write || isWhole;
  if (!isWanted) return;
  if (run.failed.length > 0) {
    around.err(`${run.failed.length === 1 ? "A row" : `${run.failed.length} rows`} failed: nothing was written.\n`);
  } else if (options.out !== undefined) {
    for (const result of run.results) await writeResult(options.out, result);
  } else if (around.isCheckout) {
    for (const result of run.results) await writeResult(join(around.root, RESULTS), result);
    await around.writePages(around.root);
  } else {
    around.err("The results were not written: --out FOLDER says where.\n");
  }
}

function check(run: RunResult, { targets, err }: Surroundings): Status {
  for (const each of run.missed) err(`missed: ${each}\n`);
  for (const each of run.undecided) err(`could not be judged: ${each}\n`);
  const { checked, leftOut } = checkTargets(targets, run.results);
  const all = checked + leftOut.length;
  const kept = all - run.missed.length - run.undecided.length;
  const open = run.undecided.length > 0 ? `, ${run.undecided.length} could not be judged` : "";
  err(`${kept} of ${all} targets kept${open} (${targets.length} in all)\n`);
  if (run.missed.length > 0 || run.failed.length > 0) return 1;
  return run.undecided.length > 0 ? 3 : 0;
}
