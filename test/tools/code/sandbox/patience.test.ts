import { expect, test } from "bun:test";
import { Patience } from "../../../../src/tools/code/sandbox/patience";

const LONGEST = 200_000;

test("Patience: is halved by each sleep that it could not have spared, until there is none", () => {
  const patience = new Patience();
  expect(patience.length).toBe(LONGEST);
  const lengths = Array.from({ length: 20 }, () => {
    patience.slept(LONGEST);
    return patience.length;
  });
  expect(lengths.slice(0, 3)).toEqual([100_000, 50_000, 25_000]);
  expect(lengths.at(-1)).toBe(0);
});

test("Patience: is all there again after a sleep that it would have spared", () => {
  const patience = new Patience();
  for (let sleeps = 0; sleeps < 20; sleeps++) patience.slept(1e9);
  patience.slept(LONGEST - 1);
  expect(patience.length).toBe(LONGEST);
});
