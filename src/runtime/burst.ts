/** Slots of a burst: two for each message. */
const SLOTS = 128;
/** Most empty bursts that are kept for the next mailboxes, 1 kB each. */
const MOST_SPARE = 32;

/** The counts of messages without envelopes. The mailbox updates them when they are read, or when it goes on. */
export interface Tally {
  accepted: number;
  handled: number;
}

/** Makes the envelope of a message that has none. */
export type Envelop = (type: string, payload: unknown) => unknown;

const NOTHING: Envelop = () => null;
const NOBODY: Tally = { accepted: 0, handled: 0 };

/**
 * A run of messages in order, two slots each: an envelope; or no envelope, and the payload of a message of the burst's type.
 * To make an object of each message and to link it to the one before took half of the time of a tell.
 */
export class Burst {
  readonly slots: unknown[] = new Array<unknown>(SLOTS).fill(undefined);
  type = "";
  /** The type while messages may be added, otherwise null. */
  gate: string | null = null;
  /** True when messages of its type have no payload: one that has something there is no such message. */
  isBare = false;
  make = NOTHING;
  counts = NOBODY;
  /** The first slot that was not taken. */
  read = 0;
  /** The slot of the next message. */
  write = 0;
  /** The slot from which on messages come by put() until the owner of the mailbox allows more. */
  limit = SLOTS;
  /** True when its owner looks at one message now and then, also at the first one of the next burst. */
  isLimited = false;
  /** The slots up to which messages are counted as accepted, and as handled. */
  putCounted = 0;
  handledCounted = 0;
  /** True while the message before `read` is being handled. No other mailbox may get this burst then. */
  isHeld = false;
  next: Burst = this;

  get isEmpty(): boolean {
    return this.read === this.write;
  }
  get isFull(): boolean {
    return this.write === SLOTS;
  }
}

let spare: Burst | null = null;
let spares = 0;

/** Gives an empty burst, a spare one if possible. */
export function takeBurst(type: string, make: Envelop, counts: Tally, isBare: boolean): Burst {
  const burst = spare ?? new Burst();
  if (spare !== null) {
    spares--;
    spare = spares === 0 ? null : spare.next;
  }
  burst.type = type;
  burst.isBare = isBare;
  burst.make = make;
  burst.counts = counts;
  burst.next = burst;
  return burst;
}

/** Keeps a burst with empty slots for the next mailbox. */
export function spareBurst(burst: Burst): void {
  if (burst.isHeld || spares === MOST_SPARE) return;
  burst.read = burst.write = burst.putCounted = burst.handledCounted = 0;
  burst.limit = SLOTS;
  burst.isLimited = false;
  burst.gate = null;
  burst.counts = NOBODY;
  burst.next = spare ?? burst;
  spare = burst;
  spares++;
}
