import { type Burst, type Envelop, spareBurst, type Tally, takeBurst } from "./burst";

/** An item of a mailbox: a link of its list. */
export interface Mail<Item> {
  next: Item | null;
}

/** Tells how many messages may be added until the owner of a queue looks at one. */
interface Room {
  interval(): number;
}

/** The queue of an actor's messages. */
export interface MessageQueue<Item> extends Iterable<Item> {
  /** Messages taken from the queue that have been handled. Counted here for the actor. */
  handled: number;
  /** True when the queue is empty. May be false for an empty queue that was opened and got nothing yet. */
  readonly isEmpty: boolean;
  put(item: Item): void;
  /** Adds and counts a message without an envelope, if the queue is open for its type; otherwise returns false. */
  add(type: string, payload: unknown): boolean;
  /**
   * Opens the queue for a type until it is empty or closed, if enough messages wait. Call it for each item put behind others.
   * For a bare type it is closed to messages with a payload.
   */
  open(type: string, make: Envelop, counts: Tally, isBare?: boolean): void;
  close(): void;
  /** Lets some messages be added until one must be put. Without effect while there is room from an earlier call. */
  allow(room: Room): void;
  /** True when as many were added as were allowed. */
  readonly isAtLimit: boolean;
  /** Brings the counts of added messages, and of those handled, up to date. */
  settle(): void;
  /** Puts items before all others, in their order. */
  putFirst(items: readonly Item[]): void;
  take(): Item | null;
  /** Removes an item from any place. Returns false if it is not in the queue. */
  remove(item: Item): boolean;
  /** Removes the oldest item that the test allows. With priorities, it is the oldest of the least urgent ones. */
  takeOldest(mayBe: (item: Item) => boolean): Item | null;
  /** Removes all items that the test picks. The others keep their order. */
  removeAll(isOut: (item: Item) => boolean): Item[];
}

/** Items that are put behind others before a burst, which takes 1 kB, pays. */
const FEW = 16;

/**
 * First in, first out, without bound. It is a list through the messages themselves: an empty one holds no memory (an array
 * per actor was 56 bytes more), and a long one never grows by copying. When many wait, new messages go into bursts behind the
 * list until all have been taken. A message takes 16 bytes there, and a quarter of the time. (The fields are public for the
 * loop over the bursts; with a private method, a mailbox took far longer to make.)
 */
export class Mailbox<Item extends Mail<Item>> implements MessageQueue<Item> {
  first: Item | null = null;
  last: Item | null = null;
  /** The last burst. Its `next` is the first one. */
  tail: Burst | null = null;
  handled = 0;
  /** Items that were put behind others. */
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
    if (tail === null || tail.gate !== type || (payload !== undefined && tail.isBare)) return false;
    const { slots, write } = tail;
    if (write >= tail.limit) return !tail.isLimited && addToNext(this, tail, payload);
    slots[write + 1] = payload;
    tail.write = write + 2;
    return true;
  }

  open(type: string, make: Envelop, counts: Tally, isBare = false): void {
    let { tail } = this;
    if (tail === null) {
      this.crowd = this.first === this.last ? 0 : this.crowd + 1;
      if (this.crowd <= FEW) return;
      this.tail = tail = takeBurst(type, make, counts, isBare);
    }
    if (tail.write === 2 && tail.putCounted === 2) {
      tail.type = type; // It got nothing yet.
      tail.isBare = isBare;
    }
    tail.gate = tail.type;
  }

  close(): void {
    if (this.tail !== null) this.tail.gate = null;
  }

  allow(room: Room): void {
    const { tail } = this;
    if (tail === null || (tail.isLimited && tail.write < tail.limit)) return;
    tail.isLimited = true;
    tail.limit = Math.min(tail.slots.length, tail.write + 2 * room.interval());
  }

  get isAtLimit(): boolean {
    const { tail } = this;
    return tail?.isLimited === true && tail.write >= tail.limit && !tail.isFull;
  }

  settle(): void {
    const { tail } = this;
    if (tail === null) return;
    tail.counts.accepted += (tail.write - tail.putCounted) >> 1;
    tail.putCounted = tail.write;
    if (tail.next.isHeld) this.countHandled(tail.next, tail.next.read - 2);
  }

  /** Counts the messages of a burst before a slot as handled. */
  countHandled(burst: Burst, end: number): void {
    const count = (end - burst.handledCounted) >> 1;
    if (count <= 0) return;
    this.handled += count;
    burst.counts.handled += count;
    burst.handledCounted = end;
  }

  putFirst(items: readonly Item[]): void {
    for (let i = items.length - 1; i >= 0; i--) {
      const item = items[i] as Item; // The index is in range.
      item.next = this.first;
      this.first = item;
      this.last ??= item;
    }
  }

  take(): Item | null {
    return this.first === null && this.tail !== null ? takeBehind<Item>(this, this.tail.next) : this.takeFirst();
  }

  /** Takes the first item of the list. */
  takeFirst(): Item | null {
    const item = this.first;
    if (item === null) return null;
    this.first = item.next;
    if (item.next === null) this.last = null;
    item.next = null;
    return item;
  }

  /** Goes on to the next burst if this one is the first, and empty. */
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

/** The item of a slot, made from its payload if it has no envelope. */
const itemAt = <Item>({ slots, make, type }: Burst, index: number): Item =>
  (slots[index] ?? make(type, slots[index + 1])) as Item; // A mailbox holds no other items.

/** Begins the next burst when one is full. */
function nextBurst<Item extends Mail<Item>>(mailbox: Mailbox<Item>, tail: Burst): Burst {
  mailbox.settle();
  const burst = takeBurst(tail.type, tail.make, tail.counts, tail.isBare);
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
  burst.putCounted += 2; // The caller of put() counts it.
}

function takeBehind<Item extends Mail<Item>>(mailbox: Mailbox<Item>, burst: Burst): Item | null {
  if (burst.isEmpty) {
    mailbox.leave(burst); // It was opened and got nothing.
    return null;
  }
  const { slots, read } = burst;
  const item = itemAt<Item>(burst, read);
  slots[read] = slots[read + 1] = undefined;
  if (burst.isHeld) mailbox.countHandled(burst, read - 2);
  burst.read = burst.handledCounted = read + 2; // The caller of take() counts its outcome.
  mailbox.leave(burst);
  return item;
}

/** Moves all items of the bursts into the list. */
function linkAll<Item extends Mail<Item>>(mailbox: Mailbox<Item>): void {
  const items: Item[] = [];
  while (mailbox.tail !== null) {
    const item = takeBehind(mailbox, mailbox.tail.next);
    if (item !== null) items.push(item);
  }
  for (const item of items) mailbox.put(item);
}
