/** Work that lets others go on wherever it yields. */
export type Steps<Value> = Generator<undefined, Value, undefined>;

/** So much work is done between two pauses: some 50 µs of usual bytes, and half a millisecond of the worst. */
const MOST = 256 * 1024;

/** Counts work, in bytes that are looked at, since a look at the clock after every bit of it would cost more than the work. */
export class Effort {
  #spent = 0;

  /** Whether a pause is due. */
  spend(bytes: number): boolean {
    this.#spent += bytes;
    if (this.#spent < MOST) return false;
    this.#spent = 0;
    return true;
  }
}

/** Does the work if no pause falls due; undefined, and nothing done, if one does. */
export function finishAtOnce<Value>(steps: Steps<Value>): Value | undefined {
  const step = steps.next();
  if (step.done === true) return step.value;
  steps.return(undefined as never); // What it would give is not looked at.
  return undefined;
}

/** Lets others go on. A workspace is one. */
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
