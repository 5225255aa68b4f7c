import type { Spot } from "./matcher";

/** The deepest nesting of objects and lists in one of them. */
const DEEPEST = 100;

/** Gives the JSON text of what the transform of a spot makes of a value; undefined for one that is dropped. */
type Apply = (spot: Spot, value: unknown) => string | undefined;

/** The text in place of one that is nested too deep to look through: nothing of it may be written. */
type Redacted = (text: string) => string;

/** Thrown at a value that is nested too deep. */
const TOO_DEEP = Symbol("too deep");

/** True for a text that may be an object or a list of JSON, or a text in JSON. */
export const mayBeJson = (text: string): boolean => /^\s*[[{"]/.test(text);

/**
 * A text of JSON after the transforms whose paths lead into it: they see an object in place of its text. The same text where none of them
 * meets anything. @param spot that of the text.
 */
export function transformJson(text: string, spot: Spot, apply: Apply, redacted: Redacted): string {
  if (!mayBeJson(text)) return text;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  let isChanged = false;
  const member = (item: unknown, below: Spot | null, depth: number): unknown => {
    if (below === null) return item;
    if (below.transform === null) return inside(item, below, depth);
    isChanged = true;
    const written = apply(below, item);
    return written === undefined ? undefined : JSON.parse(written);
  };
  const inside = (item: unknown, at: Spot, depth: number): unknown => {
    if (typeof item === "string") {
      const changed = transformJson(item, at, apply, redacted); // Each layer is at most half as long: its quotes are escaped.
      if (changed !== item) isChanged = true;
      return changed;
    }
    if (typeof item !== "object" || item === null) return item;
    if (depth === DEEPEST) throw TOO_DEEP;
    if (Array.isArray(item)) {
      return item.map((each, index) => member(each, at.item(index), depth + 1)).filter((each) => each !== undefined);
    }
    const entries = Object.entries(item).map(([key, each]) => [key, member(each, at.step(key), depth + 1)] as const);
    return Object.fromEntries(entries.filter(([, each]) => each !== undefined));
  };
  try {
    const result = inside(value, spot, 0);
    return isChanged ? JSON.stringify(result, null, /\n([ \t]+)\S/.exec(text)?.[1]) : text;
  } catch (thrown) {
    if (thrown !== TOO_DEEP) throw thrown;
    return redacted(text);
  }
}
