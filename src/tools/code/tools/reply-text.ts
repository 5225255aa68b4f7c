import { DEEPEST } from "../depth";

/** Why a reply does not come across. */
export class Unserializable {
  constructor(readonly reason: string) {}
}

/** A reply as JSON, undefined where there is none. What JSON would lose without a word is refused. */
export function replyText(value: unknown): string | undefined | Unserializable {
  try {
    const lost = lostOf(value, 0);
    if (lost !== null) return new Unserializable(`it ${lost}`);
    const text: string | undefined = JSON.stringify(value);
    return text === undefined && value !== undefined ? new Unserializable(`it is a ${typeof value}`) : text;
  } catch {
    return new Unserializable("it is too long, or has a getter or toJSON that throws");
  }
}

/** What is wrong with a value, or is in it and would not be in its text. */
function lostOf(value: unknown, depth: number): string | null {
  if (typeof value === "bigint") return "has a bigint";
  if (typeof value !== "object" || value === null) return null;
  // To find this out itself takes JSON.stringify 5 s at a depth of 100,000.
  if (depth === DEEPEST) return "goes round in a circle, or is nested too deeply";
  if (Array.isArray(value)) {
    for (const item of value) {
      const lost = lostOf(item, depth + 1);
      if (lost !== null) return lost;
    }
    return null;
  }
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
    return "has bytes; ask for text or base64 where that is offered";
  }
  if (value instanceof Map || value instanceof Set) return "has a Map or a Set";
  const members = value as Readonly<Record<string, unknown>>; // An object of any kind has members.
  if (typeof members["toJSON"] === "function") return null; // It says what it is there.
  for (const key in members) {
    const lost = lostOf(members[key], depth + 1);
    if (lost !== null) return lost;
  }
  return null;
}
