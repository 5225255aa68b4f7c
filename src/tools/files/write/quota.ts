import { refuse } from "../file-error";

/** How often bytes are counted anew that did not fit while others were written. */
const MOST_COUNTS = 3;

/** How many bytes the files below a root have, and may have. */
export class Quota {
  readonly #most: number;
  readonly #count: () => Promise<number>;
  #used: number | null = null;
  #counting: Promise<void> | null = null;
  /** Bytes that were written while it counts, which the count may have come past already. */
  #meanwhile = 0;

  /** @param count adds up the sizes of all files below the root. */
  constructor(most: number, count: () => Promise<number>) {
    this.#most = most;
    this.#count = count;
  }

  /** Bytes in use, or null before they were counted. */
  get used(): number | null {
    return this.#used;
  }

  /**
   * Counts, unless `more` bytes fit by the last count: what others wrote and deleted is not told to this actor, so nothing
   * is refused by an old figure.
   */
  async countFor(more: number): Promise<void> {
    for (let i = 0; i < MOST_COUNTS && !this.fits(more); i++) {
      this.#counting ??= this.#countAll();
      await this.#counting;
      if (this.#meanwhile === 0) return;
    }
  }

  async #countAll(): Promise<void> {
    this.#meanwhile = 0;
    try {
      const counted = await this.#count();
      // Rather a file twice than none: the next count tells.
      this.#used = counted + this.#meanwhile;
    } finally {
      this.#counting = null;
    }
  }

  /** Whether `more` bytes fit by the last count. */
  fits(more: number): boolean {
    return this.#used !== null && this.#used + more <= this.#most;
  }

  /** Refuses `more` bytes that do not fit. */
  admit(more: number, given: string): void {
    if (more <= 0 || this.fits(more)) return;
    refuse(
      "quota",
      given,
      `With ${JSON.stringify(given)}, the root would hold more than its ${this.#most} bytes; delete something first.`,
    );
  }

  /** Notes that the files have so many bytes more, or less. */
  add(bytes: number): void {
    if (this.#counting !== null && bytes > 0) this.#meanwhile += bytes;
    if (this.#used !== null) this.#used = Math.max(0, this.#used + bytes);
  }
}
