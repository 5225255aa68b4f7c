/** Most nanoseconds to poll: as long as Linux guests poll before they halt (guest-halt-polling). */
const LONGEST = 200_000;

/**
 * The time to poll before sleeping. A virtual processor takes 15 µs to wake, so polling may spare a costly sleep. The time
 * is `LONGEST` while polling that long spares sleeps, and halves after each sleep that it would not have spared.
 */
export class Patience {
  #length = LONGEST;

  /** In nanoseconds. */
  get length(): number {
    return this.#length;
  }

  /** Records a sleep: the event came this many nanoseconds after polling began. */
  slept(waited: number): void {
    this.#length = waited < LONGEST ? LONGEST : Math.floor(this.#length / 2);
  }
}
