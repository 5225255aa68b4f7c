import { fsync } from "node:fs";
import { constants } from "node:os";

/** The negated errno of an error thrown by `node:fs` or by a volume. */
export function errnoOf(thrown: unknown): number {
  // They throw either Errors with these fields or TypeErrors about an argument.
  const { errno, code } = thrown as { readonly errno?: number; readonly code?: keyof typeof constants.errno };
  if (typeof errno === "number" && errno !== 0) return -Math.abs(errno);
  return -((code !== undefined && constants.errno[code]) || constants.errno.EINVAL);
}

/** Runs a call of `node:fs`. Returns 0, or a negated errno if it threw. */
export function attempt(work: () => unknown): number {
  try {
    work();
    return 0;
  } catch (thrown) {
    return errnoOf(thrown);
  }
}

/** Runs `fsync` on another thread, since it waits for the disk. Gives 0 or a negated errno. */
export function synced(descriptor: number): Promise<number> {
  return new Promise((resolve) => {
    fsync(descriptor, (error) => resolve(error === null || error === undefined ? 0 : errnoOf(error)));
  });
}
