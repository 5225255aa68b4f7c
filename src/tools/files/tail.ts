import type { Encoding } from "./content";
import type { ReadRequest } from "./requests/reading";

const LF = 10;
/** Most bytes of a character that can be after the place where it is cut. */
export const LONGEST_CUT = 3;

/** How much of the end of a file is wanted. */
export type Tail = NonNullable<ReadRequest["tail"]>;

/** Where the end of a file begins that is there as a whole. */
export function startOfTail(bytes: Buffer, { lines, bytes: count = 0 }: Tail, encoding: Encoding): number {
  if (lines !== undefined) return new TailScan(lines).add(bytes) ?? 0;
  const start = Math.max(0, bytes.length - count);
  return encoding === "utf8" && start > 0 ? start + cutIn(bytes.subarray(start, start + LONGEST_CUT)) : start;
}

/** How many of the first bytes belong to a character that began before: those of 10xxxxxx. */
export function cutIn(bytes: Buffer): number {
  let count = 0;
  while (count < Math.min(LONGEST_CUT, bytes.length) && ((bytes[count] ?? 0) & 0xc0) === 0x80) count++;
  return count;
}

/** Finds where the last lines begin in bytes that come piece by piece, the last piece first. */
export class TailScan {
  readonly #wanted: number;
  /** Lines that are known to begin later; −1 before anything was seen. */
  #lines = -1;

  constructor(wanted: number) {
    this.#wanted = wanted;
  }

  /** Takes the piece that is before the one before; gives where in it the lines begin, or null where that is further ahead. */
  add(piece: Buffer): number | null {
    for (let at = piece.length - 1; at >= 0; at--) {
      if (this.#lines < 0) {
        this.#lines = 0; // A line end at the end of the file is that of its last line.
        continue;
      }
      if (piece[at] === LF && ++this.#lines >= this.#wanted) return at + 1;
    }
    return null;
  }
}
