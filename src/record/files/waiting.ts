import { MAX_LINE_BYTES } from "../format";

/** The kinds of lines that are counted apart: a recorder's, its messages, and those that the file itself adds. */
export const LINE = 0;
export const MESSAGE = 1;
export const OWN = 2;
export type Kind = typeof LINE | typeof MESSAGE | typeof OWN;

/** Lines that are written together. */
export interface Batch {
  readonly lines: string[];
  /** Beside each line: its kind. */
  readonly kinds: Kind[];
  /** The size with the line ends: the characters, which of Latin text are as many as the bytes. */
  bytes: number;
}

/**
 * Bytes from which a batch is full. To make the bytes of one such batch takes 0.1 ms, which is how long the event loop is held; of 8 MB it
 * would be 4 ms.
 */
export const FULL_BATCH = 256 * 1024;

/** The lines that wait to be written, first in, first out, in batches. */
export class Waiting {
  #full: Batch[] = [];
  #last: Batch = { lines: [], kinds: [], bytes: 0 };
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /** @param bytes its size with the line end. */
  add(line: string, kind: Kind, bytes: number): void {
    const last = this.#last;
    last.lines.push(line);
    last.kinds.push(kind);
    last.bytes += bytes;
    this.#bytes += bytes;
    if (last.bytes < FULL_BATCH) return;
    this.#full.push(last);
    this.#last = { lines: [], kinds: [], bytes: 0 };
  }

  /** Takes the first batch. Undefined if nothing waits. */
  take(): Batch | undefined {
    let batch = this.#full.shift();
    if (batch === undefined && this.#last.bytes > 0) {
      batch = this.#last;
      this.#last = { lines: [], kinds: [], bytes: 0 };
    }
    this.#bytes -= batch?.bytes ?? 0;
    return batch;
  }
}

/** Looks closely at lines alone that may be too long: a character takes at most three bytes. */
export const isTooLong = (line: string): boolean =>
  line.length * 3 >= MAX_LINE_BYTES && Buffer.byteLength(line) >= MAX_LINE_BYTES;
