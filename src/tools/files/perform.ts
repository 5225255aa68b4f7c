import type { Steps } from "./steps";
import type { Task, Workspace } from "./workspace";

/** Longest work without a pause at first, in milliseconds: half of the dispatcher's turn. */
const AT_ONCE = 0.4;
/** Longest work between two pauses afterwards, in milliseconds. A timer waits for half of it on average. */
const PIECE = 0.2;

/**
 * Performs work that yields after each short step. All of it is done at once if that takes no longer than `AT_ONCE`.
 * Longer work goes on with pauses at its yields. When the asker gives up, the reason is thrown into the steps. They may
 * clean up in further steps.
 */
export function perform<Value>(workspace: Workspace, steps: Steps<Value>, task: Task | null): Value | Promise<Value> {
  const { clock } = workspace;
  const start = clock.monotonicTime();
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (clock.monotonicTime() - start >= AT_ONCE) return performSlowly(workspace, steps, task?.signal ?? null);
  }
}

async function performSlowly<Value>(
  workspace: Workspace,
  steps: Steps<Value>,
  signal: AbortSignal | null,
): Promise<Value> {
  const { clock } = workspace;
  try {
    for (let hasEnded = false; ; ) {
      await workspace.pause();
      const start = clock.monotonicTime();
      do {
        const isAborted: boolean = !hasEnded && signal?.aborted === true;
        hasEnded ||= isAborted;
        const step = isAborted ? steps.throw(signal?.reason) : steps.next();
        if (step.done === true) return step.value;
      } while (clock.monotonicTime() - start < PIECE);
    }
  } finally {
    // The actor is gone after a pause, but the steps must still close what they opened.
    steps.return(undefined as never); // The result is not used.
  }
}
