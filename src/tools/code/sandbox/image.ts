import { ptr, FFIType as T } from "bun:ffi";
import { closeSync, openSync, readSync } from "node:fs";
import { openLibrary } from "../../c-library";

/** Bytes of a page of every machine that Bun runs on, and of the larger ones of some. */
const PAGE = 65_536;
/** Bytes of what is looked at to be zeros or not. */
const GRAIN = 4_096;
const MADV_DONTNEED = 4;
const SYMBOLS = { madvise: { args: [T.u64, T.u64, T.i32], returns: T.i32 } } as const;

/** What stands in a memory at a place. */
interface Piece {
  readonly at: number;
  readonly bytes: Uint8Array;
}

/**
 * What a memory had in it at one time, and can have again, bit for bit.
 *
 * A context of QuickJS takes 1.5 ms to make and has 0.3 MB, which take 7 µs to copy. What lies beyond them is given back
 * to the kernel, which puts zeros there when it is next used: it costs nothing where nothing was touched.
 */
export class Image {
  readonly pieces: readonly Piece[];
  /** Where what is not zeros ends. */
  readonly end: number;
  readonly #libc = process.platform === "linux" ? openLibrary(SYMBOLS) : undefined;
  #buffer: ArrayBuffer | undefined;
  #address = 0;

  constructor(pieces: readonly Piece[]) {
    this.pieces = pieces;
    const last = pieces.at(-1);
    this.end = last === undefined ? 0 : last.at + last.bytes.length;
  }

  /** That of what a memory has in it now. */
  static of(memory: Uint8Array<ArrayBuffer>): Image {
    const pieces: Piece[] = [];
    const zeros = Buffer.alloc(GRAIN);
    const isUntouched = untouchedIn(memory);
    const isUsed = (at: number): boolean =>
      at < memory.length && !isUntouched(at) && Buffer.compare(memory.subarray(at, at + GRAIN), zeros) !== 0;
    for (let at = 0; at < memory.length; at += GRAIN) {
      const from = at;
      while (isUsed(at)) at += GRAIN;
      if (at > from) pieces.push({ at: from, bytes: memory.slice(from, at) });
    }
    return new Image(pieces);
  }

  /** Puts it into a memory that is all zeros. */
  write(memory: Uint8Array): void {
    for (const { at, bytes } of this.pieces) memory.set(bytes, at);
  }

  /** Puts it into a memory, and zeros everywhere else; false where that cannot be done here, and the memory is of no use. */
  restore(memory: Uint8Array<ArrayBuffer>): boolean {
    if (this.#libc === undefined) return false;
    if (memory.buffer !== this.#buffer) {
      this.#buffer = memory.buffer;
      this.#address = ptr(memory) as number;
    }
    let end = 0;
    for (const { at, bytes } of this.pieces) {
      if (!this.#clear(memory, end, at)) return false;
      memory.set(bytes, at);
      end = at + bytes.length;
    }
    // There the heap goes on, which most runs use some of: to have the kernel find a page again takes 2 µs.
    const beyond = Math.min(end + PAGE, memory.length);
    memory.fill(0, end, beyond);
    return this.#clear(memory, beyond, memory.length);
  }

  /** Only whole pages can be given back. */
  #clear(memory: Uint8Array, from: number, to: number): boolean {
    const first = Math.min(Math.ceil(from / PAGE) * PAGE, to);
    const last = Math.max(Math.floor(to / PAGE) * PAGE, first);
    memory.fill(0, from, first);
    memory.fill(0, last, to);
    return first === last || this.#libc?.madvise(this.#address + first, last - first, MADV_DONTNEED) === 0;
  }
}

/** Bytes of an entry of `pagemap`, in whose last byte is whether a page is in RAM or swapped out. */
const [ENTRY, IN_USE] = [8, 0xc0];
/** Of x64; other processors have pages of several sizes. */
const KERNEL_PAGE = GRAIN;

/**
 * Tells of a page whether the kernel never had to find memory for it, so that it is zeros: reading all of them would have
 * it find some for each, which takes 5 to 8 ms. Of none where it cannot be known.
 */
function untouchedIn(memory: Uint8Array): (at: number) => boolean {
  const entries = process.arch === "x64" ? entriesOf(ptr(memory) as number, memory.length) : undefined;
  if (entries === undefined) return () => false;
  return (at) => ((entries[(at / KERNEL_PAGE) * ENTRY + ENTRY - 1] ?? IN_USE) & IN_USE) === 0;
}

function entriesOf(address: number, length: number): Uint8Array | undefined {
  const entries = Buffer.alloc((length / KERNEL_PAGE) * ENTRY);
  let file: number | undefined;
  try {
    file = openSync("/proc/self/pagemap", "r");
    const read = readSync(file, entries, 0, entries.length, (address / KERNEL_PAGE) * ENTRY);
    return read === entries.length ? entries : undefined;
  } catch {
    return undefined; // Not Linux, or one that does not tell.
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
