import type { Dispatcher, Runnable } from "./dispatcher";
import { Queue } from "./queue";

/**
 * Settles the promises that no turn of an actor settles: a message was refused, dropped, or taken at once. Each is spent from
 * the turn. Once the turn is over, it waits in line with the actors for one of the next turns: a loop that awaits such promises
 * would let no timer and no I/O in otherwise (P5).
 */
export class Settling implements Runnable {
  nextReady: Runnable | null = null;
  readonly #dispatcher: Dispatcher;
  /** What settles in a later turn, in order. */
  readonly #late = new Queue<() => void>();
  #isScheduled = false;

  constructor(dispatcher: Dispatcher) {
    this.#dispatcher = dispatcher;
  }

  /** Hands over an outcome, now or in a later turn; `resolve` may be the reject function of a promise. */
  settle<Outcome>(resolve: (outcome: Outcome) => void, outcome: Outcome): void {
    if (this.#isNow()) resolve(outcome);
    else this.#settleLater(resolve, outcome);
  }

  /** A promise of an outcome that is known already. */
  resolved<Outcome>(outcome: Outcome): Promise<Outcome> {
    return this.#isNow() ? Promise.resolve(outcome) : this.#resolvedLater(outcome);
  }

  /** A promise that rejects with what is known already. */
  rejected(thrown: unknown): Promise<never> {
    return new Promise((_, reject) => this.settle(reject, thrown));
  }

  /** Resolves in a later turn; null while this one lasts. */
  pause(): Promise<void> | null {
    return this.#isNow() ? null : new Promise((resolve) => this.#put(resolve));
  }

  /** Nothing overtakes what waits already. */
  #isNow(): boolean {
    return this.#late.size === 0 && !this.#dispatcher.spend(1);
  }

  // Closures in methods of their own: in one that is called for each message, they would cost each message some 10 ns.

  #settleLater<Outcome>(resolve: (outcome: Outcome) => void, outcome: Outcome): void {
    this.#put(() => resolve(outcome));
  }

  #resolvedLater<Outcome>(outcome: Outcome): Promise<Outcome> {
    return new Promise((resolve) => this.#settleLater(resolve, outcome));
  }

  #put(callback: () => void): void {
    this.#late.put(callback);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#dispatcher.schedule(this);
  }

  run(limit: number): number {
    let count = 0;
    while (count < limit) {
      const callback = this.#late.take();
      if (callback === undefined) break;
      callback();
      count++;
    }
    this.#isScheduled = this.#late.size > 0;
    if (this.#isScheduled) this.#dispatcher.schedule(this);
    return count;
  }
}
