import { isUtf8 } from "node:buffer";
import * as fs from "node:fs";
import { constants, endianness } from "node:os";
import { EntryReader } from "./entries";
import { attempt, errnoOf, synced } from "./errno";
import type { FileLock } from "./file-lock";
import { FLAGS } from "./flags";
import { isNamed, isProcfs } from "./in-place";
import { type Libc, SYSTEM_CALLS } from "./libc";
import type { EntryKind, Name, Opening, Root, Status } from "./root";
import { openStepByStep } from "./step-by-step";

const { ENOENT, EEXIST, ENOTDIR, ELOOP, ENOTEMPTY, EISDIR } = constants.errno;

/** The number of names that `entries` gives at a time without FFI. Bun reads all names at once then. */
const SOME = 1_000;

/** Names of a directory that were read but not given all yet. */
interface Reading {
  readonly names: readonly { readonly name: Name; readonly kind: EntryKind | undefined }[];
  at: number;
}

/**
 * A root without FFI. Names are looked up one at a time, as `/proc/self/fd/<descriptor of the directory>/<name>`, and
 * never followed. The part before the name leads to the open directory, even after that was moved.
 */
class ProcRoot implements Root {
  readonly resolution = "proc-fd";
  top: number;
  readonly #lock: FileLock;
  /** Null without FFI. */
  readonly #entries: EntryReader | null;
  readonly #readings = new Map<number, Reading>();

  constructor(top: number, lock: FileLock, entries: EntryReader | null) {
    this.top = top;
    this.#lock = lock;
    this.#entries = entries;
  }

  open(path: string, opening: Opening): number {
    return openStepByStep(this, path, opening, ".");
  }

  openAt(at: number, name: Name, opening: Opening): number {
    const path = below(at, name);
    try {
      return fs.openSync(path, FLAGS[opening]);
    } catch (thrown) {
      const code = errnoOf(thrown);
      // Opening a link as a directory gives ENOTDIR.
      return code === -ENOTDIR && isLink(path) ? -ELOOP : code;
    }
  }

  isInPlace(path: string, directory: number): boolean {
    return isNamed(this.top, path, directory);
  }

  close(descriptor: number): void {
    this.#readings.delete(descriptor);
    attempt(() => fs.closeSync(descriptor));
  }

  stat(descriptor: number, into: Status): number {
    return attempt(() => fill(into, fs.fstatSync(descriptor)));
  }

  statAt(at: number, name: Name, into: Status): number {
    try {
      // Missing names are frequent here. Without an exception there is no stack to collect.
      const found = fs.lstatSync(below(at, name), { throwIfNoEntry: false });
      return found === undefined ? -ENOENT : fill(into, found);
    } catch (thrown) {
      return errnoOf(thrown);
    }
  }

  read(descriptor: number, into: Uint8Array, length: number, position: number): number {
    try {
      return fs.readSync(descriptor, into, 0, length, position);
    } catch (thrown) {
      return errnoOf(thrown);
    }
  }

  write(descriptor: number, from: Uint8Array, length: number): number {
    try {
      return fs.writeSync(descriptor, from, 0, length);
    } catch (thrown) {
      return errnoOf(thrown);
    }
  }

  truncate(descriptor: number, length: number): number {
    return attempt(() => fs.ftruncateSync(descriptor, length));
  }

  chmod(descriptor: number, mode: number): number {
    return attempt(() => fs.fchmodSync(descriptor, mode));
  }

  chown(descriptor: number, owner: number, group: number): number {
    return attempt(() => {
      const { uid, gid } = fs.fstatSync(descriptor);
      fs.fchownSync(descriptor, owner < 0 ? uid : owner, group < 0 ? gid : group);
    });
  }

  sync(descriptor: number): Promise<number> {
    return synced(descriptor);
  }

