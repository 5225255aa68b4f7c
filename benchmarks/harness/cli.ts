import { join } from "node:path";
import { type Arguments, parseArguments, USAGE, UsageError } from "./arguments";
import { align } from "./format";
import { describeMachine } from "./machine";
import { FULL, measureRow, QUICK, smokeRow } from "./measure";
import { fillFigures, render } from "./page";
import { RefusedRow } from "./proof";
import { type RowResult, readResults, type SuiteResult, writeResult } from "./results";
import type { Suite } from "./suite";
import { suiteTables } from "./tables";
import { checkTargets, describeMiss, expectTargetsExist, type Target } from "./target";

/** Everything that a run of the command touches. */
export interface Surroundings {
  readonly suites: () => Promise<readonly Suite[]>;
  readonly targets: readonly Target[];
  /** The project's folder: `benchmarks/results`, `BENCHMARKS.md` and `README.md` are in it. */
  readonly root: string;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Shows where the run is, on a terminal; an empty text clears it. */
  readonly progress: (text: string) => void;
}

/** Runs the command and returns its exit status: 0, 1 when a row is refused or a target missed, 2 for a wrong command line. */
export async function main(argv: readonly string[], around: Surroundings): Promise<0 | 1 | 2> {
  try {
    const options = parseArguments(argv);
    if (options.help) {
      around.out(USAGE);
      return 0;
    }
    const all = await around.suites();
    expectTargetsExist(around.targets, all);
    const chosen = choose(all, options);
    return options.smoke ? await smoke(chosen, around) : await bench(chosen, options, around);
  } catch (error) {
    around.progress("");
    if (error instanceof UsageError) {
      around.err(`${error.message}\n`);
      return 2;
    }
    if (error instanceof RefusedRow) {
      around.err(`${error.message}\n`);
      return 1;
    }
    throw error;
  }
}

function choose(all: readonly Suite[], { suites: names, filter }: Arguments): Suite[] {
  for (const name of names) {
    if (!all.some((suite) => suite.name === name)) {
      throw new UsageError(`There is no suite "${name}"; there are ${all.map((suite) => suite.name).join(", ")}.`);
    }
  }
  const named = names.length === 0 ? all : all.filter(({ name }) => names.includes(name));
  if (filter === undefined) return [...named];
  const wanted = filter.toLowerCase();
  const kept = named.map((suite) => ({
    ...suite,
    rows: suite.rows.filter(({ name }) => name.toLowerCase().includes(wanted)),
  }));
  const found = kept.filter(({ rows }) => rows.length > 0);
  if (found.length === 0)
    throw new UsageError(`No row of ${named.map(({ name }) => name).join(", ")} contains "${filter}".`);
  return found;
}

async function smoke(suites: readonly Suite[], around: Surroundings): Promise<0> {
  let ran = 0;
  for (const suite of suites) {
    for (const row of suite.rows) {
      around.progress(`${suite.name}: ${row.name}`);
      await smokeRow(row);
      ran++;
    }
  }
  around.progress("");
  around.out(`${ran} rows ran and did their work\n`);
  return 0;
}

async function bench(suites: readonly Suite[], options: Arguments, around: Surroundings): Promise<0 | 1> {
  const results: SuiteResult[] = [];
  for (const suite of suites) {
    const result = await measureSuite(suite, options, around);
    results.push(result);
    if (!options.json) around.out(`\n${suite.name}\n\n${tablesForTerminal(result, around.targets)}\n`);
  }
  const { checked, misses } = checkTargets(around.targets, results);
  const missed = misses.map(describeMiss);
  if (options.json) around.out(`${JSON.stringify({ results, missed }, null, 2)}\n`);
  if (options.write || !(options.quick || options.filter !== undefined)) await write(results, around);
  if (!options.check) return 0;
  for (const each of missed) around.err(`missed: ${each}\n`);
  around.err(`${checked - missed.length} of ${checked} targets kept (${around.targets.length} in all)\n`);
  return missed.length > 0 ? 1 : 0;
}

async function measureSuite(suite: Suite, { quick }: Arguments, around: Surroundings): Promise<SuiteResult> {
  const effort = quick ? QUICK : FULL;
  const rows: RowResult[] = [];
  for (const [index, row] of suite.rows.entries()) {
    around.progress(`${suite.name} ${index + 1}/${suite.rows.length}: ${row.name}`);
    rows.push(await measureRow(row, effort));
  }
  around.progress("");
  const machine = describeMachine(around.root);
  const { name, about, leftOut = [] } = suite;
  return { suite: name, about, machine, rounds: effort.rounds, rows, ...(leftOut.length > 0 && { leftOut }) };
}

const tablesForTerminal = (result: SuiteResult, targets: readonly Target[]): string =>
  suiteTables(result, targets).split("\n\n").map(align).join("\n\n");

async function write(results: readonly SuiteResult[], { root, targets }: Surroundings): Promise<void> {
  const folder = join(root, "benchmarks/results");
  for (const result of results) await writeResult(folder, result);
  const all = await readResults(folder);
  await Bun.write(join(root, "BENCHMARKS.md"), render(all, targets));
  const readme = Bun.file(join(root, "README.md"));
  if (!(await readme.exists())) return;
  const text = await readme.text();
  const filled = fillFigures(text, all, targets);
  if (filled !== text) await Bun.write(readme, filled);
}
