import { ptr } from "bun:ffi";
import { constants, openSync } from "node:fs";
import { endianness } from "node:os";
import { EntryReader, KINDS } from "./entries";
import { synced } from "./errno";
import { type FileLock, lockByCall } from "./file-lock";
import { FLAGS } from "./flags";
import { isNamed, isProcfs } from "./in-place";
import { type Libc, SYSTEM_CALLS, type SystemCalls } from "./libc";
import type { EntryKind, Name, Opening, OpenMode, Root, Status } from "./root";

const { O_NOFOLLOW } = constants;

/** The flags for openat2. RESOLVE reports a link as ELOOP; O_NOFOLLOW would turn that into ENOTDIR. */
const BELOW: OpenMode = {
  ...FLAGS,
  place: FLAGS.place & ~O_NOFOLLOW,
  directory: FLAGS.directory & ~O_NOFOLLOW,
};

/** The usual permission bits of a new file, before the process's umask. */
const NEW_FILE = 0o666;

/** From include/uapi/linux/openat2.h: stay below the root, follow no symbolic link and no link of /proc. */
const RESOLVE = 0x08 | 0x04 | 0x02;
const SIZE_OF_OPEN_HOW = 24;
const AT_SYMLINK_NOFOLLOW = 0x100;
const AT_REMOVEDIR = 0x200;
const RENAME_NOREPLACE = 1;
const RENAME_EXCHANGE = 2;
const EINTR = 4;
const EAGAIN = 11;

const LONGEST_PATH = 4_096;

/** A root that lets the kernel resolve each path in one call. */
class KernelRoot implements Root {
  readonly resolution = "openat2";
  top: number;
  readonly #libc: Libc;
  readonly #calls: SystemCalls;
  // The C library reads and writes these buffers during a call, JavaScript between calls. A whole write opens its file
  // through `#path` and looks at its target through `#other`, as the rename does, so each name is encoded once.
  readonly #path = new NameBuffer();
  readonly #other = new NameBuffer();
  readonly #how = new DataView(new ArrayBuffer(SIZE_OF_OPEN_HOW));
  readonly #howAt = ptr(this.#how);
  readonly #stat = new DataView(new ArrayBuffer(256));
  readonly #statAt = ptr(this.#stat);
  readonly #entries: EntryReader;
  readonly #errno: () => number;
  readonly #lock: FileLock;
  /** True if the kernel tells the names of open directories. */
  readonly #hasNames = isProcfs("/proc/self/fd");

  constructor(top: number, libc: Libc, calls: SystemCalls) {
    this.top = top;
    this.#libc = libc;
    this.#calls = calls;
    this.#errno = libc.errno;
    this.#lock = lockByCall(libc);
    this.#entries = new EntryReader(libc, calls);
    this.#how.setUint32(16, RESOLVE, true);
  }

  open(path: string, opening: Opening): number {
    return this.openAt(this.top, path === "" ? "." : path, opening);
  }

  openAt(at: number, name: Name, opening: Opening): number {
    this.#path.put(name);
    const isFile = opening !== "place" && opening !== "directory";
    return isFile && isPlain(name) ? this.#openat(at, opening) : this.#openat2(at, opening);
  }

