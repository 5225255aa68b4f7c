/**
 * The gate of one of two who work in turns: it is open for a while, as long as the other's is shut. Whoever works asks it before
 * each sample; who has finished leaves, and the other goes on alone.
 */
export class Gate {
  /** Nanoseconds that it was shut for one who waited. */
  waited = 0;
  readonly #length: number;
  #other: Gate = this;
  /** Since when it is open; null while it is shut. */
  #since: number | null = null;
  #isLeft = false;
  #goOn: (() => void) | undefined;

  private constructor(length: number) {
    this.#length = length;
  }

  /** Two gates, each open for `length` nanoseconds and until the sample that is under way is over; the first one first. */
  static pair(length: number): [Gate, Gate] {
    const [first, second] = [new Gate(length), new Gate(length)];
    first.#other = second;
    second.#other = first;
    first.#open();
    return [first, second];
  }

  /** A promise where it is the other's turn. */
  pass(): Promise<void> | undefined {
    const now = Bun.nanoseconds();
    if (this.#since !== null) {
      if (now - this.#since < this.#length || this.#other.#isLeft) return undefined;
      this.#since = null;
      this.#other.#open();
    }
    return new Promise((resolve) => {
      this.#goOn = () => {
        this.waited += Bun.nanoseconds() - now;
        resolve();
      };
    });
  }

  leave(): void {
    this.#isLeft = true;
    if (this.#since !== null) this.#other.#open();
  }

  #open(): void {
    this.#since = Bun.nanoseconds();
    this.#goOn?.();
    this.#goOn = undefined;
  }
}
