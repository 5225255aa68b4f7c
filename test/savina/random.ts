/** Draws whole numbers from 0 to below a bound. */
export type Random = (bound: number) => number;

/** A generator that draws the same numbers for the same seed: Marsaglia's xorshift with the shifts 13, 17 and 5. */
export function seededRandom(seed: number): Random {
  let state = Math.imul(seed + 1, 0x9e3779b1) | 1; // Spread, so that seeds in a row differ at once; and never 0.
  return (bound) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % bound;
  };
}

/** One of a list, by chance. */
export function pick<Item>(list: readonly Item[], random: Random): Item {
  const item = list[random(list.length)];
  if (item === undefined) throw new RangeError("There is nothing to pick from.");
  return item;
}
