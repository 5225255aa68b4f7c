const SMALLEST = 8;

/**
 * First in, first out, without bound: a ring that doubles when it is full. Nothing moves when an item leaves. Its length
 * is a power of two, so the remainder is one operation.
 */
export class Queue<Item> {
  #ring: (Item | undefined)[] = emptyRing(SMALLEST);
  #first = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  put(item: Item): void {
    if (this.#size === this.#ring.length) this.#grow();
    this.#ring[(this.#first + this.#size) & (this.#ring.length - 1)] = item;
    this.#size++;
  }

  /** Undefined when the queue is empty. If undefined may be an item, look at `size`. */
  take(): Item | undefined {
    if (this.#size === 0) return undefined;
    const item = this.#ring[this.#first];
    this.#ring[this.#first] = undefined; // Do not keep the item alive.
    this.#first = (this.#first + 1) & (this.#ring.length - 1);
    this.#size--;
    return item;
  }

  /** Takes the first `count` items, or all if there are fewer. */
  takeSome(count: number): Item[] {
    const taken: Item[] = [];
    for (let left = Math.min(count, this.#size); left > 0; left--) taken.push(this.take() as Item); // The size is counted.
    return taken;
  }

  clear(): void {
    this.#ring = emptyRing(SMALLEST);
    this.#first = this.#size = 0;
  }

  #grow(): void {
    const { length } = this.#ring;
    this.#ring = [...this.#ring.slice(this.#first), ...this.#ring.slice(0, this.#first), ...emptyRing<Item>(length)];
    this.#first = 0;
  }
}

const emptyRing = <Item>(length: number): (Item | undefined)[] => new Array<Item | undefined>(length).fill(undefined);
