/**
 * The deepest nesting of a value that enters or leaves code. The text of a deeper value would block the host, or the next
 * reader of the value: at a depth of 40,000, which is 80 KB, it takes 4 s.
 */
export const DEEPEST = 1_000;

/** True when a value that was read from JSON is nested deeper than DEEPEST. */
export function isTooDeep(value: unknown, depth = 0): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (depth === DEEPEST) return true;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const item: unknown = value[index];
      if (typeof item === "object" && isTooDeep(item, depth + 1)) return true;
    }
    return false;
  }
  const members = value as Readonly<Record<string, unknown>>; // An object of any kind has members.
  for (const key in members) {
    const member = members[key];
    if (typeof member === "object" && isTooDeep(member, depth + 1)) return true;
  }
  return false;
}

/**
 * The same for a JSON text. It calls no method of the language, because code that runs beside it may have changed the
 * methods.
 */
export function isTextTooDeep(json: string): boolean {
  if (json.length <= 2 * DEEPEST) return false; // Each level takes two characters at least.
  let depth = 0;
  let isInText = false;
  for (let at = 0; at < json.length; at++) {
    const character = json[at];
    if (isInText) {
      if (character === "\\") at++;
      else if (character === '"') isInText = false;
    } else if (character === '"') {
      isInText = true;
    } else if (character === "[" || character === "{") {
      if (++depth > DEEPEST) return true;
    } else if (character === "]" || character === "}") {
      depth--;
    }
  }
  return false;
}
