/**
 * How a root is reached:
 *
 * | resolution | how it stays inside |
 * | --- | --- |
 * | `openat2` | the kernel resolves the whole path below the root, and refuses links (Linux 5.6, through `bun:ffi`) |
 * | `proc-fd` | each directory on the way is opened without following links, and pinned through `/proc/self/fd` (Linux, no FFI) |
 * | `memory` | there is nothing outside: an in-memory file system, for tests |
 */
export type Resolution = "openat2" | "proc-fd" | "memory";

/** What a name stands for. */
export type EntryKind = "file" | "directory" | "link" | "other";

/** A name in a directory: its bytes, where they are not UTF-8. */
export type Name = string | Uint8Array;

/** What the file system knows of a file. */
export class Status {
  kind: EntryKind = "other";
  /** In bytes. */
  size = 0;
  /** The permission bits, such as 0o644. */
  mode = 0;
  /** How many names it has. */
  links = 0;
  owner = 0;
  group = 0;
  inode = 0;
  device = 0;
  /** When its content changed, in milliseconds since 1970, with a fraction. */
  modified = 0;
  /** When its content, its name or its rights changed, in the same unit. */
  changed = 0;
}

/** How a file is opened. */
export interface OpenMode {
  /** A directory that is only a place for names to be looked up in (`O_PATH`). */
  readonly place: number;
  /** A directory whose names are read. */
  readonly directory: number;
  readonly read: number;
  /** An existing file, to be written. */
  readonly write: number;
  /** A file to be written, made where it is missing. */
  readonly writeOrCreate: number;
  /** A file that must not exist yet. */
  readonly create: number;
  readonly append: number;
}

/** How an opening is meant; a root knows what its operating system calls it. */
export type Opening = keyof OpenMode;

/**
 * A directory that nothing below it leads out of, as the operating system has it: names, descriptors and bytes, no
 * policy. All calls are synchronous. Numbers below zero are negated errnos; nothing throws.
 *
 * `path` is a whole path below the root, `""` for the root itself; every other name is one name in a directory that is
 * open (`at`), and is never followed where it is a link.
 */
export interface Root {
  readonly resolution: Resolution;
  /** The root, open as a directory for names. */
  readonly top: number;
  /** Opens what a path names; a link anywhere on it is ELOOP. A FIFO does not block. */
  open(path: string, opening: Opening): number;
  openAt(at: number, name: Name, opening: Opening): number;
  close(descriptor: number): void;
  stat(descriptor: number, into: Status): number;
  statAt(at: number, name: Name, into: Status): number;
  /** Reads up to `length` bytes at `position` to the beginning of `into`; gives how many. */
  read(descriptor: number, into: Uint8Array, length: number, position: number): number;
  /** Writes the first `length` bytes of `from` where the last write ended; gives how many. */
  write(descriptor: number, from: Uint8Array, length: number): number;
  truncate(descriptor: number, length: number): number;
  chmod(descriptor: number, mode: number): number;
  /** Gives a file or directory to a user and a group; −1 leaves either as it is. */
  chown(descriptor: number, owner: number, group: number): number;
  /** Brings file or directory to the disk. */
  sync(descriptor: number): Promise<number>;
  /**
   * Gives the next names of a directory that was opened to be read, in the order of the disk: how many it gave, 0 at
   * the end. `each` is not to call the root: the names of the rest wait in a buffer that it shares.
   */
  entries(directory: number, each: (name: Name, kind: EntryKind | undefined) => void): number;
  makeDirectory(at: number, name: Name, mode: number): number;
  unlink(at: number, name: Name): number;
  removeDirectory(at: number, name: Name): number;
  /** Moves a file or directory; without `replace`, EEXIST where the new name is taken. */
  rename(from: number, name: Name, to: number, newName: Name, replace: boolean): number;
  /**
   * Exchanges the names of two files, neither of which is missing meanwhile. `spare` is a name in `from` that nobody has, for
   * where it takes several calls. An errno such as EINVAL or EPERM where the file system cannot.
   */
  exchange(from: number, name: Name, to: number, newName: Name, spare: string): number;
  /** Takes the lock of an open file, which all processes heed that use this library; −EAGAIN while another has it. */
  lock(descriptor: number): number;
  unlock(descriptor: number): void;
  /** Closes the root itself. */
  dispose(): void;
}
