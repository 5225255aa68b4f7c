import { type Arguments, instead, parseArguments, UsageError, usage } from "./arguments";
import { bench, tellFailure } from "./bench";
import { smokeRow } from "./measure";
import { compareRevisions, soakFor } from "./parts";
import { Interrupted, unlessInterrupted } from "./processes";
import type { Suite } from "./suite";
import { expectTargetsExist } from "./target";
import type { Status, Surroundings } from "./terminal";

/** Runs the benchmarks as the command line says. */
export async function main(argv: readonly string[], around: Surroundings): Promise<Status> {
  try {
    return await follow(parseArguments(argv), around);
  } catch (error) {
    around.progress("");
    if (error instanceof Interrupted || around.signal.aborted) return 130;
    if (error instanceof UsageError) {
      around.err(`${error.message}\n`);
      return 2;
    }
    throw error;
  }
}

async function follow(options: Arguments, around: Surroundings): Promise<Status> {
  if (options.help) {
    around.out(usage(around.command));
    return 0;
  }
  if (options.soak !== undefined) return soakFor(options.soak, around);
  if (options.page || options.write || options.compare !== undefined) expectCheckout(options, around);
  if (options.compare !== undefined) return compareRevisions(options.compare, options, around);
  if (options.page) {
    await around.writePages(around.root);
    return 0;
  }
  const all = await unlessInterrupted(around.suites(), around.signal);
  expectTargetsExist(around.targets, all);
  const chosen = choose(all, options);
  return options.smoke ? smoke(chosen, around) : bench(chosen, options, around);
}

function expectCheckout({ page, write }: Arguments, { isCheckout }: Surroundings): void {
  if (isCheckout) return;
  if (page) throw new UsageError("--page writes the pages of a checkout of envoi, and this is an installed package.");
  if (write) throw new UsageError("--write writes into a checkout of envoi; in a package, --out FOLDER says where to.");
  throw new UsageError(
    "--compare builds revisions of envoi, so it needs a checkout, and this is an installed package.",
  );
}

function choose(all: readonly Suite[], { suites: names, filter }: Arguments): Suite[] {
  const there = all.map(({ name }) => name);
  for (const name of names) {
    if (!there.includes(name)) throw new UsageError(`There is no suite "${name}".${instead(name, there)}`);
  }
  const named = names.length === 0 ? all : all.filter(({ name }) => names.includes(name));
  if (filter === undefined) return [...named];
  const wanted = filter.toLowerCase();
  const isWanted = (name: string) => name.toLowerCase().includes(wanted);
  const kept = named.map((suite) => ({
    ...suite,
    rows: suite.rows.filter(({ name }) => isWanted(name)),
    leftOut: (suite.leftOut ?? []).filter(({ row }) => isWanted(row)),
  }));
  const found = kept.filter(({ rows, leftOut }) => rows.length > 0 || leftOut.length > 0);
  if (found.length === 0)
    throw new UsageError(`No row of ${named.map(({ name }) => name).join(", ")} contains "${filter}".`);
  return found;
}

async function smoke(suites: readonly Suite[], around: Surroundings): Promise<0 | 1> {
  let ran = 0;
  let failed = 0;
  for (const suite of suites) {
    for (const row of suite.rows) {
      around.progress(`${suite.name}: ${row.name}`);
      try {
        await unlessInterrupted(smokeRow(row), around.signal);
        ran++;
      } catch (error) {
        if (error instanceof Interrupted) throw error;
        tellFailure(row.name, error, around);
        failed++;
      }
      if (around.signal.aborted) throw new Interrupted();
    }
  }
  around.progress("");
  around.out(ran === 1 ? "1 row ran and did its work\n" : `${ran} rows ran and did their work\n`);
  return failed > 0 ? 1 : 0;
}
