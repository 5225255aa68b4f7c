/** Browsers have no shared memory in each page. */
const isShared = (value: unknown): boolean =>
  typeof SharedArrayBuffer !== "undefined" && value instanceof SharedArrayBuffer;

/**
 * Refuses bytes, which JSON would write as an object of numbered keys, or as an empty one. Looks at the value alone, and not into it, which costs next to nothing.
 * A `Buffer` says by its `toJSON` how it is written.
 *
 * @throws TypeError for bytes.
 */
export function refuseBytes(value: unknown): void {
  const isBytes = ArrayBuffer.isView(value) ? !("toJSON" in value) : value instanceof ArrayBuffer || isShared(value);
  if (isBytes) throw new TypeError("JSON carries no binary data; give base64 text.");
}

/**
 * Writes a value as JSON. `undefined`, which has no form in it, is null.
 *
 * @throws TypeError when JSON cannot carry it.
 */
export function jsonOf(value: unknown): string {
  refuseBytes(value);
  return JSON.stringify(value) ?? "null";
}

/**
 * The response that has a reply.
 *
 * @throws TypeError when JSON cannot carry it.
 */
export function responseOf(reply: unknown): Response {
  refuseBytes(reply);
  return Response.json(reply);
}
