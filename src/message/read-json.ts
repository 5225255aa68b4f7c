import { err, ok, type Result } from "neverthrow";

// Reads JSON from strangers. To look at a text that is neither deep nor odd costs a tenth of its JSON.parse.

const QUOTE = 34;
const UNDERSCORE = 95;
const BACKSLASH = 92;
const LOWER_U = 117;
/** Places that are looked at one by one, before the whole text is searched. */
const MOST_LOOKS = 16;

/** The limits of `readJson`. */
export interface JsonLimits {
  /** Deepest nesting of objects and arrays. */
  readonly depth: number;
}

/** The reason why `readJson` refused a text. `own-prototype`: it has a key `__proto__`, which a careless copy would make its prototype. */
export type JsonFault = "no-json" | "too-deep" | "own-prototype";

/**
 * Parses JSON from outside. The depth is bounded before anything is built: `JSON.parse` takes seconds for some millions of brackets. The
 * size is the caller's to bound.
 *
 * @example
 * readJson('{"n":1}', { depth: 64 }); // Ok({ n: 1 })
 * readJson("[[[[]]]]", { depth: 3 }); // Err("too-deep")
 */
export function readJson(text: string, { depth }: JsonLimits): Result<unknown, JsonFault> {
  // Each level takes two characters, so that a short text needs no look.
  if (text.length > 2 * depth && hasOpeners(text, depth) && isDeeper(text, depth)) return TOO_DEEP;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return NO_JSON;
  }
  return mayHavePrototype(text) && hasPrototype(value) ? OWN_PROTOTYPE : ok(value);
}

const TOO_DEEP = err<never, JsonFault>("too-deep");
const NO_JSON = err<never, JsonFault>("no-json");
const OWN_PROTOTYPE = err<never, JsonFault>("own-prototype");

/** True for a text with so many openers that it may be nested deeper. To look at each text and each bracket in it takes longer. */
function hasOpeners(text: string, depth: number): boolean {
  let count = 0;
  for (const opener of ["{", "["]) {
    for (let at = text.indexOf(opener); at >= 0; at = text.indexOf(opener, at + 1)) if (++count > depth) return true;
  }
  return false;
}

/** True if the nesting of a text of JSON goes beyond a depth. */
function isDeeper(text: string, limit: number): boolean {
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) index = endOfString(text, index);
    else if (code === 91 || code === 123) {
      if (++depth > limit) return true;
    } else if (code === 93 || code === 125) depth--;
  }
  return false;
}

/** The index of the quote that ends the string that begins at an index; the length of the text if none does. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text.charCodeAt(first - 1) === BACKSLASH) first--;
    if ((end - first) % 2 === 0) return end;
  }
  return text.length;
}

/** True for a text that may have the key, written plainly or with an escape. */
const mayHavePrototype = (text: string): boolean =>
  (hasPair(text, "_", UNDERSCORE) && text.includes("__proto__")) ||
  (hasPair(text, "\\", LOWER_U) && /\\u00(?:5f|6f|7[024])/i.test(text));

/**
 * True for a text that has two characters one after the other, or may have them. One character is found ten times as fast as a word,
 * and most texts have few of it.
 */
function hasPair(text: string, first: string, second: number): boolean {
  let at = text.indexOf(first);
  for (let looks = 0; at >= 0; looks++) {
    if (looks === MOST_LOOKS || text.charCodeAt(at + 1) === second) return true;
    at = text.indexOf(first, at + 1);
  }
  return false;
}

/** True where a part of the value has the key. Its depth is bounded. */
function hasPrototype(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some(hasPrototype);
  if (Object.hasOwn(value, "__proto__")) return true;
  for (const key in value) if (hasPrototype((value as Record<string, unknown>)[key])) return true; // It has the key.
  return false;
}
