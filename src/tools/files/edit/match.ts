import { partsOf } from "../content";
import { nextLineEnd } from "../lines";
import { Effort, type Steps } from "../steps";

const LF = 10;
const CR = 13;
const CRLF = Buffer.from("\r\n");
/** At most so many bytes are searched in one call. */
const PART = 128 * 1024;
/** What one line end costs, in bytes searched. */
const LINE_END = 64;

/** A text to be replaced by another one. */
export interface Replacement {
  readonly oldText: string;
  readonly newText: string;
}

/** From where to where in the bytes of a text. */
export interface Place {
  readonly start: number;
  readonly end: number;
}

/** Why a replacement could not be made: its text has no place, or several. */
export interface Misfit {
  /** Which one, counted from 0. */
  readonly index: number;
  /** What those before it made of the text. */
  readonly text: Buffer;
  readonly places: readonly Place[];
}

/** Makes replacements one after the other; a text that does not occur exactly once ends it, with at most `most` places. */
export function* replaceAll(
  text: Buffer,
  replacements: readonly Replacement[],
  most: number,
): Steps<{ readonly text: Buffer } | Misfit> {
  const effort = new Effort();
  let present = text;
  for (const [index, { oldText, newText }] of replacements.entries()) {
    // With line ends of one letter, whatever those of the request are.
    const encoded = oldText.length <= PART ? Buffer.from(oldText) : yield* encodeText(oldText, effort);
    const wanted = encoded.includes(CR) ? (yield* fold(encoded, effort)).bytes : encoded;
    const places = yield* placesOf(present, wanted, most, effort);
    const [place] = places;
    if (place === undefined || places.length > 1) return { index, text: present, places };
    const fresh = newText.length <= PART ? Buffer.from(newText) : yield* encodeText(newText, effort);
    const bytes = fresh.includes(LF) ? yield* withLineEnds(fresh, present, place, effort) : fresh;
    present = yield* splice(present, place, bytes, effort);
  }
  return { text: present };
}

/** The bytes of a text, which is well-formed. */
function* encodeText(text: string, effort: Effort): Steps<Buffer> {
  const parts: Uint8Array[] = [];
  for (const part of partsOf({ content: text }, "")) {
    parts.push(part);
    if (effort.spend(part.length)) yield;
  }
  return Buffer.concat(parts);
}

/** Where a text occurs, overlaps included. A line end is one letter, be it `\n` or `\r\n`. */
function* placesOf(text: Buffer, wanted: Buffer, most: number, effort: Effort): Steps<Place[]> {
  const isFolded = wanted.includes(LF) && (yield* find(text, CRLF, 0, effort)) >= 0;
  const { bytes, folds } = isFolded ? yield* fold(text, effort) : { bytes: text, folds: null };
  // A text that ends in \r does not match half of a \r\n.
  const isHalf = (end: number): boolean => folds === null && bytes[end - 1] === CR && bytes[end] === LF;
  const places: Place[] = [];
  let at = yield* find(bytes, wanted, 0, effort);
  while (at >= 0 && places.length < most) {
    const end = at + wanted.length;
    if (!isHalf(end)) places.push({ start: unfolded(at, folds), end: unfolded(end, folds) });
    at = yield* find(bytes, wanted, at + 1, effort);
  }
  return places;
}

function* find(text: Buffer, wanted: Buffer, from: number, effort: Effort): Steps<number> {
  for (let start = from; start + wanted.length <= text.length; start += PART) {
    const part = text.subarray(start, start + PART + wanted.length - 1);
    const at = part.indexOf(wanted);
    if (effort.spend((at < 0 ? part.length : at) + LINE_END)) yield;
    if (at >= 0) return start + at;
  }
  return -1;
}

/** A text with all line ends of one letter, and where in it those are that had two. */
interface Folded {
  readonly bytes: Buffer;
  readonly folds: readonly number[];
}

function* fold(text: Buffer, effort: Effort): Steps<Folded> {
  const bytes = Buffer.allocUnsafe(text.length);
  const folds: number[] = [];
  let length = 0;
  for (let from = 0; from < text.length; ) {
    const found = yield* find(text, CRLF, from, effort);
    const to = found < 0 ? text.length : found;
    length += text.copy(bytes, length, from, to);
    if (found >= 0) {
      folds.push(length);
      bytes[length++] = LF;
    }
    from = to + CRLF.length;
  }
  return { bytes: bytes.subarray(0, length), folds };
}

/** Where a place of a folded text was before: so many bytes further as there are folds in front of it. */
function unfolded(at: number, folds: readonly number[] | null): number {
  if (folds === null) return at;
  let low = 0;
  for (let high = folds.length; low < high; ) {
    const middle = (low + high) >>> 1;
    if ((folds[middle] ?? 0) < at) low = middle + 1;
    else high = middle;
  }
  return at + low;
}

/**
 * Gives a new text the line ends of its place: the first one that of the first which it replaces, and so on; those
 * beyond are like the last one. Where it replaces none they are as the next in the text is, or the one before.
 */
function* withLineEnds(bytes: Buffer, text: Buffer, { start, end }: Place, effort: Effort): Steps<Buffer> {
  const isBefore = (at: number): boolean => text[at - 1] === CR;
  const replaced = text.subarray(start, end);
  let next = nextLineEnd(replaced, 0);
  let isTwo: boolean | undefined; // Whether the last line end has two letters; undefined where the text has none yet.
  if (next < 0) {
    const near = [text.indexOf(LF, end), start === 0 ? -1 : text.lastIndexOf(LF, start - 1)].find((at) => at >= 0);
    if (near === undefined) return bytes; // The text has one line: there is nothing to keep.
    isTwo = isBefore(near);
  }
  const whole = Buffer.allocUnsafe(bytes.length * 2);
  let length = 0;
  let from = 0;
  for (let at = nextLineEnd(bytes, 0); at >= 0; at = nextLineEnd(bytes, from)) {
    if (next >= 0) {
      isTwo = isBefore(start + next);
      next = nextLineEnd(replaced, next + 1);
    }
    length += bytes.copy(whole, length, from, at > from && bytes[at - 1] === CR ? at - 1 : at);
    if (isTwo === true) whole[length++] = CR;
    whole[length++] = LF;
    if (effort.spend(at - from + LINE_END)) yield;
    from = at + 1;
  }
  length += bytes.copy(whole, length, from);
  return whole.subarray(0, length);
}

function* splice(text: Buffer, { start, end }: Place, bytes: Buffer, effort: Effort): Steps<Buffer> {
  const whole = Buffer.allocUnsafe(text.length - (end - start) + bytes.length);
  let length = 0;
  for (const part of [text.subarray(0, start), bytes, text.subarray(end)]) {
    for (let at = 0; at < part.length; at += PART) {
      const copied = part.copy(whole, length, at, at + PART);
      length += copied;
      if (effort.spend(copied)) yield;
    }
  }
  return whole;
}
