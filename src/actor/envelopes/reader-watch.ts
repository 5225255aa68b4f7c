import type { Clock, ClockTimer } from "../../runtime/clock";

/** The number of checks within the time: a reader that has left is noticed at most a quarter of it late. */
const LOOKS = 4;

/**
 * Reports a reader that reads nothing while the producer waits for it. It checks now and then, because a timer that
 * restarts at each read would cost every item. It keeps no process alive, because a reader may be dropped at the end of
 * one.
 */
export class ReaderWatch {
  /** True when the producer could go on since the last check. */
  hasRead = false;
  readonly #delay: number;
  readonly #clock: Clock;
  /** The number of items that wait for the reader; null while the producer does not wait. */
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
    if (waiting === null) return; // The next check begins when the producer waits.
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
