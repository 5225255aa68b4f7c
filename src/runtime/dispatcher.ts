import type { Address } from "../message/address";
import type { Clock } from "./clock";

/** Something that has work: an actor with messages. */
export interface Runnable {
  /** The next one in the dispatcher's queue. */
  nextReady: Runnable | null;
  /** The actor's address, for a dispatcher that reports turns. */
  readonly address?: Address;
  /** Handles at most `limit` messages and returns their number. Schedules itself again if more are left. */
  run(limit: number): number;
}

/** Decides which actor runs next, and when the event loop gets its turn. */
export interface Dispatcher {
  /** True while a turn runs or is about to begin. Staged timers are placed at its end. */
  readonly isAwake: boolean;
  /** The time of the last look at the clock, in milliseconds. During a turn, it is at most a turn old. */
  readonly now: number;
  schedule(runnable: Runnable): void;
  /** Counts work done outside of `run`. Returns true when the turn is over: a macrotask must come first. */
  spend(messages: number): boolean;
}

/** The parts that a dispatcher is made from. */
export interface DispatcherParts {
  /** The clock that gives it its turns. */
  readonly clock: Clock;
  /** Must be called whenever nothing is left to run, and at each yield: it sets the timers of asks. */
  readonly afterTurn: () => void;
}

/** Length of a turn in milliseconds. Timers and I/O are served after it. */
const TURN = 1;
/** Most messages of a turn on a clock that stands still, as in tests: otherwise two actors that volley would run for ever. */
const LONGEST = 10_000_000;
/** Most messages between two looks at the clock (40 ns each here), and most of one actor before the next one runs. */
const MOST = 32;
/** Most bursts of a turn before its macrotask is set: asks that wait for a socket come one by one, some tens of µs apart. */
const MOST_BURSTS = 16;
/** An actor that has run for longer than this, in milliseconds, lets the next one run before it has handled so many. */
const QUICK = TURN / MOST;

/**
 * Runs ready actors in turn, many in one microtask, and yields to the event loop after about a millisecond. A turn lasts
 * from its first message to the next macrotask, because a chain of microtasks never reaches the event loop either. That
 * macrotask costs 0.7 µs and a round of the event loop. So it is set only when it is needed to see the turn's end: once the
 * turn is over, or half over, or has had a few bursts of messages. The clock is looked at after as many messages as fit into
 * the rest of the turn at the pace of the slowest recent ones, 32 at most.
 */
export class FairDispatcher implements Dispatcher {
  readonly #clock: Clock;
  readonly #afterBurst: () => void;
  readonly #onMicrotask = (): void => {
    this.#hasWaited = true;
    this.#drain();
  };
  readonly #onMacrotask = (): void => this.#endTurn();
  #first: Runnable | null = null;
  #last: Runnable | null = null;
  /** True from the beginning of a turn until a macrotask ends it. */
  #isInTurn = false;
  /** True while a macrotask that ends the turn is set. */
  #isEnding = false;
  /** Times in this turn that an actor became ready while none was, before the macrotask was set. */
  #bursts = 0;
  /** True once the turn has lasted long enough. Ready actors wait for the next one. */
  #isOver = false;
  #turnStart = 0;
  #inTurn = 0;
  #lastLook = 0;
  #granted = 1;
  #credit = 1;
  /** Milliseconds per message, of the slowest recent messages. */
  #pace = 0;
  /** True when the time since the last look is also that of the code outside of actors, before this microtask. */
  #hasWaited = false;
  /** The actor that runs. It goes on with its other messages before it queues again. */
  #running: Runnable | null = null;
  #hasMore = false;

  isAwake = false;

  /** `afterBurst` is called whenever nothing is left to run, and at each yield. */
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
      this.#awaitEnd(); // Work outside goes on for long, an item in each microtask.
    }
    this.#credit -= messages;
    if (this.#credit <= 0) this.#look();
    return this.#isOver;
  }

  /** Begins a turn, or continues one. The event loop may have turned meanwhile, without a macrotask to tell. */
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
    if (!this.#isOver) return; // Ready actors have their microtask.
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
    this.#credit -= count; // Comes after whatever was spent meanwhile.
  }

  #run(runnable: Runnable, limit: number): number {
    try {
      return runnable.run(limit);
    } catch (thrown) {
      this.#clock.macrotask(() => {
        throw thrown; // An uncaught error here does not stop the other actors.
      });
      return 1;
    }
  }

  /** Lets an actor handle the usual number of messages, with looks at the clock between, unless these show that it is slow. */
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

  /** Looks at the clock: ends the turn, or sets the number of messages until the next look. */
  #look(): void {
    const now = this.#clock.monotonicTime();
    const left = TURN - (now - this.#turnStart);
    // The next actor may be the slowest recent one. As many messages of it as of a quick one would take many turns.
    const measured = (now - this.#lastLook) / this.#granted;
    // The time may be that of a sender of 100,000 messages, and not of the actor that gets them: one more message shows the pace.
    const isUnknown = this.#hasWaited && measured * MOST > left;
    const pace = isUnknown ? this.#pace : Math.max(measured, this.#pace);
    this.#hasWaited = false;
    this.#pace = pace;
    this.#lastLook = now;
    this.#inTurn += this.#granted;
    const fitting = pace * MOST <= left ? MOST : Math.max(1, Math.floor(left / pace));
    this.#granted = this.#credit = isUnknown ? 1 : fitting;
    this.#isOver = left <= 0 || this.#inTurn >= LONGEST;
    if (this.#isOver) this.#awaitEnd();
  }
}
