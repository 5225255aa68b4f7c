/**
 * The way in which a root is reached:
 *
 * | resolution | how it stays inside |
 * | --- | --- |
 * | `openat2` | the kernel resolves the whole path below the root, and refuses links (Linux 5.6, through `bun:ffi`) |
 * | `proc-fd` | each directory on the way is opened without following links, and pinned through `/proc/self/fd` (Linux, no FFI) |
 * | `memory` | there is nothing outside: an in-memory file system, for tests |
 */
export type Resolution = "openat2" | "proc-fd" | "memory";

/** The kind of an entry in a directory. */
export type EntryKind = "file" | "directory" | "link" | "other";

/** A name in a directory. It is bytes if it is not UTF-8. */
export type Name = string | Uint8Array;

/** The status of a file. */
export class Status {
  kind: EntryKind = "other";
  /** In bytes. */
  size = 0;
  /** The permission bits, such as 0o644. */
  mode = 0;
  /** The number of its names (hard links). */
  links = 0;
  owner = 0;
  group = 0;
  inode = 0;
  device = 0;
  /** The time of its last change of content, in milliseconds since 1970, with a fraction. */
  modified = 0;
  /** The time of its last change of content, name or rights, in the same unit. */
  changed = 0;
}

/** A number for each way of opening a file. */
export interface OpenMode {
  /** A directory that serves only to look names up in (`O_PATH`). */
  readonly place: number;
  /** A directory whose names are read. */
  readonly directory: number;
  readonly read: number;
  /** An existing file, opened for writing. */
  readonly write: number;
  /** A file opened for writing, and made if it is missing. */
  readonly writeOrCreate: number;
  /** A file that must not exist yet. */
  readonly create: number;
  readonly append: number;
}

/** A way of opening. Each root translates it for its operating system. */
export type Opening = keyof OpenMode;

/**
 * A directory with no way out of it, at the level of the operating system: names, descriptors and bytes, no policy. All
 * calls are synchronous. A number below zero is a negated errno. Nothing throws.
 *
 * `path` is a whole path below the root, and `""` is the root itself. Every other name is a single name in the open
 * directory `at`. A link is never followed.
 */
export interface Root {
  readonly resolution: Resolution;
  /** The descriptor of the root, opened for looking names up. */
  readonly top: number;
  /** Opens a path. A link anywhere on it gives ELOOP. Opening a FIFO does not block. */
  open(path: string, opening: Opening): number;
  openAt(at: number, name: Name, opening: Opening): number;
  /**
   * True if an open directory is known to be at this path, in a time that hardly depends on the depth. False if it is
   * elsewhere, or if only opening the path again can tell.
   */
  isInPlace(path: string, directory: number): boolean;
  close(descriptor: number): void;
  stat(descriptor: number, into: Status): number;
  statAt(at: number, name: Name, into: Status): number;
  /** Reads up to `length` bytes at `position` into the beginning of `into`. Returns how many. */
  read(descriptor: number, into: Uint8Array, length: number, position: number): number;
  /** Writes the first `length` bytes of `from` behind the last write. Returns how many. */
  write(descriptor: number, from: Uint8Array, length: number): number;
  truncate(descriptor: number, length: number): number;
  chmod(descriptor: number, mode: number): number;
  /** Changes the owner and the group of a file or directory. −1 leaves the value as it is. */
  chown(descriptor: number, owner: number, group: number): number;
  /** Flushes a file or directory to the disk. */
  sync(descriptor: number): Promise<number>;
  /**
   * Gives the next names of a directory opened for reading, in the order of the disk. Returns how many, and 0 at the
   * end. `each` must not call the root: the other names are still in its buffer.
   */
  entries(directory: number, each: (name: Name, kind: EntryKind | undefined) => void): number;
  makeDirectory(at: number, name: Name, mode: number): number;
  unlink(at: number, name: Name): number;
  removeDirectory(at: number, name: Name): number;
  /** Moves a file or directory. Without `replace`, a new name that exists gives EEXIST. */
  rename(from: number, name: Name, to: number, newName: Name, replace: boolean): number;
  /**
   * Exchanges the names of two files. Neither is missing meanwhile. `spare` is an unused name in `from`, for a root
   * that needs several calls. Gives an errno such as EINVAL or EPERM if the file system cannot do it.
   */
  exchange(from: number, name: Name, to: number, newName: Name, spare: string): number;
  /** Takes the lock of an open file, among all processes that use this library. −EAGAIN while another holder has it. */
  lock(descriptor: number): number;
  unlock(descriptor: number): void;
  /** Closes the root itself. */
  dispose(): void;
}
