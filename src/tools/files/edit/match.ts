import { partsOf } from "../content";
import { nextLineEnd } from "../lines";
import { Effort, type Steps } from "../steps";

const LF = 10;
const CR = 13;
const CRLF = Buffer.from("\r\n");
/** Most bytes searched in one call. */
const PART = 128 * 1024;
/** The cost of a line end, in bytes searched. */
const LINE_END = 64;

/** A text and its replacement. */
export interface Replacement {
  /** Its index among the request's edits, from 0. */
  readonly index: number;
  readonly oldText: string;
  readonly newText: string;
  /** True replaces every occurrence. */
  readonly isForAll: boolean;
}

/** A range of bytes in a text. */
export interface Place {
  readonly start: number;
  readonly end: number;
}

/** A failed replacement: its text occurs nowhere, or in several places. */
export interface Misfit {
  /** Its index among the request's edits, from 0. */
  readonly index: number;
  /** The text after the earlier edits. */
  readonly text: Buffer;
  readonly places: readonly Place[];
}

/**
 * Makes replacements one after the other. It ends at a text that does not occur, or that occurs several times without
 * `replaceAll`, and returns up to `most` of its places.
 *
 * @param admit refuses a text of this many bytes before it is made.
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
    // Line ends of the request are folded to one letter.
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

/** Replaces all occurrences that do not overlap. They are searched twice, since a list of them could take much memory. */
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
  // Each line end may get one more letter.
  const whole = Buffer.allocUnsafe(least + count * lineEnds);
  let length = 0;
  let from = 0;
  let bytes: Buffer | null = lineEnds === 0 ? fresh : null;
  const places = occurrences.each();
  while (places.next()) {
    if (effort.spend(places.cost)) yield;
    if (!places.isFound) continue;
    // New line ends are like those of the old text. If that has none, they are like those nearest to the first place.
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

/** The bytes of a well-formed text. */
export function* encodeText(text: string, effort: Effort): Steps<Buffer> {
  if (text.length <= PART) return Buffer.from(text);
  const parts: Uint8Array[] = [];
  for (const part of partsOf({ content: text }, "")) {
    parts.push(part);
    if (effort.spend(part.length)) yield;
  }
  return Buffer.concat(parts);
}

/** The occurrences of a text. A line end counts as one letter, whether `\n` or `\r\n`. */
class Occurrences {
  private constructor(
    readonly text: Buffer,
    readonly wanted: Buffer,
    /** The text that is searched. */
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

  /** The first occurrences, overlapping ones included. */
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

  /** All occurrences that do not overlap, from the first on. */
  each(): Cursor {
    return new Cursor(this);
  }

  /** True if a text that ends in \r would match half of a \r\n. */
  isHalf(end: number): boolean {
    return this.folds === null && this.bytes[end - 1] === CR && this.bytes[end] === LF;
  }
}

/** Moves from place to place. An object or generator for each place took four times as long with millions of them. */
class Cursor implements Place {
  readonly #of: Occurrences;
  #at = 0;
  #part: Buffer;
  #partStart = 0;
  /** True if the last step found a place, from `start` to `end`. */
  isFound = false;
  start = 0;
  end = 0;
  /** The cost of the last step, in bytes searched. */
  cost = 0;

  constructor(of: Occurrences) {
    this.#of = of;
    this.#part = this.#partAt(0);
  }

  /** Moves to the next place, or through a part without one. False at the end. */
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

  /** The bytes for places that begin in the next part. */
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

/** A text with one-letter line ends, and the places of those that had two letters. */
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

/** The original index of a place in a folded text: one more byte for each fold before it. */
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
 * Gives a new text the line ends of its place. Its first line end is like the first replaced one, and so on. Further
 * ones are like the last replaced one. If none is replaced, they are like the next in the text, or else the one before.
 */
export function* withLineEnds(bytes: Buffer, text: Buffer, { start, end }: Place, effort: Effort): Steps<Buffer> {
  const isBefore = (at: number): boolean => text[at - 1] === CR;
  const replaced = text.subarray(start, end);
  let next = nextLineEnd(replaced, 0);
  let isTwo: boolean | undefined; // True if the last line end has two letters. Undefined before the first one.
  if (next < 0) {
    const near = [text.indexOf(LF, end), start === 0 ? -1 : text.lastIndexOf(LF, start - 1)].find((at) => at >= 0);
    if (near === undefined) return bytes; // The text has only one line, so there is no style to keep.
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

/** Joins parts. */
export function* joined(parts: readonly Buffer[], effort: Effort): Steps<Buffer> {
  const whole = Buffer.allocUnsafe(parts.reduce((sum, part) => sum + part.length, 0));
  let length = 0;
  for (const part of parts) length = yield* copy(part, whole, length, effort);
  return whole;
}

/** Copies a part to an index. Gives the index after it. */
function* copy(part: Buffer, into: Buffer, at: number, effort: Effort): Steps<number> {
  for (let from = 0; from < part.length; from += PART) {
    const copied = part.copy(into, at + from, from, from + PART);
    if (effort.spend(copied)) yield;
  }
  return at + part.length;
}
