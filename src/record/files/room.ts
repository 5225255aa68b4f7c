import { RecordingError } from "./faults";

/** Most bytes of a recording that is held in memory, decompressed, of all parts together: 1 GB. */
export const MOST_HELD = 2 ** 30;

/** The bytes of a recording that may still be read. */
export class Room {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  /** @throws RecordingError when there is no room for so many more bytes. */
  take(bytes: number, path: string): void {
    this.#left -= bytes;
    if (this.#left >= 0) return;
    throw new RecordingError(
      `${path} is too large to be held in memory: replay a recording of less (include, sample, rotate.maxBytes).`,
    );
  }
}
