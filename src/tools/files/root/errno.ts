import { fsync } from "node:fs";
import { constants } from "node:os";

/** The negated errno of what a function of `node:fs`, or of a volume like it, threw. */
export function errnoOf(thrown: unknown): number {
  // What they throw are Errors with these, or TypeErrors about an argument.
  const { errno, code } = thrown as { readonly errno?: number; readonly code?: keyof typeof constants.errno };
  if (typeof errno === "number" && errno !== 0) return -Math.abs(errno);
  return -((code !== undefined && constants.errno[code]) || constants.errno.EINVAL);
}

/** 0 once a function of `node:fs` has done its work, or its negated errno. */
export function attempt(work: () => unknown): number {
  try {
    work();
    return 0;
  } catch (thrown) {
    return errnoOf(thrown);
  }
}

/** `fsync` on another thread, since it waits for the disk; 0 or a negated errno. */
export function synced(descriptor: number): Promise<number> {
  return new Promise((resolve) => {
    fsync(descriptor, (error) => resolve(error === null || error === undefined ? 0 : errnoOf(error)));
  });
}
