import type { Clock } from "./clock";

/** Something that has work: an actor with messages. */
export interface Runnable {
  /** The link of the dispatcher's queue. */
  nextReady: Runnable | null;
  /** Handles at most `limit` messages and returns how many it did; it schedules itself again when more are left. */
  run(limit: number): number;
}

/** Decides who runs next, and when the event loop gets its turn. */
export interface Dispatcher {
  /** Whether a turn is under way or about to begin, at whose end staged timers are placed. */
  readonly isAwake: boolean;
  schedule(runnable: Runnable): void;
}

/** How long a turn lasts before timers and I/O are served, in milliseconds. */
const TURN = 1;
/** Most messages between two looks at the clock (40 ns each here), and most of one actor before the next one's. */
const MOST = 32;

/**
 * Runs ready actors in turn, many in one microtask, and yields to the event loop after about a millisecond. A turn
 * counts on across microtasks, because a chain of them never reaches the event loop either. Between two looks at the
 * clock it lets through as many messages as fitted into the rest of the turn at the last pace, 32 at most.
 */
export class FairDispatcher implements Dispatcher {
  readonly #clock: Clock;
  readonly #afterBurst: () => void;
  readonly #onMicrotask = (): void => this.#drain();
  readonly #onMacrotask = (): void => this.#beginTurn();
  #first: Runnable | null = null;
  #last: Runnable | null = null;
  #turnStart: number;
  #lastLook: number;
  #granted = 1;
  #credit = 1;
  #mustYield = false;

  isAwake = false;

  /** `afterBurst` is called whenever it has nothing left to run, or yields. */
  constructor(clock: Clock, afterBurst: () => void) {
    this.#clock = clock;
    this.#afterBurst = afterBurst;
    this.#turnStart = this.#lastLook = clock.monotonicTime();
  }

  schedule(runnable: Runnable): void {
    if (this.#last === null) this.#first = runnable;
    else this.#last.nextReady = runnable;
    this.#last = runnable;
    if (this.isAwake) return;
    this.isAwake = true;
    if (this.#mustYield) this.#clock.macrotask(this.#onMacrotask);
    else this.#clock.microtask(this.#onMicrotask);
  }

  #beginTurn(): void {
    this.#mustYield = false;
    this.#turnStart = this.#lastLook = this.#clock.monotonicTime();
    this.#credit = this.#granted;
    this.#drain();
  }

  #drain(): void {
    for (let runnable = this.#first; runnable !== null; runnable = this.#first) {
      this.#first = runnable.nextReady;
      if (this.#first === null) this.#last = null;
      runnable.nextReady = null;
      this.#credit -= runnable.run(this.#credit);
      if (this.#credit > 0 || !this.#isTurnOver()) continue;
      this.#mustYield = true; // Also when nobody is ready now: the next message may be a microtask away.
      if (this.#first !== null) {
        this.#afterBurst();
        this.#clock.macrotask(this.#onMacrotask);
        return;
      }
    }
    this.isAwake = false;
    this.#afterBurst();
  }

  #isTurnOver(): boolean {
    const now = this.#clock.monotonicTime();
    const left = TURN - (now - this.#turnStart);
    const pace = (now - this.#lastLook) / this.#granted;
    this.#lastLook = now;
    this.#granted = this.#credit = pace * MOST <= left ? MOST : Math.max(1, Math.floor(left / pace));
    return left <= 0;
  }
}
