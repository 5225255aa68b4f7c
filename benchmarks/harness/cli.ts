import { type Arguments, parseArguments, thereIsNo, UsageError, usage } from "./arguments";
import { bench, smoke } from "./bench";
import { unlessInterrupted } from "./processes";
import type { Suite } from "./suite";
import { type Status, type Surroundings, settle } from "./terminal";

export const main = (argv: readonly string[], around: Surroundings): Promise<Status> =>
  settle(around, async () => follow(parseArguments(argv), around));

async function follow(options: Arguments, around: Surroundings): Promise<Status> {
  const { help, soak, page, compare } = options;
  if (help) {
    around.out(usage(around.command));
    return 0;
  }
  if (soak !== undefined) return around.soak(Number(soak), around);
  if ((page || compare !== undefined) && !around.isCheckout) {
    throw new UsageError(`--${page ? "page" : "compare"} needs a checkout of envoi, and this is an installed package.`);
  }
  if (page) {
    await around.writePages(around.root);
    return 0;
  }
  const chosen = choose(await unlessInterrupted(around.suites(), around.signal), options, around);
  if (compare !== undefined) return around.compare(compare, chosen, options.quick, around);
  return options.smoke ? smoke(chosen, around) : bench(chosen, options, around);
}

/** The suites and rows that were asked for: with `--check`, of those only what has a target. */
function choose(
  all: readonly Suite[],
  { suites: names, filter, check }: Arguments,
  { targets }: Surroundings,
): Suite[] {
  const there = all.map(({ name }) => name);
  const unknown = names.find((name) => !there.includes(name));
  if (unknown !== undefined) throw new UsageError(thereIsNo("suite", unknown, there));
  const named = names.length === 0 ? all : all.filter(({ name }) => names.includes(name));
  if (filter === undefined && !check) return [...named];
  const isWanted = (suite: string, row: string) =>
    (filter === undefined || row.toLowerCase().includes(filter.toLowerCase())) &&
    (!check || targets.some((target) => target.suite === suite && target.row === row));
  const found = named
    .map((suite) => ({
      ...suite,
      rows: suite.rows.filter(({ name }) => isWanted(suite.name, name)),
      leftOut: (suite.leftOut ?? []).filter(({ row }) => isWanted(suite.name, row)),
    }))
    .filter(({ rows, leftOut }) => rows.length > 0 || leftOut.length > 0);
  if (found.length > 0) return found;
  const which = [...(check ? ["has a limit"] : []), ...(filter === undefined ? [] : [`contains "${filter}"`])];
  throw new UsageError(`No row of ${named.map(({ name }) => name).join(", ")} ${which.join(" and ")}.`);
}
