import type { Dispatcher, Runnable } from "./dispatcher";
import { Queue } from "./queue";

/** Most promises that are spent at once. Spent one by one, each that comes alone would set a macrotask, for 0.2 µs. */
const LONGEST_STRIDE = 32;

/**
 * Settles the promises that no actor's turn settles: a message was refused, dropped, or taken at once. Each is spent from
 * the turn. Once the turn is over, a promise queues with the actors for one of the next turns. Otherwise a loop that awaits
 * such promises would let no timer and no I/O in (P5).
 */
export class Settling implements Runnable {
  nextReady: Runnable | null = null;
  readonly #dispatcher: Dispatcher;
  /** A wait that is over: awaited, it settles as `resolved(undefined)` does. One for all, so that giving it costs nothing. */
  readonly over: PromiseLike<void> = {
    // biome-ignore lint/suspicious/noThenProperty: `await` calls it, and a promise is made only then.
    then: (onFulfilled, onRejected) => this.resolved(undefined).then(onFulfilled, onRejected),
  };
  /** The promises that settle in a later turn, in order. */
  readonly #late = new Queue<() => void>();
  /** True while promises wait for a later turn. Nothing overtakes them. */
  #isLate = false;
  /** Promises that are spent at once, and how many of these are left. */
  #stride = 1;
  #untilLook = 1;

  constructor(dispatcher: Dispatcher) {
    this.#dispatcher = dispatcher;
  }

  /** Settles with an outcome, now or in a later turn. `resolve` may be the reject function of a promise. */
  settle<Outcome>(resolve: (outcome: Outcome) => void, outcome: Outcome): void {
    if (this.#isTurnOver()) this.#settleLater(resolve, outcome);
    else resolve(outcome);
  }

  /** A promise that resolves to a known outcome. */
  resolved<Outcome>(outcome: Outcome): Promise<Outcome> {
    return this.#isTurnOver() ? this.#resolvedLater(outcome) : Promise.resolve(outcome);
  }

  /** A promise that rejects with a known reason. */
  rejected(thrown: unknown): Promise<never> {
    return new Promise((_, reject) => this.settle(reject, thrown));
  }

  /** A promise that resolves in a later turn; null while this turn lasts. */
  pause(): Promise<void> | null {
    return this.#isTurnOver() ? new Promise((resolve) => this.#put(resolve)) : null;
  }

  /** Spends one promise. True when it has to wait for a later turn. */
  #isTurnOver(): boolean {
    if (this.#isLate) return true;
    if (--this.#untilLook > 0) return false;
    const isOver = this.#dispatcher.spend(this.#stride);
    this.#stride = this.#untilLook = isOver ? 1 : Math.min(this.#stride * 2, LONGEST_STRIDE);
    return isOver;
  }

  // These closures have methods of their own: in a method called for each message, they would cost each message some 10 ns.

  #settleLater<Outcome>(resolve: (outcome: Outcome) => void, outcome: Outcome): void {
    this.#put(() => resolve(outcome));
  }

  #resolvedLater<Outcome>(outcome: Outcome): Promise<Outcome> {
    return new Promise((resolve) => this.#settleLater(resolve, outcome));
  }

  #put(callback: () => void): void {
    this.#late.put(callback);
    if (this.#isLate) return;
    this.#isLate = true;
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
    this.#isLate = this.#late.size > 0;
    if (this.#isLate) this.#dispatcher.schedule(this);
    return count;
  }
}
