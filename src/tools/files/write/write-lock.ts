import type { Clock } from "../../../index";
import { FileRefusal } from "../file-error";
import type { Staging } from "./staging";

/** How long to wait between two tries while another process has the lock, in milliseconds. */
const RETRY = 1;
/** After so many turns of this actor in a row, others get a chance: longer than they wait between two tries. */
const MOST_TURNS = 32;
const CHANCE = 2 * RETRY;

interface Waiting {
  readonly given: string;
  resolve(): void;
  reject(thrown: unknown): void;
}

/**
 * Lets one writer look at a file and replace it before the next one looks: within this actor, first come, first served; and
 * among all processes by a lock of the operating system, which ends with its process.
 */
export class WriteLock {
  readonly #staging: Staging;
  readonly #clock: Clock;
  readonly #waiting: Waiting[] = [];
  #isHeld = false;
  #isDisposed = false;
  #isResting = false;
  /** Whether another actor was seen to have the lock since the last rest. */
  #hasRivals = false;
  #turns = 0;

  constructor(staging: Staging, clock: Clock) {
    this.#staging = staging;
    this.#clock = clock;
  }

  /** Takes the lock if it is free and nobody waits. `given` is the path for the error where there can be no lock. */
  tryAcquire(given: string): boolean {
    if (this.#isHeld || this.#waiting.length > 0 || !this.#take(given)) return false;
    this.#turns = 0;
    return true;
  }

  /** Takes the lock once it is free. */
  acquire(given: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ given, resolve, reject });
      this.#serve();
    });
  }

  release(): void {
    this.#isHeld = false;
    this.#staging.unlock();
    this.#serve();
  }

  /** Whoever waits is refused, and whoever comes: what is left of a handler that was abandoned changes nothing any more. */
  dispose(): void {
    this.#isDisposed = true;
    this.#isResting = false;
    this.#hasRivals = false;
    this.#isHeld = false;
    this.#serve();
  }

  #take(given: string): boolean {
    if (this.#isDisposed) throw stopped(given);
    this.#isHeld = this.#staging.lock(given);
    if (!this.#isHeld) this.#hasRivals = true;
    return this.#isHeld;
  }

  /** Lets the first who waits have the lock, if that can be now. */
  #serve(): void {
    while (!this.#isHeld && !this.#isResting) {
      const [first] = this.#waiting;
      if (first === undefined) return;
      if (this.#hasRivals && this.#turns >= MOST_TURNS) {
        this.#hasRivals = false;
        this.#turns = 0;
        this.#rest(CHANCE);
        return;
      }
      try {
        if (!this.#take(first.given)) {
          this.#rest(RETRY);
          return;
        }
        this.#turns++;
        first.resolve();
      } catch (thrown) {
        first.reject(thrown);
      }
      this.#waiting.shift();
    }
  }

  #rest(milliseconds: number): void {
    this.#isResting = true;
    this.#clock.setTimer(() => {
      this.#isResting = false;
      this.#serve();
    }, milliseconds);
  }
}

/** What is told to what goes on after its actor has stopped. */
export const stopped = (given: string): FileRefusal =>
  new FileRefusal({ kind: "io", path: given, message: "The file actor stopped before this was done." });
