import { err, ok, type Result } from "neverthrow";
import { type FormatError, formatError } from "./format-error";

/** The address of an actor: an id in its canonical form, `@(id)`. */
export type Address<Id extends string = string> = `@(${Id})`;

/** An address taken apart. */
export interface ParsedAddress {
  readonly address: Address;
  /** The text between the parentheses, such as `workers/3`. */
  readonly id: string;
  /** The id split at its slashes, such as `["workers", "3"]`. */
  readonly segments: readonly string[];
}

/** Longest id that an address may hold, in UTF-16 code units. */
export const MAX_ID_LENGTH = 512;

// Two addresses that read the same should be the same: no characters that show nothing (zero-width, bidirectional and other format
// characters, variation selectors, fillers, the blank braille pattern), no noncharacters and no lone surrogates.
const HIDDEN = "\\p{Cc}\\p{Cf}\\p{Cs}\\p{Default_Ignorable_Code_Point}\\p{Noncharacter_Code_Point}\\u2800";

// Segments of other characters, without white space or parentheses, joined by single slashes.
const SEGMENT = `[^\\s${HIDDEN}()/]+`;
const ID = new RegExp(`^${SEGMENT}(?:/${SEGMENT})*$`, "u");

// The characters of nearly all ids, by code: 1, or 2 for the slash. Looked up one by one: 27 ns for an id where the test above took 47.
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

/** True where a short look shows that a name is well formed and has no slash. */
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

/** True where a name is a whole address: no plain name has an @. */
export const isWritten = (name: string): name is Address => name.charCodeAt(0) === AT;

/** The address of what is called so below another one. */
export const addressUnder = (parent: Address, name: string): Address =>
  isWritten(name) ? name : `${parent.slice(0, -1) as "@("}/${name})`;

/** Any reference, whatever its actor can be asked for. */
export interface AnyRef {
  readonly address: Address;
}

/** The id of an address that is known to be one. */
export const idOf = (canonical: Address): string => canonical.slice(2, -1);

/**
 * Takes an address apart, or says why it is none. Error: `invalid-address`.
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

/** A text with an escape for each character that would show nothing, end the line, or turn the rest of it around. */
export const onOneLine = (text: string): string =>
  text.replace(new RegExp(`[${HIDDEN}\\p{Zl}\\p{Zp}]`, "gu"), (character) =>
    // By code unit, as JSON has it.
    character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
  );

const MAX_SHOWN = 80;
const shorten = (text: string, most: number = MAX_SHOWN): string =>
  text.length > most ? `${text.slice(0, most - 3)}…` : text;

/**
 * A value as it may stand in an error's sentence: a text short, on one line and in quotes; of an object only that it is one.
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

/** A text that a stranger may have chosen, as a detail of a log: short, on one line, and without quotes. */
export const asDetail = (text: unknown, most: number = MAX_SHOWN): string =>
  typeof text === "string" ? onOneLine(shorten(text, most)) : quote(text);
