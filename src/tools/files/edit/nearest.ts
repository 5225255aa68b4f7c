// The share of common pairs is counted here and not by a library (measured on Bun 1.4.5, three times each). In 200,000
// lines of 400 letters it takes 3 to 4 s; fastest-levenshtein 1.0 takes 18 to 23 s, since its time is quadratic. In
// 22,000 lines of source, both find the intended line equally well (typos 69 of 70, a new name 66, moved words 68 here
// and 65 there). Parts of a line are found in 63 of 70 here and in 54 there, lines with another end in 40 here and in
// 56 there.
import { Effort, type Steps } from "../steps";

/** A line in an error, counted from 1. */
export interface ShownLine {
  readonly line: number;
  readonly text: string;
}

/** The lines that are most like a text that does not occur. */
export interface Nearest {
  readonly lines: ShownLine[];
  /** The last line of the place. `lines[0]` is its first line, if the wanted text has several lines. */
  readonly to: number;
  /** True if only spaces differ. */
  readonly isAllButSpaces: boolean;
}

const LF = 10;
const MOST_SHOWN = 5;
const LONGEST_SHOWN = 200;
/** Most letters compared of a line, and most lines compared. */
const LONGEST_COMPARED = 400;
const MOST_LINES = 200_000;
const LONGEST_WANTED = 64 * 1024;
/** Places that are compared line by line. */
const CANDIDATES = 8;
/** Most places of a repeated line in the wanted text that get a vote. */
const MOST_SAME = 8;
/** The cost of a line beside its bytes, in bytes searched. */
const LINE = 2_048;
const LEAST_ALIKE = 0.4;

/** Finds the lines that are most like a text, ignoring spaces. Null if none is similar. */
export function* nearest(text: Buffer, wanted: string): Steps<Nearest | null> {
  const effort = new Effort();
  const lines = yield* linesOf(text, effort);
  const all: string[] = [];
  for (const line of wanted.slice(0, LONGEST_WANTED).split("\n")) {
    all.push(essence(line));
    if (effort.spend(LINE / 8 + line.length)) yield;
  }
  const first = all.findIndex((line) => line !== "");
  if (first < 0) return null;
  const sought = all.slice(first, all.findLastIndex((line) => line !== "") + 1);
  const [only] = sought;
  if (sought.length === 1 && only !== undefined) return yield* nearestLines(lines, only, effort);
  return yield* nearestWindow(lines, sought, effort);
}

/** The starts and ends of the lines of a text. */
class Lines {
  readonly #text: Buffer;
  readonly #starts: readonly number[];

  constructor(text: Buffer, starts: readonly number[]) {
    this.#text = text;
    this.#starts = starts;
  }

  get count(): number {
    return this.#starts.length - 1;
  }

