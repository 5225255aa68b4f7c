import { quote } from "../index";

/** True for a text that can be a part of a subject, of a stream's name and of a key as it is. */
export const isToken = (value: unknown): value is string => typeof value === "string" && /^[\w-]{1,64}$/.test(value);

/**
 * The most characters of a token. The name of a consumer has no more (NATS 2.11), and a subject must fit into a control line of 4,096 bytes: a
 * longer line ends its connection.
 */
const LONGEST = 255;

/**
 * Writes any text as one token of a subject: other characters become `=` and the hexadecimal digits of their bytes.
 *
 * @throws RangeError when the token would be longer than 255 characters.
 */
export function tokenOf(text: string): string {
  if (text === "") return "=";
  const token = [...new TextEncoder().encode(text)]
    .map((byte) => (isPlain(byte) ? String.fromCharCode(byte) : `=${byte.toString(16).padStart(2, "0")}`))
    .join("");
  if (token.length <= LONGEST) return token;
  throw new RangeError(
    `A name over NATS has at most ${LONGEST} characters; a letter, a digit, - and _ count as one, and each byte of any other character as three. Shorten the one that begins with ${quote(text.slice(0, 32))}, which has ${token.length}.`,
  );
}

/** True for the byte of a letter, a digit, `-` or `_`. */
const isPlain = (byte: number): boolean => /[\w-]/.test(String.fromCharCode(byte));

/** Reads a text that `tokenOf` wrote. */
export function textOf(token: string): string {
  if (token === "=") return "";
  return decodeURIComponent(token.replaceAll("%", "%25").replaceAll("=", "%"));
}
