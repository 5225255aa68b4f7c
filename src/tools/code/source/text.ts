import type { Place } from "../code-error";
import type { Program } from "../tier";

const LINE_END = /\r\n?|[\n\u2028\u2029]/g;
const NOT_LINE_END = /[^\r\n\u2028\u2029]/g;

/** Where the lines of a text begin. */
function lineStarts(text: string): number[] {
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
  let out = "";
  let from = 0;
  for (const { at, text: put } of puts) {
    if (at < from) continue;
    out += text.slice(from, at) + put;
    from = at + put.length;
  }
  return out + text.slice(from);
}

/** A text of ours that goes into the caller's, without a line end. */
export interface Insertion {
  readonly at: number;
  readonly text: string;
}

/** Puts insertions, in their order, into a source; what comes after its end is on a line of its own. */
export function weave(source: string, insertions: readonly Insertion[], ending: string): Program {
  let body = "";
  let from = 0;
  for (const { at, text } of insertions) {
    body += source.slice(from, at) + text;
    from = at;
  }
  body += source.slice(from);
  if (ending !== "") body += `\n${ending}`;
  return new WovenProgram(body, source, insertions);
}

class WovenProgram implements Program {
  readonly declares: readonly string[] = [];
  #starts: readonly number[] | null = null;

  constructor(
    readonly body: string,
    private readonly source: string,
    private readonly insertions: readonly Insertion[],
  ) {}

  place(line: number, column: number): Place | undefined {
    this.#starts ??= lineStarts(this.source);
    const start = this.#starts[line - 1];
    if (start === undefined || column < 1) return undefined;
    const next = this.#starts[line] ?? this.source.length + 1;
    let before = 0; // What of ours is before it on its line.
    for (const { at, text } of this.insertions) {
      if (at < start) continue;
      if (at >= next || at - start + before >= column) break;
      if (at - start + before + text.length >= column) return { line, column: at - start + 1 }; // Within what is ours.
      before += text.length;
    }
    return { line, column: Math.min(column - before, next - start) };
  }
}
