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
