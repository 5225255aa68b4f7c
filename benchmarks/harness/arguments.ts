import { mkdir, mkdtemp, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { type ParseArgsConfig, parseArgs } from "node:util";

export type Arguments = ReturnType<typeof parseArguments>;

/** The command line, or a file, is wrong. Its sentence is all that is told. */
export class UsageError extends Error {}

export const usage = (command: string): string => `${command} [suite…] [options]

  --quick         3 rounds instead of 9, and one of rows that are no loops; a fifth of the time; writes nothing
  --check         only rows with a limit, quickly, and those that miss it twice more in full; ends with
                  status 1 when one is missed each time, and with 3 when one could not be judged: its floors lie far apart, or
                  the machine lacks what it needs; writes nothing
  --filter TEXT   only rows whose name contains TEXT; writes nothing
  --json          the results as JSON on standard output, which \`parseRun\` of envoi/benchmarks reads
  --out FOLDER    writes the results there, as FOLDER/<suite>.json, and nothing else
  --smoke         a few calls of each row, its work asserted; nothing timed, nothing written
  --soak MINUTES  mixed load for that long, and whether memory grew, which 3 minutes tell; no suites
  --help          this text

In a checkout of envoi:

  --compare REV   builds that revision beside this tree and measures both in turns: faster, slower, or no difference
  --page          writes the pages and charts from the results that are there; measures nothing

A full run in a checkout writes benchmarks/results/<suite>.json, BENCHMARKS.md and the figures of README.md.
Ctrl-C gives up the row that runs and tells what is finished (status 130); once more ends at once.
`;

export const flag = { type: "boolean", default: false } as const;
export const text = { type: "string" } as const;

/** What does another thing than measuring suites, with the options that it takes. */
const MODES = { smoke: ["suites", "filter"], compare: ["suites", "filter", "quick"], soak: [], page: [] } as const;

export function parseArguments(argv: readonly string[]) {
  const flags = { quick: flag, check: flag, smoke: flag, json: flag, page: flag, help: flag };
  const options = { ...flags, filter: text, out: text, compare: text, soak: text };
  const { values, positionals } = readOptions({ args: [...argv], options, allowPositionals: true });
  const given = Object.entries(values).flatMap(([name, value]) => (value === false ? [] : [name]));
  if (positionals.length > 0) given.push("suites");
  for (const [mode, taken] of Object.entries<readonly string[]>(MODES)) {
    const stranger = given.find((name) => name !== mode && name !== "help" && !taken.includes(name));
    if (!given.includes(mode) || stranger === undefined) continue;
    throw new UsageError(`--${mode} goes with no ${stranger === "suites" ? "suite" : `--${stranger}`}.`);
  }
  return { ...values, suites: positionals };
}

/** @throws UsageError that says what does not fit, and which options there are. */
export function readOptions<Config extends ParseArgsConfig>(config: Config): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs(config);
  } catch (thrown) {
    const [sentence] = (thrown instanceof Error ? thrown.message : String(thrown)).split(/\. |\n/);
    const all = Object.entries(config.options ?? {}).map(
      ([name, { type }]) => `--${name}${type === "string" ? " …" : ""}`,
    );
    throw new UsageError(`${sentence?.replace(/\.$/, "")}. There are ${all.join(", ")}.`);
  }
}

export const thereIsNo = (what: string, name: string, names: readonly string[]): string =>
  `There is no ${what} "${name}". There are ${names.join(", ")}.`;

/** Makes the folder of `--out` before anything is measured. @throws UsageError where it takes no files. */
export async function expectFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    await rmdir(await mkdtemp(join(folder, ".envoi-")));
  } catch (error) {
    throw new UsageError(`--out ${folder}: nothing can be written there (${String(error)}).`);
  }
}
