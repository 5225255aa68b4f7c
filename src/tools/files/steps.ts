/** Work that lets others go on at each yield. */
export type Steps<Value> = Generator<undefined, Value, undefined>;

/** Work between two pauses: some 50 µs for usual bytes, half a millisecond for the worst. */
const MOST = 256 * 1024;

/** Counts work in bytes searched. A look at the clock after every small step would cost more than the step. */
export class Effort {
  #spent = 0;

  /** Notes work done. Returns true if a pause is due. */
  spend(bytes: number): boolean {
    this.#spent += bytes;
    if (this.#spent < MOST) return false;
    this.#spent = 0;
    return true;
  }
}

/** Does the work if it needs no pause. Otherwise stops it and returns undefined. */
export function finishAtOnce<Value>(steps: Steps<Value>): Value | undefined {
  const step = steps.next();
  if (step.done === true) return step.value;
  steps.return(undefined as never); // The result is not used.
  return undefined;
}

/** Lets others go on. A workspace has this. */
interface Pausing {
  pause(): Promise<void>;
}

/** Does the work with its pauses, until the asker gives up. */
export async function finishSlowly<Value>(
  steps: Steps<Value>,
  workspace: Pausing,
  signal: AbortSignal,
): Promise<Value> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await workspace.pause();
    signal.throwIfAborted();
  }
}
