import { FIRST_LINE } from "../pool/program-file";
import { lineStarts } from "../source/text";

/** Characters that QuickJS counts differently: its lines end only at "\n", and a surrogate pair is one column. */
const ODD = /\r(?!\n)|[\u2028\u2029\ud800-\udbff]/;
const PLACE = /\b(program(?:-\d{1,15})?\.js):(\d{1,9}):(\d{1,9})/g;
/** Most programs of a room to remember. */
const MOST = 100;

/** Converts places in QuickJS stacks to lines and columns as the language counts them. */
export class Places {
  /** The programs in which the two counts differ, by file. */
  readonly #bodies = new Map<string, string>();

  know(file: string, body: string): void {
    if (!ODD.test(body)) return;
    this.#bodies.set(file, body);
    const [oldest] = this.#bodies.keys();
    if (this.#bodies.size > MOST && oldest !== undefined) this.#bodies.delete(oldest);
  }

  forget(): void {
    this.#bodies.clear();
  }

  mend(stack: string): string {
    if (this.#bodies.size === 0) return stack;
    return stack.replace(PLACE, (place, file: string, line: string, column: string) => {
      const body = this.#bodies.get(file);
      return body === undefined ? place : `${file}:${placeIn(body, Number(line) - FIRST_LINE, Number(column) - 1)}`;
    });
  }
}

/** Line and column count from 0. The body begins on a line of its own. */
function placeIn(body: string, line: number, column: number): string {
  let at = 0;
  for (let count = 0; count < line && at < body.length; count++) at = body.indexOf("\n", at) + 1 || body.length;
  for (let count = 0; count < column && at < body.length; count++) at += (body.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  const starts = lineStarts(body.slice(0, at));
  return `${starts.length - 1 + FIRST_LINE}:${at - (starts.at(-1) ?? 0) + 1}`;
}
