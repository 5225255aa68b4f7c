import type { Clock, ClockTimer } from "../../../index";

/** The time that a run has had, which may stand still, and the timer of what it has left. */
export class Stopwatch {
  readonly #clock: Clock;
  /** Milliseconds that it had before it went last. */
  #before = 0;
  /** When it went last; undefined while it stands still. */
  #since: number | undefined;
  #timer: ClockTimer | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds in which it went. */
  get elapsed(): number {
    return this.#since === undefined ? this.#before : this.#before + this.#clock.monotonicTime() - this.#since;
  }

  get isStanding(): boolean {
    return this.#since === undefined;
  }

  /** Goes on, and calls back once it has had so many milliseconds in all. */
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
