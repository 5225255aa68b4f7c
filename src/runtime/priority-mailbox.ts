import type { MessageQueue } from "./mailbox";

interface Entry<Item> {
  readonly item: Item;
  /** Larger comes first. */
  readonly priority: number;
  /** Among equal priorities, smaller comes first. */
  readonly order: number;
}

/**
 * The largest priority first, and first in, first out among equals: a binary heap (J. W. J. Williams, "Algorithm 232:
 * Heapsort", CACM 7(6), 1964), kept stable by the order of arrival. A signal has no priority of its own: it comes after all that
 * waited before it.
 */
export class PriorityMailbox<Item> implements MessageQueue<Item> {
  #entries: Entry<Item>[] = [];
  readonly #priorityOf: (item: Item) => number | null;
  #nextOrder = 0;
  #nextFirstOrder = -1;
  handled = 0;
  readonly uncounted = 0;

  /** `priorityOf` gives null for an item that must come after all that wait now. */
  constructor(priorityOf: (item: Item) => number | null) {
    this.#priorityOf = priorityOf;
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  put(item: Item): void {
    this.#insert({ item, priority: this.#priorityOf(item) ?? this.#lowest(), order: this.#nextOrder++ });
  }

  /** Never open: each message needs an envelope for its own priority. */
  add(): false {
    return false;
  }
  append(): false {
    return false;
  }
  close(): void {}

  putFirst(items: readonly Item[]): void {
    for (let i = items.length - 1; i >= 0; i--) {
      // The index is in range.
      this.#insert({ item: items[i] as Item, priority: Number.POSITIVE_INFINITY, order: this.#nextFirstOrder-- });
    }
  }

  take(): Item | null {
    const [first] = this.#entries;
    if (first === undefined) return null;
    this.#removeAt(0);
    return first.item;
  }

  takeOldest(mayBe: (item: Item) => boolean): Item | null {
    let found: Entry<Item> | null = null;
    for (const entry of this.#entries) {
      if (!mayBe(entry.item)) continue;
      if (found === null || entry.priority < found.priority) found = entry;
      else if (entry.priority === found.priority && entry.order < found.order) found = entry;
    }
    if (found === null) return null;
    this.#removeAt(this.#entries.indexOf(found));
    return found.item;
  }

  removeAll(isOut: (item: Item) => boolean): Item[] {
    const removed: Item[] = [];
    const kept: Entry<Item>[] = [];
    for (const entry of this.#entries) {
      if (isOut(entry.item)) removed.push(entry.item);
      else kept.push(entry);
    }
    this.#entries = kept;
    for (let index = (kept.length >> 1) - 1; index >= 0; index--) this.#sink(index);
    return removed;
  }

  /** In no particular order. */
  *[Symbol.iterator](): Iterator<Item> {
    for (const { item } of this.#entries) yield item;
  }

  #lowest(): number {
    return this.#entries.reduce((lowest, { priority }) => Math.min(lowest, priority), Number.POSITIVE_INFINITY);
  }

  #insert(entry: Entry<Item>): void {
    this.#entries.push(entry);
    this.#rise(this.#entries.length - 1);
  }

  #removeAt(index: number): void {
    const last = this.#entries.pop();
    if (last === undefined || index === this.#entries.length) return;
    this.#entries[index] = last;
    this.#sink(index);
    this.#rise(index);
  }

  #rise(from: number): void {
    let index = from;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.#swapWhenBefore(index, parent)) return;
      index = parent;
    }
  }

  #sink(from: number): void {
    let index = from;
    for (;;) {
      const left = 2 * index + 1;
      const child = this.#isBefore(left + 1, left) ? left + 1 : left;
      if (!this.#swapWhenBefore(child, index)) return;
      index = child;
    }
  }

  #swapWhenBefore(index: number, other: number): boolean {
    if (!this.#isBefore(index, other)) return false;
    const a = this.#entries[index] as Entry<Item>; // #isBefore checked both indices.
    this.#entries[index] = this.#entries[other] as Entry<Item>;
    this.#entries[other] = a;
    return true;
  }

  #isBefore(index: number, other: number): boolean {
    const a = this.#entries[index];
    const b = this.#entries[other];
    if (a === undefined || b === undefined) return false;
    return a.priority > b.priority || (a.priority === b.priority && a.order < b.order);
  }
}
