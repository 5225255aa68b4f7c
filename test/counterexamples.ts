/** Loaded before all tests: a property that fails tells one counterexample, and no more of it than one can read. */
import fc, { type RunDetails } from "fast-check";

const MOST = 3_000;

/** The beginning and the end of a text that is too long to read. */
export function shorten(text: string): string {
  if (text.length <= MOST) return text;
  const left = text.length - MOST;
  return `${text.slice(0, (2 * MOST) / 3)}\n… ${left} characters are left out …\n${text.slice(-MOST / 3)}`;
}

/** Throws where a property failed, as fast-check does by itself; its seed and its path are told whole. */
export function report(details: RunDetails<unknown>): void {
  if (!details.failed) return;
  const { errorInstance: cause } = details;
  if (cause instanceof Error && cause.message.length > MOST) {
    // Bun prints a cause whole: that of a failed `expect` has both values in it.
    const { message, stack = "" } = cause;
    const short = new Error(shorten(message));
    short.stack = shorten(message) + stack.slice(stack.indexOf(message) + message.length);
    throw new Error(shorten(messageOf(details)), { cause: short });
  }
  throw new Error(shorten(messageOf(details)), { cause });
}

function messageOf({
  seed,
  counterexamplePath: path,
  counterexample,
  numRuns,
  numShrinks,
}: RunDetails<unknown>): string {
  const again = JSON.stringify({ seed, path });
  return `Property failed after ${numRuns} runs and ${numShrinks} shrinks; again by ${again}\nCounterexample: ${fc.stringify(counterexample)}`;
}

fc.configureGlobal({ reporter: report });
