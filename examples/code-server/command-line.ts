import { readdirSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";

export interface Command {
  /** Files and code are kept within it. */
  readonly folder: string;
  /** True when nothing may be changed. */
  readonly readOnly: boolean;
  /** Longest run of code, in milliseconds. */
  readonly time: number;
  /** The port of streamable HTTP; undefined for stdio. */
  readonly http: number | undefined;
}

/** A command line that cannot be followed; its message is one sentence. */
export class UsageError extends Error {}

const TIME = 10_000;

const OPTIONS = `  --read-only      serves no tool that changes files
  --time N         longest run of code, in milliseconds; default: ${TIME}
  --help           this text
`;

export const USAGES = {
  mcp: `bun run examples/code-server/mcp.ts FOLDER [options]

An MCP server over a folder: list, read, search, write and edit files, and run code in a sandbox that calls the same tools.
It speaks over stdio, and ends with its client.

  --http PORT      speaks streamable HTTP instead, at http://127.0.0.1:PORT/mcp; 0 takes any free port
${OPTIONS}`,
  agent: `bun run examples/code-server/agent.ts FOLDER [options]

An agent of the Agent Client Protocol over the same folder and tools, for editors. It asks before it writes.

${OPTIONS}
It takes commands such as /read README.md; /help lists them. Where OPENAI_BASE_URL and OPENAI_MODEL name a server that speaks
chat completions (and OPENAI_API_KEY its key), it takes any text, and a model says what to do.
`,
} as const;

type Surroundings = Readonly<Record<string, string | undefined>>;

/** Reads the command line; undefined when it asks for help. */
export function parseCommand(words: readonly string[], which: keyof typeof USAGES, env: Surroundings) {
  const { values, positionals } = parsed(words, which);
  if (values.help === true) return undefined;
  const [given, more] = positionals;
  if (given === undefined) throw new UsageError(`Give a folder: ${which}.ts FOLDER.`);
  if (more !== undefined) throw new UsageError(`Give one folder, not also ${JSON.stringify(more)}.`);
  const folder = resolve(callersFolder(env), given);
  expectFolder(folder);
  const command: Command = {
    folder,
    readOnly: values["read-only"] === true,
    time: values.time === undefined ? TIME : numberOf("--time", values.time, 1, 600_000),
    http: values.http === undefined ? undefined : numberOf("--http", values.http, 0, 65_535),
  };
  return command;
}

function parsed(words: readonly string[], which: keyof typeof USAGES) {
  const options = {
    "read-only": { type: "boolean" },
    time: { type: "string" },
    http: { type: "string" },
    help: { type: "boolean", short: "h" },
  } as const;
  try {
    const found = parseArgs({ args: [...words], options, allowPositionals: true });
    if (which === "agent" && found.values.http !== undefined) throw new Error("An agent speaks over stdio alone");
    return found;
  } catch (thrown) {
    const [sentence = ""] = (thrown instanceof Error ? thrown.message : String(thrown)).split(/[.\n]/);
    throw new UsageError(`${sentence}: --help tells which options there are.`);
  }
}

function numberOf(option: string, text: string, least: number, most: number): number {
  const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new UsageError(`${option} needs a whole number from ${least} to ${most}; got ${JSON.stringify(text)}.`);
}

function expectFolder(folder: string): void {
  try {
    readdirSync(folder);
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    throw new UsageError(`The folder ${JSON.stringify(folder)} cannot be read: ${reason}.`);
  }
}

/** The folder in which the command was typed. `bun run` and `npm run` start a script in the package's folder, and pass the caller's. */
const callersFolder = ({ npm_lifecycle_event: script, INIT_CWD, npm_config_local_prefix }: Surroundings): string =>
  script?.startsWith("demo:") === true ? (INIT_CWD ?? npm_config_local_prefix ?? process.cwd()) : process.cwd();
