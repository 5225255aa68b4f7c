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
  /** Which of the request's edits it is, counted from 0. */
  readonly index: number;
  readonly oldText: string;
  readonly newText: string;
  /** Whether each occurrence is replaced. */
  readonly isForAll: boolean;
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

/**
 * Makes replacements one after the other. A text that does not occur, or that occurs more than once and is not to be replaced
 * everywhere, ends it, with at most `most` places.
 *
 * @param admit refuses a text of so many bytes, before it is made.
 */
export function* replaceTexts(
  text: Buffer,
  replacements: readonly Replacement[],
  most: number,
  admit: (bytes: number) => void,
): Steps<{ readonly text: Buffer } | Misfit> {
  const effort = new Effort();
  let present = text;
  for (const { index, oldText, newText, isForAll } of replacements) {
    // With line ends of one letter, whatever those of the request are.
    const encoded = oldText.length <= PART ? Buffer.from(oldText) : yield* encodeText(oldText, effort);
    const wanted = encoded.includes(CR) ? (yield* fold(encoded, effort)).bytes : encoded;
    const occurrences = yield* Occurrences.of(present, wanted, effort);
    const places = yield* occurrences.first(isForAll ? 1 : most, effort);
    const [place] = places;
    if (place === undefined || places.length > 1) return { index, text: present, places };
    const fresh = newText.length <= PART ? Buffer.from(newText) : yield* encodeText(newText, effort);
    if (isForAll) {
      present = yield* replaceEach(occurrences, fresh, admit, effort);
      continue;
    }
    const bytes = fresh.includes(LF) ? yield* withLineEnds(fresh, present, place, effort) : fresh;
    present = yield* joined([present.subarray(0, place.start), bytes, present.subarray(place.end)], effort);
  }
  return { text: present };
}

/** Replaces each occurrence, none within another. They are looked for twice, since a list of them could take much memory. */
function* replaceEach(
  occurrences: Occurrences,
  fresh: Buffer,
  admit: (bytes: number) => void,
  effort: Effort,
): Steps<Buffer> {
  const { text } = occurrences;
  let lineEnds = 0;
  let returns = 0;
  for (let at = nextLineEnd(fresh, 0); at >= 0; at = nextLineEnd(fresh, at + 1)) {
    lineEnds++;
    if (at > 0 && fresh[at - 1] === CR) returns++;
    if (effort.spend(LINE_END)) yield;
  }
  let count = 0;
  let replaced = 0;
  const counted = occurrences.each();
  while (counted.next()) {
    if (effort.spend(counted.cost)) yield;
    if (!counted.isFound) continue;
    count++;
    replaced += counted.end - counted.start;
  }
  const least = text.length - replaced + count * (fresh.length - returns);
  admit(least);
  // Each line end may get one letter more.
  const whole = Buffer.allocUnsafe(least + count * lineEnds);
  let length = 0;
  let from = 0;
  let bytes: Buffer | null = lineEnds === 0 ? fresh : null;
  const places = occurrences.each();
  while (places.next()) {
    if (effort.spend(places.cost)) yield;
    if (!places.isFound) continue;
    // Where the old text has line ends, the new one gets theirs; where not, they are those nearest to the first place.
    if (bytes === null || (lineEnds > 0 && occurrences.isFolded))
      bytes = yield* withLineEnds(fresh, text, places, effort);
    length += text.copy(whole, length, from, places.start);
    length += bytes.copy(whole, length);
    if (effort.spend(places.start - from + bytes.length)) yield;
    from = places.end;
  }
  length = yield* copy(text.subarray(from), whole, length, effort);
  admit(length);
  return whole.subarray(0, length);
}

/** The bytes of a text, which is well-formed. */
export function* encodeText(text: string, effort: Effort): Steps<Buffer> {
  if (text.length <= PART) return Buffer.from(text);
  const parts: Uint8Array[] = [];
  for (const part of partsOf({ content: text }, "")) {
    parts.push(part);
    if (effort.spend(part.length)) yield;
  }
  return Buffer.concat(parts);
}

/** Where a text occurs. A line end is one letter, be it `\n` or `\r\n`. */
class Occurrences {
  private constructor(
    readonly text: Buffer,
    readonly wanted: Buffer,
    /** The text in which it is looked for. */
    readonly bytes: Buffer,
    readonly folds: readonly number[] | null,
  ) {}

