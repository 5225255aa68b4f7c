/**
 * The first three places where two long lists differ: `expect(differences(found, wanted)).toEqual([])` says in a few lines
 * what `expect(found).toEqual(wanted)` says by printing both.
 */
export function differences<Item>(found: readonly Item[], wanted: readonly Item[]): unknown[] {
  const all: unknown[] = [];
  for (let at = 0; at < Math.max(found.length, wanted.length) && all.length < 3; at++) {
    if (!Object.is(found[at], wanted[at])) all.push({ at, found: found[at], wanted: wanted[at] });
  }
  if (found.length !== wanted.length) all.push({ length: found.length, wanted: wanted.length });
  return all;
}
