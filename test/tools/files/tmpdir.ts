import { accessSync, constants, statfsSync } from "node:fs";
import * as os from "node:os";
import { isLong } from "../../property/runs";

const IN_MEMORY = "/dev/shm";
/** Bytes that the largest of these tests have room in, several of them at once. */
const ROOM = 2 ** 30;

/**
 * Where the tests of files have theirs: in memory, where this machine has room for them there. A disk takes thousands of
 * files three times as long. The long verification is over the disk.
 */
export const tmpdir = (): string => (isInMemory ? IN_MEMORY : os.tmpdir());

const isInMemory = !isLong && hasRoom();

function hasRoom(): boolean {
  try {
    accessSync(IN_MEMORY, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return bavail * bsize >= ROOM;
  } catch {
    return false; // Another system than Linux.
  }
}
