import type { Place } from "../code-error";

const LINE_END = /\r\n?|[\n\u2028\u2029]/g;
const SPACES = /\s*/y;
const NOT_LINE_END = /[^\r\n\u2028\u2029]/g;

/** Where the lines of a text begin. */
export function lineStarts(text: string): number[] {
  const starts = [0];
  for (const { index, 0: end } of text.matchAll(LINE_END)) starts.push(index + end.length);
  return starts;
}

/** The place of an offset, which is the end of the text where it is beyond it. */
export function placeOf(text: string, offset: number): Place {
  const at = Math.max(0, Math.min(offset, text.length));
  const before = lineStarts(text.slice(0, at)); // One that ends between \r and \n is on the next line; nothing begins there.
  return { line: before.length, column: at - (before.at(-1) ?? 0) + 1 };
}

/** Makes spaces of a text; its lines stay lines, so that all that follows keeps its place. */
export const blank = (text: string): string => text.replace(NOT_LINE_END, " ");

/** Writes over a text, in as many places as there are; they are in their order, and as long as what they replace. */
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

/** Where what is no space and no comment comes next. */
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

/** Where the line of an offset ends. */
export function lineEndOf(text: string, at: number): number {
  LINE_END.lastIndex = at;
  const end = LINE_END.exec(text)?.index ?? text.length;
  LINE_END.lastIndex = 0; // What else it is used for begins at the beginning.
  return end;
}

/** A name that a text does not have, nor a longer one that begins with it. */
export function nameNotIn(text: string, name: string): string {
  let free = name;
  while (text.includes(free)) free += "$";
  return free;
}
