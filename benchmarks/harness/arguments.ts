import { mkdir, mkdtemp, rmdir } from "node:fs/promises";
import { join } from "node:path";

/** What the command line asks for. */
export interface Arguments {
  readonly suites: readonly string[];
  readonly quick: boolean;
  readonly check: boolean;
  readonly smoke: boolean;
  readonly json: boolean;
  readonly write: boolean;
  readonly page: boolean;
  readonly help: boolean;
  readonly filter: string | undefined;
  /** A folder for the results. */
  readonly out: string | undefined;
  /** A revision to compare with. */
  readonly compare: string | undefined;
  /** Minutes. */
  readonly soak: number | undefined;
}

/** A command line that cannot be followed; the program ends with status 2. */
export class UsageError extends Error {}

const FLAGS = ["quick", "check", "smoke", "json", "write", "page", "help"] as const;
type Flag = (typeof FLAGS)[number];
const isFlag = (name: string): name is Flag => (FLAGS as readonly string[]).includes(name);

/** Options that need a word, with what they call it and an example. */
const VALUES = {
  filter: ["TEXT", "a text: --filter 'ask'"],
  out: ["FOLDER", "a folder: --out results"],
  compare: ["REV", "a revision: --compare v0.1.0"],
  soak: ["MINUTES", "a number of minutes above 0: --soak 60"],
} as const;
type Value = keyof typeof VALUES;
const isValue = (name: string): name is Value => Object.hasOwn(VALUES, name);

/** What does another thing than measuring suites, with the options that it takes. */
const MODES: Readonly<Record<string, readonly string[]>> = {
  smoke: ["suites", "filter"],
  compare: ["suites", "filter", "quick", "json"],
  soak: [],
  page: [],
};

/** What `--help` prints; `command` is what was typed. */
export const usage = (command: string): string => `${command} [suite…] [options]

  --quick         3 rounds instead of 9, and one of rows that are no loops; a fifth of the time; writes nothing
  --check         ends with status 1 when a target of benchmarks/targets.ts is missed, three times in a row, and
                  with 3 when one could not be judged: its floors lie far apart, or the machine lacks what it needs
  --filter TEXT   only rows whose name contains TEXT; writes nothing
  --json          the results as JSON on standard output, which \`parseRun\` of envoi/benchmarks reads
  --out FOLDER    writes the results there, as FOLDER/<suite>.json, and nothing else
  --smoke         a few calls of each row, its work asserted; nothing timed, nothing written
  --soak MINUTES  mixed load for that long, and whether memory grew, which 3 minutes tell; no suites
  --help          this text

In a checkout of envoi:

  --compare REV   builds that revision beside this tree and measures both in turns: faster, slower, or no difference
  --write         writes the results of a quick run, too
  --page          writes the pages and charts from the results that are there; measures nothing

A full run in a checkout writes benchmarks/results/<suite>.json, BENCHMARKS.md and the figures of README.md.
Ctrl-C gives up the row that runs and tells what is finished (status 130); once more ends at once.
`;

/** Reads the command line. */
export function parseArguments(argv: readonly string[]): Arguments {
  const flags = Object.fromEntries(FLAGS.map((flag) => [flag, false])) as Record<Flag, boolean>; // All of them.
  const values: Partial<Record<Value, string>> = {};
  const suites: string[] = [];
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i] ?? "";
    const [name = "", inline] = split(word);
    if (!word.startsWith("-")) suites.push(word);
    else if (isFlag(name) && inline === undefined) flags[name] = true;
    else if (isValue(name)) values[name] = wordFor(name, inline ?? argv[++i]);
    else throw new UsageError(noOption(word, name));
  }
  const { soak, ...texts } = values;
  const all: Arguments = {
    suites,
    ...flags,
    filter: undefined,
    out: undefined,
    compare: undefined,
    ...texts,
    soak: soak === undefined ? undefined : Number(soak),
  };
  expectToGoTogether(all);
  return all;
}

/** The name after two dashes, with what follows an equals sign: `--filter=ask`. */
function split(word: string): readonly [name?: string, inline?: string] {
  if (!word.startsWith("--")) return [];
  const equals = word.indexOf("=");
  return equals < 0 ? [word.slice(2)] : [word.slice(2, equals), word.slice(equals + 1)];
}

function wordFor(name: Value, text: string | undefined): string {
  const isRight = name === "soak" ? Number(text) > 0 && Number.isFinite(Number(text)) : !text?.startsWith("-");
  if (!text || !isRight) throw new UsageError(`--${name} needs ${VALUES[name][1]}.`);
  return text;
}

function noOption(word: string, name: string): string {
  const values = Object.entries(VALUES).map(([value, [what]]) => `${value} ${what}`);
  const withDashes = (list: readonly string[]) => [...FLAGS, ...list].map((flag) => `--${flag}`);
  return `There is no option ${word}.${instead(`--${name}`, withDashes(Object.keys(VALUES)), withDashes(values))}`;
}

function expectToGoTogether(all: Arguments): void {
  const given = Object.entries(all).flatMap(([name, value]) =>
    value === undefined || value === false || (Array.isArray(value) && value.length === 0) ? [] : [name],
  );
  for (const [mode, taken] of Object.entries(MODES)) {
    if (!given.includes(mode)) continue;
    const stranger = given.find((name) => name !== mode && name !== "help" && !taken.includes(name));
    if (stranger !== undefined) throw new UsageError(`--${mode} goes with no ${nameOf(stranger)}.`);
  }
  if (all.write && all.filter !== undefined) {
    throw new UsageError("--write goes with no --filter: the results of a suite are written whole.");
  }
  if (all.write && all.out !== undefined) {
    throw new UsageError("--write goes with no --out: one writes into the project, the other elsewhere.");
  }
}

const nameOf = (option: string): string => (option === "suites" ? "suite" : `--${option}`);

/** The name that a mistyped word was probably meant to be: the nearest of them, if no more than a third of it is mistyped. */
function nearest(word: string, names: readonly string[]): string | undefined {
  const [best] = names
    .map((name) => ({ name, away: distance(word.toLowerCase(), name.toLowerCase()) }))
    .sort((a, b) => a.away - b.away);
  return best !== undefined && best.away <= Math.ceil(best.name.length / 3) ? best.name : undefined;
}

/** How many letters must be put in, taken out or replaced to make one word of the other (Levenshtein 1966). */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1];
    for (const [column, other] of [...to].entries()) {
      const replaced = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}

/** What is said after the sentence about a name that there is not: what was probably meant, and what there is. */
export function instead(word: string, names: readonly string[], shown = names): string {
  const meant = nearest(word, names);
  return `${meant === undefined ? "" : ` Did you mean ${meant}?`} There are ${shown.join(", ")}.`;
}

/**
 * Makes the folder of `--out`, before anything is measured: to find at the end that nothing can be written there would be late.
 *
 * @throws UsageError where it takes no files.
 */
export async function expectFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    await rmdir(await mkdtemp(join(folder, ".envoi-")));
  } catch (error) {
    throw new UsageError(`--out ${folder}: nothing can be written there (${String(error)}).`);
  }
}
