/** The terminal that a command runs on; in tests, texts. */
export interface Terminal {
  /** Writes to standard output, and waits until what was written before has left. */
  readonly out: (text: string) => Promise<void>;
  /** Writes to standard error. */
  readonly err: (text: string) => void;
}

/** 0: done. 1: nothing was found, or there are differences. 2: the command line is wrong, or a file cannot be read. */
export type Status = 0 | 1 | 2;

/** Letters that are gathered before they are written. */
const GATHERED = 16_384;

/** Runs a command on the terminal of this process, and sets the status of the process. */
export async function runInTerminal(command: (terminal: Terminal) => Promise<Status>): Promise<void> {
  const { stdout, stderr } = process;
  for (const stream of [stdout, stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      // The reader may have seen enough, as `head` has.
      if (error.code === "EPIPE") process.exit(0);
      if (stream === stdout) stderr.write(`The output could not be written: ${error.message}\n`);
      process.exit(2);
    });
  }
  let gathered = "";
  const flush = async (): Promise<void> => {
    const text = gathered;
    gathered = "";
    if (text !== "" && !stdout.write(text)) await new Promise<void>((resolve) => stdout.once("drain", resolve));
  };
  const terminal: Terminal = {
    async out(text) {
      gathered += text;
      if (gathered.length > GATHERED) await flush();
    },
    err: (text) => void stderr.write(text),
  };
  process.exitCode = await command(terminal);
  await flush();
}
