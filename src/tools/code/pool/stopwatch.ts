import type { Clock, ClockTimer } from "../../../index";

/** Measures the time that a run has had, which may stand still, and times out the rest. */
export class Stopwatch {
  readonly #clock: Clock;
  /** Milliseconds before the last `go`. */
  #before = 0;
  /** The time of the last `go`; undefined while it stands still. */
  #since: number | undefined;
  #timer: ClockTimer | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds so far, without the times at which it stood still. */
  get elapsed(): number {
    return this.#since === undefined ? this.#before : this.#before + this.#clock.monotonicTime() - this.#since;
  }

  get isStanding(): boolean {
    return this.#since === undefined;
  }

  /** Goes on, and calls back once it has had `most` milliseconds in all. */
  go(most: number, onTimeout: () => void): void {
    this.#since = this.#clock.monotonicTime();
    this.#timer = this.#clock.setTimer(onTimeout, most - this.#before);
  }

  halt(): void {
    this.#before = this.elapsed;
    this.#since = undefined;
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