  static *of(text: Buffer, wanted: Buffer, effort: Effort): Steps<Occurrences> {
    const isFolded = wanted.includes(LF) && (yield* find(text, CRLF, 0, effort)) >= 0;
    if (!isFolded) return new Occurrences(text, wanted, text, null);
    const { bytes, folds } = yield* fold(text, effort);
    return new Occurrences(text, wanted, bytes, folds);
  }

  get isFolded(): boolean {
    return this.folds !== null;
  }

  /** The first ones, overlaps included. */
  *first(most: number, effort: Effort): Steps<Place[]> {
    const { wanted, bytes, folds } = this;
    const places: Place[] = [];
    let at = yield* find(bytes, wanted, 0, effort);
    while (at >= 0 && places.length < most) {
      const end = at + wanted.length;
      if (!this.isHalf(end)) places.push({ start: unfolded(at, folds), end: unfolded(end, folds) });
      at = yield* find(bytes, wanted, at + 1, effort);
    }
    return places;
  }

  /** All of them, from the first on, and none within another. */
  each(): Cursor {
    return new Cursor(this);
  }

  /** Whether a text that ends in \r would match half of a \r\n. */
  isHalf(end: number): boolean {
    return this.folds === null && this.bytes[end - 1] === CR && this.bytes[end] === LF;
  }
}

/** Goes from place to place; no object or generator for each, which took four times as long where there are millions. */
class Cursor implements Place {
  readonly #of: Occurrences;
  #at = 0;
  #part: Buffer;
  #partStart = 0;
  /** Whether the last step came to a place, and where that is. */
  isFound = false;
  start = 0;
  end = 0;
  /** What the last step took, in bytes searched. */
  cost = 0;

  constructor(of: Occurrences) {
    this.#of = of;
    this.#part = this.#partAt(0);
  }

  /** Goes on to the next place, or through a part that has none; false once there is no more. */
  next(): boolean {
    const { wanted, bytes, folds } = this.#of;
    if (this.#at + wanted.length > bytes.length) return false;
    if (this.#at >= this.#partStart + PART) {
      this.#partStart = this.#at;
      this.#part = this.#partAt(this.#at);
    }
    const found = this.#part.indexOf(wanted, this.#at - this.#partStart);
    const next = found < 0 ? this.#partStart + PART : this.#partStart + found;
    this.cost = next - this.#at + wanted.length + LINE_END;
    this.isFound = found >= 0 && !this.#of.isHalf(next + wanted.length);
    if (this.isFound) {
      this.start = unfolded(next, folds);
      this.end = unfolded(next + wanted.length, folds);
    }
    this.#at = this.isFound ? next + wanted.length : next + (found < 0 ? 0 : 1);
    return true;
  }

  /** The bytes in which a place can begin within the next part. */
  #partAt(start: number): Buffer {
    return this.#of.bytes.subarray(start, start + PART + this.#of.wanted.length - 1);
  }
}

function* find(text: Buffer, wanted: Buffer, from: number, effort: Effort): Steps<number> {
  for (let start = from; start + wanted.length <= text.length; start += PART) {
    const part = text.subarray(start, start + PART + wanted.length - 1);
    const at = part.indexOf(wanted);
    if (effort.spend((at < 0 ? part.length : at + wanted.length) + LINE_END)) yield;
    if (at >= 0) return start + at;
  }
  return -1;
}

/** A text with all line ends of one letter, and where in it those are that had two. */
interface Folded {
  readonly bytes: Buffer;
  readonly folds: readonly number[];
}

export function* fold(text: Buffer, effort: Effort): Steps<Folded> {
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
export function* withLineEnds(bytes: Buffer, text: Buffer, { start, end }: Place, effort: Effort): Steps<Buffer> {
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

/** Parts as one. */
export function* joined(parts: readonly Buffer[], effort: Effort): Steps<Buffer> {
  const whole = Buffer.allocUnsafe(parts.reduce((sum, part) => sum + part.length, 0));
  let length = 0;
  for (const part of parts) length = yield* copy(part, whole, length, effort);
  return whole;
}

/** Copies a part to a place; gives where it ends. */
function* copy(part: Buffer, into: Buffer, at: number, effort: Effort): Steps<number> {
  for (let from = 0; from < part.length; from += PART) {
    const copied = part.copy(into, at + from, from, from + PART);
    if (effort.spend(copied)) yield;
  }
  return at + part.length;
}
