import { closeSync, constants, openSync } from "node:fs";
import { constants as os } from "node:os";
import { errnoOf } from "./errno";
import type { Libc } from "./libc";

/**
 * Locks an open file by `flock(2)`. All implementations exclude each other, across processes and actors. The kernel
 * releases the lock when the process ends.
 */
export interface FileLock {
  /** Takes the lock. Returns 0 or a negated errno: −EAGAIN while another holder has it. */
  take(descriptor: number): number;
  release(descriptor: number): void;
}

const LOCK_EX = 2;
const LOCK_NB = 4;
const LOCK_UN = 8;
const { EAGAIN, ENOLCK } = os.errno;

/** Locks by a call of the C library. */
export function lockByCall(libc: Libc): FileLock {
  const errnoOf = libc.errno;
  return {
    take: (descriptor) => (libc.flock(descriptor, LOCK_EX | LOCK_NB) === 0 ? 0 : -errnoOf()),
    release: (descriptor) => void libc.flock(descriptor, LOCK_UN),
  };
}

/**
 * Locks by the program `flock`, of util-linux or busybox. The lock belongs to the open file, so it stays when the
 * program ends.
 * Each lock takes a millisecond. SQLite's locks would take 17 µs, but SQLite opens its file by a path and plays back
 * any journal beside it. That is unsafe near a directory that others write to.
 *
 * @param program the path of the program.
 */
export function lockByProgram(program: string): FileLock {
  const held = new Map<number, number>();
  return {
    take(descriptor) {
      let file: number;
      try {
        // Opens the same file once more. Closing this descriptor releases the lock.
        file = openSync(`/proc/self/fd/${descriptor}`, constants.O_WRONLY | constants.O_NONBLOCK);
      } catch (thrown) {
        return errnoOf(thrown);
      }
      const code = takeWith(program, file);
      if (code === 0) held.set(descriptor, file);
      else closeSync(file);
      return code;
    },
    release(descriptor) {
      const file = held.get(descriptor);
      if (file === undefined) return;
      held.delete(descriptor);
      closeSync(file);
    },
  };
}

function takeWith(program: string, file: number): number {
  try {
    const { exitCode } = Bun.spawnSync([program, "-n", "3"], { stdio: ["ignore", "ignore", "ignore", file], env: {} });
    return exitCode === 0 ? 0 : exitCode === 1 ? -EAGAIN : -ENOLCK;
  } catch (thrown) {
    return errnoOf(thrown);
  }
}