  /** The compared part of a line, counted from 0. */
  essence(index: number): string {
    const start = this.#starts[index] ?? 0;
    return essence(this.#text.toString("utf8", start, Math.min(this.#end(index), start + LONGEST_COMPARED * 2)));
  }

  show(index: number): ShownLine {
    return lineAt(this.#text, this.#starts[index] ?? 0, index + 1);
  }

  #end(index: number): number {
    return (this.#starts[index + 1] ?? 1) - 1;
  }
}

function* linesOf(text: Buffer, effort: Effort): Steps<Lines> {
  const starts = [0];
  while (starts.length <= MOST_LINES) {
    const start = starts.at(-1) ?? 0;
    const end = text.indexOf(LF, start);
    starts.push((end < 0 ? text.length : end) + 1);
    if (end < 0 || end === text.length - 1) break;
    if (effort.spend(end - start + LINE / 8)) yield;
  }
  return new Lines(text, starts);
}

/** The line that begins at `start`, as an error shows it. */
export function lineAt(text: Buffer, start: number, line: number): ShownLine {
  const found = text.indexOf(LF, start);
  const end = found < 0 ? text.length : found;
  // A letter takes up to 4 bytes. One that is cut at the end is dropped with the rest.
  const shown = text.toString("utf8", start, Math.min(end, start + LONGEST_SHOWN * 4)).replace(/\r$/, "");
  return { line, text: shown.length > LONGEST_SHOWN ? `${shown.slice(0, LONGEST_SHOWN - 1).toWellFormed()}…` : shown };
}

const essence = (line: string): string =>
  line
    .slice(0, LONGEST_COMPARED * 2)
    .replace(/\s+/g, "")
    .slice(0, LONGEST_COMPARED);

function* nearestLines(lines: Lines, sought: string, effort: Effort): Steps<Nearest | null> {
  const likeness = new Likeness(sought);
  const best = new Best(MOST_SHOWN);
  for (let i = 0; i < lines.count; i++) {
    best.offer(i, likeness.within(lines.essence(i)));
    if (effort.spend(LINE)) yield;
  }
  const [top] = best.entries;
  if (top === undefined || top.score < LEAST_ALIKE) return null;
  const shown = best.entries.filter(({ score }) => score >= LEAST_ALIKE && score >= top.score * 0.7);
  const isAllButSpaces = lines.essence(top.index).includes(sought);
  return { lines: shown.map(({ index }) => lines.show(index)), to: top.index + 1, isAllButSpaces };
}

function* nearestWindow(lines: Lines, sought: readonly string[], effort: Effort): Steps<Nearest | null> {
  const best = new Best(CANDIDATES);
  const votes = yield* vote(lines, sought, effort);
  for (let i = 0; i < votes.length; i++) {
    best.offer(i - sought.length + 1, votes[i] ?? 0);
    if (effort.spend(8)) yield;
  }
  const weight = sought.reduce((sum, line) => sum + line.length, 0);
  const candidates = best.entries.map(({ index }) => index);
  if ((best.entries[0]?.score ?? 0) * 2 < weight) candidates.push(...(yield* anchor(lines, sought, effort)));

  const scores = candidates.map(() => 0);
  const likeness = new Likeness("");
  for (const [j, line] of sought.entries()) {
    likeness.aimAt(line);
    for (const [i, start] of candidates.entries()) {
      if (start + j >= 0 && start + j < lines.count) {
        scores[i] = (scores[i] ?? 0) + likeness.to(lines.essence(start + j)) * line.length;
      }
      if (effort.spend(LINE)) yield;
    }
  }
  const winner = new Best(1);
  for (const [i, start] of candidates.entries()) winner.offer(start, (scores[i] ?? 0) / weight);
  const [found] = winner.entries;
  if (found === undefined || found.score < LEAST_ALIKE) return null;
  return yield* show(lines, found.index, sought, effort);
}

/**
 * For each possible start of the wanted text, the letters in lines that would match. Starts before the first line are
 * included.
 */
function* vote(lines: Lines, sought: readonly string[], effort: Effort): Steps<Float64Array> {
  const places = new Map<string, number[]>();
  for (const [j, line] of sought.entries()) {
    const same = places.get(line);
    if (same === undefined) places.set(line, [j]);
    else if (same.length < MOST_SAME) same.push(j);
    if (effort.spend(LINE)) yield;
  }
  const votes = new Float64Array(lines.count + sought.length - 1);
  for (let i = 0; i < lines.count; i++) {
    const line = lines.essence(i);
    for (const j of places.get(line) ?? []) {
      const at = i - j + sought.length - 1;
      votes[at] = (votes[at] ?? 0) + line.length;
    }
    if (effort.spend(LINE)) yield;
  }
  return votes;
}

/** The starts of the wanted text that put its longest line onto the lines most like it. */
function* anchor(lines: Lines, sought: readonly string[], effort: Effort): Steps<number[]> {
  let longest = 0;
  for (const [j, line] of sought.entries()) if (line.length > (sought[longest]?.length ?? 0)) longest = j;
  const likeness = new Likeness(sought[longest] ?? "");
  const best = new Best(CANDIDATES);
  for (let i = 0; i < lines.count; i++) {
    best.offer(i - longest, likeness.to(lines.essence(i)));
    if (effort.spend(LINE)) yield;
  }
  return best.entries.map(({ index }) => index);
}

/** Shows the first line of a place, and the lines that differ from the wanted ones. */
function* show(lines: Lines, start: number, sought: readonly string[], effort: Effort): Steps<Nearest> {
  const from = Math.max(0, start);
  const to = Math.min(lines.count, start + sought.length);
  const other: number[] = [];
  for (let i = from; i < to; i++) {
    if (lines.essence(i) !== sought[i - start]) other.push(i);
    if (effort.spend(LINE)) yield;
  }
  const isAllButSpaces = other.length === 0 && from === start && to === start + sought.length;
  const shown = new Set([from, ...other.slice(0, MOST_SHOWN - 1)]);
  if (isAllButSpaces) for (let i = from; i < to && shown.size < MOST_SHOWN; i++) shown.add(i);
  return { lines: [...shown].sort((a, b) => a - b).map((i) => lines.show(i)), to, isAllButSpaces };
}

/** Keeps the highest scores. Of equal scores, the earliest stay. */
class Best {
  readonly entries: { readonly index: number; readonly score: number }[] = [];
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  offer(index: number, score: number): void {
    if (score <= 0) return;
    const { entries } = this;
    if (entries.length === this.#most && score <= (entries.at(-1)?.score ?? 0)) return;
    const at = entries.findIndex((entry) => entry.score < score);
    entries.splice(at < 0 ? entries.length : at, 0, { index, score });
    if (entries.length > this.#most) entries.pop();
  }
}

const BUCKETS = 4_096;

/**
 * The similarity of a line to others, from 0 to 1: the share of common pairs of neighbouring letters (L. R. Dice,
 * "Measures of the amount of ecologic association between species", 1945).
 */
class Likeness {
  readonly #pairs = new Uint16Array(BUCKETS);
  #line = "";
  readonly #touched: number[] = [];

  constructor(line: string) {
    this.aimAt(line);
  }

  /** Sets the line to compare with. A new instance for each line would take 8 KB. */
  aimAt(line: string): void {
    const pairs = this.#pairs;
    for (let i = 1; i < this.#line.length; i++) pairs[pairAt(this.#line, i)] = 0;
    this.#line = line;
    for (let i = 1; i < line.length; i++) {
      const pair = pairAt(line, i);
      pairs[pair] = (pairs[pair] ?? 0) + 1;
    }
  }

  /** The similarity to a whole line. */
  to(other: string): number {
    if (other === this.#line) return 1;
    const pairs = this.#line.length + other.length - 2;
    return pairs <= 0 ? 0 : (2 * this.#common(other)) / pairs;
  }

  /** The similarity to a part of a line. Of two lines that contain it, the shorter scores higher. */
  within(other: string): number {
    if (other.includes(this.#line)) return 0.9 + 0.1 * (this.#line.length / other.length);
    if (this.#line.length < 2) return 0;
    return (0.8 * this.#common(other)) / (this.#line.length - 1) + 0.1 * this.to(other);
  }

  #common(other: string): number {
    const pairs = this.#pairs;
    const touched = this.#touched;
    for (let i = 1; i < other.length; i++) {
      const pair = pairAt(other, i);
      const left = pairs[pair] ?? 0;
      if (left === 0) continue;
      pairs[pair] = left - 1;
      touched.push(pair);
    }
    for (const pair of touched) pairs[pair] = (pairs[pair] ?? 0) + 1;
    const count = touched.length;
    touched.length = 0;
    return count;
  }
}

const pairAt = (line: string, i: number): number => (line.charCodeAt(i - 1) * 31 + line.charCodeAt(i)) & (BUCKETS - 1);
