/** An item of a mailbox: a link of its list. */
export interface Mail {
  next: Mail | null;
  /** The time when it came, in milliseconds of the system's clock. Only a message that is timed has it. */
  timedFrom?: number | undefined;
}

/** Chooses the messages that are timed. */
export interface Sampling {
  /** The number of messages before the next one that is timed. */
  interval(): number;
  /** The present time, in milliseconds of the system's clock. */
  now(): number;
}

/** The queue of an actor's messages. */
export interface MessageQueue<Item> extends Iterable<Item> {
  /**
   * Messages taken from the queue that have been handled. Counted here for the actor, which takes 112 bytes: with one more field it
   * would take 160.
   */
  handled: number;
  /** Waiting messages that are not yet counted as accepted: those without envelopes are counted when they are taken. */
  readonly uncounted: number;
  readonly isEmpty: boolean;
  put(item: Item): void;
  /** Adds a message without an envelope if the queue is open for its type; otherwise returns false. */
  add(type: string, payload: unknown): boolean;
  /**
   * Does the same for a type that the actor takes, and opens the queue for it if enough messages wait; for messages without
   * a payload alone if it is bare. A queue that was opened with a sampling times the messages that it chooses.
   */
  append(
    type: string,
    payload: unknown,
    make: Envelop<Item>,
    counts: Tally,
    isBare?: boolean,
    sampling?: Sampling | null,
  ): boolean;
  /** Takes no more messages without envelopes, until the next `append`. */
  close(): void;
  /** Puts items before all others, in their order. */
  putFirst(items: readonly Item[]): void;
  take(): Item | null;
  /** Removes the oldest item that the test allows. With priorities, it is the oldest of the least urgent ones. */
  takeOldest(mayBe: (item: Item) => boolean): Item | null;
  /** Removes all items that the test picks. The others keep their order. */
  removeAll(isOut: (item: Item) => boolean): Item[];
}

/** Makes the envelope of a message that has none. */
export type Envelop<Item> = (type: string, payload: unknown) => Item;

/** Counts the messages of a system. */
export interface Tally {
  accepted: number;
}

/** Most messages of a burst. */
const ROOM = 128;
/** Most empty bursts that are kept for the next mailboxes, 1 kB each, or 2 kB with names. */
const MOST_SPARE = 64;
/** Messages that come behind others before a burst pays. */
const FEW = 16;

/** The envelope maker and the tally of an unused burst. */
const NOTHING: Envelop<Mail> = () => ({ next: null });
const NOBODY: Tally = { accepted: 0 };

/**
 * Messages without envelopes that came one after another: one link of a mailbox's list. To make an object of each message
 * and to link it to the one before took half of the time of a tell.
 */
export class Burst implements Mail {
  /** The payloads. With a slot for each type beside them, a burst that waits took twice the memory, and a tell 2 ns more. */
  readonly payloads: unknown[] = new Array<unknown>(ROOM).fill(undefined);
  /** Made for the first message that has another type than the burst, or is timed: its type, or its envelope. */
  names: (string | Mail | undefined)[] | null = null;
  next: Mail | null = null;
  type = "";
  /** True when messages of its type have no payload: one that has something there is no such message. */
  isBare = false;
  /** The last other type: with it, tells of two types in turns take 18 ns each (50 with envelopes), those of one type 17. */
  other = "";
  isOtherBare = false;
  /** The first message that was not taken. */
  read = 0;
  /** The place of the next message. */
  write = 0;
  /** The place of the next message that is timed, or the end: messages before it come by add(). */
  limit = ROOM;
  /** The place up to which messages are counted as accepted. */
  counted = 0;
  make = NOTHING;
  counts = NOBODY;
  sampling: Sampling | null = null;

  get uncounted(): number {
    return this.write - this.counted;
  }

  /** Counts its messages as accepted. */
  count(): void {
    this.counts.accepted += this.uncounted;
    this.counted = this.write;
  }

  take(): Mail | null {
    const { payloads, names, read } = this;
    if (read === this.write) return null;
    if (this.counted !== this.write) this.count();
    const mail = this.at(read);
    payloads[read] = undefined;
    if (names !== null) names[read] = undefined;
    this.read = read + 1;
    return mail;
  }

  *[Symbol.iterator](): Iterator<Mail> {
    for (let index = this.read; index < this.write; index++) yield this.at(index);
  }

  /** The envelope of a message, made anew unless it is timed. */
  at(index: number): Mail {
    const { payloads, names, type } = this;
    const named = names === null ? undefined : names[index];
    return typeof named === "object" ? named : this.make(named ?? type, payloads[index]);
  }

  name(index: number, name: string | Mail): void {
    this.names ??= new Array<string | Mail | undefined>(ROOM).fill(undefined);
    this.names[index] = name;
  }

  /** Adds a message that is timed, and chooses the next one. */
  addTimed(mail: Mail, sampling: Sampling): void {
    mail.timedFrom = sampling.now();
    this.name(this.write, mail);
    this.write++;
    this.goOn(sampling);
  }

  goOn(sampling: Sampling): void {
    this.limit = Math.min(ROOM, this.write + sampling.interval());
  }
}

let spare: Burst | null = null;
let spares = 0;

