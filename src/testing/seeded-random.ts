import { quote } from "../index";
/** Random numbers that are the same for the same seed. */
export interface SeededRandom {
  /** A number from 0 up to 1. */
  next(): number;
  /** A whole number from 0, below a bound. */
  below(bound: number): number;
  /** True with a probability from 0 to 1. */
  chance(probability: number): boolean;
  /**
   * One item of a list.
   *
   * @throws RangeError when the list is empty.
   */
  pick<Item>(items: readonly Item[]): Item;
  /** The same items in random order, in a new list. */
  shuffle<Item>(items: readonly Item[]): Item[];
}

/** xoshiro128**: D. Blackman and S. Vigna, "Scrambled Linear Pseudorandom Number Generators" (2021). */
class Xoshiro implements SeededRandom {
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  constructor(seed: number) {
    // The authors advise filling the state by another generator: here the finalizer of MurmurHash3 on a Weyl sequence.
    let weyl = Math.trunc(seed) | 0;
    const fill = (): number => {
      weyl = (weyl + 0x9e3779b9) | 0;
      let mixed = weyl;
      mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
      mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
      return mixed ^ (mixed >>> 16);
    };
    this.#a = fill();
    this.#b = fill();
    this.#c = fill();
    this.#d = fill() | 1; // Not all four may be 0.
  }

  #draw(): number {
    const product = Math.imul(this.#b, 5);
    const result = Math.imul((product << 7) | (product >>> 25), 9);
    const shifted = this.#b << 9;
    this.#c ^= this.#a;
    this.#d ^= this.#b;
    this.#b ^= this.#c;
    this.#a ^= this.#d;
    this.#c ^= shifted;
    this.#d = (this.#d << 11) | (this.#d >>> 21);
    return result >>> 0;
  }

  next(): number {
    return this.#draw() / 2 ** 32;
  }

  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  chance(probability: number): boolean {
    return probability > 0 && this.next() < probability;
  }

  pick<Item>(items: readonly Item[]): Item {
    if (items.length === 0) throw new RangeError("There is nothing to pick from: the list is empty.");
    return items[this.below(items.length)] as Item; // The index is below the length.
  }

  shuffle<Item>(items: readonly Item[]): Item[] {
    const shuffled = [...items];
    for (let last = shuffled.length - 1; last > 0; last--) {
      const other = this.below(last + 1);
      // Both indices are below the length.
      [shuffled[last], shuffled[other]] = [shuffled[other] as Item, shuffled[last] as Item];
    }
    return shuffled;
  }
}

/**
 * Makes a generator of random numbers, for tests that can be repeated.
 *
 * @param seed a whole number; 32 bits of it count.
 * @throws RangeError when the seed is no whole number.
 * @example
 * const random = createRandom(4711);
 * random.pick(["a", "b", "c"]); // the same one in each run
 */
export function createRandom(seed: number): SeededRandom {
  if (!Number.isSafeInteger(seed)) throw new RangeError(`A seed is a whole number; got ${quote(seed)}.`);
  return new Xoshiro(seed);
}
