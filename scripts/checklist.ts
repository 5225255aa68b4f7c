/** Steps that are all taken, whatever becomes of each, and a summary of them. */

const SECOND = 1_000;

/** One thing to check. */
export interface Step {
  readonly name: string;
  /** Resolves with how it went; one that rejects failed, with the words of its error. */
  readonly run: (signal: AbortSignal) => Promise<Outcome>;
}

/** How a step went. */
export interface Outcome {
  readonly isOk: boolean;
  /** A few words: `3 targets missed`. */
  readonly note: string;
}

/** Takes every step in turn, prints a summary, and returns the status: 0 when all went well, 130 when the signal ended them, else 1. */
export async function takeSteps(
  steps: readonly Step[],
  print: (line: string) => void,
  signal: AbortSignal,
): Promise<0 | 1 | 130> {
  const lines: string[] = [];
  let failed = 0;
  for (const { name, run } of steps) {
    if (signal.aborted) break;
    print(`\n== ${name}`);
    const start = performance.now();
    const { isOk, note } = await outcomeOf(run, signal);
    if (!isOk) failed++;
    const seconds = `${((performance.now() - start) / SECOND).toFixed(1)} s`;
    lines.push(`${isOk ? "ok    " : "FAILED"} ${name.padEnd(12)} ${seconds.padStart(9)}${note && `   ${note}`}`);
  }
  print(`\n${lines.join("\n")}`);
  if (signal.aborted) {
    print(`interrupted; ${steps.length - lines.length} of ${steps.length} steps were not taken`);
    return 130;
  }
  print(failed === 0 ? "ready for a release" : `${failed} of ${steps.length} failed`);
  return failed === 0 ? 0 : 1;
}

async function outcomeOf(run: Step["run"], signal: AbortSignal): Promise<Outcome> {
  try {
    return await run(signal);
  } catch (error) {
    return { isOk: false, note: error instanceof Error ? error.message : String(error) };
  }
}
