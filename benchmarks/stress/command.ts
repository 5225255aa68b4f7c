import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { UsageError } from "../harness/arguments";
import { align } from "../harness/format";
import { describeMiss, isKept, type Target } from "../harness/target";
import { NotRecovered } from "./overload";
import { renderStress } from "./page";
import { figuresOf, type StressResults, serialiseStress } from "./results";
import { NotFound } from "./steps";
import { type Effort, FULL, QUICK, type StressOptions } from "./stress";

/** Everything that a run of the command touches. */
export interface Surroundings {
  readonly measure: (options: StressOptions) => Promise<StressResults>;
  /** Those for stress. */
  readonly targets: readonly Target[];
  /** The project's folder. */
  readonly root: string;
  /** Whether that is a package which somebody installed: nothing is written into it. */
  readonly isInstalled: boolean;
  /** Makes the pages of a checkout anew from the results that are there. */
  readonly writePages: (root: string) => Promise<void>;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Shows where the run is; an empty text clears it. */
  readonly progress: (text: string) => void;
  /** Ends the run when aborted. */
  readonly signal: AbortSignal;
}

/**
 * Runs the command and returns its exit status: 0, 1 when no breaking point is found, something does not hold past it or a
 * target is missed, 2 for a wrong command line, 130 when it was ended.
 */
export async function main(argv: readonly string[], around: Surroundings): Promise<0 | 1 | 2 | 130> {
  try {
    const options = parseArguments(argv);
    if (options.help) {
      around.out(usage(around.isInstalled ? "envoi stress" : "bun run stress"));
      return 0;
    }
    return await stress(options, around);
  } catch (thrown) {
    around.progress("");
    if (thrown instanceof UsageError) {
      around.err(`${thrown.message}\n`);
      return 2;
    }
    if (around.signal.aborted) {
      around.err("Ended before it was over; nothing was written.\n");
      return 130;
    }
    if (thrown instanceof NotFound) {
      around.err(`The breaking point was not found: ${thrown.message}\n`);
      return 1;
    }
    if (thrown instanceof NotRecovered) {
      around.err(`After more than it bears: ${thrown.message}\n`);
      return 1;
    }
    throw thrown;
  }
}

async function stress(options: Arguments, around: Surroundings): Promise<0 | 1> {
  const { root, progress, signal } = around;
  const isFull = !options.quick && options.seconds === undefined;
  const results = await around.measure({ effort: effortOf(options), root, progress, signal });
  progress("");
  const complaints = complaintsAbout(results, around.targets, options.quick);
  if (options.json) around.out(serialiseStress(results));
  else around.out(`${forTerminal(renderStress(results))}\n`);
  if (isFull && !around.isInstalled) {
    await write(root, results);
    await around.writePages(root);
  }
  for (const complaint of complaints.failed) around.err(`${complaint}\n`);
  for (const missed of options.check ? complaints.missed : []) around.err(`missed: ${missed}\n`);
  return complaints.failed.length + (options.check ? complaints.missed.length : 0) > 0 ? 1 : 0;
}

function effortOf({ quick, seconds }: Arguments): Effort {
  const effort = quick ? QUICK : FULL;
  return seconds === undefined ? effort : { ...effort, window: seconds * 1_000 };
}

/** What did not hold, and the targets that were missed; a quick run has not all rows. */
function complaintsAbout(results: StressResults, targets: readonly Target[], isQuick: boolean) {
  const failed = [
    ...results.ladders.flatMap(({ name, overload }) => overload.failed.map((sentence) => `${name}: ${sentence}`)),
    ...results.faults.flatMap(({ name, failed: sentences }) => sentences.map((sentence) => `${name}: ${sentence}`)),
  ];
  const figures = figuresOf(results);
  const missed = targets.flatMap((target) => {
    const found = figures.find(({ row, figure }) => row === target.row && figure === target.figure);
    if (found === undefined) return isQuick ? [] : [`"${target.row}" has no ${target.figure}, which has a target`];
    return isKept(target, found.value) ? [] : [describeMiss({ target, measured: found.value }).replace("stress: ", "")];
  });
  return { failed, missed };
}

async function write(root: string, results: StressResults): Promise<void> {
  const folder = join(root, "benchmarks/results");
  await mkdir(folder, { recursive: true });
  await Bun.write(join(folder, "stress.json"), serialiseStress(results));
}

const forTerminal = (markdown: string): string =>
  markdown
    .split("\n\n")
    .map((part) => (part.startsWith("|") ? align(part) : part))
    .join("\n\n");

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

type Arguments = ReturnType<typeof parseArguments>;

function parseArguments(argv: readonly string[]) {
  const flag = { type: "boolean", default: false } as const;
  try {
    const options = { quick: flag, check: flag, json: flag, help: flag, seconds: { type: "string" } } as const;
    const { seconds: text, ...flags } = parseArgs({ args: [...argv], options }).values;
    const seconds = text === undefined ? undefined : Number(text);
    if (seconds !== undefined && !(seconds > 0 && seconds <= LONGEST))
      throw new Error(`--seconds takes a number above 0, at most ${LONGEST}, such as --seconds 3; got ${text}.`);
    return { ...flags, seconds };
  } catch (thrown) {
    const [sentence] = (thrown instanceof Error ? thrown.message : String(thrown)).split(". ");
    throw new UsageError(`${sentence?.replace(/\.$/, "")}. There are --quick, --check, --seconds N, --json, --help.`);
  }
}

/** Of a window, in seconds. */
const LONGEST = 3_600;
