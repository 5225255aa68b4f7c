import { constants } from "node:fs";
import type { OpenMode } from "./root";

const O_PATH = 0o10000000;
const O_CLOEXEC = 0o2000000; // Nothing that is spawned meanwhile inherits a descriptor.
const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_APPEND, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants;
/** Of files: opening a FIFO returns at once, and a terminal becomes nobody's. */
const FILE = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

/** How Linux is told what an opening is for. Nothing that it opens is a link. */
export const FLAGS: OpenMode = {
  place: O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
  directory: O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
  read: O_RDONLY | FILE,
  write: O_WRONLY | FILE,
  writeOrCreate: O_WRONLY | O_CREAT | FILE,
  create: O_WRONLY | O_CREAT | O_EXCL | FILE,
  append: O_WRONLY | O_APPEND | FILE,
};
