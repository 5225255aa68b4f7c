import { resolve } from "node:path";
import { parseArgs } from "node:util";

export interface Command {
  readonly port: number;
  readonly hostname: string;
  readonly data: string;
  readonly pause: number;
  readonly allow: readonly string[];
  readonly trace: boolean;
}

/** A command line that cannot be followed; its message is one sentence. */
export class UsageError extends Error {}

const DEFAULTS = { port: 3000, host: "127.0.0.1", data: "agent-service-data", pause: 700 };

export const USAGE = `bun run demo:service [options]

An agent behind HTTP, with a page to talk to it. Its sessions are kept: kill it at any moment, with -9 if you like, and
start it again. The page then goes on where it was.

  --port N        default: ${DEFAULTS.port}; 0 takes any free one
  --host ADDRESS  where it listens; default: ${DEFAULTS.host}, this machine alone. Nobody is asked for a password: each
                  network address has sessions of its own
  --data FOLDER   keeps the sessions and their files; default: ${DEFAULTS.data}
  --pause N       milliseconds before each step, as a model takes its time; default: ${DEFAULTS.pause}
  --allow URL     what the agent may ask for, such as 'https://api.example.com/*'; as often as you like. Default: nothing
  --trace         prints the trace of each message to the agent, as a tree (it needs the packages of OpenTelemetry)
  --help          this text

The agent follows a plan, unless OPENAI_BASE_URL and OPENAI_MODEL name a server that speaks chat completions
(and OPENAI_API_KEY its key, where it wants one). Ctrl-C ends it in order. Status 1: it cannot start, as where the port is in use. Status 2: a wrong command line.
`;

type Surroundings = Readonly<Record<string, string | undefined>>;

/** Reads the command line; undefined when it asks for help. */
export function parseCommand(words: readonly string[], env: Surroundings): Command | undefined {
  const { help, port, host = DEFAULTS.host, data = DEFAULTS.data, pause, allow = [], trace = false } = parsed(words);
  if (help === true) return undefined;
  if (host.trim() === "") throw new UsageError("--host needs an address, such as 0.0.0.0 for all of this machine's.");
  if (data === "") throw new UsageError("--data needs a folder.");
  return {
    port: numberOf("--port", port, DEFAULTS.port, 65_535),
    hostname: host,
    data: resolve(callersFolder(env), data),
    pause: numberOf("--pause", pause, DEFAULTS.pause, 60_000),
    allow,
    trace,
  };
}

function parsed(words: readonly string[]) {
  const text = { type: "string" } as const;
  try {
    return parseArgs({
      args: [...words],
      options: {
        port: text,
        host: text,
        data: text,
        pause: text,
        allow: { ...text, multiple: true },
        trace: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (thrown) {
    const [sentence = ""] = (thrown instanceof Error ? thrown.message : String(thrown)).split(/[.\n]/);
    throw new UsageError(`${sentence}: --help tells which options there are.`);
  }
}

function numberOf(option: string, text: string | undefined, otherwise: number, most: number): number {
  if (text === undefined) return otherwise;
  const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (value <= most) return value;
  throw new UsageError(`${option} needs a whole number from 0 to ${most}; got ${JSON.stringify(text)}.`);
}

/** Where the command was typed: `bun run` and `npm run` start a script in the package's folder, and tell which it was. */
const callersFolder = ({ npm_lifecycle_event: script, INIT_CWD, npm_config_local_prefix }: Surroundings): string =>
  script === "demo:service" ? (INIT_CWD ?? npm_config_local_prefix ?? process.cwd()) : process.cwd();
