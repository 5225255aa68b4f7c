/** What a mailbox holds: a link of its list. */
export interface Mail<Item> {
  next: Item | null;
}

/**
 * First in, first out, without bound: a list through the messages themselves, so that an empty one holds no memory
 * (an array per actor was 56 bytes more) and a long one never grows by copying.
 */
export class Mailbox<Item extends Mail<Item>> {
  #first: Item | null = null;
  #last: Item | null = null;

  get isEmpty(): boolean {
    return this.#first === null;
  }

  /** How many messages wait; counted when asked for. */
  get size(): number {
    let size = 0;
    for (let item = this.#first; item !== null; item = item.next) size++;
    return size;
  }

  put(item: Item): void {
    if (this.#last === null) this.#first = item;
    else this.#last.next = item;
    this.#last = item;
  }

  take(): Item | null {
    const item = this.#first;
    if (item === null) return null;
    this.#first = item.next;
    if (item.next === null) this.#last = null;
    item.next = null;
    return item;
  }
}
