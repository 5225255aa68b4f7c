/** Nanoseconds that it is worth to look for something: as long as Linux's guests do before they halt (guest-halt-polling). */
const LONGEST = 200_000;

/**
 * How long to look for something before sleeping, where it takes a processor 15 µs to wake, as a virtual one does: as long as
 * it is worth while that spares a sleep, and half as long after each sleep that it would not have spared.
 */
export class Patience {
  #length = LONGEST;

  /** In nanoseconds. */
  get length(): number {
    return this.#length;
  }

  /** It slept, and what it waited for came so many nanoseconds after it had begun to look. */
  slept(waited: number): void {
    this.#length = waited < LONGEST ? LONGEST : Math.floor(this.#length / 2);
  }
}
