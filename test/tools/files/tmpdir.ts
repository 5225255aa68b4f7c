import { accessSync, constants, statfsSync } from "node:fs";
import * as os from "node:os";
import { isLong } from "../../property/runs";

const IN_MEMORY = "/dev/shm";
/** Bytes that the largest of these tests have room in, several of them at once. */
const ROOM = 2 ** 30;

/**
 * The folder for the directories of the files' tests: in memory, if this machine has room there. On a disk, thousands of files take three
 * times as long. The long verification uses the disk.
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
