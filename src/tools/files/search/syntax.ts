/** A fault in a pattern and its place, counted in letters from 1. */
export class PatternError {
  constructor(
    readonly message: string,
    readonly at: number,
  ) {}
}

/** A place between two letters. */
export type Place = "start" | "end" | "word" | "inside";

/** A parsed pattern. Groups are not kept, since only the start of a match is needed. */
export type Syntax =
  /** One letter that `source`, a native regular expression, matches. `letter` is set if it can be only one. */
  | { readonly kind: "letter"; readonly source: string; readonly letter: string | null }
  | { readonly kind: "place"; readonly place: Place }
  | { readonly kind: "sequence"; readonly parts: readonly Syntax[] }
  | { readonly kind: "choice"; readonly parts: readonly Syntax[] }
  | { readonly kind: "repeat"; readonly part: Syntax; readonly least: number; readonly most: number };

export interface Pattern {
  readonly syntax: Syntax;
  readonly ignoreCase: boolean;
}

const LONGEST = 2_000;
const CONTROLS: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", f: "\f", v: "\v", 0: "\0" };

/** The letters of a text in sequence. */
export const syntaxOf = (text: string): Syntax => ({ kind: "sequence", parts: [...text].map(letterOf) });

const letterOf = (letter: string): Syntax => ({ kind: "letter", letter, source: native(letter) });
const native = (letter: string): string => `\\u{${letter.codePointAt(0)?.toString(16)}}`;

/**
 * Reads a regular expression of JavaScript. Features without linear-time matching are refused: references to groups,
 * lookahead and lookbehind. As outside Unicode mode, a brace that is no count stands for itself.
 *
 * @throws PatternError
 */
export function parsePattern(text: string, ignoreCase: boolean): Pattern {
  if (text.length > LONGEST) throw new PatternError(`it has more than ${LONGEST} letters`, LONGEST + 1);
  const isFolded = text.startsWith("(?i)");
  const parser = new Parser(text, isFolded ? 4 : 0);
  return { syntax: parser.parse(), ignoreCase: ignoreCase || isFolded };
}

class Parser {
  readonly #text: string;
  #at: number;

  constructor(text: string, at: number) {
    this.#text = text;
    this.#at = at;
  }

  parse(): Syntax {
    const syntax = this.#choice();
    if (this.#at < this.#text.length) this.#fail("this parenthesis closes nothing; write \\)");
    return syntax;
  }

  #fail(message: string, at = this.#at): never {
    throw new PatternError(message, at + 1);
  }