/** An empty burst, a spare one if possible. */
function takeBurst(
  type: string,
  make: Envelop<Mail>,
  counts: Tally,
  isBare: boolean,
  sampling: Sampling | null,
): Burst {
  const burst = spare ?? new Burst();
  if (spare !== null) {
    spare = spare.next as Burst | null; // Only bursts are kept.
    spares--;
  }
  burst.next = null;
  burst.read = burst.write = burst.counted = 0;
  burst.limit = ROOM;
  burst.type = burst.other = type;
  burst.isBare = burst.isOtherBare = isBare;
  burst.make = make;
  burst.counts = counts;
  burst.sampling = sampling;
  if (sampling !== null) burst.goOn(sampling);
  return burst;
}

function keepSpare(burst: Burst): void {
  if (spares === MOST_SPARE) return;
  burst.next = spare;
  spare = burst;
  spares++;
}

/**
 * First in, first out, without bound. It is a list through the messages themselves: an empty one holds no memory (an array
 * per actor was 56 bytes more), and a long one never grows by copying. When many tells wait, the next ones need no
 * envelopes: they go into a burst, which is one link of the list, until another message is put behind it. (The fields are
 * public for the loop over the messages; with a private method, a mailbox took far longer to make.)
 */
export class Mailbox<Item extends Mail> implements MessageQueue<Item> {
  first: Mail | null = null;
  last: Mail | null = null;
  /** The last link, while it is a burst that takes messages. */
  tail: Burst | null = null;
  handled = 0;
  /** Tells that came behind others. */
  crowd = 0;

  get isEmpty(): boolean {
    return this.first === null;
  }

  get uncounted(): number {
    let count = 0;
    for (let mail = this.first; mail !== null; mail = mail.next) if (mail instanceof Burst) count += mail.uncounted;
    return count;
  }

  put(item: Mail): void {
    const { tail } = this;
    if (tail !== null) {
      if (tail.write <= FEW) this.crowd = 0; // It did not pay.
      this.tail = null;
    }
    if (this.last === null) this.first = item;
    else this.last.next = item;
    this.last = item;
  }

  add(type: string, payload: unknown): boolean {
    const { tail } = this;
    if (tail === null) return false;
    const { write } = tail;
    if (write >= tail.limit) return false;
    if (type !== tail.type) {
      if (type !== tail.other || (payload !== undefined && tail.isOtherBare)) return false;
      tail.name(write, type);
    } else if (payload !== undefined && tail.isBare) return false;
    tail.payloads[write] = payload;
    tail.write = write + 1;
    return true;
  }

  append(
    type: string,
    payload: unknown,
    make: Envelop<Item>,
    counts: Tally,
    isBare = false,
    sampling: Sampling | null = null,
  ): boolean {
    let { tail } = this;
    if (tail === null) {
      this.crowd = this.first === null ? 0 : this.crowd + 1;
      if (this.crowd <= FEW) return false;
    }
    if (tail === null || tail.write === ROOM) {
      tail = takeBurst(type, make, counts, isBare, sampling);
      this.put(tail);
      this.tail = tail;
    } else if (tail.write < tail.limit) {
      tail.other = type; // Its own type has been added.
      tail.isOtherBare = isBare;
    }
    if (tail.sampling === null || tail.write < tail.limit) return this.add(type, payload);
    tail.addTimed(make(type, payload), tail.sampling);
    return true;
  }

  close(): void {
    this.tail = null;
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
    const { first } = this;
    if (first instanceof Burst) {
      const mail = first.take();
      this.leave(first);
      return mail === null ? this.take() : (mail as Item); // append() got a maker of items.
    }
    if (first !== null) this.skip(first);
    return first as Item | null; // Only items are put in.
  }

  /** Takes the first link of the list. */
  skip(first: Mail): void {
    this.first = first.next;
    if (first.next === null) this.last = null;
    first.next = null;
  }

  /** Goes on to the next link if the first one is this burst, and it is empty. */
  leave(burst: Burst): void {
    if (this.first !== burst || burst.read !== burst.write) return;
    this.skip(burst);
    if (this.tail === burst) this.tail = null;
    keepSpare(burst);
  }

  takeOldest(mayBe: (item: Item) => boolean): Item | null {
    let previous: Mail | null = null;
    for (let mail = this.first; mail !== null; previous = mail, mail = mail.next) {
      if (mail instanceof Burst) {
        this.putFirst(this.removeAll(() => true)); // Each gets its envelope.
        return this.takeOldest(mayBe);
      }
      if (!mayBe(mail as Item)) continue;
      if (previous === null) this.first = mail.next;
      else previous.next = mail.next;
      if (mail.next === null) this.last = previous;
      mail.next = null;
      return mail as Item;
    }
    return null;
  }

  removeAll(isOut: (item: Item) => boolean): Item[] {
    const removed: Item[] = [];
    const kept: Item[] = [];
    for (let item = this.take(); item !== null; item = this.take()) (isOut(item) ? removed : kept).push(item);
    for (const item of kept) this.put(item);
    return removed;
  }

  *[Symbol.iterator](): Iterator<Item> {
    for (let mail = this.first; mail !== null; mail = mail.next) {
      if (mail instanceof Burst)
        yield* mail as Iterable<Mail> as Iterable<Item>; // As take() says.
      else yield mail as Item;
    }
  }
}
