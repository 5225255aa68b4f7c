import { isText } from "../is-text";
import { nextLineEnd } from "../lines";
import type { SearchItem } from "../requests/searching";
import type { Effort, Steps } from "../steps";
import type { Needle } from "./needle";

/** An item about a line or a file. */
export type Found = Exclude<SearchItem, { kind: "end" }>;

/** The requested kind of output. */
export interface Output {
  readonly output: "lines" | "files" | "counts";
  /** Lines of context before a match, and after it. */
  readonly before: number;
  readonly after: number;
}

const LF = 10;
const CR = 13;
/** A NUL in this many leading bytes marks a file as no text. */
const HEAD = 8_192;
/** Most bytes searched in one call. */
const PART = 64 * 1024;
/** Letters of an excerpt, and those of them before the match. */
const EXCERPT = 200;
const BEFORE = 60;
/** The cost of a match and of a line, in bytes searched. */
const MATCH = 4_096;
const LINE = 64;
/** The cost of the excerpt of a context line. */
const EXCERPT_COST = 1_024;

/** The matches in a file, line by line, and undefined when a pause is due. Returns true if the file is text. */
export function* searchBytes(
  bytes: Buffer,
  path: string,
  needle: Needle,
  { output, before, after }: Output,
  effort: Effort,
): Generator<Found | undefined, boolean, undefined> {
  if (bytes.subarray(0, HEAD).includes(0)) return false;
  if (!(yield* isText(bytes))) return false;
  const { text, automaton } = needle;
  const lines = new LineCount(bytes, before);
  let count = 0;
  for (let from = 0; from < bytes.length; ) {
    let start = from;
    if (text !== null) {
      start = yield* indexOf(bytes, text, from, effort);
      if (start < 0) break;
      yield* lines.goTo(start, effort);
    }
    if (automaton !== null) {
      const [first, end] = text === null ? [from, bytes.length] : [lines.start, lines.next];
      const lineStart = yield* automaton.find(bytes, first, end, effort);
      if (lineStart < 0) {
        from = end;
        continue;
      }
      yield* lines.goTo(lineStart, effort);
      if (output === "lines") start = yield* automaton.start(bytes, lines.end, effort);
    }
    count++;
    from = lines.next;
    if (output === "files") break;
    if (effort.spend(output === "lines" ? MATCH : LINE)) yield;
    if (output === "counts") continue;
    const column = (yield* lengthOf(bytes, lines.start, start, effort)) + 1;
    yield {
      kind: "match",
      path,
      line: lines.line,
      column,
      excerpt: excerptOf(bytes, lines.start, start, lines.end),
      ...(before > 0 && { before: yield* lines.before(effort) }),
      ...(after > 0 && { after: yield* lines.after(after, effort) }),
    };
  }
  if (count > 0 && output === "files") yield { kind: "file", path };
  if (count > 0 && output === "counts") yield { kind: "count", path, lines: count };
  return true;
}

/** Counts the lines of a file up to a place. */
class LineCount {
  readonly #bytes: Buffer;
  /** The current line, counted from 1. `start` and `next` are where it and the next line begin. */
  line = 1;
  start = 0;
  next: number;
  /** The number of earlier lines kept. `#earlier` has their starts, that of line n at n modulo this number. */
  readonly #kept: number;
  readonly #earlier: number[] = [];

  constructor(bytes: Buffer, kept: number) {
    this.#bytes = bytes;
    this.#kept = kept;
    this.next = this.#after(0);
  }

  /** The end of the current line, without its line end. */
  get end(): number {
    return this.#end(this.start, this.next);
  }

  #end(start: number, next: number): number {
    const at = next - 1;
    if (this.#bytes[at] !== LF) return next;
    return at > start && this.#bytes[at - 1] === CR ? at - 1 : at;
  }

  #excerpt(start: number, next: number): string {
    return excerptOf(this.#bytes, start, start, this.#end(start, next));
  }

