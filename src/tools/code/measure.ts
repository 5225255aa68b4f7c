import { DEEPEST } from "./depth";

/** The faults of a value that is nested too deeply, or is larger than its limit. */
export const TOO_DEEP = `goes round in a circle, or is nested more than ${DEEPEST} deep`;
export const TOO_LARGE = "is too large";

/** The options by which a value is measured. */
export interface Scale {
  /** Most bytes. */
  readonly most: number;
  /** Fewest bytes that a value counts as. With 1, the count is never more than the bytes of the text. */
  readonly least: number;
  /** Returns the fault of a part that JSON would silently lose, or null. Default: no part has a fault. */
  readonly refuse?: (part: object | bigint) => string | null;
}

/**
 * Returns what is wrong with a value, or null, before its JSON text is written. It stops at the limit: a value that is too
 * large takes no longer than one at the limit, and no memory. With escapes, the text may still have up to six times as many
 * bytes.
 */
export function faultOf(value: unknown, scale: Scale): string | null {
  return new Measure(scale).visit(value, 0, "");
}

/** True when a text has more than `most` bytes. They are counted only if the length does not decide. */
export function exceeds(text: string, most: number): boolean {
  if (text.length * 3 <= most) return false;
  return text.length > most || Buffer.byteLength(text) > most;
}

class Measure {
  #left: number;
  readonly #least: number;
  readonly #refuse: Scale["refuse"];

  constructor({ most, least, refuse }: Scale) {
    this.#left = most;
    this.#least = least;
    this.#refuse = refuse;
  }

  visit(value: unknown, depth: number, key: string): string | null {
    if (typeof value === "object" && value !== null) return this.#object(value, depth, key);
    if (typeof value === "bigint") return this.#refuse?.(value) ?? null;
    return this.#take(typeof value === "string" ? Math.max(value.length + 2, this.#least) : this.#least);
  }

  #object(value: object, depth: number, key: string): string | null {
    const refused = this.#refuse?.(value) ?? null;
    if (refused !== null) return refused;
    const { toJSON } = value as { readonly toJSON?: unknown };
    if (typeof toJSON !== "function") return this.#parts(value, depth);
    const told: unknown = toJSON.call(value, key);
    return typeof told === "object" && told !== null ? this.#parts(told, depth) : this.visit(told, depth, key);
  }

  #parts(value: object, depth: number): string | null {
    // JSON.stringify takes 5 s to find this out by itself, at a depth of 100,000.
    if (depth === DEEPEST) return TOO_DEEP;
    if (Array.isArray(value)) return this.#items(value, depth);
    if (ArrayBuffer.isView(value)) return this.#take(value.byteLength);
    let fault = this.#take(this.#least);
    const members = value as Readonly<Record<string, unknown>>; // An object of any kind has members.
    for (const key in members) {
      if (fault !== null) return fault;
      const member = members[key];
      fault = member === undefined ? null : (this.#take(key.length + 3) ?? this.visit(member, depth + 1, key));
    }
    return fault;
  }

  #items(list: readonly unknown[], depth: number): string | null {
    // JSON writes a missing item as null, and a list of 4 billion missing items takes no memory.
    if (list.length * this.#least > this.#left) return TOO_LARGE;
    let fault = this.#take(this.#least);
    for (let index = 0; index < list.length && fault === null; index++) fault = this.visit(list[index], depth + 1, "");
    return fault;
  }

  #take(bytes: number): string | null {
    this.#left -= bytes;
    return this.#left < 0 ? TOO_LARGE : null;
  }
}
