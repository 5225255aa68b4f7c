/** What the command line asks for. */
export interface Arguments {
  readonly suites: readonly string[];
  readonly quick: boolean;
  readonly check: boolean;
  readonly smoke: boolean;
  readonly json: boolean;
  readonly write: boolean;
  readonly help: boolean;
  readonly filter: string | undefined;
}

/** A command line that cannot be followed; the program ends with status 2. */
export class UsageError extends Error {}

const FLAGS = ["quick", "check", "smoke", "json", "write", "help"] as const;
type Flag = (typeof FLAGS)[number];
const isFlag = (name: string): name is Flag => (FLAGS as readonly string[]).includes(name);

export const USAGE = `bun run bench [suite…] [options]

  --quick         3 rounds instead of 9, a quarter of the time; writes nothing
  --check         ends with status 1 when a target of benchmarks/targets.ts is missed
  --smoke         a few calls of each row, its work asserted; nothing timed, nothing written
  --filter TEXT   only rows whose name contains TEXT; writes nothing
  --write         writes the results of a quick run, too
  --json          the results as JSON on standard output
  --help          this text

A full run writes benchmarks/results/<suite>.json, BENCHMARKS.md and the figures of README.md.
`;

/** Reads the command line. */
export function parseArguments(argv: readonly string[]): Arguments {
  const flags: Record<Flag, boolean> = {
    quick: false,
    check: false,
    smoke: false,
    json: false,
    write: false,
    help: false,
  };
  const suites: string[] = [];
  let filter: string | undefined;
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i] ?? "";
    const name = word.slice(2);
    if (!word.startsWith("-")) suites.push(word);
    else if (word.startsWith("--") && isFlag(name)) flags[name] = true;
    else if (word === "--filter" || word.startsWith("--filter=")) {
      filter = word === "--filter" ? argv[++i] : word.slice("--filter=".length);
      if (!filter) throw new UsageError("--filter needs a text: --filter 'ask'.");
    } else {
      const known = [...FLAGS, "filter TEXT"].map((flag) => `--${flag}`).join(", ");
      throw new UsageError(`There is no option ${word}; there are ${known}.`);
    }
  }
  if (flags.smoke && (flags.check || flags.quick || flags.write || flags.json)) {
    throw new UsageError("--smoke times nothing, so it goes with no --check, --quick, --write or --json.");
  }
  if (flags.write && filter !== undefined) {
    throw new UsageError("--write goes with no --filter: the results of a suite are written whole.");
  }
  return { suites, filter, ...flags };
}
