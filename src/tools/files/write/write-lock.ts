import type { Clock } from "../../../index";
import { FileRefusal } from "../file-error";
import type { Staging } from "./staging";

/** Milliseconds between two tries while another process holds the lock. */
const RETRY = 1;
/** After this many turns in a row this actor rests for longer than the others' time between two tries. */
const MOST_TURNS = 32;
const CHANCE = 2 * RETRY;

interface Waiting {
  readonly given: string;
  resolve(): void;
  reject(thrown: unknown): void;
}

/**
 * Lets one writer at a time look at a file and replace it. Within this actor, writers wait in order. Among processes, a
 * lock of the operating system decides. It ends with its process.
 */
export class WriteLock {
  readonly #staging: Staging;
  readonly #clock: Clock;
  readonly #waiting: Waiting[] = [];
  #isHeld = false;
  #isDisposed = false;
  #isResting = false;
  /** True if another actor held the lock since the last rest. */
  #hasRivals = false;
  #turns = 0;

  constructor(staging: Staging, clock: Clock) {
    this.#staging = staging;
    this.#clock = clock;
  }

  /** Takes the lock if it is free and no writer waits. `given` is the path for errors. */
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

  /** Refuses all waiting writers and all later ones, so the rest of an abandoned handler changes nothing. */
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

  /** Gives the lock to the first waiting writer, if possible now. */
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

/** The error for work that goes on after its actor stopped. */
export const stopped = (given: string): FileRefusal =>
  new FileRefusal({ kind: "io", path: given, message: "The file actor stopped before this was done." });
