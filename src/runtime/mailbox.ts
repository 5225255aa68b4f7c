import { type Burst, type Envelop, spareBurst, type Tally, takeBurst } from "./burst";

/** What a mailbox holds: a link of its list. */
export interface Mail<Item> {
  next: Item | null;
}

/** Where messages wait for their actor. */
export interface MessageQueue<Item> extends Iterable<Item> {
  /** How many of those that it gave have been handled, for its actor. */
  handled: number;
  /** Whether nothing is in it; not so, either, before it is known that nothing was added since it was opened. */
  readonly isEmpty: boolean;
  put(item: Item): void;
  /** Puts and counts a message that is no item yet, where it is open for its type; false where it is not. */
  add(type: string, payload: unknown): boolean;
  /** Opens it for a type, if so many wait that it pays, until it is empty or closed; to be called for each that is put behind others. */
  open(type: string, make: Envelop, counts: Tally): void;
  close(): void;
  /** Counts what was added, and what was handled of it, as far as it has not yet. */
  settle(): void;
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

/** How many come behind others before a burst, which takes 1 kB, pays. */
const FEW = 16;

/**
 * First in, first out, without bound: a list through the messages themselves, so that an empty one holds no memory
 * (an array per actor was 56 bytes more) and a long one never grows by copying. Where many wait, those that come stand in
 * bursts behind the list until all have been taken: one takes 16 bytes there, and a quarter of the time. (Its fields are open
 * to that loop; a private method would make each mailbox take far longer to make.)
 */
export class Mailbox<Item extends Mail<Item>> implements MessageQueue<Item> {
  first: Item | null = null;
  last: Item | null = null;
  /** The last burst, whose next is the first one. */
  tail: Burst | null = null;
  handled = 0;
  /** How many have come behind others. */
  crowd = 0;

  get isEmpty(): boolean {
    return this.first === null && this.tail === null;
  }

  put(item: Item): void {
    if (this.tail !== null) {
      putBehind(this, this.tail, item);
      return;
    }
    if (this.last === null) this.first = item;
    else this.last.next = item;
    this.last = item;
  }

  add(type: string, payload: unknown): boolean {
    const { tail } = this;
    if (tail === null || tail.gate !== type) return false;
    const { slots, write } = tail;
    if (write >= slots.length) return addToNext(this, tail, payload);
    slots[write + 1] = payload;
    tail.write = write + 2;
    return true;
  }

  open(type: string, make: Envelop, counts: Tally): void {
    let { tail } = this;
    if (tail === null) {
      this.crowd = this.first === this.last ? 0 : this.crowd + 1;
      if (this.crowd <= FEW) return;
      this.tail = tail = takeBurst(type, make, counts);
    }
    if (tail.write === 2 && tail.putCounted === 2) tail.type = type; // Nothing was added to it yet.
    tail.gate = tail.type;
  }

  close(): void {
    if (this.tail !== null) this.tail.gate = null;
  }

  settle(): void {
    const { tail } = this;
    if (tail === null) return;
    tail.counts.accepted += (tail.write - tail.putCounted) >> 1;
    tail.putCounted = tail.write;
    if (tail.next.isHeld) this.countHandled(tail.next, tail.next.read - 2);
  }

  /** Counts what was handled of a burst, up to one of its slots. */
  countHandled(burst: Burst, end: number): void {
    const count = (end - burst.handledCounted) >> 1;
    if (count <= 0) return;
    this.handled += count;
    burst.counts.handled += count;
    burst.handledCounted = end;
  }

  putFirst(items: readonly Item[]): void {
    for (let i = items.length - 1; i >= 0; i--) {
      const item = items[i] as Item; // The index is within.
      item.next = this.first;
      this.first = item;
      this.last ??= item;
    }
  }

  take(): Item | null {
    return this.first === null && this.tail !== null ? takeBehind<Item>(this, this.tail.next) : this.takeFirst();
  }

  /** Takes the first of the list. */
  takeFirst(): Item | null {
    const item = this.first;
    if (item === null) return null;
    this.first = item.next;
    if (item.next === null) this.last = null;
    item.next = null;
    return item;
  }

  /** Goes on to the next burst, where the first one is empty. */
  leave(burst: Burst): void {
    const { tail } = this;
    if (tail === null || tail.next !== burst || !burst.isEmpty) return;
    if (burst === tail) {
      this.settle();
      this.tail = null;
    } else tail.next = burst.next;
    spareBurst(burst);
  }

  remove(item: Item): boolean {
    linkAll(this);
    let previous: Item | null = null;
    for (const other of this) {
      if (other !== item) {
        previous = other;
        continue;
      }
      if (previous === null) this.first = item.next;
      else previous.next = item.next;
      if (item.next === null) this.last = previous;
      item.next = null;
      return true;
    }
    return false;
  }

  takeOldest(mayBe: (item: Item) => boolean): Item | null {
    linkAll(this);
    for (const item of this) if (mayBe(item) && this.remove(item)) return item;
    return null;
  }

  removeAll(isOut: (item: Item) => boolean): Item[] {
    linkAll(this);
    const removed: Item[] = [];
    let item = this.first;
    this.first = this.last = null;
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
    for (let item = this.first; item !== null; item = item.next) yield item;
    const { tail } = this;
    for (let burst = tail?.next ?? null; burst !== null; burst = burst === tail ? null : burst.next) {
      for (let index = burst.read; index < burst.write; index += 2) yield itemAt(burst, index);
    }
  }
}

/** An item that was put, or else made of what was added. */
const itemAt = <Item>({ slots, make, type }: Burst, index: number): Item =>
  (slots[index] ?? make(type, slots[index + 1])) as Item; // A mailbox puts and makes no others.

/** Begins the next burst, where one is full. */
function nextBurst<Item extends Mail<Item>>(mailbox: Mailbox<Item>, tail: Burst): Burst {
  mailbox.settle();
  const burst = takeBurst(tail.type, tail.make, tail.counts);
  burst.next = tail.next;
  tail.next = burst;
  mailbox.tail = burst;
  return burst;
}

function addToNext<Item extends Mail<Item>>(mailbox: Mailbox<Item>, tail: Burst, payload: unknown): true {
  const burst = nextBurst(mailbox, tail);
  burst.gate = burst.type;
  burst.slots[1] = payload;
  burst.write = 2;
  return true;
}

function putBehind<Item extends Mail<Item>>(mailbox: Mailbox<Item>, tail: Burst, item: Item): void {
  const burst = tail.isFull ? nextBurst(mailbox, tail) : tail;
  burst.slots[burst.write] = item;
  burst.write += 2;
  burst.putCounted += 2; // By who puts it.
}

function takeBehind<Item extends Mail<Item>>(mailbox: Mailbox<Item>, burst: Burst): Item | null {
  if (burst.isEmpty) {
    mailbox.leave(burst); // It was opened, and nothing was added.
    return null;
  }
  const { slots, read } = burst;
  const item = itemAt<Item>(burst, read);
  slots[read] = slots[read + 1] = undefined;
  if (burst.isHeld) mailbox.countHandled(burst, read - 2);
  burst.read = burst.handledCounted = read + 2; // Whoever takes it counts what becomes of it.
  mailbox.leave(burst);
  return item;
}

/** Puts all that is in bursts into the list. */
function linkAll<Item extends Mail<Item>>(mailbox: Mailbox<Item>): void {
  const items: Item[] = [];
  while (mailbox.tail !== null) {
    const item = takeBehind(mailbox, mailbox.tail.next);
    if (item !== null) items.push(item);
  }
  for (const item of items) mailbox.put(item);
}
