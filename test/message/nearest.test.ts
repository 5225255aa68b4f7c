import { expect, test } from "bun:test";
import { nearestName } from "../../src/message/nearest";

const NAMES = ["onStart", "onRestart", "onStop", "add", "total"];

test.each([
  ["onStrat", "onStart"],
  ["onstart", "onStart"],
  ["onRestrat", "onRestart"],
  ["onStopp", "onStop"],
  ["ad", "add"],
  ["totla", "total"],
  ["", undefined],
  ["subtract", undefined],
])("the nearest name to %p is %p", (word, name) => expect(nearestName(word, NAMES)).toBe(name));

test("a swap of two letters is one mistake, two of them are two", () => {
  expect(nearestName("noStart", NAMES, 1)).toBe("onStart");
  expect(nearestName("noStatr", NAMES, 1)).toBeUndefined();
  expect(nearestName("noStatr", NAMES, 2)).toBe("onStart");
  expect(nearestName("x", [], 1)).toBeUndefined();
});
