import { isRedacted } from "./redacted";

/** A part of a text, up to the character before `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Redacts the secrets of a text, from left to right. One that is empty, or redacted already, stays.
 *
 * @param pattern finds the places behind which a secret may stand. It is global.
 * @param secretAt gives the secret of such a place; null where there is none. The search goes on behind it.
 */
export function redactSpans(
  text: string,
  pattern: RegExp,
  secretAt: (found: RegExpExecArray) => Span | null,
  redacted: (secret: string) => string,
): string {
  let result = "";
  let done = 0;
  pattern.lastIndex = 0;
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    const span = secretAt(found);
    if (span === null) continue;
    const secret = text.slice(span.start, span.end);
    if (secret === "" || isRedacted(secret)) continue;
    result += text.slice(done, span.start) + redacted(secret);
    done = span.end;
    pattern.lastIndex = done;
  }
  return result + text.slice(done);
}
