import { FILE_HEADERS_ONLY, formatPatch, type StructuredPatchHunk, structuredPatch } from "diff";
import { isText } from "../is-text";
import type { Difference } from "../requests/terms";
import { Effort, finishSlowly, type Steps } from "../steps";
import type { Workspace } from "../workspace";
import { CONTEXT, countLines, middleOf, startsOf } from "./common";
import { type Gap, gapsBetween, Numbers } from "./gaps";

/** Longest diff, in letters. */
const MOST_LETTERS = 128 * 1024;
/** Most lines from the first to the last difference, in either text. */
const MOST_LINES = 50_000;
/**
 * Most work given to the library at once. It takes 2 ms for a hundred added or removed lines, 7 ms for two hundred and
 * 26 ms for four hundred. Beyond these bounds, all old lines are removed and all new ones added.
 */
const MOST_EDITS = 100;
const MOST_COMPARED = 1_000;
const MOST_COMPARED_BYTES = 64 * 1024;

/** A file before and after a change. Null if there is no file. */
export interface Versions {
  /** The path in the diff. */
  readonly path: string;
  readonly before: Buffer | null;
  readonly after: Buffer | null;
}

/** The difference of two versions of a file as a unified diff, made with pauses by the library jsdiff. */
export function differenceOf(workspace: Workspace, versions: Versions, signal: AbortSignal): Promise<Difference> {
  return finishSlowly(difference(versions), workspace, signal);
}

const EMPTY = Buffer.alloc(0);

export function* difference({ path, before, after }: Versions): Steps<Difference> {
  const effort = new Effort();
  const [old, fresh] = [before ?? EMPTY, after ?? EMPTY];
  const middle = yield* middleOf(old, fresh, effort);
  if (middle === null) return { text: "", removed: 0, added: 0 };
  const { start, oldEnd, newEnd } = middle;
  const going = yield* countLines(old, start, oldEnd, effort);
  const coming = yield* countLines(fresh, start, newEnd, effort);
  const [removed, added] = [going.lines, coming.lines];
  const isLong = Math.max(removed, added) > MOST_LINES || Math.max(going.longest, coming.longest) > MOST_LETTERS;
  if (isLong || !(yield* isText(old)) || !(yield* isText(fresh))) return { removed, added };
  const first = (yield* countLines(old, 0, start, effort)).lines;
  const sides = {
    old: { text: old, starts: yield* startsOf(old, start, oldEnd, effort) },
    fresh: { text: fresh, starts: yield* startsOf(fresh, start, newEnd, effort) },
  };
  const numbers = new Numbers();
  const [a, b] = [
    yield* numbers.of(old, sides.old.starts, effort),
    yield* numbers.of(fresh, sides.fresh.starts, effort),
  ];
  const gaps = yield* gapsBetween(a, b, numbers.size, effort);
  const hunks = new Hunks(sides.old, sides.fresh, first);
  for (let i = 0; i < gaps.length; ) {
    const together: Gap[] = [];
    do
      together.push(gaps[i++] as Gap); // The index is within the list.
    while (i < gaps.length && (gaps[i]?.oldFrom ?? 0) - (gaps[i - 1]?.oldTo ?? 0) <= CONTEXT * 2);
    if (effort.spend(hunks.add(together))) yield;
  }
  return hunks.end(before === null ? null : path, after === null ? null : path);
}

/** The lines of a text: where each begins, and where the last one ends. */
interface Side {
  readonly text: Buffer;
  readonly starts: readonly number[];
}

/** The hunks of a diff. */
class Hunks {
  readonly #old: Side;
  readonly #fresh: Side;
  /** The number of lines before the first of these. */
  readonly #first: number;
  #hunks: StructuredPatchHunk[] = [];
  #letters = 0;
  #removed = 0;
  #added = 0;

  constructor(old: Side, fresh: Side, first: number) {
    this.#old = old;
    this.#fresh = fresh;
    this.#first = first;
  }

