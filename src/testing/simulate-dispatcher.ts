import type { Dispatcher, Runnable } from "../index";
import type { SeededRandom } from "./seeded-random";

/** A way to pick the next actor. Each finds faults that others are slow to find. */
type Mode = "by chance" | "in turn" | "newest first" | "the same again" | "by rank";
const MODES: readonly Mode[] = ["by chance", "by chance", "in turn", "newest first", "the same again", "by rank"];

/** Probability of leaving an order that starves an actor, so that each is served in the end (P5). */
const FAIR = 1 / 32;

/** Is told of each turn that a dispatcher gives. */
export interface TurnObserver {
  /** Returns false to hold the turn back. `dispatcher.schedule` then gives another one. */
  before(runnable: Runnable): boolean;
  after(runnable: Runnable): void;
}

/**
 * Picks the next actor by a seed. A run keeps to one mode, one limit of messages a turn, and one probability that promises
 * settle between two turns: a run that mixes them finds less. The mode "by rank" runs the actor of the highest rank and lowers
 * that rank now and then. It is from S. Burckhardt et al., "A Randomized Scheduler with Probabilistic Guarantees of Finding
 * Bugs" (ASPLOS 2010).
 */
export class SeededDispatcher implements Dispatcher {
  readonly #random: SeededRandom;
  readonly #clock: { readonly now: number };
  readonly #observer: TurnObserver;
  readonly #ready: Runnable[] = [];
  readonly #mode: Mode;
  readonly #mostAtOnce: number;
  readonly #settling: number;
  readonly #ranks = new WeakMap<Runnable, number>();
  #lowest = 0;
  #last: Runnable | null = null;
  #isRunning = false;
  /** Those of the systems that it serves. */
  readonly afterTurns: (() => void)[] = [];

  constructor(random: SeededRandom, clock: { readonly now: number }, observer: TurnObserver) {
    this.#random = random;
    this.#clock = clock;
    this.#observer = observer;
    this.#mode = random.pick(MODES);
    this.#mostAtOnce = random.pick([1, 1, 1, 4, 32]);
    this.#settling = random.pick([1, 1, 0.5, 0.1]);
  }

  afterTurn(): void {
    for (const afterTurn of this.afterTurns) afterTurn();
  }

  get isAwake(): boolean {
    return this.#isRunning || this.#ready.length > 0;
  }
  get now(): number {
    return this.#clock.now;
  }
  get hasReady(): boolean {
    return this.#ready.length > 0;
  }

  schedule(runnable: Runnable): void {
    this.#ready.push(runnable);
  }

  spend(): boolean {
    return this.#random.chance(0.5);
  }

  /** Gives one turn, or several without letting promises settle between them. */
  run(): void {
    this.#isRunning = true;
    try {
      do this.#runOne();
      while (this.#ready.length > 0 && !this.#random.chance(this.#settling));
    } finally {
      this.#isRunning = false;
      this.afterTurn();
    }
  }

  #runOne(): void {
    const index = this.#pick();
    const [runnable] = this.#ready.splice(index, 1);
    if (runnable === undefined || !this.#observer.before(runnable)) return;
    this.#last = runnable;
    runnable.run(this.#mostAtOnce === 1 ? 1 : 1 + this.#random.below(this.#mostAtOnce));
    this.#observer.after(runnable);
  }

  #pick(): number {
    const { length } = this.#ready;
    if (length === 1) return 0;
    switch (this.#mode) {
      case "by chance":
        return this.#random.below(length);
      case "in turn":
        return 0;
      case "newest first":
        return this.#random.chance(FAIR) ? 0 : length - 1;
      case "the same again": {
        const index = this.#last === null ? -1 : this.#ready.indexOf(this.#last);
        return index < 0 || this.#random.chance(FAIR) ? this.#random.below(length) : index;
      }
      case "by rank":
        return this.#highest();
    }
  }

  #highest(): number {
    let found = 0;
    let highest = Number.NEGATIVE_INFINITY;
    for (const [index, runnable] of this.#ready.entries()) {
      let rank = this.#ranks.get(runnable);
      if (rank === undefined) {
        rank = this.#random.next();
        this.#ranks.set(runnable, rank);
      }
      if (rank <= highest) continue;
      highest = rank;
      found = index;
    }
    const picked = this.#ready[found];
    if (picked !== undefined && this.#random.chance(FAIR)) this.#ranks.set(picked, --this.#lowest);
    return found;
  }
}
