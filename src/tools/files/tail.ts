import type { Encoding } from "./content";
import type { ReadRequest } from "./requests/reading";

const LF = 10;
/** Most bytes of a character that can follow a cut through it. */
export const LONGEST_CUT = 3;

/** The wanted part of the end of a file. */
export type Tail = NonNullable<ReadRequest["tail"]>;

/** The start of the tail in a file that was read whole. */
export function startOfTail(bytes: Buffer, { lines, bytes: count = 0 }: Tail, encoding: Encoding): number {
  if (lines !== undefined) return new TailScan(lines).add(bytes) ?? 0;
  const start = Math.max(0, bytes.length - count);
  return encoding === "utf8" && start > 0 ? start + cutIn(bytes.subarray(start, start + LONGEST_CUT)) : start;
}

/** The number of leading bytes that belong to an earlier character. They are 10xxxxxx. */
export function cutIn(bytes: Buffer): number {
  let count = 0;
  while (count < Math.min(LONGEST_CUT, bytes.length) && ((bytes[count] ?? 0) & 0xc0) === 0x80) count++;
  return count;
}

/** Finds the start of the last lines in bytes that come piece by piece, the last piece first. */
export class TailScan {
  readonly #wanted: number;
  /** The number of lines found so far; −1 before the first byte. */
  #lines = -1;

  constructor(wanted: number) {
    this.#wanted = wanted;
  }

  /**
   * Takes the piece before the previous one. Returns the start of the wanted lines in it, or null if they begin in an
   * earlier piece.
   */
  add(piece: Buffer): number | null {
    for (let at = piece.length - 1; at >= 0; at--) {
      if (this.#lines < 0) {
        this.#lines = 0; // A line end at the end of the file belongs to its last line.
        continue;
      }
      if (piece[at] === LF && ++this.#lines >= this.#wanted) return at + 1;
    }
    return null;
  }
}
