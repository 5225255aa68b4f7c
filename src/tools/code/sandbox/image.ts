import { ptr, FFIType as T } from "bun:ffi";
import { closeSync, openSync, readSync } from "node:fs";
import { openLibrary } from "../../c-library";

/** Bytes. A whole number of pages on every machine that Bun runs on; on some it is one page. */
const PAGE = 65_536;
/** Bytes of a block that is checked for zeros. */
const GRAIN = 4_096;
const MADV_DONTNEED = 4;
const SYMBOLS = { madvise: { args: [T.u64, T.u64, T.i32], returns: T.i32 } } as const;

/** The bytes at a place in a memory. */
interface Piece {
  readonly at: number;
  readonly bytes: Uint8Array;
}

/**
 * The contents of a memory at one time. They can be restored bit for bit.
 *
 * A context of QuickJS takes 1.5 ms to make; its 0.3 MB take 7 µs to copy. The memory beyond them is returned to the
 * kernel, which supplies zeros at the next use. Memory that was never touched costs nothing.
 */
export class Image {
  readonly pieces: readonly Piece[];
  /** The end of the last piece. Only zeros follow. */
  readonly end: number;
  readonly #libc = process.platform === "linux" ? openLibrary(SYMBOLS) : undefined;
  #buffer: ArrayBuffer | undefined;
  #address = 0;

  constructor(pieces: readonly Piece[]) {
    this.pieces = pieces;
    const last = pieces.at(-1);
    this.end = last === undefined ? 0 : last.at + last.bytes.length;
  }

  /** Takes an image of a memory as it is now. */
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

  /** Writes the image into a memory that is all zeros. */
  write(memory: Uint8Array): void {
    for (const { at, bytes } of this.pieces) memory.set(bytes, at);
  }

  /** Restores a memory, with zeros outside the pieces. False if that is impossible here: the memory is then unusable. */
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
    // Most runs use some of the heap right behind the image, so keep that page: a new one from the kernel takes 2 µs.
    const beyond = Math.min(end + PAGE, memory.length);
    memory.fill(0, end, beyond);
    return this.#clear(memory, beyond, memory.length);
  }

  /** Fills a range with zeros. Its whole pages are returned to the kernel, which takes nothing smaller. */
  #clear(memory: Uint8Array, from: number, to: number): boolean {
    const first = Math.min(Math.ceil(from / PAGE) * PAGE, to);
    const last = Math.max(Math.floor(to / PAGE) * PAGE, first);
    memory.fill(0, from, first);
    memory.fill(0, last, to);
    return first === last || this.#libc?.madvise(this.#address + first, last - first, MADV_DONTNEED) === 0;
  }
}

/** Bytes of a `pagemap` entry, and the bits of its last byte for a page that is in RAM or swapped out. */
const [ENTRY, IN_USE] = [8, 0xc0];
/** Bytes of a page on x64. Other processors have pages of several sizes. */
const KERNEL_PAGE = GRAIN;

/**
 * Tells whether the kernel never allocated a page, so that it is zeros. Reading every page would make the kernel allocate
 * each one, which takes 5 to 8 ms. Always false where it cannot be known.
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
    return undefined; // Not Linux, or a Linux that hides it.
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
