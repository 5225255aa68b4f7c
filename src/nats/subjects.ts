/** True for a text that can be a part of a subject, of a stream's name and of a key as it is. */
export const isToken = (value: unknown): value is string => typeof value === "string" && /^[\w-]{1,64}$/.test(value);

/** Writes any text as one token of a subject: other characters become `=` and the hexadecimal digits of their bytes. */
export function tokenOf(text: string): string {
  if (text === "") return "=";
  return [...new TextEncoder().encode(text)]
    .map((byte) => (isPlain(byte) ? String.fromCharCode(byte) : `=${byte.toString(16).padStart(2, "0")}`))
    .join("");
}

/** True for the byte of a letter, a digit, `-` or `_`. */
const isPlain = (byte: number): boolean => /[\w-]/.test(String.fromCharCode(byte));

/** Reads a text that `tokenOf` wrote. */
export function textOf(token: string): string {
  if (token === "=") return "";
  return decodeURIComponent(token.replaceAll("%", "%25").replaceAll("=", "%"));
}
