import type { Clock } from "../../index";

/** Longest work between two pauses, in milliseconds: half of a turn of the dispatcher. */
const LONGEST = 0.5;

/** Tells work that takes long when to let timers, I/O and other actors go on. */
export class Pace {
  readonly #clock: Clock;
  readonly #most: number;
  #since: number;
  #spent = 0;

  /** @param most what may be spent between two pauses, however little time that takes. */
  constructor(clock: Clock, most: number) {
    this.#clock = clock;
    this.#most = most;
    this.#since = clock.monotonicTime();
  }

  /** Notes that work was done; whether a pause is due. */
  spend(work: number): boolean {
    this.#spent += work;
    return this.#spent >= this.#most || this.#clock.monotonicTime() - this.#since >= LONGEST;
  }

  async pause(): Promise<void> {
    await new Promise<void>((resolve) => this.#clock.macrotask(resolve));
    this.#spent = 0;
    this.#since = this.#clock.monotonicTime();
  }
}
