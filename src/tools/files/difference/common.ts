import { nextLineEnd } from "../lines";
import type { Effort, Steps } from "../steps";

const LF = 10;
/** The cost of a line end, in bytes searched. */
const LINE_END = 64;
/** Bytes compared in one call: some 10 µs. */
const PART = 128 * 1024;
/** Lines around a change that a diff shows. */
export const CONTEXT = 3;

/**
 * The part in which two texts differ, between their common beginning and end. All three indexes are at the start of a
 * line.
 */
export interface Middle {
  readonly start: number;
  readonly oldEnd: number;
  readonly newEnd: number;
}

/** Finds the whole lines in which two texts differ, plus the lines of context. Null if the texts are equal. */
export function* middleOf(before: Buffer, after: Buffer, effort: Effort): Steps<Middle | null> {
  const least = Math.min(before.length, after.length);
  let same = 0;
  while (same < least) {
    const to = Math.min(least, same + PART);
    if (effort.spend(to - same)) yield;
    const isSame = before.compare(after, same, to, same, to) === 0;
    if (!isSame) {
      while (before[same] === after[same]) same++;
      break;
    }
    same = to;
  }
  if (same === before.length && same === after.length) return null;
  let start = lineStart(before, same);
  const most = least - start;
  let end = 0;
  while (end < most) {
    const length = Math.min(PART, most - end);
    if (effort.spend(length)) yield;
    const [a, b] = [before.length - end, after.length - end];
    if (before.compare(after, b - length, b, a - length, a) !== 0) {
      while (before[before.length - end - 1] === after[after.length - end - 1]) end++;
      break;
    }
    end += length;
  }
  // The common end must begin with a line of its own in both texts.
  const isLine = (text: Buffer): boolean => text.length === end || text[text.length - end - 1] === LF;
  if (end > 0 && !(isLine(before) && isLine(after))) {
    const found = before.indexOf(LF, before.length - end);
    end = found < 0 ? 0 : before.length - found - 1;
  }
  for (let lines = 0; lines < CONTEXT && start > 0; lines++) start = lineStart(before, start - 1);
  let oldEnd = before.length - end;
  for (let lines = 0; lines < CONTEXT && oldEnd < before.length; lines++) {
    const found = before.indexOf(LF, oldEnd);
    oldEnd = found < 0 ? before.length : found + 1;
  }
  return { start, oldEnd, newEnd: after.length - (before.length - oldEnd) };
}

/** The start of the line that contains an index. */
const lineStart = (text: Buffer, at: number): number => (at === 0 ? 0 : text.lastIndexOf(LF, at - 1) + 1);

/** The number of lines between two places, and the bytes of the longest. */
export function* countLines(
  text: Buffer,
  from: number,
  to: number,
  effort: Effort,
): Steps<{ readonly lines: number; readonly longest: number }> {
  let lines = 0;
  let longest = 0;
  for (let at = from; at < to; lines++) {
    const next = lineAfter(text, at, to);
    longest = Math.max(longest, next - at);
    if (effort.spend(next - at + LINE_END)) yield;
    at = next;
  }
  return { lines, longest };
}

/** The starts of the lines between two places, and the end of the last one. */
export function* startsOf(text: Buffer, from: number, to: number, effort: Effort): Steps<number[]> {
  const starts = [from];
  for (let at = from; at < to; ) {
    const next = lineAfter(text, at, to);
    if (effort.spend(next - at + LINE_END)) yield;
    starts.push(next);
    at = next;
  }
  return starts;
}

function lineAfter(text: Buffer, at: number, end: number): number {
  const found = nextLineEnd(text, at);
  return found < 0 ? end : Math.min(end, found + 1);
}
