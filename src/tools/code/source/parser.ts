import { CodeRefusal } from "../code-error";
import { blank, overlay, placeOf } from "./text";
import { blankTypes } from "./types";

export type Language = "javascript" | "typescript";

/** A node of the syntax tree, in the form that ESTree gives it. */
export interface Syntax {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

/** Reads a source into its statements. Their offsets are those of `text`, which has the lines and columns of the source. */
export type Parse = (source: string) => { readonly text: string; readonly statements: readonly Syntax[] };

/**
 * The source is read as what it will be: the body of such a function. One that closes the function, and goes on, is a
 * program of more than one statement, and is refused.
 */
const HEAD = "async function program(input) {\n";
/** What the offsets of nodes count from. */
export const OFFSET = HEAD.length;
const TAIL = "\n}";
/** How often a token may be read, for each character of TypeScript: what reads `<a>(<b>(…` tries, and tries again. */
const TRIES = 4;
const FIRST_TRIES = 2_000;

interface Comment {
  readonly at: number;
  readonly text: string;
}

interface AcornParser {
  parse(text: string, options: object): { readonly body: readonly Syntax[] };
}

/**
 * Loads what reads sources of a language, when the first one comes: it takes 10 ms, and 10 more for TypeScript.
 *
 * @throws CodeRefusal where it is not installed.
 */
export async function loadParser(language: Language): Promise<Parse> {
  try {
    const { Parser } = await import("acorn");
    const javascript = Parser as unknown as AcornParser; // Its nodes are of these types, by ESTree.
    if (language === "javascript") return parseBy(javascript, (text) => text);
    const { tsPlugin } = await import("@sveltejs/acorn-typescript");
    const typescript = bounded(Parser.extend(tsPlugin() as never)); // Typed for another minor version of the same parser.
    return parseBy(javascript, (text, source) => blankTypes(text, bodyOf(typescript, text, source), OFFSET));
  } catch {
    const names = language === "javascript" ? "acorn" : "acorn and @sveltejs/acorn-typescript";
    throw new CodeRefusal("unavailable", `Install ${names}: the code actor reads ${language} with it.`);
  }
}

function parseBy(parser: AcornParser, withoutTypes: (text: string, source: string) => string): Parse {
  return (source) => {
    const text = withoutTypes(source.startsWith("#!") ? `//${source.slice(2)}` : source, source);
    const comments: Comment[] = [];
    const statements = bodyOf(parser, text, source, comments);
    return { text: overlay(text, comments), statements };
  };
}

/** Reads `text` as the body of a function; its nodes count from the start of the text that has the function's head. */
function bodyOf(parser: AcornParser, text: string, source: string, comments?: Comment[]): readonly Syntax[] {
  const whole = HEAD + text + TAIL;
  const [program, second] = read(parser, whole, source, comments);
  if (second !== undefined || program?.end !== whole.length) {
    const at = (program?.end ?? 0) - HEAD.length - 1;
    throw new CodeRefusal("compile-error", "This } closes nothing.", placeOf(source, at));
  }
  const { body } = program["body"] as { body: readonly Syntax[] }; // A function's body is a block.
  return body;
}

function read(parser: AcornParser, whole: string, source: string, comments?: Comment[]): readonly Syntax[] {
  try {
    const { body } = parser.parse(whole, {
      ecmaVersion: 2025,
      sourceType: "script",
      locations: comments === undefined, // Asked for by what reads TypeScript.
      ...(comments && {
        onComment(_isBlock: boolean, _text: string, start: number, end: number) {
          if (whole[start] === "/") return;
          // `<!--` and `-->` are comments in a script and none in a module: made spaces, they are the same in both.
          comments.push({ at: start - HEAD.length, text: blank(whole.slice(start, end)) });
        },
      }),
    });
    return body;
  } catch (error) {
    throw faultOf(error, source);
  }
}

function faultOf(error: unknown, source: string): unknown {
  if (error instanceof TooManyTries)
    return new CodeRefusal("compile-error", "This TypeScript is too hard to read; write it in simpler parts.");
  if (error instanceof RangeError)
    return new CodeRefusal("compile-error", "The code is nested too deeply; write it in flatter parts.");
  if (!(error instanceof SyntaxError)) return error;
  const { pos } = error as { pos?: number }; // As the parser adds it.
  const at = Math.max(0, (pos ?? 0) - HEAD.length);
  const message = error.message.replace(/ \(\d+:\d+\)$/, "");
  const place = placeOf(source, at);
  if (message.startsWith("Not enough stack space")) {
    return new CodeRefusal("compile-error", "The code is nested too deeply; write it in flatter parts.", place);
  }
  return new CodeRefusal("compile-error", adviceFor(message, source.slice(at, at + 10), at >= source.length), place);
}

/** The parser's sentence, or a better one where it does not say what to do. */
function adviceFor(message: string, from: string, isAtEnd: boolean): string {
  if (message.includes("'import'") || message.includes("'import.meta'")) {
    const word = from.startsWith("export") ? "export" : "import";
    return word === "export"
      ? "The code is no module: return the value instead of exporting it."
      : "The code is no module, and nothing can be imported: it has its input, and what the language has.";
  }
  if (message.includes("'input' has already been declared")) {
    return "input is the value that came with the request; give this another name, or assign to it.";
  }
  if (message === "Unexpected token" && isAtEnd) return "The code ends in the middle: something is not closed.";
  return message.endsWith(".") ? message : `${message}.`;
}

class TooManyTries extends Error {}

/** The same parser, that gives up where it reads the same tokens over and over. */
function bounded(parser: unknown): AcornParser {
  // A plugin of the parser is a class that extends it, by its documentation; `nextToken` is what plugins override.
  const Base = parser as new (...args: unknown[]) => { input: string; nextToken(): unknown };
  class Bounded extends Base {
    private left = -1;

    override nextToken(): unknown {
      if (this.left === -1) this.left = FIRST_TRIES + TRIES * this.input.length;
      if (--this.left === 0) throw new TooManyTries();
      return super.nextToken();
    }
  }
  return Bounded as unknown as AcornParser; // The static `parse` is inherited.
}
