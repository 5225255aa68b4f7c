import { printable } from "./text";

export interface Command {
  readonly rooms: number;
  readonly users: number;
  /** Infinity: until it is ended. */
  readonly seconds: number;
  readonly chaos: boolean;
  readonly seed: number;
  readonly output: "live" | "plain" | "json";
  readonly join: string | null;
}

/** A command line that cannot be followed; its message is one sentence. */
export class UsageError extends Error {}

interface Range {
  readonly least: number;
  readonly most: number;
}
const RANGES = {
  "--rooms": { least: 1, most: 20 },
  "--users": { least: 0, most: 200 },
  "--seconds": { least: 1, most: 86_400 },
  "--seed": { least: 0, most: 2 ** 32 - 1 },
} satisfies Record<string, Range>;
const FLAGS = ["--chaos", "--plain", "--json"];
const DEFAULTS = { rooms: 3, users: 6, seconds: 10 };

export const USAGE = `bun run demo:chat [options]

Users talk in rooms; both are actors. At the end a tally is counted from the log and from what users got acknowledged.

  --rooms N     1 to ${RANGES["--rooms"].most}; default: ${DEFAULTS.rooms}
  --users N     0 to ${RANGES["--users"].most}, who talk by themselves; default: ${DEFAULTS.users}
  --seconds N   how long they talk; default: ${DEFAULTS.seconds}, or until you leave with --join
  --chaos       kills rooms while people talk: their handlers throw or hang, or they are stopped
  --seed N      of what happens by chance; default: another one each time
  --join NAME   takes part: what you type is said in the first room. Needs a terminal
  --plain       prints lines instead of the live tree; the default where the output is no terminal
  --json        prints the tally alone, as one JSON document
  --help        this text

Ctrl-C ends it early, with the tally and status 130. Status 1: something was lost. Status 2: a wrong command line.
`;

/** What the command line is read with. */
export interface Surroundings {
  /** Whether the output is a terminal that can be written all over. */
  readonly canShow: boolean;
  /** Whether somebody may type, and read the answers. */
  readonly canType: boolean;
  /** Where none is given. */
  readonly seed: number;
}

/** Reads the command line; undefined when it asks for help. */
export function parseCommand(words: readonly string[], { canShow, canType, seed }: Surroundings): Command | undefined {
  const given = new Map<string, string>();
  for (let index = 0; index < words.length; index++) {
    const [option = "", attached] = splitOnce(words[index] ?? "");
    if (option === "--help" || option === "-h") return undefined;
    if (FLAGS.includes(option) && attached === undefined) given.set(option, "");
    else if (option in RANGES || option === "--join") given.set(option, attached ?? words[++index] ?? "");
    else throw new UsageError(`There is no option ${printable(words[index] ?? "")}; --help tells which there are.`);
  }
  const has = (flag: string): boolean => given.has(flag);
  const join = given.get("--join") ?? null;
  if (join !== null) checkJoin(join, canType, has("--plain") || has("--json"));
  if (has("--plain") && has("--json")) throw new UsageError("Give --plain or --json, not both.");
  const number = (option: keyof typeof RANGES, otherwise: number): number =>
    has(option) ? numberOf(option, given.get(option) ?? "", RANGES[option]) : otherwise;
  return {
    rooms: number("--rooms", DEFAULTS.rooms),
    users: number("--users", DEFAULTS.users),
    seconds: number("--seconds", join === null ? DEFAULTS.seconds : Number.POSITIVE_INFINITY),
    seed: number("--seed", seed),
    chaos: has("--chaos"),
    output: has("--json") ? "json" : has("--plain") || !canShow ? "plain" : "live",
    join,
  };
}

function splitOnce(word: string): [option: string, attached: string | undefined] {
  const at = word.indexOf("=");
  return at === -1 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}

function numberOf(option: string, text: string, { least, most }: Range): number {
  const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new UsageError(`${option} needs a whole number from ${least} to ${most}; got "${printable(text)}".`);
}

function checkJoin(name: string, canType: boolean, isSilent: boolean): void {
  if (!/^[\p{L}\p{N}][\p{L}\p{N}_-]{0,19}$/u.test(name)) {
    throw new UsageError(`--join needs a name of 1 to 20 letters and digits; got "${printable(name)}".`);
  }
  if (!canType) throw new UsageError("--join needs a terminal to type in and to read from.");
  if (isSilent) throw new UsageError("--join shows the conversation: leave out --plain and --json.");
}
