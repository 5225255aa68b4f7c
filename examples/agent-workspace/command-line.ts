import { readdirSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { type Endpoint, endpointIn } from "./model/endpoint";
import { printable } from "./printable";

export interface Command {
  /** Undefined for one with sample tables, which is made. */
  readonly folder: string | undefined;
  readonly task: string;
  /** The model that plans; undefined for the scripted planner. */
  readonly endpoint: Endpoint | undefined;
  /** The file into which the run is recorded. */
  readonly record: string | undefined;
}

/** A command line that cannot be followed; its message is one sentence. */
export class UsageError extends Error {}

const SAMPLE_TASK = "How does body mass differ between the species of penguins?";
const ANY_TASK = "How do the groups in these tables differ?";
const NO_RECORD = "--record needs a file: --record run.ndjson.";
const NO_TASK = `--task needs a text: --task "${SAMPLE_TASK}".`;

export const USAGE = `bun run demo [folder] [options]

An agent looks at the tables (.csv, .tsv) of a folder, analyses them by code that runs in a sandbox, and writes
report/report.md with a chart into that folder. Default: a temporary folder with tables of penguins, weather and cars.

  --task TEXT      what to find out; default: "${SAMPLE_TASK}"
  --planner WHICH  scripted (no network) or model; default: model where OPENAI_BASE_URL and OPENAI_MODEL are set
  --record FILE    record the run: a test replays it without model and tools (envoi/record)
  --help           this text

OPENAI_BASE_URL, OPENAI_MODEL and OPENAI_API_KEY name any server that speaks the protocol of chat completions. It is sent
the task and what the agent reads of the tables.

Status 0: there is a report. 1: there is none, or this machine cannot serve files or run code safely (it takes Linux).
2: a wrong command line. 130: ended by Ctrl-C.
`;

/** Reads the command line and the environment; undefined when it asks for help. */
export function parseCommand(
  words: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Command | undefined {
  const { values, positionals } = parsed(words);
  if (values.help === true) return undefined;
  const [given, more] = positionals;
  if (more !== undefined) throw new UsageError(`Give one folder, not also "${printable(more)}".`);
  const folder = given === undefined ? undefined : resolve(callersFolder(env), given);
  if (folder !== undefined) expectFolder(folder);
  const { task = folder === undefined ? SAMPLE_TASK : ANY_TASK } = values;
  if (task.trim() === "") throw new UsageError(NO_TASK);
  const { record } = values;
  if (record?.trim() === "") throw new UsageError(NO_RECORD);
  const to = record === undefined ? undefined : resolve(callersFolder(env), record);
  return { folder, task, endpoint: endpointFor(values.planner, env), record: to };
}

function parsed(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      allowPositionals: true,
      options: {
        task: { type: "string" },
        planner: { type: "string" },
        record: { type: "string" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (thrown) {
    throw new UsageError(complaintOf(thrown));
  }
}

/** One sentence for what cannot be parsed, by what the parser quotes: its own take several lines. */
function complaintOf(thrown: unknown): string {
  const { code, message } = thrown as { readonly code?: string; readonly message: string }; // It throws errors alone.
  const [, quoted = ""] = /'([^']*)'/.exec(message) ?? [];
  const option = /--[\w-]+/.exec(quoted)?.[0] ?? quoted;
  if (code === "ERR_PARSE_ARGS_UNKNOWN_OPTION") return `There is no option "${printable(quoted)}"; see --help.`;
  if (option === "--help") return "--help takes no value.";
  if (option === "--task") return NO_TASK;
  if (option === "--record") return NO_RECORD;
  return "--planner needs to be told which: scripted or model.";
}

function endpointFor(planner: string | undefined, env: Readonly<Record<string, string | undefined>>) {
  if (planner === "scripted") return undefined;
  if (planner !== undefined && planner !== "model") {
    throw new UsageError(`--planner is scripted or model; got "${printable(planner)}".`);
  }
  try {
    const endpoint = endpointIn(env);
    if (endpoint !== undefined || planner === undefined) return endpoint;
  } catch (thrown) {
    throw new UsageError(thrown instanceof Error ? thrown.message : String(thrown));
  }
  throw new UsageError("--planner model needs OPENAI_BASE_URL, such as http://localhost:11434/v1, and OPENAI_MODEL.");
}

/** Where the command was typed: `bun run` and `npm run` start a script in the package's folder, and tell which it was. */
function callersFolder({
  npm_lifecycle_event,
  INIT_CWD,
  npm_config_local_prefix,
}: Readonly<Record<string, string | undefined>>): string {
  if (npm_lifecycle_event !== "demo") return process.cwd();
  return INIT_CWD ?? npm_config_local_prefix ?? process.cwd(); // npm sets the first, Bun the second.
}

function expectFolder(folder: string): void {
  try {
    readdirSync(folder);
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    throw new UsageError(`The folder ${printable(folder)} cannot be read: ${printable(reason)}.`);
  }
}
