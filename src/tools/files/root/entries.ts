import { ptr } from "bun:ffi";
import { isUtf8 } from "node:buffer";
import type { Libc, SystemCalls } from "./libc";
import type { EntryKind, Name } from "./root";

/** The kinds by the bits of S_IFMT, shifted right by 12. The `d_type` of getdents64 has the same numbers. */
export const KINDS: readonly (EntryKind | undefined)[] = Array.from({ length: 16 }, (_, type) => {
  if (type === 0) return undefined; // The file system does not tell the kind.
  return type === 8 ? "file" : type === 4 ? "directory" : type === 10 ? "link" : "other";
});

/** Room for some thousand names. */
const BUFFER = 32 * 1024;
const EINTR = 4;
const DOT = 46;

/** Reads the names of open directories, one buffer of names at a time (`getdents64(2)`). */
export class EntryReader {
  readonly #libc: Libc;
  readonly #call: number;
  readonly #names = Buffer.alloc(BUFFER);
  readonly #namesAt = ptr(this.#names);

  constructor(libc: Libc, calls: SystemCalls) {
    this.#libc = libc;
    this.#call = calls.getdents64;
  }

  /** Gives the next names. Returns how many, 0 at the end, or a negated errno. */
  read(directory: number, each: (name: Name, kind: EntryKind | undefined) => void): number {
    const names = this.#names;
    for (;;) {
      const end = this.#libc.getdents64(this.#call, directory, this.#namesAt, BUFFER);
      if (end < 0) {
        const errno = this.#libc.errno();
        if (errno === EINTR) continue;
        return -errno;
      }
      if (end === 0) return 0;
      let count = 0;
      for (let at = 0; at < end; ) {
        // Takes a third of the time of readUInt16LE.
        const length = (names[at + 16] ?? 0) | ((names[at + 17] ?? 0) << 8);
        const nameAt = at + 19;
        const first = names[nameAt];
        const isDots =
          first === DOT && (names[nameAt + 1] === 0 || (names[nameAt + 1] === DOT && names[nameAt + 2] === 0));
        if (!isDots) {
          each(nameIn(names, nameAt), KINDS[names[at + 18] ?? 0]);
          count++;
        }
        at += length;
      }
      if (count > 0) return count; // A buffer with only `.` and `..` is not the end.
    }
  }
}

/** Reads a name up to its NUL. Returns the bytes if they are not UTF-8. */
function nameIn(buffer: Buffer, start: number): Name {
  let end = start;
  let bits = 0;
  for (let byte = buffer[end]; byte !== 0 && byte !== undefined; byte = buffer[++end]) bits |= byte;
  if (bits < 128) return buffer.toString("latin1", start, end);
  const bytes = buffer.subarray(start, end);
  return isUtf8(bytes) ? bytes.toString() : new Uint8Array(bytes);
}
