/** A command line. */
export interface Command {
  readonly pages: number;
  readonly workers: number;
  readonly seed: number;
  readonly chaos: boolean;
  readonly threads: boolean;
  /** True for three machines by NATS; workers of this machine alone otherwise. */
  readonly nats: boolean;
}

/** A command that cannot be followed; its message is one sentence. */
export class UsageError extends Error {}

const NUMBERS = { "--pages": [10, 1_000_000], "--workers": [1, 64], "--seed": [0, 2 ** 31] } as const;
const FLAGS = ["--nats", "--chaos", "--threads"];

export const USAGE = `bun run demo:grid [options]

Counts the words of a corpus over workers, and compares with a count in one process.

  --nats        over three machines, which are processes here with workers of their own, by a server of NATS
  --chaos       kills workers by kill -9 while they count; with --nats, whole machines
  --pages N     10 to 1,000,000; default: 800
  --workers N   1 to 64, with --nats of each machine; default: 4, with --nats 2
  --threads     workers are threads, not processes; chaos cannot kill those, but machines
  --seed N      of the corpus; default: 1
  --help        this text

Status 1: something was lost or counted wrong. Status 2: a wrong command line, or no server of NATS.
`;

/** Reads the command line; undefined when it asks for help. */
export function parseCommand(words: readonly string[]): Command | undefined {
  const given = new Map<string, string>();
  for (let at = 0; at < words.length; at++) {
    const [option = "", attached] = (words[at] ?? "").split("=", 2);
    if (option === "--help" || option === "-h") return undefined;
    if (FLAGS.includes(option) && attached === undefined) given.set(option, "");
    else if (option in NUMBERS) given.set(option, attached ?? words[++at] ?? "");
    else throw new UsageError(`There is no option ${JSON.stringify(words[at])}; --help tells which there are.`);
  }
  const number = (option: keyof typeof NUMBERS, otherwise: number): number => {
    const text = given.get(option);
    if (text === undefined) return otherwise;
    const [least, most] = NUMBERS[option];
    const value = /^\d{1,10}$/.test(text) ? Number(text) : -1;
    if (value >= least && value <= most) return value;
    throw new UsageError(`${option} needs a whole number from ${least} to ${most}; got ${JSON.stringify(text)}.`);
  };
  const [nats, chaos, threads] = [given.has("--nats"), given.has("--chaos"), given.has("--threads")];
  if (chaos && threads && !nats) throw new UsageError("A thread cannot be killed by kill -9: leave out --threads.");
  const workers = number("--workers", nats ? 2 : 4);
  return { pages: number("--pages", 800), workers, seed: number("--seed", 1), nats, chaos, threads };
}
