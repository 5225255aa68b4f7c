/** A reference that is given anew for each message. */
export interface Transient {
  /** The messages whose senders wait. */
  underWay: number;
  /** The moment at which it was given, until a message is sent by it; 0 from then on. */
  givenAt: number;
}

/** References that are kept for the next message to their addresses, at most, beside those with something under way. */
const MOST = 1_000;
/** Milliseconds after which a reference that was given is taken for one that nobody sends by. */
const UNSENT_FOR = 10_000;
/** References that are looked at when there are too many. With more than one for each new one, their number shrinks. */
const LOOKS = 4;

/** Says which transient references end: those that were used least recently, where there are too many. */
export class Transients<One extends Transient> {
  /** The least recently used first. */
  readonly #all = new Set<One>();
  readonly #end: (one: One) => void;

  constructor(end: (one: One) => void) {
    this.#end = end;
  }

  get isEmpty(): boolean {
    return this.#all.size === 0;
  }

  /** It is given for a message at this moment. */
  give(one: One, now: number): void {
    one.givenAt = now;
    this.#all.delete(one);
    this.#all.add(one);
    let looks = LOOKS;
    for (const oldest of this.#all) {
      if (this.#all.size <= MOST || looks-- === 0) return;
      this.#all.delete(oldest);
      // What it was given for may still wait for its turn.
      const isAwaited = oldest.givenAt > 0 && now - oldest.givenAt < UNSENT_FOR;
      if (oldest.underWay > 0 || isAwaited) this.#all.add(oldest);
      else this.#end(oldest);
    }
  }

  delete(one: One): void {
    this.#all.delete(one);
  }

  /** Nothing is under way any more. */
  lose(): void {
    for (const one of this.#all) one.underWay = 0;
  }
}
