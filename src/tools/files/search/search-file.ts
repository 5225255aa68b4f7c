import { isText } from "../is-text";
import { nextLineEnd } from "../lines";
import type { SearchItem } from "../requests/searching";
import type { Effort, Steps } from "../steps";
import type { Needle } from "./needle";

export type Match = Extract<SearchItem, { kind: "match" }>;

const LF = 10;
const CR = 13;
/** Bytes in which a NUL tells that a file is no text. */
const HEAD = 8_192;
/** At most so many bytes are searched in one call. */
const PART = 64 * 1024;
/** Letters of an excerpt, and of those the ones before the match. */
const EXCERPT = 200;
const BEFORE = 60;
/** What a match and a line cost, in bytes searched. */
const MATCH = 4_096;
const LINE = 64;

/** The lines of a file that match, in their order; undefined where a pause is due. Gives whether it is a text. */
export function* searchBytes(
  bytes: Buffer,
  path: string,
  needle: Needle,
  effort: Effort,
): Generator<Match | undefined, boolean, undefined> {
  if (bytes.subarray(0, HEAD).includes(0)) return false;
  if (!(yield* isText(bytes))) return false;
  const { text, automaton } = needle;
  const lines = new LineCount(bytes);
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
      start = yield* automaton.start(bytes, lines.end, effort);
    }
    if (effort.spend(MATCH)) yield;
    const column = (yield* lengthOf(bytes, lines.start, start, effort)) + 1;
    yield { kind: "match", path, line: lines.line, column, excerpt: excerptOf(bytes, lines.start, start, lines.end) };
    from = lines.next;
  }
  return true;
}

/** Counts the lines of a file up to a place. */
class LineCount {
  readonly #bytes: Buffer;
  /** The present line, counted from 1, where it begins, and where the next one does. */
  line = 1;
  start = 0;
  next: number;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.next = this.#after(0);
  }

  /** Where the present line ends, without its line end. */
  get end(): number {
    const at = this.next - 1;
    if (this.#bytes[at] !== LF) return this.next;
    return at > this.start && this.#bytes[at - 1] === CR ? at - 1 : at;
  }

  /** Goes to the line of a place that is not before the present one. */
  *goTo(place: number, effort: Effort): Steps<void> {
    while (this.next <= place) {
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
    if (effort.spend(at < 0 ? part.length : at)) yield;
    if (at >= 0) return start + at;
  }
  return -1;
}

/** How many letters there are between two places, as JavaScript counts them: some have two. */
function* lengthOf(bytes: Buffer, start: number, end: number, effort: Effort): Steps<number> {
  if (end - start <= PART) return lettersIn(bytes, start, end);
  let length = 0;
  for (let at = start; at < end; at += PART) {
    length += lettersIn(bytes, at, Math.min(end, at + PART));
    if (effort.spend(PART * 2)) yield;
  }
  return length;
}

/** Each letter has one byte that is not 10xxxxxx; one of four bytes is two for JavaScript. */
function lettersIn(bytes: Buffer, start: number, end: number): number {
  let count = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0;
    if ((byte & 0xc0) !== 0x80) count += byte < 0xf0 ? 1 : 2;
  }
  return count;
}

/** A line, or what is around the place where its match begins. */
function excerptOf(bytes: Buffer, lineStart: number, start: number, end: number): string {
  const place = Math.min(start, end);
  if (end - lineStart <= EXCERPT) return bytes.toString("utf8", lineStart, end);
  // A letter has up to 4 bytes: what is cut at an end goes with what is too much.
  const before = bytes.toString("utf8", Math.max(lineStart, place - EXCERPT * 4), place);
  const after = bytes.toString("utf8", place, Math.min(end, place + EXCERPT * 4));
  const room = Math.max(BEFORE, EXCERPT - after.length);
  return cut(cut(before, -room) + after, EXCERPT);
}

/** The first letters of a text, or the last ones, none of them cut in two. */
function cut(text: string, length: number): string {
  const part = length < 0 ? text.slice(length) : text.slice(0, length);
  if (part.isWellFormed()) return part;
  return length < 0 ? part.slice(1) : part.slice(0, -1);
}
