import { ptr } from "bun:ffi";
import { isUtf8 } from "node:buffer";
import type { Libc, SystemCalls } from "./libc";
import type { EntryKind, Name } from "./root";

/** The kinds by S_IFMT's bits, and by getdents64's d_type, which are the same shifted by 12. */
export const KINDS: readonly (EntryKind | undefined)[] = Array.from({ length: 16 }, (_, type) => {
  if (type === 0) return undefined; // The file system does not tell.
  return type === 8 ? "file" : type === 4 ? "directory" : type === 10 ? "link" : "other";
});

/** Some thousand names at a time. */
const BUFFER = 32 * 1024;
const EINTR = 4;
const DOT = 46;

/** Reads the names of open directories, as many at a time as fit into a buffer (`getdents64(2)`). */
export class EntryReader {
  readonly #libc: Libc;
  readonly #call: number;
  readonly #names = Buffer.alloc(BUFFER);
  readonly #namesAt = ptr(this.#names);

  constructor(libc: Libc, calls: SystemCalls) {
    this.#libc = libc;
    this.#call = calls.getdents64;
  }

  /** Gives the next names: how many they were, 0 at the end, or a negated errno. */
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
        const length = (names[at + 16] ?? 0) | ((names[at + 17] ?? 0) << 8); // A third of what readUInt16LE takes.
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
      if (count > 0) return count; // Dots alone are not the end.
    }
  }
}

/** A name up to its NUL; its bytes where they are no UTF-8. */
function nameIn(buffer: Buffer, start: number): Name {
  let end = start;
  let bits = 0;
  for (let byte = buffer[end]; byte !== 0 && byte !== undefined; byte = buffer[++end]) bits |= byte;
  if (bits < 128) return buffer.toString("latin1", start, end);
  const bytes = buffer.subarray(start, end);
  return isUtf8(bytes) ? bytes.toString() : new Uint8Array(bytes);
}
