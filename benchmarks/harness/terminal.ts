import { endDescendants } from "./interruption";
import { onEnding } from "./signals";
import type { Status, Terminal } from "./surroundings";

/**
 * Runs a command on the terminal that this process was started on, and ends the process with its status. A first Ctrl-C ends the
 * command, which tells what it has; a second one, or a command that does not end, ends everything at once.
 */
export async function runInTerminal(root: string, command: (around: Terminal) => Promise<Status>): Promise<void> {
  const { stdout, stderr } = process;
  const ending = new AbortController();
  const stopListening = onEnding(
    () => {
      stderr.write("\nEnding: what is finished is told. Once more ends at once.\n");
      ending.abort();
    },
    () => leave(130),
  );
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

/** Ends this process and all that it started; folders go with it. */
function leave(status: Status): never {
  endDescendants("SIGKILL");
  process.exit(status);
}
