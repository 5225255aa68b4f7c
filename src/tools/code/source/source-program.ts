import type { Place } from "../code-error";
import type { Program } from "../tier";
import { lineStarts } from "./text";
import { type Origins, originOf } from "./weave";

/** A program as data, as another thread may send it. */
export interface Reading {
  readonly body: string;
  readonly declares: readonly string[];
  /** Maps the body to the text that it was made of, then that text to the one before, down to the source. */
  readonly origins: readonly Origins[];
}

/** A program with its source. */
export class SourceProgram implements Program {
  readonly body: string;
  readonly declares: readonly string[];
  readonly #source: string;
  readonly #origins: readonly Origins[];
  #starts: { readonly body: readonly number[]; readonly source: readonly number[] } | null = null;

  constructor(source: string, { body, declares, origins }: Reading) {
    this.body = body;
    this.declares = declares;
    this.#source = source;
    this.#origins = origins;
  }

  place(line: number, column: number): Place | undefined {
    this.#starts ??= { body: lineStarts(this.body), source: lineStarts(this.#source) };
    const { body, source } = this.#starts;
    const start = body[line - 1];
    if (start === undefined || column < 1) return undefined;
    const end = (body[line] ?? this.body.length + 1) - 1;
    let at: number | undefined = Math.min(start + column - 1, end);
    for (const origins of this.#origins) {
      at = originOf(origins, at);
      if (at === undefined) return undefined;
    }
    return placeIn(source, at);
  }
}

function placeIn(starts: readonly number[], at: number): Place {
  let low = 0;
  let high = starts.length;
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= at) low = middle;
    else high = middle;
  }
  return { line: low + 1, column: at - (starts[low] ?? 0) + 1 };
}
