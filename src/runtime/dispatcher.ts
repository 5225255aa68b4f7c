import type { Address } from "../message/address";
import type { Clock } from "./clock";

/** Something that has work: an actor with messages. */
export interface Runnable {
  /** The link of the dispatcher's queue. */
  nextReady: Runnable | null;
  /** Whose turn it is, for a dispatcher that tells. */
  readonly address?: Address;
  /** Handles at most `limit` messages and returns how many it did; it schedules itself again when more are left. */
  run(limit: number): number;
}

/** Decides who runs next, and when the event loop gets its turn. */
export interface Dispatcher {
  /** Whether a turn is under way or about to begin, at whose end staged timers are placed. */
  readonly isAwake: boolean;
  /** The clock's time, in milliseconds, when it was last looked at: at most a turn ago while one is under way. */
  readonly now: number;
  schedule(runnable: Runnable): void;
  /** Counts work that was done outside of `run`: true when the turn is over, and a macrotask must come first. */
  spend(messages: number): boolean;
}

/** What a dispatcher is made of. */
export interface DispatcherParts {
  /** Where its turns come from. */
  readonly clock: Clock;
  /** To be called whenever it has nothing left to run, or yields: the timers of asks are set then. */
  readonly afterTurn: () => void;
}

/** How long a turn lasts before timers and I/O are served, in milliseconds. */
const TURN = 1;
/** Most messages of a turn on a clock that stands still, as in tests: without it, two actors that volley would never let go. */
const LONGEST = 10_000_000;
/** Most messages between two looks at the clock (40 ns each here), and most of one actor before the next one's. */
const MOST = 32;
/** Bursts of a turn whose end is not awaited yet: asks that wait for a socket come one by one, some tens of µs apart. */
const MOST_BURSTS = 16;
/** Who has taken longer than this, in milliseconds, lets the next one run before it has handled so many. */
const QUICK = TURN / MOST;

/**
 * Runs ready actors in turn, many in one microtask, and yields to the event loop after about a millisecond. A turn lasts
 * from its first message to the next macrotask, because a chain of microtasks never reaches the event loop either. That
 * macrotask costs 0.7 µs and a round of the event loop, so it is set when it is needed to tell where the turn ends: once
 * that is over, or half over, or has had a few bursts of messages. Between two looks at the clock it lets through as many messages
 * as fit into the rest of the turn at the pace of the slowest of late, 32 at most.
 */
export class FairDispatcher implements Dispatcher {
  readonly #clock: Clock;
  readonly #afterBurst: () => void;
  readonly #onMicrotask = (): void => this.#drain();
  readonly #onMacrotask = (): void => this.#endTurn();
  #first: Runnable | null = null;
  #last: Runnable | null = null;
  /** Whether a turn has begun that no macrotask has ended. */
  #isInTurn = false;
  /** Whether a macrotask will end it. */
  #isEnding = false;
  /** How often something became ready in it while nothing else was, before its macrotask was set. */
  #bursts = 0;
  /** Whether it has lasted long enough: what is ready waits for the next one. */
  #isOver = false;
  #turnStart = 0;
  #inTurn = 0;
  #lastLook = 0;
  #granted = 1;
  #credit = 1;
  /** Milliseconds that a message takes of the slowest that were seen of late. */
  #pace = 0;
  /** Who runs: what it has left, it goes on with before it queues again. */
  #running: Runnable | null = null;
  #hasMore = false;

  isAwake = false;

  /** `afterBurst` is called whenever it has nothing left to run, or yields. */
  constructor(clock: Clock, afterBurst: () => void) {
    this.#clock = clock;
    this.#afterBurst = afterBurst;
  }

  get now(): number {
    return this.#lastLook;
  }

