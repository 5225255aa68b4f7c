import type { Clock } from "./clock";

/** Lines that are logged in a window, and the window's length in milliseconds. Further lines are only counted. */
const LOGGED = 10;
const WINDOW = 1_000;

/** Limits the log lines of one kind to ten a second, and tells the count of the others at the end of that second. */
export class LogLimit {
  readonly #clock: Clock;
  readonly #tellOthers: (count: number) => void;
  #inWindow = 0;

  constructor(clock: Clock, tellOthers: (count: number) => void) {
    this.#clock = clock;
    this.#tellOthers = tellOthers;
  }

  /** Counts a line. Returns false if it must not be logged. */
  admit(): boolean {
    this.#inWindow++;
    if (this.#inWindow === 1) this.#clock.setTimer(() => this.#closeWindow(), WINDOW).unref();
    return this.#inWindow <= LOGGED;
  }

  #closeWindow(): void {
    this.flush();
    this.#inWindow = 0;
  }

  /** Tells how many lines of this window were not logged. */
  flush(): void {
    const unlogged = this.#inWindow - LOGGED;
    if (unlogged <= 0) return;
    this.#inWindow = LOGGED;
    this.#tellOthers(unlogged);
  }
}
