import type { Clock, ClockTimer } from "../index";

/** The delay of the event loop for a timer, in milliseconds, over the looks of one period. */
export interface Delays {
  readonly mean: number;
  readonly max: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
}

/** Looks that are kept for percentiles: 82 s of them at 20 ms. The mean and the maximum are of all. */
const KEPT = 4096;

/** Measures how late the event loop is for a timer. A block of the loop is seen unless it is shorter than the time between two looks. */
export class LoopDelay {
  readonly #clock: Clock;
  /** Milliseconds between two looks. */
  readonly #every: number;
  readonly #looks = new Float64Array(KEPT);
  #count = 0;
  #sum = 0;
  #max = 0;
  #timer: ClockTimer | undefined;

  constructor(clock: Clock, every: number) {
    this.#clock = clock;
    this.#every = every;
    if (every !== Number.POSITIVE_INFINITY) this.#look();
  }

  #look(): void {
    const due = this.#clock.monotonicTime() + this.#every;
    this.#timer = this.#clock.setTimer(() => {
      const late = Math.max(this.#clock.monotonicTime() - due, 0);
      this.#looks[this.#count++ % KEPT] = late;
      this.#sum += late;
      if (late > this.#max) this.#max = late;
      this.#look();
    }, this.#every);
    this.#timer.unref(); // To look must not keep the process alive.
  }

  /** The delays since they were taken last; undefined when there was no look. */
  take(): Delays | undefined {
    const count = this.#count;
    if (count === 0) return undefined;
    const looks = this.#looks.slice(0, Math.min(count, KEPT)).sort();
    const at = (share: number): number => looks[Math.ceil(looks.length * share) - 1] ?? 0;
    const delays = { mean: this.#sum / count, max: this.#max, p50: at(0.5), p90: at(0.9), p99: at(0.99) };
    this.#count = this.#sum = this.#max = 0;
    return delays;
  }

  end(): void {
    this.#timer?.cancel();
  }
}
