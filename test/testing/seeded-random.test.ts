import { expect, test } from "bun:test";
import { createRandom } from "../../src/testing/index";

test("the same seed draws the same numbers, and another one draws others", () => {
  const draws = (seed: number): number[] => {
    const random = createRandom(seed);
    return Array.from({ length: 20 }, () => random.next());
  };
  expect(draws(7)).toEqual(draws(7));
  const firsts = new Set(Array.from({ length: 1_000 }, (_, seed) => draws(seed)[0]));
  expect(firsts.size).toBe(1_000); // Seeds in a row differ at once.
});

test("numbers lie evenly between 0 and 1", () => {
  const random = createRandom(1);
  const counts = new Array<number>(10).fill(0);
  for (let i = 0; i < 100_000; i++) {
    const drawn = random.next();
    expect(drawn >= 0 && drawn < 1).toBe(true);
    const slot = Math.floor(drawn * 10);
    counts[slot] = (counts[slot] ?? 0) + 1;
  }
  for (const count of counts) expect(count).toBeWithin(9_600, 10_400); // Four standard deviations.
});

test("chances come true as often as they should, and 0 and 1 never and always", () => {
  const random = createRandom(2);
  let count = 0;
  for (let i = 0; i < 10_000; i++) {
    if (random.chance(0.3)) count++;
    expect(random.chance(0)).toBe(false);
    expect(random.chance(1)).toBe(true);
  }
  expect(count).toBeWithin(2_800, 3_200);
});

test("it picks and shuffles what there is", () => {
  const random = createRandom(3);
  const items = ["a", "b", "c", "d"];
  const picked = new Set(Array.from({ length: 100 }, () => random.pick(items)));
  expect([...picked].sort()).toEqual(items);
  const orders = new Set(Array.from({ length: 500 }, () => random.shuffle(items).join("")));
  expect(orders.size).toBe(24);
  expect(items).toEqual(["a", "b", "c", "d"]);
  for (let i = 0; i < 100; i++) expect([0, 1, 2]).toContain(random.below(3));
});

test("what cannot be drawn from is refused", () => {
  expect(() => createRandom(0.5)).toThrow("A seed is a whole number; got 0.5.");
  expect(() => createRandom(1).pick([])).toThrow("There is nothing to pick from: the list is empty.");
});
