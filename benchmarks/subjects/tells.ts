import type { Completion, Prepared } from "../harness/suite";

interface Tells {
  readonly operations: number;
  /** How many are sent before the last of them is awaited. */
  readonly width: number;
  /** The handlers report to it. */
  readonly completion: Completion;
  readonly tell: (index: number) => void;
  readonly teardown?: () => unknown;
}

/** Tells, `width` at once, until the last of them is handled; then the next `width`. */
export function prepareTells({ operations, width, completion, tell, teardown }: Tells): Prepared {
  const run = async () => {
    for (let sent = 0; sent < operations; sent += width) {
      const done = completion.expect(width);
      for (let i = 0; i < width; i++) tell(i);
      await done;
    }
  };
  return { run, completed: completion.completed, ...(teardown && { teardown }) };
}
