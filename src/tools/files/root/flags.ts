import { constants } from "node:fs";
import type { OpenMode } from "./root";

const O_PATH = 0o10000000;
const O_CLOEXEC = 0o2000000; // A process spawned meanwhile inherits no descriptor.
const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_APPEND, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants;
/** For files: opening a FIFO returns at once, and opening a terminal does not make it the controlling one. */
const FILE = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

/** Linux's flags for each way of opening. None of them follows a link. */
export const FLAGS: OpenMode = {
  place: O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
  directory: O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
  read: O_RDONLY | FILE,
  write: O_WRONLY | FILE,
  writeOrCreate: O_WRONLY | O_CREAT | FILE,
  create: O_WRONLY | O_CREAT | O_EXCL | FILE,
  append: O_WRONLY | O_APPEND | FILE,
};
