import { type DefaultName, suspicionOf } from "./names";
import { redactSpans, type Span } from "./spans";

/** The head of a part of a form (RFC 7578), up to its body. */
const PART =
  /content-disposition:[^\r\n]{0,128}?[\s;]name="?([^"\r\n;]{1,64})"?[^\r\n]{0,256}\r?\n(?:[^\r\n]{1,512}\r?\n){0,8}\r?\n/gi;
const BOUNDARY = /\r?\n--|$/g;

/** Redacts fields of suspicious names in the body of a form: `multipart/form-data`. */
export function redactForms(
  text: string,
  isOn: (group: DefaultName) => boolean,
  redacted: (secret: string) => string,
): string {
  const secretAt = (found: RegExpExecArray): Span | null => {
    const suspicion = suspicionOf(found[1] as string); // The pattern has one group, which always stands.
    if (suspicion === null || !isOn(suspicion.group)) return null;
    const start = PART.lastIndex;
    BOUNDARY.lastIndex = start;
    return { start, end: BOUNDARY.exec(text)?.index ?? text.length };
  };
  return redactSpans(text, PART, secretAt, redacted);
}