  /** The kept lines before the current one. */
  *before(effort: Effort): Steps<string[]> {
    const excerpts: string[] = [];
    for (let line = Math.max(1, this.line - this.#kept); line < this.line; line++) {
      const next = line + 1 === this.line ? this.start : this.#startOf(line + 1);
      excerpts.push(this.#excerpt(this.#startOf(line), next));
      if (effort.spend(EXCERPT_COST)) yield;
    }
    return excerpts;
  }

  /** The start of a kept line. */
  #startOf(line: number): number {
    return this.#earlier[line % this.#kept] ?? 0;
  }

  /** The next lines after the current one. */
  *after(count: number, effort: Effort): Steps<string[]> {
    const excerpts: string[] = [];
    for (let start = this.next; start < this.#bytes.length && excerpts.length < count; ) {
      const next = this.#after(start);
      excerpts.push(this.#excerpt(start, next));
      if (effort.spend(next - start + EXCERPT_COST)) yield;
      start = next;
    }
    return excerpts;
  }

  /** Goes to the line of a place that is at or after the current line. */
  *goTo(place: number, effort: Effort): Steps<void> {
    while (this.next <= place) {
      if (this.#kept > 0) this.#earlier[this.line % this.#kept] = this.start;
      this.start = this.next;
      this.next = this.#after(this.start);
      this.line++;
      if (effort.spend(this.next - this.start + LINE)) yield;
    }
  }

  #after(start: number): number {
    const at = nextLineEnd(this.#bytes, start);
    return at < 0 ? this.#bytes.length : at + 1;
  }
}

function* indexOf(bytes: Buffer, text: Buffer, from: number, effort: Effort): Steps<number> {
  for (let start = from; start + text.length <= bytes.length; start += PART) {
    const isAll = start === 0 && bytes.length <= PART;
    const part = isAll ? bytes : bytes.subarray(start, start + PART + text.length - 1);
    const at = part.indexOf(text);
    if (effort.spend(at < 0 ? part.length : at + text.length)) yield;
    if (at >= 0) return start + at;
  }
  return -1;
}

/** The number of letters between two places, as JavaScript counts them: some letters count as two. */
function* lengthOf(bytes: Buffer, start: number, end: number, effort: Effort): Steps<number> {
  if (end - start <= PART) return lettersIn(bytes, start, end);
  let length = 0;
  for (let at = start; at < end; at += PART) {
    length += lettersIn(bytes, at, Math.min(end, at + PART));
    if (effort.spend(PART * 2)) yield;
  }
  return length;
}

/** Each letter has one byte that is not 10xxxxxx. JavaScript counts a letter of four bytes as two. */
function lettersIn(bytes: Buffer, start: number, end: number): number {
  let count = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0;
    if ((byte & 0xc0) !== 0x80) count += byte < 0xf0 ? 1 : 2;
  }
  return count;
}

/** A line, or the part of it around the start of its match. */
function excerptOf(bytes: Buffer, lineStart: number, start: number, end: number): string {
  const place = Math.min(start, end);
  if (end - lineStart <= EXCERPT) return bytes.toString("utf8", lineStart, end);
  // A letter has up to 4 bytes. One that is cut at the edge is dropped with the excess.
  const before = bytes.toString("utf8", Math.max(lineStart, place - EXCERPT * 4), place);
  const after = bytes.toString("utf8", place, Math.min(end, place + EXCERPT * 4));
  const room = Math.max(BEFORE, EXCERPT - after.length);
  return cut(cut(before, -room) + after, EXCERPT);
}

/** The first letters of a text, or with a negative length the last ones. Never cuts a letter in two. */
function cut(text: string, length: number): string {
  const part = length < 0 ? text.slice(length) : text.slice(0, length);
  if (part.isWellFormed()) return part;
  return length < 0 ? part.slice(1) : part.slice(0, -1);
}
