import { readdirSync } from "node:fs";
import { resolve } from "node:path";
import { printable } from "./table";
import { SKIPPED } from "./walker";

export interface Command {
  readonly folder: string;
  readonly all: boolean;
  readonly json: boolean;
  readonly readers: number;
}

/** A command line that cannot be followed; its message is one sentence. */
export class UsageError extends Error {}

const READERS = 4;
const MOST_READERS = 64;

export const USAGE = `bun run demo:census [folder] [options]

Counts the files of a folder: languages, longest files, most frequent words. Default: the project's own folder.

  --all         walks the folders named ${[...SKIPPED].join(", ")}, too
  --readers N   how many actors read, 1 to ${MOST_READERS}; default: ${READERS}
  --json        prints the result as one JSON document
  --help        this text

Ctrl-C ends it early, with the figures so far and status 130. Status 1: a message failed, or this
machine cannot serve files safely (it takes Linux). Status 2: a wrong command line.
`;

/** Reads the command line; undefined when it asks for help. */
export function parseCommand(words: readonly string[], root: string): Command | undefined {
  let folder: string | undefined;
  let readers = READERS;
  const flags = { all: false, json: false };
  let mayBeOption = true;
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? "";
    if (!mayBeOption || !word.startsWith("-")) {
      if (folder !== undefined) throw new UsageError(`Give one folder, not also "${printable(word)}".`);
      folder = word;
    } else if (word === "--") mayBeOption = false;
    else if (word === "--help" || word === "-h") return undefined;
    else if (word === "--all") flags.all = true;
    else if (word === "--json") flags.json = true;
    else if (word === "--readers") readers = numberOfReaders(words[++index]);
    else if (word.startsWith("--readers=")) readers = numberOfReaders(word.slice("--readers=".length));
    else throw new UsageError(`There is no option ${printable(word)}; there are --all, --readers, --json and --help.`);
  }
  const resolved = folder === undefined ? root : resolve(callersFolder(), folder);
  expectFolder(resolved);
  return { folder: resolved, readers, ...flags };
}

function numberOfReaders(text = ""): number {
  const readers = /^\d+$/.test(text) ? Number(text) : 0;
  if (readers >= 1 && readers <= MOST_READERS) return readers;
  throw new UsageError(`--readers needs a whole number from 1 to ${MOST_READERS}: --readers ${READERS}.`);
}

/** Where the command was typed: `bun run` and `npm run` start a script in the package's folder, and tell which it was. */
function callersFolder(): string {
  const { npm_lifecycle_event, INIT_CWD, npm_config_local_prefix } = process.env;
  if (npm_lifecycle_event !== "demo:census") return process.cwd();
  return INIT_CWD ?? npm_config_local_prefix ?? process.cwd(); // npm sets the first, Bun the second.
}

function expectFolder(folder: string): void {
  try {
    readdirSync(folder);
  } catch (thrown) {
    const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
    const shown = printable(folder);
    if (code === "ENOENT") throw new UsageError(`There is no folder ${shown}.`);
    if (code === "ENOTDIR") throw new UsageError(`${shown} is a file; give the folder that it is in.`);
    throw new UsageError(`The folder ${shown} cannot be read: ${thrown instanceof Error ? thrown.message : thrown}.`);
  }
}
