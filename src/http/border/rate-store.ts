import type { Clock } from "../../index";
import type { RateWindow } from "./rate-windows";

/** Keeps what each caller has left: in this process, or where several processes share it. */
export interface RateLimitStore {
  /**
   * Takes tokens from each window of a key, or from none of them if one has too few.
   *
   * @param key the caller, and the operation where that has a limit of its own. It may be any text that a stranger chose.
   */
  take(key: string, cost: number, windows: readonly RateWindow[]): RateTaken | Promise<RateTaken>;
}

/** The answer of a store to a request. */
export interface RateTaken {
  readonly isAllowed: boolean;
  /** One for each window, in their order. */
  readonly windows: readonly RateLeft[];
}

/** The rest that one window leaves to a caller. */
export interface RateLeft {
  /** Whole tokens that are left. */
  readonly remaining: number;
  /** Milliseconds until there is another token; of a window that refused, until there are enough. */
  readonly wait: number;
}

/** When the buckets of one key will be full, window by window: a bucket is full if that time has passed (GCRA). */
type Buckets = number[];

/** Entries that are looked at for each new one: enough to drop full ones quicker than others come. */
const LOOKS = 2;
/** Entries among which the fullest one makes room, if none is full. */
const SAMPLE = 16;

/**
 * Token buckets in this process, for a bounded number of keys. A full bucket needs no entry. If all are in use, the fullest of a few makes room:
 * its caller gains the least by that.
 */
export class LocalRateStore implements RateLimitStore {
  readonly #clock: Clock;
  readonly #most: number;
  readonly #buckets = new Map<string, Buckets>();
  /** Goes round, from entry to entry. A Map's iterator goes on over what is added. */
  #hand = this.#buckets.entries();

  /** @param most keys that are kept at most. */
  constructor(clock: Clock, most: number) {
    this.#clock = clock;
    this.#most = most;
  }

  /** The number of keys that are kept. */
  get size(): number {
    return this.#buckets.size;
  }

  take(key: string, cost: number, windows: readonly RateWindow[]): RateTaken {
    const now = this.#clock.monotonicTime();
    const known = this.#buckets.get(key);
    // By loops, each number where it is needed: as arrays of what each window uses, this took 1.5 µs of a request.
    let isAllowed = true;
    let index = 0;
    for (const window of windows) if (!fits(window, usedOf(known, index++, now), cost)) isAllowed = false;
    const left: RateLeft[] = [];
    const fullAt: Buckets = known ?? [];
    index = 0;
    for (const window of windows) {
      const used = usedOf(known, index, now);
      left.push(leftOf(window, used, cost, isAllowed));
      if (isAllowed) fullAt[index] = now + (used + cost * intervalOf(window));
      index++;
    }
    if (isAllowed && known === undefined) this.#add(key, fullAt, now);
    return { isAllowed, windows: left };
  }

  #add(key: string, buckets: Buckets, now: number): void {
    for (let look = 0; look < LOOKS; look++) this.#dropIfFull(this.#next(), now);
    if (this.#buckets.size >= this.#most) this.#makeRoom(now);
    this.#buckets.set(key, buckets);
  }

  #next(): readonly [string, Buckets] | undefined {
    let step = this.#hand.next();
    if (step.done === true) {
      this.#hand = this.#buckets.entries();
      step = this.#hand.next();
    }
    return step.value;
  }

  #dropIfFull(entry: readonly [string, Buckets] | undefined, now: number): boolean {
    return entry?.[1].every((at) => at <= now) === true && this.#buckets.delete(entry[0]);
  }

  #makeRoom(now: number): void {
    let fullest: readonly [string, number] | undefined;
    for (let look = 0; look < SAMPLE; look++) {
      const entry = this.#next();
      if (this.#dropIfFull(entry, now)) return;
      if (entry === undefined) continue;
      const fullAt = Math.max(...entry[1]);
      if (fullest === undefined || fullAt < fullest[1]) fullest = [entry[0], fullAt];
    }
    if (fullest !== undefined) this.#buckets.delete(fullest[0]);
  }
}

/** Of rounding, in milliseconds or tokens. */
const TINY = 1e-6;

const lengthOf = ({ seconds }: RateWindow): number => seconds * 1000;

/** Milliseconds for one token. */
const intervalOf = (window: RateWindow): number => lengthOf(window) / window.quota;

/** The part of a window that is used, in milliseconds until its bucket is full again. */
const usedOf = (known: Buckets | undefined, index: number, now: number): number =>
  known === undefined ? 0 : Math.max((known[index] ?? now) - now, 0);

const fits = (window: RateWindow, used: number, cost: number): boolean =>
  used + cost * intervalOf(window) <= lengthOf(window) + TINY;

function leftOf(window: RateWindow, used: number, cost: number, isAllowed: boolean): RateLeft {
  const length = lengthOf(window);
  const interval = intervalOf(window);
  const after = used + cost * interval;
  const left = (length - (isAllowed ? after : used)) / interval;
  const remaining = Math.max(Math.floor(left + TINY), 0);
  return { remaining, wait: fits(window, used, cost) ? (remaining + 1 - left) * interval : after - length };
}