  /** Adds one hunk for gaps that are close to each other. Returns its cost in bytes searched. */
  add(gaps: readonly Gap[]): number {
    const [head, tail] = [gaps[0], gaps.at(-1)];
    if (head === undefined || tail === undefined) return 0;
    const lead = Math.min(CONTEXT, head.oldFrom);
    const rest = Math.min(CONTEXT, this.#old.starts.length - 1 - tail.oldTo);
    const [oldFrom, newFrom] = [head.oldFrom - lead, head.newFrom - lead];
    const [oldTo, newTo] = [tail.oldTo + rest, tail.newTo + rest];
    const bytes = bytesOf(this.#old, oldFrom, oldTo) + bytesOf(this.#fresh, newFrom, newTo);
    const place = { oldFrom, oldTo, newFrom, newTo };
    const lines = oldTo - oldFrom + newTo - newFrom;
    const isQuick = this.#isQuick(gaps, lines, bytes);
    if (this.#letters > MOST_LETTERS || (!isQuick && this.#letters + bytes / 3 + lines > MOST_LETTERS)) {
      this.#letters = Number.POSITIVE_INFINITY;
      for (const gap of gaps) this.#count(gap.oldTo - gap.oldFrom, gap.newTo - gap.newFrom);
      return gaps.length;
    }
    const compared = isQuick ? this.#compare(place) : undefined;
    const hunk = compared ?? {
      oldStart: 1,
      oldLines: oldTo - oldFrom,
      newStart: 1,
      newLines: newTo - newFrom,
      lines: this.#exchanged(gaps, place),
    };
    hunk.oldStart += this.#first + oldFrom;
    hunk.newStart += this.#first + newFrom;
    this.#hunks.push(hunk);
    for (const line of hunk.lines) {
      this.#letters += line.length + 1;
      this.#count(line.startsWith("-") ? 1 : 0, line.startsWith("+") ? 1 : 0);
    }
    // The library may have taken 2 ms.
    return isQuick && lines > 4 * CONTEXT ? Number.POSITIVE_INFINITY : bytes + lines * 512;
  }

  end(oldPath: string | null, newPath: string | null): Difference {
    const [removed, added] = [this.#removed, this.#added];
    if (this.#letters > MOST_LETTERS) return { removed, added };
    const name = (side: string, path: string | null): string => (path === null ? "/dev/null" : `${side}/${path}`);
    const text = formatPatch(
      {
        oldFileName: name("a", oldPath),
        newFileName: name("b", newPath),
        oldHeader: undefined,
        newHeader: undefined,
        hunks: this.#hunks,
      },
      FILE_HEADERS_ONLY,
    );
    return { text, removed, added };
  }

  #count(removed: number, added: number): void {
    this.#removed += removed;
    this.#added += added;
  }

  /** True if lines may need matching and the library can do it quickly. */
  #isQuick(gaps: readonly Gap[], lines: number, bytes: number): boolean {
    if (lines > MOST_COMPARED || bytes > MOST_COMPARED_BYTES) return false;
    return gaps.some(({ oldFrom, oldTo, newFrom, newTo }) => oldFrom < oldTo && newFrom < newTo);
  }

  #compare({ oldFrom, oldTo, newFrom, newTo }: Gap): StructuredPatchHunk | undefined {
    const [before, after] = [textOf(this.#old, oldFrom, oldTo), textOf(this.#fresh, newFrom, newTo)];
    const options = { context: Number.POSITIVE_INFINITY, maxEditLength: MOST_EDITS };
    return structuredPatch("", "", before, after, undefined, undefined, options)?.hunks[0];
  }

  /** Removes all old lines of each gap and adds all new ones. */
  #exchanged(gaps: readonly Gap[], { oldFrom, oldTo }: Gap): string[] {
    const parts: string[][] = [];
    let at = oldFrom;
    for (const gap of gaps) {
      parts.push(linesOf(this.#old, at, gap.oldFrom, " "));
      parts.push(linesOf(this.#old, gap.oldFrom, gap.oldTo, "-"));
      parts.push(linesOf(this.#fresh, gap.newFrom, gap.newTo, "+"));
      at = gap.oldTo;
    }
    parts.push(linesOf(this.#old, at, oldTo, " "));
    return parts.flat();
  }
}

const bytesOf = ({ starts }: Side, from: number, to: number): number => (starts[to] ?? 0) - (starts[from] ?? 0);

const textOf = ({ text, starts }: Side, from: number, to: number): string =>
  text.toString("utf8", starts[from] ?? 0, starts[to] ?? 0);

function linesOf(side: Side, from: number, to: number, sign: string): string[] {
  if (from >= to) return [];
  const lines = textOf(side, from, to)
    .split("\n")
    .map((line) => sign + line);
  // Nothing follows the last line end, unless the file ends without one.
  if (lines.at(-1) === sign) lines.pop();
  else lines.push("\\ No newline at end of file");
  return lines;
}