  entries(directory: number, each: (name: Name, kind: EntryKind | undefined) => void): number {
    if (this.#entries !== null) return this.#entries.read(directory, each);
    let reading = this.#readings.get(directory);
    if (reading === undefined) {
      try {
        reading = { names: namesIn(`/proc/self/fd/${directory}/.`), at: 0 };
      } catch (thrown) {
        return errnoOf(thrown);
      }
      this.#readings.set(directory, reading);
    }
    const given = reading.names.slice(reading.at, reading.at + SOME);
    reading.at += given.length;
    for (const { name, kind } of given) each(name, kind);
    return given.length;
  }

  makeDirectory(at: number, name: Name, mode: number): number {
    return attempt(() => fs.mkdirSync(below(at, name), { mode }));
  }

  unlink(at: number, name: Name): number {
    return attempt(() => fs.unlinkSync(below(at, name)));
  }

  removeDirectory(at: number, name: Name): number {
    return attempt(() => fs.rmdirSync(below(at, name)));
  }

  rename(from: number, name: Name, to: number, newName: Name, replace: boolean): number {
    const path = below(from, name);
    const newPath = below(to, newName);
    if (replace) return attempt(() => fs.renameSync(path, newPath));
    try {
      return fs.lstatSync(path).isDirectory() ? renameDirectory(path, newPath) : renameFile(path, newPath);
    } catch (thrown) {
      return errnoOf(thrown);
    }
  }

  exchange(from: number, name: Name, to: number, newName: Name, spare: string): number {
    const [path, newPath, kept] = [below(from, name), below(to, newName), below(from, spare)];
    // A second name keeps the old file while the new one takes its place.
    const linked = attempt(() => fs.linkSync(newPath, kept));
    if (linked < 0) return linked;
    const renamed = attempt(() => fs.renameSync(path, newPath));
    const done = attempt(() => (renamed < 0 ? fs.unlinkSync(kept) : fs.renameSync(kept, path)));
    return renamed < 0 ? renamed : done;
  }

  lock(descriptor: number): number {
    return this.#lock.take(descriptor);
  }

  unlock(descriptor: number): void {
    this.#lock.release(descriptor);
  }

  dispose(): void {
    this.close(this.top);
    this.top = -1; // The number may belong to another file from now on.
  }
}

/** Links the new name, which fails if it exists, and then removes the old one. */
function renameFile(path: PathLike, newPath: PathLike): number {
  fs.linkSync(path, newPath);
  fs.unlinkSync(path);
  return 0;
}

/** Makes an empty directory under the new name, and then renames over it. */
function renameDirectory(path: PathLike, newPath: PathLike): number {
  fs.mkdirSync(newPath, { mode: 0o700 });
  const code = attempt(() => fs.renameSync(path, newPath));
  if (code === 0) return 0;
  attempt(() => fs.rmdirSync(newPath));
  return code === -ENOTEMPTY || code === -ENOTDIR || code === -EISDIR ? -EEXIST : code; // Another process was quicker.
}

type PathLike = string | Buffer;

function below(at: number, name: Name): PathLike {
  const directory = `/proc/self/fd/${at}/`;
  return typeof name === "string" ? directory + name : Buffer.concat([Buffer.from(directory), name]);
}

function isLink(path: PathLike): boolean {
  try {
    return fs.lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

/** All names except `.` and `..`. */
function namesIn(directory: string): Reading["names"] {
  let isText = true;
  const names = fs.readdirSync(directory, { withFileTypes: true }).map((entry) => {
    if (entry.name.includes("\uFFFD")) isText = false;
    return { name: entry.name, kind: kindOf(entry) };
  });
  if (isText) return names;
  // Some names may not be UTF-8. The call that gives the kinds does not give their bytes.
  const rest = fs.readdirSync(directory, { encoding: "buffer" }).flatMap((bytes) => {
    const text = bytes.toString();
    if (!text.includes("\uFFFD")) return [];
    return [{ name: isUtf8(bytes) ? text : Uint8Array.from(bytes), kind: undefined }];
  });
  return [...names.filter(({ name }) => !name.includes("\uFFFD")), ...rest];
}

/** The kind of an entry. Undefined if the file system does not tell. */
function kindOf(entry: fs.Dirent | fs.Stats): EntryKind | undefined {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "directory";
  if (entry.isSymbolicLink()) return "link";
  const isOther = entry.isFIFO() || entry.isSocket() || entry.isCharacterDevice() || entry.isBlockDevice();
  return isOther ? "other" : undefined;
}

function fill(into: Status, from: fs.Stats): 0 {
  into.kind = kindOf(from) ?? "other";
  into.mode = from.mode & 0o7777;
  into.links = from.nlink;
  into.owner = from.uid;
  into.group = from.gid;
  into.size = from.size;
  into.inode = from.ino;
  into.device = from.dev;
  into.modified = from.mtimeMs;
  into.changed = from.ctimeMs;
  return 0;
}

/**
 * Opens a directory as a root that is reached through `/proc`, or gives the reason why it cannot.
 *
 * @throws any error of opening the directory.
 */
export function openProcRoot(
  directory: string,
  lock: FileLock | undefined,
  libc: Libc | undefined,
): Root | { readonly reason: string } {
  if (!isProcfs("/proc/self/fd")) return { reason: "/proc is not mounted, or not with this process in it" };
  if (lock === undefined) return { reason: "there is neither bun:ffi nor the program flock to keep writers apart" };
  const top = fs.openSync(directory, FLAGS.directory & ~fs.constants.O_NOFOLLOW);
  const calls = endianness() === "LE" ? SYSTEM_CALLS : undefined;
  const entries = libc === undefined || calls === undefined ? null : new EntryReader(libc, calls);
  const root = new ProcRoot(top, lock, entries);
  if (leadsTo(top)) return root;
  root.dispose();
  return { reason: "/proc/self/fd does not lead to what this process has open" };
}

function leadsTo(descriptor: number): boolean {
  try {
    const [ours, found] = [fs.fstatSync(descriptor), fs.statSync(below(descriptor, "."))];
    return ours.ino === found.ino && ours.dev === found.dev;
  } catch {
    return false;
  }
}
