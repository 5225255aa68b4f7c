/** The beginning of a redacted text. 22 characters of a keyed hash follow. */
const REDACTED = "redacted:";
const PATTERN = /^redacted:[\w-]{22}$/;
const PARTS = /redacted:[\w-]{22}/g;

/** The text in place of a secret, of the first 22 characters (132 bits) of a hash in base64url. */
export function redactedAs(hash: string): string {
  return `${REDACTED}${hash.slice(0, 22)}`;
}

/** True for a text that was redacted before. It stays as it is, so that a replay gives what the recording has. */
export function isRedacted(text: string): boolean {
  return text.length === 31 && PATTERN.test(text);
}

/** True for a text with a redacted part. */
export function holdsRedacted(text: string): boolean {
  return text.includes(REDACTED) && withoutHashes(text) !== text;
}

/** A text whose redacted parts say `redacted` alone: for a comparison of texts that were redacted by different keys. */
export function withoutHashes(text: string): string {
  return text.replace(PARTS, "redacted");
}
