import { types } from "node:util";

/** The largest value that is hashed as a whole, in characters, and its deepest nesting. */
const LARGEST = 67_108_864;
const DEEPEST = 500;
/** The most items of a list. */
const MOST_ITEMS = 4_194_304;

/**
 * True for plain data that `JSON.stringify` can write within bounds: no proxy, whose length may be any, and no object that stands in it so
 * often that its text would be larger than the memory.
 */
export function isMeasurable(value: unknown): boolean {
  return measured(value, LARGEST, 0) >= 0;
}

/** True for plain data of more than so many characters: those of its keys and texts, without texts that are too long, and one for each value. */
export function isLongerThan(value: unknown, most: number, longestText: number): boolean {
  return measured(value, most, 0, longestText) < 0;
}

/** The characters that are left: negative when there are too many, not a number when it is not plain data. */
function measured(value: unknown, left: number, depth: number, longestText = Number.POSITIVE_INFINITY): number {
  if (typeof value === "string") return value.length > longestText ? left : left - value.length;
  if (typeof value !== "object" || value === null) return typeof value === "bigint" ? Number.NaN : left - 1;
  if (depth === DEEPEST || types.isProxy(value) || "toJSON" in value) return Number.NaN;
  let rest = left - 1;
  if (Array.isArray(value)) {
    if (value.length > MOST_ITEMS) return Number.NaN; // An empty place takes a hundred times as long as an item.
    for (let index = 0; index < value.length && rest >= 0; index++) {
      rest = measured(value[index], rest, depth + 1, longestText);
    }
    return rest;
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return Number.NaN;
  for (const key in value) {
    if (!(rest >= 0)) break;
    rest = measured((value as Record<string, unknown>)[key], rest - key.length, depth + 1, longestText);
  }
  return rest;
}
