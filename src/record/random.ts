import { quote } from "../index";

/**
 * Random numbers from 0 up to 1, the same ones for the same seed: a recording writes its seed into the header, and a replay begins with
 * it again. sfc32: C. Doty-Humphrey, PractRand (2010), which runs the generator twelve times before its first number.
 *
 * @param seed a whole number; 32 bits of it count.
 * @throws RangeError when the seed is no whole number.
 */
export function randomFrom(seed: number): () => number {
  if (!Number.isSafeInteger(seed)) throw new RangeError(`A seed is a whole number; got ${quote(seed)}.`);
  let a = 0;
  let b = Math.trunc(seed) | 0;
  let c = 0x9e3779b9 | 0;
  let counter = 1;
  const next = (): number => {
    const drawn = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + drawn) | 0;
    return (drawn >>> 0) / 2 ** 32;
  };
  for (let round = 0; round < 12; round++) next();
  return next;
}
