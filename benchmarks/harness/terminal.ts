import { existsSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "./arguments";
import { endDescendants, Interrupted, onEnding } from "./processes";
import type { Suite } from "./suite";
import type { Target } from "./target";

export interface Terminal {
  readonly root: string;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly progress: (text: string) => void;
  /** Whether somebody watches the progress; else it is told by lines. */
  readonly isTerminal: boolean;
  /** Aborted when the run is to end: what is finished is told, nothing is written. */
  readonly signal: AbortSignal;
}

export interface Surroundings extends Terminal {
  readonly command: string;
  readonly suites: () => Promise<readonly Suite[]>;
  readonly targets: readonly Target[];
  /** Whether `root` is a checkout of envoi, into which results may be written; not a package that somebody installed. */
  readonly isCheckout: boolean;
  readonly writePages: (root: string) => Promise<void>;
  readonly compare: (revision: string, suites: readonly Suite[], quick: boolean, around: Terminal) => Promise<Status>;
  readonly soak: (minutes: number, around: Surroundings) => Promise<Status>;
}

/** 1: a row failed or a target was missed; 2: a wrong command line; 3: a target could not be judged; 130: interrupted. */
export type Status = 0 | 1 | 2 | 3 | 130;

export const isCheckout = (root: string): boolean => existsSync(join(root, "src/index.ts"));

/** Gives the status of a command, where its line was wrong, it was ended (`ended` is told then), or the system refused it something, too. */
export async function settle(around: Terminal, command: () => Promise<Status>, ended = ""): Promise<Status> {
  try {
    return await command();
  } catch (error) {
    around.progress("");
    if (!(error instanceof UsageError) && (error instanceof Interrupted || around.signal.aborted)) {
      around.err(ended);
      return 130;
    }
    // What the system refuses, as a disk that is full does, has a code and says where.
    if (!(error instanceof UsageError) && !(error instanceof Error && "code" in error)) throw error;
    around.err(`${error.message}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

/**
 * Runs a command on the terminal that this process was started on, and ends the process with its status. A first Ctrl-C ends the
 * command, which tells what it has; a second one, or a command that does not end, ends everything at once.
 */
export async function runInTerminal(root: string, command: (around: Terminal) => Promise<Status>): Promise<void> {
  const { stdout, stderr } = process;
  const ending = new AbortController();
  const end = (): void => {
    stderr.write("\nEnding: what is finished is told. Once more ends at once.\n");
    ending.abort();
  };
  const stopListening = onEnding(end, () => leave(130));
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    // Who reads may have seen enough, as `head` has.
    if (error.code !== "EPIPE") stderr.write(`The results could not be told: ${error.message}\n`);
    leave(1);
  });
  stderr.on("error", () => {}); // Where nobody hears of the way, the results are told all the same.
  const isTerminal = Boolean(stderr.isTTY);
  const status = await command({
    root,
    out: (text) => stdout.write(text),
    err: (text) => stderr.write(text),
    progress: (text) => {
      if (isTerminal) stderr.write(`\r\x1b[K${text.slice(0, (stderr.columns || 80) - 1)}`);
    },
    isTerminal,
    signal: ending.signal,
  });
  if (ending.signal.aborted) {
    await new Promise<void>((resolve) => stdout.write("", () => resolve()));
    leave(130);
  }
  stopListening();
  process.exitCode = status;
}

function leave(status: Status): never {
  endDescendants("SIGKILL");
  process.exit(status);
}
