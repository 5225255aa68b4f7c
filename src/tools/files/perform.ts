import type { Steps } from "./steps";
import type { Task, Workspace } from "./workspace";

/** How long work may take that is done at once, in milliseconds: half of the dispatcher's own turn. */
const AT_ONCE = 0.4;
/** How long steps of longer work follow each other between two pauses, in milliseconds: a timer waits for half of it. */
const PIECE = 0.2;

/**
 * Does work that yields after each step, none of which takes long: at once if all of it takes no longer than that may, with
 * pauses where it yields if it does. Once the asker has given up, the reason is thrown into the steps, which may clean up
 * in further steps.
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
    // Where the actor is gone after a pause, the steps have still to close what they have open.
    steps.return(undefined as never); // What it would give is not looked at.
  }
}
