import { roleOf } from "./entries";
import {
  CONTAINER,
  CONTAINER_OF_TEXT,
  type DefaultName,
  NUMBER,
  type Suspicion,
  suspicionInQuery,
  suspicionOf,
  TEXT,
} from "./names";
import { redactSpans, type Span } from "./spans";

/** The longest name before a separator, and the most that may stand between the two: quotes, escapes and spaces. */
const LONGEST_NAME = 64;
const MOST_BETWEEN = 24;
const SEPARATORS = /[:=>]|%3[AaDd]|--[\w-]{2,40}(?= +[^\s-])/g;
/** How far the value of an entry may stand behind its name. */
const LONGEST_ENTRY = 128;
/** How far is looked for a text behind a name whose numbers are ordinary: `tokens: [`. It may stand in a text many times. */
const LONGEST_COUNTS = 1_024;
/** Values that are no secrets: what code, schemas and prose have behind such a name. */
const ORDINARY =
  /^(?:(?:string|number|boolean|bigint|unknown|any|never|void|object|null|undefined|none|nil|true|false|str|int|float|bytes|optional|required|missing|invalid|expired|include|omit|same-origin)(?![\w-])|(?:z|Type|v|process\.env|import\.meta|Bun\.env|os\.environ|this|self|ctx|props|options)[.[]|(?:await|new|typeof|readonly)\s|[A-Za-z_$][\w$]{0,40}(?:\.[A-Za-z_$][\w$]{0,40}){0,6}\()/;

/**
 * Redacts the values of suspicious names in a text: `?token=…`, `password: …`, `"apiKey": "…"` also where the quotes are escaped, lines
 * of headers, options of a command line, elements of XML. It looks to the left of each separator, at so many characters at most, and
 * goes over each value once.
 */
export function redactNamedValues(
  text: string,
  isOn: (group: DefaultName) => boolean,
  redacted: (secret: string) => string,
): string {
  /** The last name of an entry, such as `name: TOKEN` before `value: …`. */
  let entry: { readonly suspicion: Suspicion | null; readonly behind: number } | null = null;
  const secretAt = ({ 0: separator, index }: RegExpExecArray): Span | null => {
    const behind = SEPARATORS.lastIndex;
    const name = separator.startsWith("--") ? separator : nameBefore(text, index);
    if (name === "") return null;
    const start = separator.startsWith("--") ? index : text.lastIndexOf(name, index - name.length);
    if (separator === ">" && text[start - 1] !== "<") return null;
    let suspicion = isInQuery(text, start) ? suspicionInQuery(name) : suspicionOf(name);
    if (suspicion === null) {
      const role = roleOf(name);
      if (role === "name") entry = { suspicion: suspicionOf(nameBehind(text, behind)), behind };
      // In brackets, a value is code: <Input name="password" value={password}>.
      if (role !== "value" || entry === null || /[[{]/.test(text[behind] ?? "")) return null;
      if (start - entry.behind > LONGEST_ENTRY) return null;
      suspicion = entry.suspicion;
    }
    if (suspicion === null || !isOn(suspicion.group)) return null;
    const value = valueBehind(text, behind, separator, suspicion, start);
    return isSecret(text.slice(value.start, value.end), value.kind, suspicion.kinds) ? value : null;
  };
  return redactSpans(text, SEPARATORS, secretAt, redacted);
}

function isSecret(secret: string, kind: "quoted" | "bare" | "container", kinds: number): boolean {
  if (kind === "quoted") return (kinds & TEXT) !== 0 && !/^(?:include|omit|same-origin)$/.test(secret);
  if (kind === "container") {
    if ((kinds & CONTAINER) !== 0) return /[\w]/.test(secret);
    return (kinds & CONTAINER_OF_TEXT) !== 0 && /[[,:]\s*\\*["'`]\w/.test(secret);
  }
  if (/^-?[0-9.]+[,;)\]}]*$/.test(secret) && (kinds & NUMBER) === 0) return false;
  return !ORDINARY.test(secret);
}

/** The name before a separator, without the quotes, escapes and spaces between them. */
function nameBefore(text: string, separator: number): string {
  let end = separator;
  const least = separator - MOST_BETWEEN;
  while (end > 0 && end > least && isBetween(text.charCodeAt(end - 1))) end--;
  let start = end;
  while (start > 0 && start > end - LONGEST_NAME && isOfName(text.charCodeAt(start - 1))) start--;
  return text.slice(start, end);
}

/** A name that is a value itself. */
const NAME = /[\s\\"'`]{0,8}([\w.$-]{1,64})/y;
function nameBehind(text: string, from: number): string {
  NAME.lastIndex = from;
  return NAME.exec(text)?.[1] ?? "";
}

function isInQuery(text: string, start: number): boolean {
  const before = text[start - 1];
  return before === "?" || before === "&";
}

/** A space, a tab, a quote, an escape, a closing bracket, or the first sign of `=>`. */
function isBetween(code: number): boolean {
  return (
    code === 32 || code === 9 || code === 34 || code === 39 || code === 96 || code === 92 || code === 93 || code === 61
  );
}

/** A letter, a digit, or one of `-`, `.`, `_`, `$`. */
function isOfName(code: number): boolean {
  if (code >= 97 && code <= 122) return true;
  return (
    (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || code === 95 || code === 45 || code === 46 || code === 36
  );
}

interface Value extends Span {
  readonly kind: "quoted" | "bare" | "container";
}

const OPENING = /[\s=>:+]*(\\*["'`]|[{[]|)/y;
/** A text of several lines in YAML, behind `|` or `>`: the lines that are further in. */
const BLOCK = /[ \t]*[|>][-+0-9]{0,2}[ \t]*\r?\n((?:[ \t]+[^\n]*(?:\n|$))+)/y;
const LINE = /[^\r\n]*/y;
const WORD = /[^\s"'`<>&]*/y;
const QUERY_WORD = /[^\s"'`<>&;#]*/y;

/** The value behind a separator: what is quoted, a whole bracket, the rest of a header's line, or a word. */
function valueBehind(text: string, from: number, separator: string, { group, kinds }: Suspicion, name: number): Value {
  OPENING.lastIndex = from;
  const opening = OPENING.exec(text)?.[1] ?? "";
  const start = OPENING.lastIndex;
  if (opening === "{" || opening === "[") {
    const limit = (kinds & CONTAINER) === 0 ? Math.min(text.length, start + LONGEST_COUNTS) : text.length;
    return { start: start - 1, end: closingBracket(text, start, opening, limit), kind: "container" };
  }
  if (opening !== "") return { start, end: closingQuote(text, start, opening), kind: "quoted" };
  const beginsLine = name <= 0 || /[\n\r]/.test(text[name - 1] ?? "");
  if (separator === ":" && beginsLine) {
    BLOCK.lastIndex = from;
    const indented = BLOCK.exec(text)?.[1];
    if (indented !== undefined) return { start: BLOCK.lastIndex - indented.length, end: BLOCK.lastIndex, kind: "bare" };
  }
  const isSetting = separator === "=" && beginsLine && text[from] === " "; // Of a file of settings: a command line has no space.
  const isLine = isSetting || (separator === ":" && (beginsLine || group === "cookies" || group === "authorization"));
  const pattern = isLine ? LINE : separator === "=" ? QUERY_WORD : WORD;
  if (separator === ">") return { start, end: indexOrEnd(text.indexOf("<", start), text), kind: "bare" };
  pattern.lastIndex = start;
  pattern.exec(text);
  return { start, end: Math.max(start, pattern.lastIndex), kind: "bare" };
}

/** The place of the quote that closes a value: as much escaped as the one that opens it. */
export function closingQuote(text: string, start: number, opening: string): number {
  const quote = opening.at(-1) as string;
  const escapes = opening.length - 1;
  for (let at = text.indexOf(quote, start); at >= 0; at = text.indexOf(quote, at + 1)) {
    let before = 0;
    while (at - before > start && text[at - before - 1] === "\\") before++;
    if (before === escapes) return at - escapes;
    if (escapes === 0 && before % 2 === 0) return at;
    if (before < escapes) return at - before; // The text around it ends here, at the latest.
  }
  return text.length;
}

/** The place behind the bracket that closes the one before `start`. Brackets inside of texts count as well: too much is redacted then. */
function closingBracket(text: string, start: number, opening: string, limit: number): number {
  const closing = opening === "{" ? "}" : "]";
  let open = 1;
  for (let index = start; index < limit; index++) {
    const character = text[index];
    if (character === opening) open++;
    else if (character === closing && --open === 0) return index + 1;
  }
  return limit;
}

function indexOrEnd(index: number, text: string): number {
  return index < 0 ? text.length : index;
}
