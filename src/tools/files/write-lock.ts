import type { Clock } from "../../index";
import type { Staging } from "./staging";

/** How long to wait between two tries while another process has the lock, in milliseconds. */
const RETRY = 1;

/**
 * Lets one writer look at a file and replace it before the next one looks: within this actor, and among all processes by a
 * lock of the operating system, which ends with its process.
 */
export class WriteLock {
  readonly #staging: Staging;
  readonly #clock: Clock;
  readonly #waiting: (() => void)[] = [];
  #isHeld = false;

  constructor(staging: Staging, clock: Clock) {
    this.#staging = staging;
    this.#clock = clock;
  }

  /** Takes the lock if it is free. `given` is the path for the error where there can be no lock. */
  tryAcquire(given: string): boolean {
    if (this.#isHeld || !this.#staging.lock(given)) return false;
    this.#isHeld = true;
    return true;
  }

  /** Takes the lock once it is free. */
  async acquire(given: string): Promise<void> {
    while (!this.tryAcquire(given)) {
      await new Promise<void>((resolve) => {
        if (this.#isHeld) this.#waiting.push(resolve);
        else this.#clock.setTimer(resolve, RETRY);
      });
    }
  }

  release(): void {
    this.#isHeld = false;
    this.#staging.unlock();
    this.#waiting.shift()?.();
  }
}
