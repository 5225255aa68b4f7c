import type { Dispatcher, Runnable } from "./dispatcher";

/**
 * Does something with each of many, in order. Each is spent from the turn (P5): once it is over, the others come in later turns,
 * with timers, I/O and actors between.
 *
 * @param whenDone is called after the last one, before this returns if the turn lasts.
 */
export function inTurns<Item>(
  dispatcher: Dispatcher,
  items: readonly Item[],
  act: (item: Item) => void,
  whenDone: () => void,
): void {
  for (let next = 0; next < items.length; next++) {
    if (dispatcher.spend(1)) {
      dispatcher.schedule(new Rest(dispatcher, items, next, act, whenDone));
      return;
    }
    act(items[next] as Item); // Within its length.
  }
  whenDone();
}

/** Those that come in later turns. */
class Rest<Item> implements Runnable {
  nextReady: Runnable | null = null;
  readonly #dispatcher: Dispatcher;
  readonly #items: readonly Item[];
  readonly #act: (item: Item) => void;
  readonly #whenDone: () => void;
  #next: number;

  constructor(
    dispatcher: Dispatcher,
    items: readonly Item[],
    next: number,
    act: (item: Item) => void,
    whenDone: () => void,
  ) {
    this.#dispatcher = dispatcher;
    this.#items = items;
    this.#next = next;
    this.#act = act;
    this.#whenDone = whenDone;
  }

  run(limit: number): number {
    const first = this.#next;
    const end = Math.min(first + limit, this.#items.length);
    while (this.#next < end) this.#act(this.#items[this.#next++] as Item); // Within its length.
    if (end < this.#items.length) this.#dispatcher.schedule(this);
    else this.#whenDone();
    return end - first;
  }
}
