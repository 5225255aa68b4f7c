import type { Clock, ClockTimer } from "../../runtime/clock";

/** How often it looks within the time: a reader that has left is told at most a quarter of it late. */
const LOOKS = 4;

/**
 * Tells of a reader that reads nothing while the producer waits for it. It looks now and then, because a timer that begins
 * anew at each read would cost every item; and it keeps no process alive, because a reader may be dropped at its end.
 */
export class ReaderWatch {
  /** Whether the producer could go on since the last look. */
  hasRead = false;
  readonly #delay: number;
  readonly #clock: Clock;
  /** How many items wait for the reader; null while the producer does not wait for it. */
  readonly #waiting: () => number | null;
  readonly #onAbandoned: (reason: symbol) => void;
  #timer: ClockTimer | null = null;
  #seen = 0;
  #quietLooks = 0;

  constructor(delay: number, clock: Clock, waiting: () => number | null, onAbandoned: (reason: symbol) => void) {
    this.#delay = delay;
    this.#clock = clock;
    this.#waiting = waiting;
    this.#onAbandoned = onAbandoned;
  }

  /** The producer begins to wait. */
  begin(): void {
    if (this.#timer === null) this.#look();
  }

  end(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  #look(): void {
    this.#timer = null;
    const waiting = this.#waiting();
    if (waiting === null) return; // Looks again once the producer waits.
    const isQuiet = !this.hasRead && waiting === this.#seen;
    this.#quietLooks = isQuiet ? this.#quietLooks + 1 : 0;
    this.hasRead = false;
    this.#seen = waiting;
    if (this.#quietLooks >= LOOKS) {
      this.#onAbandoned(
        Symbol(`its reader read nothing for ${this.#delay} ms; read sooner, or stream with a longer abandonedAfter`),
      );
      return;
    }
    this.#timer = this.#clock.setTimer(() => this.#look(), this.#delay / LOOKS);
    this.#timer.unref();
  }
}
