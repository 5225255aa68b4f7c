import { refuse } from "../file-error";
import { nextLineEnd } from "../lines";
import { Effort, type Steps } from "../steps";
import { encodeText, fold, joined, type Place, withLineEnds } from "./match";
import { lineAt, type ShownLine } from "./nearest";

const LF = 10;
/** The cost of a line end, in bytes searched. */
const LINE_END = 64;
/** Most lines that a refusal shows. */
const MOST_SHOWN = 5;

/** Lines to be replaced. */
export interface Range {
  /** Its index among the request's edits, from 0. */
  readonly index: number;
  readonly from: number;
  /** The last line. One less than `from` if nothing is replaced. */
  readonly to: number;
  readonly newText: string;
  /** The expected present text of the lines. */
  readonly oldText: string | undefined;
}

/**
 * Replaces lines, counted in the text as it is.
 *
 * @param given the path for errors: ranges that overlap, that the text does not have, or with other lines than
 * expected.
 */
export function* replaceRanges(text: Buffer, ranges: readonly Range[], given: string): Steps<Buffer> {
  const effort = new Effort();
  const shown = JSON.stringify(given);
  const sorted = ranges.toSorted((a, b) => a.from - b.from || a.to - b.to);
  const parts: Buffer[] = [];
  const scan = new Scan(text, effort);
  let done = 0;
  let last: Range | undefined;
  for (const range of sorted) {
    const { index, from, to, newText, oldText } = range;
    if (last !== undefined && from <= last.to) {
      const [first, second] = [last.index, index].sort((a, b) => a - b);
      refuse(
        "ambiguous-match",
        given,
        `Edits ${(first ?? 0) + 1} and ${(second ?? 0) + 1} replace the same lines of ${shown}, and none was made; make one of them.`,
      );
    }
    last = range;
    const start = yield* scan.startOf(from);
    const end = to < from ? start : yield* scan.startOf(to + 1);
    if (start < 0 || end < 0) {
      const lines = scan.total;
      const what = to < from ? `no line ${from - 1} to insert after` : `no line ${from > lines ? from : to}`;
      return refuse("no-match", given, `${shown} has ${lines} lines, and ${what}; read it again. No edit was made.`);
    }
    if (oldText !== undefined && !(yield* isSame(text.subarray(start, end), oldText, effort))) {
      const which = from === to ? `Line ${from}` : `Lines ${from} to ${to}`;
      const are = from === to ? "is not its" : "are not its";
      refuse(
        "no-match",
        given,
        `${which} of ${shown} ${are} oldText, and no edit was made; see what is there, and edit that.`,
        { lines: firstOf(text, start, end, from) },
      );
    }
    parts.push(text.subarray(done, start), ...(yield* asLines(text, { start, end }, newText, effort)));
    done = end;
  }
  parts.push(text.subarray(done));
  return yield* joined(parts, effort);
}

/** Finds the starts of lines, from the first to the last. */
class Scan {
  readonly #text: Buffer;
  readonly #effort: Effort;
  #line = 1;
  #start = 0;

  constructor(text: Buffer, effort: Effort) {
    this.#text = text;
    this.#effort = effort;
  }

  /** The number of lines, known once a line beyond the last was looked for. */
  get total(): number {
    return this.#line - 1;
  }

  /** The start of a line after those asked for before. The end of the text for the line after the last, −1 beyond that. */
  *startOf(line: number): Steps<number> {
    const text = this.#text;
    while (this.#line < line && this.#start < text.length) {
      const at = nextLineEnd(text, this.#start);
      if (this.#effort.spend((at < 0 ? text.length : at) - this.#start + LINE_END)) yield;
      this.#start = at < 0 ? text.length : at + 1;
      this.#line++;
    }
    return this.#line === line ? this.#start : -1;
  }
}

/** True if lines are equal to a text, apart from the style of line ends and the presence of the last one. */
function* isSame(lines: Buffer, expected: string, effort: Effort): Steps<boolean> {
  // A line end may have two letters in one and one in the other.
  if (expected.length > lines.length * 2 + 2) return false;
  const [a, b] = [yield* fold(lines, effort), yield* fold(yield* encodeText(expected, effort), effort)];
  return withoutEnd(a.bytes).equals(withoutEnd(b.bytes));
}

const withoutEnd = (bytes: Buffer): Buffer => (bytes.at(-1) === LF ? bytes.subarray(0, -1) : bytes);

/** A text as whole lines, with the line ends of its place. */
function* asLines(text: Buffer, place: Place, newText: string, effort: Effort): Steps<Buffer[]> {
  if (newText === "") return [];
  const { start, end } = place;
  // True if the line before has no line end. The new lines follow it.
  const isAfterCut = start > 0 && text[start - 1] !== LF;
  const isEnded = end < text.length || (text.length > 0 && text[text.length - 1] === LF);
  const whole = isEnded && !newText.endsWith("\n") ? `${newText}\n` : newText;
  const bytes = yield* encodeText(isAfterCut ? `\n${whole}` : whole, effort);
  return [bytes.includes(LF) ? yield* withLineEnds(bytes, text, place, effort) : bytes];
}

function firstOf(text: Buffer, start: number, end: number, from: number): ShownLine[] {
  const lines: ShownLine[] = [];
  for (let at = start, line = from; at < end && lines.length < MOST_SHOWN; line++) {
    lines.push(lineAt(text, at, line));
    const found = text.indexOf(LF, at);
    at = found < 0 ? end : found + 1;
  }
  return lines;
}
