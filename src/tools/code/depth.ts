/**
 * How deeply what comes into code, or out of it, may be nested. The text of what is nested deeper would hold up the host, or
 * whoever is handed it next: it takes 4 s at a depth of 40,000, which are 80 KB.
 */
export const DEEPEST = 1_000;

/** Whether a value that was read from JSON is nested more deeply than that. */
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
 * The same of a value that there is a JSON text of. It needs no method of the language, which code may have changed where
 * this runs beside it.
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
