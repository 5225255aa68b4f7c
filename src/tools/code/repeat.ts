// Makes a run repeatable: the same numbers of `Math.random`, and a `Date` that stands still.

const WORD = 64;
const word = (value: bigint): bigint => BigInt.asUintN(WORD, value);

/** The generator's first state for a seed. "splitmix64" (S. Vigna) makes near seeds differ. Never 0. */
export function stateOf(seed: number): bigint {
  let state = word(BigInt(seed) + 0x9e3779b97f4a7c15n);
  state = word((state ^ (state >> 30n)) * 0xbf58476d1ce4e5b9n);
  state = word((state ^ (state >> 27n)) * 0x94d049bb133111ebn);
  return state ^ (state >> 31n) || 1n;
}

/** Makes a `Math.random` like that of QuickJS ("xorshift64*"), so that a seed gives the same numbers in each tier. */
export function randomOf(seed: number): () => number {
  let state = stateOf(seed);
  return () => {
    state ^= state >> 12n;
    state = word(state ^ (state << 25n));
    state ^= state >> 27n;
    return Number(word(state * 0x2545f4914f6cdd1dn) >> 12n) / 2 ** 52;
  };
}

/**
 * Makes a `Date` whose clock stands still. Its objects are real `Date` objects.
 *
 * The function is sent to processes as source text, so it uses nothing outside itself.
 */
export function fixedDate(Real: DateConstructor, now: number): DateConstructor {
  const { construct, defineProperty } = Reflect;
  const { parse, UTC, prototype } = Real;
  const text = (): string => new Real(now).toString();
  const Fixed = function DateOf(...parts: unknown[]): unknown {
    if (new.target === undefined) return text();
    return construct(Real, parts.length === 0 ? [now] : parts, new.target);
  };
  const define = (key: string, value: unknown): void => {
    defineProperty(Fixed, key, { __proto__: null, value, writable: true, configurable: true } as PropertyDescriptor);
  };
  define("name", "Date");
  define("length", 7);
  define("now", () => now);
  define("parse", parse);
  define("UTC", UTC);
  defineProperty(Fixed, "prototype", { __proto__: null, value: prototype } as PropertyDescriptor);
  return Fixed as unknown as DateConstructor; // It has all that the real one has: the calls, and the properties defined above.
}
