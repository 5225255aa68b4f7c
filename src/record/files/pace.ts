import type { Clock, ClockTimer } from "../../index";

/** The times between two writes, in milliseconds. A write costs a busy server some 0.1 ms of its processors, however little is in it. */
export const GATHER = 20;
/** A frame is compressed by itself, and one of a few lines hardly gets smaller. */
export const GATHER_FRAME = 100;

/** Says when lines that wait are written: at the end of the turn, but not sooner than some time after the last ones. */
export class Pace {
  readonly #clock: Clock;
  readonly #gather: number;
  /** True to gather even after a pause. */
  readonly #alwaysGathers: boolean;
  readonly #begin: () => void;
  #timer: ClockTimer | null = null;
  #isDue = false;
  #last = Number.NEGATIVE_INFINITY;

  /** @param gather in milliseconds. */
  constructor(clock: Clock, gather: number, alwaysGathers: boolean, begin: () => void) {
    this.#clock = clock;
    this.#gather = gather;
    this.#alwaysGathers = alwaysGathers;
    this.#begin = begin;
  }

  /** Asks for a write. @param isUrgent true to wait for the end of the turn alone. */
  request(isUrgent: boolean): void {
    if (this.#isDue || (this.#timer !== null && !isUrgent)) return;
    const now = this.#clock.monotonicTime();
    const wait = isUrgent ? 0 : this.#alwaysGathers ? this.#gather : this.#last + this.#gather - now;
    if (wait > 0) {
      this.#timer = this.#clock.setTimer(() => this.#go(), wait);
      this.#timer.unref(); // A process that has nothing else to do exits, and writes them then.
      return;
    }
    this.cancel();
    this.#isDue = true;
    this.#clock.macrotask(() => {
      if (this.#isDue) this.#go();
    });
  }

  /** Forgets the request: it is being done, or is no longer wanted. */
  cancel(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#isDue = false;
  }

  #go(): void {
    this.cancel();
    this.#last = this.#clock.monotonicTime();
    this.#begin();
  }
}