  schedule(runnable: Runnable): void {
    if (runnable === this.#running) {
      this.#hasMore = true;
      return;
    }
    if (this.#last === null) this.#first = runnable;
    else this.#last.nextReady = runnable;
    this.#last = runnable;
    if (this.isAwake) return;
    this.isAwake = true;
    if (!this.#isEnding) this.#enterTurn();
    if (!this.#isOver) this.#clock.microtask(this.#onMicrotask);
  }

  spend(messages: number): boolean {
    if (!this.#isEnding) {
      if (!this.isAwake) this.#enterTurn();
      this.#awaitEnd(); // What is done outside goes on for long, an item in each microtask.
    }
    this.#credit -= messages;
    if (this.#credit <= 0) this.#look();
    return this.#isOver;
  }

  /** Begins a turn, or goes on with one of which it is not known whether the event loop has turned meanwhile. */
  #enterTurn(): void {
    const now = this.#clock.monotonicTime();
    const elapsed = now - this.#turnStart;
    if (!this.#isInTurn) this.#beginTurn(now);
    else {
      if (elapsed >= TURN) this.#beginTurn(now); // At rest, most likely.
      if (elapsed >= TURN / 2 || ++this.#bursts >= MOST_BURSTS) this.#awaitEnd();
    }
  }

  #beginTurn(now: number): void {
    this.#isInTurn = true;
    this.#turnStart = this.#lastLook = now;
    this.#inTurn = 0;
    this.#bursts = 0;
    this.#pace /= 2;
  }

  #awaitEnd(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#clock.macrotask(this.#onMacrotask);
  }

  #endTurn(): void {
    this.#isInTurn = false;
    this.#isEnding = false;
    if (!this.#isOver) return; // What is ready now has its microtask.
    this.#isOver = false;
    if (!this.isAwake) return;
    this.#enterTurn();
    this.#drain();
  }

  #drain(): void {
    for (let runnable = this.#first; runnable !== null; runnable = this.#first) {
      if (this.#isOver) {
        this.#afterBurst();
        return;
      }
      this.#first = runnable.nextReady;
      if (this.#first === null) this.#last = null;
      runnable.nextReady = null;
      if (this.#granted < MOST) this.#runInLooks(runnable);
      else this.#runInFull(runnable);
      if (this.#credit <= 0) this.#look();
    }
    this.isAwake = false;
    this.#afterBurst();
  }

  #runInFull(runnable: Runnable): void {
    const count = this.#run(runnable, this.#credit);
    this.#credit -= count; // Behind what was spent meanwhile.
  }

  #run(runnable: Runnable, limit: number): number {
    try {
      return runnable.run(limit);
    } catch (thrown) {
      this.#clock.macrotask(() => {
        throw thrown; // Told as uncaught, where it cannot take the other actors with it.
      });
      return 1;
    }
  }

  /** Lets one handle as many messages as ever, with looks at the clock meanwhile, unless they show that it is slow. */
  #runInLooks(runnable: Runnable): void {
    const start = this.#lastLook;
    let left = MOST;
    this.#running = runnable;
    for (;;) {
      this.#hasMore = false;
      const count = this.#run(runnable, Math.min(left, this.#credit));
      left -= count;
      this.#credit -= count;
      if (this.#credit > 0 || left <= 0 || !this.#hasMore) break;
      this.#look();
      if (this.#isOver || this.#lastLook - start >= QUICK) break;
    }
    this.#running = null;
    if (this.#hasMore) this.schedule(runnable);
  }

  /** Looks at the clock: is the turn over, and how many messages go by until the next look? */
  #look(): void {
    const now = this.#clock.monotonicTime();
    const left = TURN - (now - this.#turnStart);
    // Who comes next may be the slowest of late, of whom as many as quick ones would take the time of many turns.
    const pace = Math.max((now - this.#lastLook) / this.#granted, this.#pace);
    this.#pace = pace;
    this.#lastLook = now;
    this.#inTurn += this.#granted;
    this.#granted = this.#credit = pace * MOST <= left ? MOST : Math.max(1, Math.floor(left / pace));
    this.#isOver = left <= 0 || this.#inTurn >= LONGEST;
    if (this.#isOver) this.#awaitEnd();
  }
}
