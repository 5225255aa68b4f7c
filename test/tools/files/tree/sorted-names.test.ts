import { expect, test } from "bun:test";
import { SortedNames } from "../../../../src/tools/files/tree/sorted-names";

const COUNT = 40_000;
const names = Array.from({ length: COUNT }, (_, i) => `name-${String(i).padStart(5, "0")}`);

/** The same names in another order, which is the same for each seed (mulberry32, by Tommy Ettinger). */
function shuffled(seed: number): string[] {
  let state = seed;
  const key = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return (t ^ (t >>> 14)) >>> 0;
  };
  return names
    .map((name) => [key(), name] as const)
    .sort(([a], [b]) => a - b)
    .map(([, name]) => name);
}

const [front, back] = [names.slice(0, COUNT / 2), names.slice(COUNT / 2)];
const ORDERS: Readonly<Record<string, readonly string[]>> = {
  "in order": names,
  "the other way round": [...names].reverse(),
  "in no order": shuffled(1),
  "in order but for the last": [...names.slice(1), names[0] ?? ""],
  "the second half first": [...back, ...front],
  "in turns from two halves": front.flatMap((name, i) => [name, back[i] ?? ""]),
};

for (const [order, given] of Object.entries(ORDERS)) {
  for (const batch of [1, 700, 3_000]) {
    for (const most of [1, 1_500, COUNT, 2 * COUNT]) {
      // One by one, all of them: enough for one size.
      if (batch === 1 && most !== 1_500) continue;
      test(`names that come ${order}, ${batch} at a time, are the first ${most} in their order`, () => {
        const sorted = new SortedNames({ from: "", most, admits: null });
        for (let at = 0; at < given.length; at += batch) {
          for (const name of given.slice(at, at + batch)) {
            sorted.add(name, name.endsWith("7") ? "directory" : "file");
          }
          if (sorted.endBatch()) sorted.settleNow();
        }
        sorted.settleNow();
        expect(sorted.sorted).toEqual(names.slice(0, most));
        expect(sorted.isCut).toBe(most < COUNT);
        const kept = sorted.sorted.every((name) => sorted.kindOf(name) === (name.endsWith("7") ? "directory" : "file"));
        expect(kept).toBe(true);
      });
    }
  }
}
