import type { Place } from "../code-error";

const LINE_END = /\r\n?|[\n\u2028\u2029]/g;
const SPACES = /\s*/y;
const NOT_LINE_END = /[^\r\n\u2028\u2029]/g;

/** The offsets at which the lines of a text begin. */
export function lineStarts(text: string): number[] {
  const starts = [0];
  for (const { index, 0: end } of text.matchAll(LINE_END)) starts.push(index + end.length);
  return starts;
}

/** The place of an offset. An offset beyond the text counts as its end. */
export function placeOf(text: string, offset: number): Place {
  const at = Math.max(0, Math.min(offset, text.length));
  const before = lineStarts(text.slice(0, at)); // An offset between \r and \n counts as the next line; no node begins there.
  return { line: before.length, column: at - (before.at(-1) ?? 0) + 1 };
}

/** Replaces a text by spaces. Line ends stay, so that everything after it keeps its place. */
export const blank = (text: string): string => text.replace(NOT_LINE_END, " ");

/** Overwrites parts of a text. The puts are in order, and each is as long as the part it replaces. */
export function overlay(text: string, puts: readonly { readonly at: number; readonly text: string }[]): string {
  if (puts.length === 0) return text;
  let out = "";
  let from = 0;
  for (const { at, text: put } of puts) {
    if (at < from) continue;
    out += text.slice(from, at) + put;
    from = at + put.length;
  }
  return out + text.slice(from);
}

/** The next offset that is neither space nor comment. */
export function afterTrivia(text: string, from: number): number {
  let at = from;
  for (let before = -1; at !== before; ) {
    before = at;
    SPACES.lastIndex = at;
    SPACES.test(text);
    at = SPACES.lastIndex;
    if (text.startsWith("/*", at)) at = text.indexOf("*/", at + 2) + 2;
    if (text.startsWith("//", at)) at = lineEndOf(text, at);
  }
  return at;
}

/** The offset at which the line of another offset ends. */
export function lineEndOf(text: string, at: number): number {
  LINE_END.lastIndex = at;
  const end = LINE_END.exec(text)?.index ?? text.length;
  LINE_END.lastIndex = 0; // Its other uses start at the beginning.
  return end;
}

/** A name that does not occur in a text, not even as a part of a longer one. */
export function nameNotIn(text: string, name: string): string {
  let free = name;
  while (text.includes(free)) free += "$";
  return free;
}
