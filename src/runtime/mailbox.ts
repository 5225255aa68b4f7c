/** What a mailbox holds: a link of its list. */
export interface Mail<Item> {
  next: Item | null;
}

/** Where messages wait for their actor. */
export interface MessageQueue<Item> extends Iterable<Item> {
  /** How many of those that it gave have been handled, for its actor. */
  handled: number;
  readonly isEmpty: boolean;
  put(item: Item): void;
  /** Puts items before all others, the first of them first. */
  putFirst(items: readonly Item[]): void;
  take(): Item | null;
  /** Takes one item out, wherever it is; false when it is not in. */
  remove(item: Item): boolean;
  /** Takes out the one that can be spared first among those that may be: the oldest; of the least urgent, where they have priorities. */
  takeOldest(mayBe: (item: Item) => boolean): Item | null;
  /** Takes out all that a test picks; what stays keeps its order. */
  removeAll(isOut: (item: Item) => boolean): Item[];
}

/**
 * First in, first out, without bound: a list through the messages themselves, so that an empty one holds no memory
 * (an array per actor was 56 bytes more) and a long one never grows by copying.
 */
export class Mailbox<Item extends Mail<Item>> implements MessageQueue<Item> {
  #first: Item | null = null;
  #last: Item | null = null;
  handled = 0;

  get isEmpty(): boolean {
    return this.#first === null;
  }

  put(item: Item): void {
    if (this.#last === null) this.#first = item;
    else this.#last.next = item;
    this.#last = item;
  }

  putFirst(items: readonly Item[]): void {
    for (let i = items.length - 1; i >= 0; i--) {
      const item = items[i] as Item; // The index is within.
      item.next = this.#first;
      this.#first = item;
      this.#last ??= item;
    }
  }

  take(): Item | null {
    const item = this.#first;
    if (item === null) return null;
    this.#first = item.next;
    if (item.next === null) this.#last = null;
    item.next = null;
    return item;
  }

  remove(item: Item): boolean {
    let previous: Item | null = null;
    for (const other of this) {
      if (other !== item) {
        previous = other;
        continue;
      }
      if (previous === null) this.#first = item.next;
      else previous.next = item.next;
      if (item.next === null) this.#last = previous;
      item.next = null;
      return true;
    }
    return false;
  }

  takeOldest(mayBe: (item: Item) => boolean): Item | null {
    for (const item of this) if (mayBe(item) && this.remove(item)) return item;
    return null;
  }

  removeAll(isOut: (item: Item) => boolean): Item[] {
    const removed: Item[] = [];
    let item = this.#first;
    this.#first = this.#last = null;
    while (item !== null) {
      const { next }: Mail<Item> = item;
      item.next = null;
      if (isOut(item)) removed.push(item);
      else this.put(item);
      item = next;
    }
    return removed;
  }

  *[Symbol.iterator](): Iterator<Item> {
    for (let item = this.#first; item !== null; item = item.next) yield item;
  }
}
