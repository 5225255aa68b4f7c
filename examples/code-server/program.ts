import { USAGES, UsageError } from "./command-line";
import { CannotServe } from "./tools";

/** Runs a program, and says why it cannot start. Status 1: this machine or the port; 2: the command line. */
export async function runProgram(which: keyof typeof USAGES, start: () => Promise<boolean>): Promise<void> {
  try {
    if (!(await start())) process.stdout.write(USAGES[which]);
  } catch (error) {
    const isExpected = error instanceof UsageError || error instanceof CannotServe || isInUse(error);
    if (!isExpected) throw error;
    process.stderr.write(`${(error as Error).message}\n`); // Each of them is one.
    process.exitCode = error instanceof UsageError ? 2 : 1;
    if (isInUse(error)) process.exit();
  }
}

const isInUse = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "EADDRINUSE" || error.code === "EACCES");
