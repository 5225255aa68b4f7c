/** Deepest nesting of a value that is written or read. JSON Schemas of real protocols stay below 30. */
const DEEPEST = 200;

/** Thrown for a value that has no canonical form. The sentence goes on after its name: "has …". */
export class NotCanonical extends Error {}

/**
 * Writes a JSON value in its canonical form (RFC 8785), which is the same for equal values: keys in order of their UTF-16 code units,
 * no white space, numbers as JavaScript writes them.
 *
 * @throws NotCanonical for anything that JSON cannot hold or that several readers would read differently: a lone surrogate, a number
 * without a value, `undefined`, an object with a prototype of its own, or nesting deeper than 200 levels.
 */
export function canonicalJson(value: unknown): string {
  const ordered = order(value, DEEPEST);
  // To bring the keys in order and write all at once takes 3.4 µs for 1.2 kB; to write part by part took 8.5.
  const text = ordered === UNORDERABLE ? write(value) : JSON.stringify(ordered);
  if (text.includes("\\ud")) checkTexts(value); // It may be half of a character: those that are whole are written as they are.
  return text;
}

/** Stands for an object whose keys come in another order than that in which they are set, such as `{ b: 1, 10: 2, 9: 3 }`. */
const UNORDERABLE = Symbol("unorderable");

/** The same value with the keys of its objects in order: itself if they are already. Looks at each part. */
function order(value: unknown, depth: number): unknown {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      if (Number.isFinite(value)) return value;
      throw new NotCanonical("has a number that is not finite");
    case "object":
      if (value === null) return value;
      if (depth === 0) throw new NotCanonical(`is nested more than ${DEEPEST} levels deep`);
      return Array.isArray(value) ? orderArray(value, depth - 1) : orderObject(value, depth - 1);
    default:
      throw new NotCanonical(`has a value of type ${typeof value}`);
  }
}

function orderArray(items: readonly unknown[], depth: number): unknown {
  let copy: unknown[] | null = null;
  let isUnorderable = false;
  for (let index = 0; index < items.length; index++) {
    const item = order(items[index], depth);
    if (item === UNORDERABLE) isUnorderable = true;
    if (item === items[index]) continue;
    copy ??= [...items];
    copy[index] = item;
  }
  return isUnorderable ? UNORDERABLE : (copy ?? items);
}

function orderObject(given: object, depth: number): unknown {
  const prototype: unknown = Object.getPrototypeOf(given);
  if (prototype !== Object.prototype && prototype !== null) throw new NotCanonical("has an object that is not plain");
  const object = given as Readonly<Record<string, unknown>>; // Its keys are texts.
  const keys = Object.keys(object);
  const isOrdered = areOrdered(keys);
  let copy: Record<string, unknown> | null = isOrdered ? null : {};
  let isUnorderable = false;
  for (const key of isOrdered ? keys : sorted(keys)) {
    const value = order(object[key], depth);
    if (value === UNORDERABLE) isUnorderable = true;
    if (isOrdered && value === object[key]) continue;
    if (!isOrdered && isUnruly(key)) isUnorderable = true;
    copy ??= { ...object };
    copy[key] = value;
  }
  return isUnorderable ? UNORDERABLE : (copy ?? object);
}

/** True for a key that an object may put elsewhere than where it was set, or that sets something else: digits, and `__proto__`. */
function isUnruly(key: string): boolean {
  const first = key.charCodeAt(0);
  return (first >= 48 && first <= 57) || key === "__proto__";
}

/** Keys that are put in order by hand: for so few, `sort` takes five times as long. */
const FEW = 16;

/** Brings keys in the order of their UTF-16 code units, in place. */
function sorted(keys: string[]): string[] {
  if (keys.length > FEW) return keys.sort();
  for (let end = 1; end < keys.length; end++) {
    const key = keys[end] ?? "";
    let at = end;
    for (let before = keys[at - 1] ?? ""; at > 0 && before > key; before = keys[at - 1] ?? "") keys[at--] = before;
    keys[at] = key;
  }
  return keys;
}

function areOrdered(keys: readonly string[]): boolean {
  for (let index = 1; index < keys.length; index++) if ((keys[index - 1] ?? "") > (keys[index] ?? "")) return false;
  return true;
}

/** Writes a value that was looked at. */
function write(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(write).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const object = value as Readonly<Record<string, unknown>>; // Its keys are texts.
  const members = Object.keys(object).sort();
  return `{${members.map((key) => `${JSON.stringify(key)}:${write(object[key])}`).join(",")}}`;
}

/** Throws for half of a character in a text or in a key. */
function checkTexts(value: unknown): void {
  if (typeof value === "string") {
    if (!value.isWellFormed()) throw new NotCanonical("has a text with half of a character (a lone surrogate)");
  } else if (typeof value === "object" && value !== null) {
    for (const [key, each] of Object.entries(value)) {
      checkTexts(key);
      checkTexts(each);
    }
  }
}

/**
 * Parses JSON of which all readers see the same. Gives undefined for text that is no JSON, is nested too deep, or has a key twice in an
 * object: some readers take the first one, others the last.
 */
export function parseUnambiguous(text: string): { readonly value: unknown } | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
    // Most come as they are written here. To see that takes a third of the time of the counts.
    const isOwn = JSON.stringify(value) === text;
    if (isOwn && !hasOpeners(text, DEEPEST)) return { value };
    const members = countMembers(value, DEEPEST); // It throws for what is too deep.
    // A key that came twice is in the text once more than in the value.
    return isOwn || members === countColons(text) ? { value } : undefined;
  } catch {
    return undefined;
  }
}

/** True for a text with so many openers that it may be nested deeper. To look at each text and each bracket in it takes longer. */
function hasOpeners(text: string, depth: number): boolean {
  let count = 0;
  for (const opener of ["{", "["]) {
    for (let at = text.indexOf(opener); at >= 0; at = text.indexOf(opener, at + 1)) if (++count > depth) return true;
  }
  return false;
}

function countMembers(value: unknown, depth: number): number {
  if (typeof value !== "object" || value === null) return 0;
  if (depth === 0) throw new NotCanonical(`is nested more than ${DEEPEST} levels deep`);
  const values = Object.values(value);
  let count = Array.isArray(value) ? 0 : values.length;
  for (const each of values) count += countMembers(each, depth - 1);
  return count;
}

/** Colons outside of texts: one for each member of an object. */
function countColons(json: string): number {
  let count = 0;
  for (let index = 0; index < json.length; index++) {
    const code = json.charCodeAt(index);
    if (code === 58) count++;
    else if (code === 34) index = endOfText(json, index);
  }
  return count;
}

/** The place of the quote that ends the text which begins at a place. */
function endOfText(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end > 0; end = json.indexOf('"', end + 1)) {
    let slashes = 0;
    while (json.charCodeAt(end - 1 - slashes) === 92) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return json.length;
}