  /** Steps over a text if it comes next. Returns true then. */
  #takes(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #letter(): string {
    const code = this.#text.codePointAt(this.#at);
    if (code === undefined) return "";
    const letter = String.fromCodePoint(code);
    this.#at += letter.length;
    return letter;
  }

  #choice(): Syntax {
    const parts = [this.#sequence()];
    while (this.#takes("|")) parts.push(this.#sequence());
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : { kind: "choice", parts };
  }

  #sequence(): Syntax {
    const parts: Syntax[] = [];
    while (this.#at < this.#text.length && !"|)".includes(this.#text[this.#at] ?? "")) parts.push(this.#repeated());
    return { kind: "sequence", parts };
  }

  #repeated(): Syntax {
    const start = this.#at;
    const part = this.#single();
    const count = this.#count();
    if (count === null) return part;
    if (part.kind === "place") this.#fail("a place between letters is not repeated", start);
    this.#takes("?"); // Greedy or lazy: a match begins at the same place.
    const next = this.#at;
    if (this.#count() !== null) this.#fail("this repeats what is repeated already; use a group", next);
    return { kind: "repeat", part, ...count };
  }

  #count(): { least: number; most: number } | null {
    if (this.#takes("*")) return { least: 0, most: Number.POSITIVE_INFINITY };
    if (this.#takes("+")) return { least: 1, most: Number.POSITIVE_INFINITY };
    if (this.#takes("?")) return { least: 0, most: 1 };
    const [all, least, comma, most] = /^\{(\d+)(,?)(\d*)\}/.exec(this.#text.slice(this.#at, this.#at + 40)) ?? [];
    if (all === undefined || (comma === "" && most !== "")) return null;
    const from = Number(least);
    const to = comma === "" ? from : most === "" ? Number.POSITIVE_INFINITY : Number(most);
    if (to < from) this.#fail("the counts are in the wrong order");
    this.#at += all.length;
    return { least: from, most: to };
  }

  #single(): Syntax {
    const start = this.#at;
    const letter = this.#letter();
    switch (letter) {
      case "(":
        return this.#group(start);
      case "[":
        return this.#class(start);
      case ".":
        return { kind: "letter", source: ".", letter: null };
      case "^":
        return { kind: "place", place: "start" };
      case "$":
        return { kind: "place", place: "end" };
      case "*":
      case "+":
      case "?":
        return this.#fail(`there is nothing to repeat; write \\${letter} for the letter`, start);
      case "\\":
        return this.#escape(start);
      default:
        return letterOf(letter);
    }
  }

  #group(start: number): Syntax {
    if (this.#takes("?") && !this.#takes(":")) {
      if (/^(=|!|<=|<!)/.test(this.#text.slice(this.#at)))
        this.#fail("looking ahead or behind is not supported", start);
      const name = /^<[\p{ID_Start}$_][\p{ID_Continue}$]*>/u.exec(this.#text.slice(this.#at));
      if (name === null) this.#fail("there is no such kind of group", start);
      this.#at += name[0].length;
    }
    const inside = this.#choice();
    if (!this.#takes(")")) this.#fail("this group is not closed; write \\( for the letter", start);
    return inside;
  }

  #escape(start: number): Syntax {
    if (this.#takes("b")) return { kind: "place", place: "word" };
    if (this.#takes("B")) return { kind: "place", place: "inside" };
    if (/^[1-9k]/.test(this.#text.slice(this.#at))) this.#fail("references to groups are not supported", start);
    const set = this.#set();
    return set === null ? letterOf(this.#escaped(start)) : { kind: "letter", source: set, letter: null };
  }

  /** The named set after a backslash, such as \d. Null if there is none. */
  #set(): string | null {
    const [set] = /^([dDsSwW]|[pP]\{[\w=]+\})/.exec(this.#text.slice(this.#at)) ?? [];
    if (set === undefined) return null;
    const source = `\\${set}`;
    if (!isNative(source)) this.#fail("there is no such property of letters");
    this.#at += set.length;
    return source;
  }

  /** The letter after a backslash. */
  #escaped(start: number): string {
    const [all, x, u, code] =
      /^(?:x([0-9a-f]{2})|u([0-9a-f]{4})|u\{([0-9a-f]{1,6})\})/i.exec(this.#text.slice(this.#at)) ?? [];
    if (all !== undefined) {
      const number = Number.parseInt(x ?? u ?? code ?? "", 16);
      if (number > 0x10ffff || (number >= 0xd800 && number <= 0xdfff)) this.#fail("there is no such letter", start);
      this.#at += all.length;
      return String.fromCodePoint(number);
    }
    const letter = this.#letter();
    if (letter === "") this.#fail("a backslash ends it; write \\\\ for the letter", start);
    const control = CONTROLS[letter];
    if (control !== undefined) return control;
    if (/[\p{L}\p{N}]/u.test(letter)) this.#fail(`\\${letter} means nothing here`, start);
    return letter;
  }

  #class(start: number): Syntax {
    const isNegated = this.#takes("^");
    let source = isNegated ? "[^" : "[";
    while (!this.#takes("]")) {
      if (this.#at >= this.#text.length) this.#fail("this class is not closed; write \\[ for the letter", start);
      const first = this.#member();
      const at = this.#at;
      if (this.#text[at] !== "-" || this.#text[at + 1] === "]" || this.#text[at + 1] === undefined) {
        source += first.source;
        continue;
      }
      this.#at++;
      const last = this.#member();
      const from = first.letter?.codePointAt(0);
      const to = last.letter?.codePointAt(0);
      if (from === undefined || to === undefined) this.#fail("a range goes from a letter to a letter", at);
      if (from > to) this.#fail("a range goes from the lower letter to the higher one", at);
      source += `${first.source}-${last.source}`;
    }
    return { kind: "letter", source: `${source}]`, letter: null };
  }

  #member(): { readonly source: string; readonly letter: string | null } {
    const start = this.#at;
    if (this.#takes("[:")) this.#fail("there are no classes by name; write \\w, \\d or \\s", start);
    const letter = this.#letter();
    if (letter !== "\\") return { source: native(letter), letter };
    if (this.#takes("b")) return { source: native("\b"), letter: "\b" };
    const set = this.#set();
    if (set !== null) return { source: set, letter: null };
    const escaped = this.#escaped(start);
    return { source: native(escaped), letter: escaped };
  }
}

function isNative(source: string): boolean {
  try {
    new RegExp(source, "u");
    return true;
  } catch {
    return false;
  }
}

/**
 * The longest text known to be in every match. Empty if there is none. With `ignoreCase`, it has only letters without
 * case.
 */
export function requiredText({ syntax, ignoreCase }: Pattern): string {
  let longest = "";
  let present = "";
  const cut = (): void => {
    if (present.length > longest.length) longest = present;
    present = "";
  };
  const visit = (part: Syntax): void => {
    if (part.kind === "sequence") part.parts.forEach(visit);
    else if (part.kind === "letter") {
      if (part.letter !== null && (!ignoreCase || /[!-@[-`{-~ \d]/.test(part.letter))) present += part.letter;
      else cut();
    } else if (part.kind !== "place") {
      cut();
      if (part.kind !== "repeat" || part.least === 0) return;
      visit(part.part);
      cut();
    }
  };
  visit(syntax);
  cut();
  return longest;
}

/** The text of a pattern that is just one line of text. Otherwise null. */
export function wholeText({ syntax, ignoreCase }: Pattern): string | null {
  if (ignoreCase || syntax.kind !== "sequence") return null;
  let text = "";
  for (const part of syntax.parts) {
    if (part.kind !== "letter" || part.letter === null) return null;
    text += part.letter;
  }
  return text === "" || /[\r\n]/.test(text) ? null : text;
}
