import type { Enter } from "./contexts";
import type { Settling } from "./settling";
import { hearRejection } from "./thenable";

/**
 * A feed of events, to subscribe to or to iterate over. An iteration never ends by itself: leave the loop to unsubscribe.
 * It may lag 1,000 items behind; beyond that the oldest are left out.
 *
 * @example
 * for await (const letter of router.deadLetters) console.log(letter.description);
 */
export interface Feed<Item> extends AsyncIterable<Item> {
  /**
   * Calls back for each item from now on, without waiting for a returned promise. If the callback throws or its promise rejects,
   * that is logged, and the subscription stays.
   *
   * @returns a function that ends the subscription.
   */
  subscribe(callback: (item: Item) => unknown): () => void;
}

/** Items that an iteration may lag behind. Beyond that the oldest are left out. */
const BACKLOG = 1_000;

function tell<Item>(callback: (item: Item) => unknown, item: Item, onThrow: (thrown: unknown) => void): void {
  const returned = callback(item);
  if (returned !== undefined) hearRejection(returned, onThrow);
}

/** The publishing side of a feed. */
export class FeedSource<Item> implements Feed<Item> {
  readonly #callbacks = new Set<(item: Item) => unknown>();
  /** A copy of the present callbacks, made on demand. */
  #snapshot: readonly ((item: Item) => unknown)[] | null = null;
  readonly #settling: Settling;
  readonly #enter: Enter;
  readonly #onThrow: (thrown: unknown) => void;

  /** @param enter calls subscribers in the system's context, not in that of the event (P16). */
  constructor(settling: Settling, enter: Enter, onThrow: (thrown: unknown) => void) {
    this.#settling = settling;
    this.#enter = enter;
    this.#onThrow = onThrow;
  }

  get hasSubscribers(): boolean {
    return this.#callbacks.size > 0;
  }

  /** The present callbacks. */
  get subscribers(): readonly ((item: Item) => unknown)[] {
    this.#snapshot ??= [...this.#callbacks];
    return this.#snapshot;
  }

  /** Tells an item to the given subscribers that are still subscribed. */
  publish(item: Item, to = this.subscribers): void {
    for (const callback of to) {
      if (!this.#callbacks.has(callback)) continue; // Another callback ended it.
      try {
        this.#enter(tell, callback, item, this.#onThrow);
      } catch (thrown) {
        this.#onThrow(thrown);
      }
    }
  }

  subscribe(callback: (item: Item) => unknown): () => void {
    const own = (item: Item): unknown => callback(item); // The same function may subscribe twice.
    this.#callbacks.add(own);
    this.#snapshot = null;
    return () => {
      this.#callbacks.delete(own);
      this.#snapshot = null;
    };
  }

  /** Iterates from now on and never ends by itself: leave the loop to unsubscribe. Lags 1,000 items at most. */
  [Symbol.asyncIterator](): AsyncIterator<Item> {
    const settling = this.#settling;
    const backlog: Item[] = [];
    let isDone = false;
    const waiting: ((result: IteratorResult<Item>) => void)[] = []; // More than one when next() is called ahead.
    const unsubscribe = this.subscribe((item) => {
      const resolve = waiting.shift();
      if (resolve !== undefined) settling.settle(resolve, { value: item, done: false });
      else {
        if (backlog.length >= BACKLOG) backlog.shift();
        backlog.push(item);
      }
    });
    return {
      next: () => {
        if (isDone) return settling.resolved({ value: undefined, done: true });
        if (backlog.length > 0)
          return settling.resolved({ value: backlog.shift() as Item /* it is not empty */, done: false });
        return new Promise((resolve) => {
          waiting.push(resolve);
        });
      },
      return: () => {
        isDone = true;
        unsubscribe();
        for (const resolve of waiting.splice(0)) settling.settle(resolve, { value: undefined, done: true });
        return settling.resolved({ value: undefined, done: true });
      },
    };
  }
}
