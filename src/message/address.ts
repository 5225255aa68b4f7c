import { err, ok, type Result } from "neverthrow";

/** The address of an actor: an id in its canonical form, `@(id)`. */
export type Address<Id extends string = string> = `@(${Id})`;

/**
 * The error for a text or value that is not a message, or for a message that cannot be written as text.
 *
 * | kind | when |
 * |---|---|
 * | `invalid-address` | a text is no address |
 * | `invalid-message` | a text or value from outside lacks a field, or has a wrong one |
 * | `unserializable-payload` | a payload or its metadata has a value that JSON cannot carry |
 */
export interface FormatError {
  readonly kind: "invalid-address" | "invalid-message" | "unserializable-payload";
  /** A sentence: what was found, and what to write instead. */
  readonly message: string;
  /** The place of the fault, as a JSON Pointer (RFC 6901), on one line and cut off after 200 characters; empty for the whole. */
  readonly path: string;
  /** Always false: the same text fails again. */
  readonly retryable: false;
}

export const formatError = (kind: FormatError["kind"], path: string, message: string): FormatError => ({
  kind,
  message,
  path,
  retryable: false,
});

/** The parts of an address. */
export interface ParsedAddress {
  readonly address: Address;
  /** The text between the parentheses, such as `workers/3`. */
  readonly id: string;
  /** The id split at its slashes, such as `["workers", "3"]`. */
  readonly segments: readonly string[];
}

/** Longest id that an address may hold, in UTF-16 code units. */
export const MAX_ID_LENGTH = 512;

// Addresses that look the same must be the same. This refuses invisible characters (zero-width, bidirectional and other format
// characters, variation selectors, fillers, the blank braille pattern), noncharacters and lone surrogates.
const HIDDEN = "\\p{Cc}\\p{Cf}\\p{Cs}\\p{Default_Ignorable_Code_Point}\\p{Noncharacter_Code_Point}\\u2800";

// Segments of other characters, without white space or parentheses, joined by single slashes.
const SEGMENT = `[^\\s${HIDDEN}()/]+`;
const ID = new RegExp(`^${SEGMENT}(?:/${SEGMENT})*$`, "u");

// The characters of nearly all ids, by code: 1, or 2 for the slash. Looking up each takes 27 ns for an id; the test above took 47.
const PLAIN = new Uint8Array(128);
for (const character of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:~-") {
  PLAIN[character.charCodeAt(0)] = 1;
}
PLAIN["/".charCodeAt(0)] = 2;

function isPlainId(id: string): boolean {
  let before = 2;
  for (let i = 0; i < id.length; i++) {
    const kind = PLAIN[id.charCodeAt(i)] ?? 0;
    if (kind === 0 || (kind === 2 && before === 2)) return false;
    before = kind;
  }
  return before === 1;
}

/** True when a quick look shows that a name is well formed and has no slash. False proves nothing. */
export function isPlainName(name: unknown): name is string {
  if (typeof name !== "string" || name.length > MAX_ID_LENGTH) return false;
  for (let i = 0; i < name.length; i++) if (PLAIN[name.charCodeAt(i)] !== 1) return false;
  return name !== "";
}

const isId = (id: string): boolean => id.length <= MAX_ID_LENGTH && (isPlainId(id) || ID.test(id));

const RULE =
  `an id has 1 to ${MAX_ID_LENGTH} characters, in segments joined by single slashes, ` +
  "without white space, control or invisible characters, or parentheses: workers/3";

/**
 * Makes the canonical address of an id.
 *
 * @throws TypeError when the id is empty, too long, or has a character that no id may have.
 * @example
 * address("workers/3") // "@(workers/3)"
 */
export function address<const Id extends string>(id: Id): Address<Id> {
  if (typeof id !== "string" || !isId(id)) throw new TypeError(`${quote(id)} is not an actor id: ${RULE}.`);
  return `@(${id})`;
}

/**
 * Tells whether a value is an address in its canonical form.
 *
 * @example
 * isAddress("@(workers/3)") // true
 */
export function isAddress(value: unknown): value is Address {
  return typeof value === "string" && value.startsWith("@(") && value.endsWith(")") && isId(value.slice(2, -1));
}

const AT = "@".charCodeAt(0);

/** True when a name is a whole address. No plain name begins with an @. */
export const isWritten = (name: string): name is Address => name.charCodeAt(0) === AT;

/** The address of a child by its name. A name that is a whole address is returned as it is. */
export const addressUnder = (parent: Address, name: string): Address =>
  isWritten(name) ? name : `${parent.slice(0, -1) as "@("}/${name})`;

/** A reference to an actor of any protocol. */
export interface AnyRef {
  readonly address: Address;
}

/** The id of an address, which is not checked. */
export const idOf = (canonical: Address): string => canonical.slice(2, -1);

/**
 * Takes an address apart, or says why the text is not an address. Error: `invalid-address`.
 *
 * @example
 * parseAddress("@(workers/3)").map((it) => it.segments) // Ok(["workers", "3"])
 */
export function parseAddress(text: unknown): Result<ParsedAddress, FormatError> {
  if (!isAddress(text)) {
    return err(formatError("invalid-address", "", `${quote(text)} is not an address; write @(id), where ${RULE}.`));
  }
  const id = idOf(text);
  return ok({ address: text, id, segments: id.split("/") });
}

/** Escapes each character of a text that is invisible, ends the line, or changes the direction of the text. */
export const onOneLine = (text: string): string => (UNUSUAL.test(text) ? text.replace(INVISIBLE, escaped) : text); // Nearly all have plain letters alone: 70 ns less.

const UNUSUAL = /[^ -~]/;
const INVISIBLE = new RegExp(`[${HIDDEN}\\p{Zl}\\p{Zp}]`, "gu");

/** One escape for each code unit, as in JSON. */
const escaped = (character: string): string =>
  character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

const MAX_SHOWN = 80;
const shorten = (text: string, most: number = MAX_SHOWN): string =>
  text.length > most ? `${text.slice(0, most - 3)}…` : text;

/**
 * Shows a value in an error's sentence. A text is shortened, quoted and put on one line; an object is only called "an object".
 *
 * @example
 * quote("a\nb") // "\"a\\nb\""
 */
export function quote(value: unknown): string {
  if (typeof value === "string") return onOneLine(JSON.stringify(shorten(value)));
  if (value === null || typeof value !== "object") return typeof value === "function" ? "a function" : String(value);
  try {
    return Array.isArray(value) ? "an array" : "an object";
  } catch {
    return "an object"; // A revoked proxy.
  }
}

/** Shows an untrusted text as a detail of a log: shortened, on one line, without quotes. */
export const asDetail = (text: unknown, most: number = MAX_SHOWN): string =>
  typeof text === "string" ? onOneLine(shorten(text, most)) : quote(text);
