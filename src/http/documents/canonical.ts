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
export const canonicalJson = (value: unknown): string => write(value, DEEPEST);

function write(value: unknown, depth: number): string {
  switch (typeof value) {
    case "string":
      return writeText(value);
    case "number":
      if (Number.isFinite(value)) return String(value); // -0 becomes 0.
      throw new NotCanonical("has a number that is not finite");
    case "boolean":
      return value ? "true" : "false";
    case "object":
      if (value === null) return "null";
      if (depth === 0) throw new NotCanonical(`is nested more than ${DEEPEST} levels deep`);
      return Array.isArray(value) ? writeArray(value, depth - 1) : writeObject(value, depth - 1);
    default:
      throw new NotCanonical(`has a value of type ${typeof value}`);
  }
}

/** Texts that are written as they are: printable ASCII without quotes and backslashes. */
const PLAIN = /^[ !#-[\]-~]*$/;

function writeText(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  if (text.isWellFormed()) return JSON.stringify(text);
  throw new NotCanonical("has a text with half of a character (a lone surrogate)");
}

function writeArray(items: readonly unknown[], depth: number): string {
  let text = "[";
  for (let index = 0; index < items.length; index++) {
    text += index === 0 ? write(items[index], depth) : `,${write(items[index], depth)}`;
  }
  return `${text}]`;
}

function writeObject(object: object, depth: number): string {
  const prototype: unknown = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null) throw new NotCanonical("has an object that is not plain");
  let text = "";
  for (const key of Object.keys(object).sort()) {
    // Its own key, as Object.keys gave it.
    const value = write((object as Record<string, unknown>)[key], depth);
    text += `${text === "" ? "{" : ","}${writeText(key)}:${value}`;
  }
  return text === "" ? "{}" : `${text}}`;
}

/**
 * Parses JSON of which all readers see the same. Gives undefined for text that is no JSON, is nested too deep, or has a key twice in an
 * object: some readers take the first one, others the last.
 */
export function parseUnambiguous(text: string): { readonly value: unknown } | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
    // A key that came twice is in the text once more than in the value.
    return countMembers(value, DEEPEST) === countColons(text) ? { value } : undefined;
  } catch {
    return undefined;
  }
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
