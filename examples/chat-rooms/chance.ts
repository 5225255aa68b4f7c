/** Draws numbers from 0 up to 1, as Math.random does. */
export type Random = () => number;

/** A generator that draws the same numbers for the same seed: Marsaglia's xorshift with the shifts 13, 17 and 5. */
export function seededRandom(seed: number): Random {
  let state = Math.imul(seed + 1, 0x9e3779b1) | 1; // Spread, so that seeds in a row differ at once; and never 0.
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** One of a list. */
export function pick<Item>(list: readonly Item[], random: Random): Item {
  const item = list[Math.floor(random() * list.length)];
  if (item === undefined) throw new RangeError("There is nothing to pick from.");
  return item;
}

/** A time around another: from half of it to one and a half. */
export const around = (milliseconds: number, random: Random): number => milliseconds * (0.5 + random());
