import { parseArgs } from "node:util";
import { UsageError } from "../harness/arguments";

/** What the command line asks for. */
export interface Arguments {
  readonly quick: boolean;
  readonly check: boolean;
  readonly json: boolean;
  readonly help: boolean;
  /** Length of a window, in seconds. */
  readonly seconds: number | undefined;
}

/** What `--help` prints; `command` is what was typed. */
export const usage = (command: string): string => `${command} [options]

  --quick       windows of one second and larger steps; writes nothing
  --check       ends with status 1 when a target for stress in benchmarks/targets.ts is missed
  --seconds N   length of a window; writes nothing. Default: 3
  --json        the results as JSON on standard output
  --help        this text

Raises load on actors until something breaks. In a checkout of envoi, a full run writes benchmarks/results/stress.json, and the
pages made from it. The status is 1, too, when no breaking point is found or something does not hold past it.
`;

/** Reads the command line. */
export function parseArguments(argv: readonly string[]): Arguments {
  const options = {
    quick: { type: "boolean", default: false },
    check: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
    seconds: { type: "string" },
  } as const;
  for (const word of argv) {
    const name = word.replace(/^--/, "").replace(/=.*$/, "");
    if (word.startsWith("-") && !Object.hasOwn(options, name)) {
      throw new UsageError(`There is no option ${word}. There are ${KNOWN}.`);
    }
  }
  try {
    const { values } = parseArgs({ args: [...argv], options, allowPositionals: false });
    const { seconds, ...flags } = values;
    if (seconds !== undefined && !(Number(seconds) > 0 && Number(seconds) <= LONGEST)) {
      throw new UsageError(
        `--seconds takes a number above 0, at most ${LONGEST}, such as --seconds 3; got ${seconds}.`,
      );
    }
    return { ...flags, seconds: seconds === undefined ? undefined : Number(seconds) };
  } catch (thrown) {
    if (thrown instanceof UsageError) throw thrown;
    throw new UsageError(`${thrown instanceof Error ? thrown.message : String(thrown)} There are ${KNOWN}.`);
  }
}

/** Of a window, in seconds. */
const LONGEST = 3_600;
const KNOWN = "--quick, --check, --seconds N, --json, --help";
