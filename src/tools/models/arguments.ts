/** Deepest nesting of arguments. */
const MOST_LEVELS = 128;
/** Letters that each value counts beside its own. */
const VALUE_LETTERS = 8;

/**
 * Counts the letters of a value, as JSON would write them by and large. It ends early: Infinity for more than `most`, and for
 * a value that is nested too deep.
 */
export function lettersIn(value: unknown, most: number, levels = MOST_LEVELS): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return VALUE_LETTERS;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (levels === 0) return Number.POSITIVE_INFINITY;
  let letters = VALUE_LETTERS;
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    letters += Array.isArray(value) ? 1 : key.length + 4;
    if (letters <= most) letters += lettersIn((value as Record<string, unknown>)[key], most - letters, levels - 1); // It has the key.
    if (letters > most) return Number.POSITIVE_INFINITY;
  }
  return letters;
}

/** True for a key `__proto__` at any depth: some code that merges objects takes it for a prototype. */
function hasProto(value: unknown): boolean {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return false;
  return Object.hasOwn(value, "__proto__") || Object.values(value).some(hasProto);
}

/** Arguments as a model wrote them, or a sentence that says what is wrong with them. */
export type Arguments = { readonly value: unknown } | { readonly fault: string };

/**
 * Reads the arguments of a call: a JSON text, or a value that was parsed from one. A model without arguments writes nothing, or null.
 *
 * @param most letters that they may have.
 */
export function argumentsIn(given: unknown, most: number): Arguments {
  let value = given;
  if (typeof given === "string") {
    if (given.length > most) return tooMuch(most);
    try {
      value = given.trim() === "" ? {} : JSON.parse(given);
    } catch {
      return { fault: 'The arguments are no JSON. Write one JSON object, such as {"path":"notes.md"}.' };
    }
  }
  value ??= {};
  if (typeof value !== "object" || Array.isArray(value)) return { fault: "The arguments are one JSON object." };
  if (lettersIn(value, most) > most) return tooMuch(most);
  return hasProto(value) ? { fault: 'The arguments have a key "__proto__". Leave it out.' } : { value };
}

const tooMuch = (most: number): Arguments => ({
  fault: `The arguments have more than ${most} letters, or are nested more than ${MOST_LEVELS} levels deep. Send less.`,
});