  /** Opens a file by a plain name. O_NOFOLLOW is enough here and takes 60 ns less than the rules of openat2. */
  #openat(at: number, opening: Opening): number {
    for (let tries = 0; ; tries++) {
      const opened = this.#libc.openat(this.#calls.openat, at, this.#path.address, FLAGS[opening], NEW_FILE);
      if (opened >= 0) return opened;
      const errno = this.#errno();
      if (errno !== EINTR || tries === MOST_TRIES) return -errno;
    }
  }

  #openat2(at: number, opening: Opening): number {
    this.#how.setUint32(0, BELOW[opening], true);
    // The kernel refuses a mode for an opening that does not create.
    this.#how.setUint32(8, opening === "create" || opening === "writeOrCreate" ? NEW_FILE : 0, true);
    for (let tries = 0; ; tries++) {
      const opened = this.#libc.openat2(this.#calls.openat2, at, this.#path.address, this.#howAt, SIZE_OF_OPEN_HOW);
      if (opened >= 0) return opened;
      const errno = this.#errno();
      // EAGAIN: a rename came in between, and the kernel asks for another try (openat2(2)).
      if ((errno !== EAGAIN && errno !== EINTR) || tries === MOST_TRIES) return -errno;
    }
  }

  isInPlace(path: string, directory: number): boolean {
    return this.#hasNames && isNamed(this.top, path, directory);
  }

  close(descriptor: number): void {
    this.#libc.close(this.#calls.close, descriptor);
  }

  stat(descriptor: number, into: Status): number {
    return this.#fill(into, this.#libc.fstat(this.#calls.fstat, descriptor, this.#statAt));
  }

  statAt(at: number, name: Name, into: Status): number {
    this.#other.put(name);
    const { newfstatat } = this.#calls;
    return this.#fill(
      into,
      this.#libc.newfstatat(newfstatat, at, this.#other.address, this.#statAt, AT_SYMLINK_NOFOLLOW),
    );
  }

  #fill(into: Status, done: number): number {
    if (done < 0) return -this.#errno();
    const view = this.#stat;
    const mode = view.getUint32(this.#calls.mode, true);
    into.kind = KINDS[mode >> 12] ?? "other";
    into.mode = mode & 0o7777;
    into.links = view.getUint32(this.#calls.links, true);
    into.owner = view.getUint32(this.#calls.owner, true);
    into.group = view.getUint32(this.#calls.group, true);
    into.size = long(view, 48);
    into.inode = long(view, 8);
    into.changed = milliseconds(view, 104);
    into.modified = milliseconds(view, 88);
    into.device = long(view, 0);
    return 0;
  }

  read(descriptor: number, into: Uint8Array, length: number, position: number): number {
    for (;;) {
      const count = this.#libc.pread64(this.#calls.pread64, descriptor, into, length, position);
      if (count >= 0) return count;
      const errno = this.#errno();
      if (errno !== EINTR) return -errno;
    }
  }

  write(descriptor: number, from: Uint8Array, length: number): number {
    for (;;) {
      const count = this.#libc.write(this.#calls.write, descriptor, from, length);
      if (count >= 0) return count;
      const errno = this.#errno();
      if (errno !== EINTR) return -errno;
    }
  }

  truncate(descriptor: number, length: number): number {
    return this.#code(this.#libc.ftruncate(descriptor, length));
  }

  chmod(descriptor: number, mode: number): number {
    return this.#code(this.#libc.fchmod(descriptor, mode));
  }

  chown(descriptor: number, owner: number, group: number): number {
    return this.#code(this.#libc.fchown(descriptor, owner >>> 0, group >>> 0));
  }

  sync(descriptor: number): Promise<number> {
    return synced(descriptor);
  }

  entries(directory: number, each: (name: Name, kind: EntryKind | undefined) => void): number {
    return this.#entries.read(directory, each);
  }

  makeDirectory(at: number, name: Name, mode: number): number {
    this.#path.put(name);
    return this.#code(this.#libc.mkdirat(at, this.#path.address, mode));
  }

  unlink(at: number, name: Name): number {
    this.#path.put(name);
    return this.#code(this.#libc.unlinkat(at, this.#path.address, 0));
  }

  removeDirectory(at: number, name: Name): number {
    this.#path.put(name);
    return this.#code(this.#libc.unlinkat(at, this.#path.address, AT_REMOVEDIR));
  }

  rename(from: number, name: Name, to: number, newName: Name, replace: boolean): number {
    return this.#rename(from, name, to, newName, replace ? 0 : RENAME_NOREPLACE);
  }

  exchange(from: number, name: Name, to: number, newName: Name): number {
    return this.#rename(from, name, to, newName, RENAME_EXCHANGE);
  }

  #rename(from: number, name: Name, to: number, newName: Name, flags: number): number {
    const [path, other] = [this.#path, this.#other];
    path.put(name);
    other.put(newName);
    return this.#code(this.#libc.renameat2(this.#calls.renameat2, from, path.address, to, other.address, flags));
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

  #code(result: number): number {
    return result >= 0 ? 0 : -this.#errno();
  }
}

const MOST_TRIES = 64;
const DOT = 46;
const SLASH = 47;

/** True for a single name that is neither `.` nor `..`: only a link could make it lead elsewhere. */
const isPlain = (name: Name): boolean =>
  typeof name === "string"
    ? name.charCodeAt(0) !== DOT && !name.includes("/")
    : name[0] !== DOT && !name.includes(SLASH);

/** Memory in which the C library finds a name. */
class NameBuffer {
  readonly #bytes = Buffer.alloc(LONGEST_PATH);
  /** The name in the buffer. Null for a name given as bytes, since the caller may change those. */
  #present: string | null = "";
  readonly address = ptr(this.#bytes);

  /** Writes a name with its NUL. A name that is too long gets no NUL, so the kernel refuses it with ENAMETOOLONG. */
  put(name: Name): void {
    if (name === this.#present) return;
    const bytes = this.#bytes;
    if (name.length * 3 >= LONGEST_PATH && Buffer.byteLength(name) >= LONGEST_PATH) {
      bytes.fill(SLASH);
      this.#present = null;
      return;
    }
    const isText = typeof name === "string";
    const end = isText ? bytes.write(name) : Buffer.from(name).copy(bytes);
    bytes[end] = 0;
    this.#present = isText ? name : null;
  }
}

/** A 64-bit number; sizes and inodes stay below 2⁵³. */
const long = (view: DataView, at: number): number => view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32;
const milliseconds = (view: DataView, at: number): number =>
  long(view, at) * 1_000 + view.getUint32(at + 8, true) / 1e6;

/**
 * Opens a directory as a root that the kernel guards, or gives the reason why it cannot.
 *
 * @param libc undefined if the C library cannot be called.
 * @throws any error of opening the directory.
 */
export function openKernelRoot(directory: string, libc: Libc | undefined): Root | { readonly reason: string } {
  if (SYSTEM_CALLS === undefined || endianness() !== "LE") {
    return { reason: `its numbers are not known for ${process.arch} processors` };
  }
  if (libc === undefined) return { reason: "bun:ffi cannot call the C library" };
  const top = openSync(directory, BELOW.directory);
  const root = new KernelRoot(top, libc, SYSTEM_CALLS);
  const probe = root.open("", "place");
  if (probe < 0) {
    root.dispose();
    return {
      reason: `the kernel refuses it (errno ${-probe}): it came with Linux 5.6, and some containers forbid it`,
    };
  }
  root.close(probe);
  return root;
}
