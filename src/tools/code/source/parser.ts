import { CodeRefusal } from "../code-refusal";
import type { Language } from "../language";
import { withConditionals } from "./conditionals";
import { limited, TooHard } from "./limits";
import type { Syntax } from "./syntax";
import { blank, overlay, placeOf } from "./text";
import { DECORATORS, withoutTypes } from "./types";
import { type Origins, originOf } from "./weave";

/** A source as JavaScript, and its statements. */
export interface Parsed {
  readonly text: string;
  /** Their offsets are those in `text`, plus OFFSET. */
  readonly statements: readonly Syntax[];
  /** Maps `text` to the source; null if nothing has moved. */
  readonly origins: Origins | null;
}

/** @throws CodeRefusal for a source that is no program. */
export type Parse = (source: string) => Parsed;

/**
 * The source is read as the body of this function, which it will be. A source that closes the function and goes on makes
 * a program of more than one statement, and is refused.
 */
const HEAD = "async function program() {\n";
/** Offsets of nodes are those in the source plus this. */
export const OFFSET = HEAD.length;
const TAIL = "\n}";
const NESTED = "The code is nested too deeply; write it in flatter parts.";
const TYPED = 'Unexpected token. If a type is meant, it is TypeScript: say language: "typescript".';
const OBJECT = "Unexpected token. Write an object that is the value in parentheses: ({ a: 1 }).";
const JSX = "JSX is not supported: make a text, by a template literal, or an object.";

interface Comment {
  readonly at: number;
  readonly text: string;
}

interface AcornParser {
  parse(text: string, options: object): { readonly body: readonly Syntax[] };
}

/**
 * Loads the parser of a language, for its first source. That takes 10 ms, and 10 more for TypeScript.
 *
 * @throws CodeRefusal if it is not installed.
 */
export async function loadParser(language: Language): Promise<Parse> {
  try {
    const { Parser, tokTypes } = await import("acorn");
    const javascript = limited(Parser) as unknown as AcornParser; // By ESTree, its nodes have these types.
    if (language === "javascript")
      return (source) => parse(javascript, source, withoutHashbang(source), null, language);
    const { tsPlugin } = await import("@sveltejs/acorn-typescript");
    // `never`: the plugin is typed for another minor version of the same parser. The nodes have ESTree's types, as above.
    const typescript = limited(
      Parser.extend(tsPlugin() as never, withConditionals(tokTypes)),
    ) as unknown as AcornParser;
    return (source) => {
      const typed = withoutHashbang(source);
      const { text, origins } = withoutTypes(
        typed,
        bodyOf(typescript, typed, new Fault(source, null, "typescript")),
        OFFSET,
      );
      return parse(javascript, source, text, origins, language);
    };
  } catch {
    const names = language === "javascript" ? "acorn" : "acorn @sveltejs/acorn-typescript";
    throw new CodeRefusal("unavailable", `The code actor cannot read ${language} here: run \`bun add ${names}\`.`);
  }
}

const withoutHashbang = (source: string): string => (source.startsWith("#!") ? `//${source.slice(2)}` : source);

function parse(parser: AcornParser, source: string, text: string, origins: Origins | null, language: Language): Parsed {
  const comments: Comment[] = [];
  const statements = bodyOf(parser, text, new Fault(source, origins, language), comments);
  return { text: overlay(text, comments), statements, origins };
}

/** Reads `text` as the body of a function. The offsets of its nodes include the function's head. */
function bodyOf(parser: AcornParser, text: string, fault: Fault, comments?: Comment[]): readonly Syntax[] {
  const whole = HEAD + text + TAIL;
  const [program, second] = read(parser, whole, fault, comments);
  if (second !== undefined || program?.end !== whole.length) {
    throw fault.at((program?.end ?? 0) - HEAD.length - 1, "This } closes nothing.");
  }
  const { body } = program["body"] as { body: readonly Syntax[] }; // A function's body is a block.
  return body;
}

function read(parser: AcornParser, whole: string, fault: Fault, comments?: Comment[]): readonly Syntax[] {
  try {
    const { body } = parser.parse(whole, {
      ecmaVersion: 2025,
      sourceType: "script",
      ...(comments === undefined
        ? {
            locations: true, // The TypeScript plugin needs them.
            allowImportExportEverywhere: true, // Imports and exports of types do nothing at run time.
          }
        : {
            onComment(_isBlock: boolean, _text: string, start: number, end: number) {
              if (whole[start] === "/") return;
              // `<!--` and `-->` are comments in a script but not in a module. As spaces they mean the same in both.
              comments.push({ at: start - HEAD.length, text: blank(whole.slice(start, end)) });
            },
          }),
    });
    return body;
  } catch (error) {
    throw fault.of(error);
  }
}

/** Makes refusals that say what is wrong with a source, and where. */
class Fault {
  constructor(
    private readonly source: string,
    private readonly origins: Origins | null,
    private readonly language: Language,
  ) {}

  /** `offset` is an offset in the text that was read. */
  at(offset: number, message: string): CodeRefusal {
    return new CodeRefusal("compile-error", message, placeOf(this.source, this.#origin(offset)));
  }

  of(error: unknown): unknown {
    if (error instanceof TooHard) {
      return error.pos === 0
        ? new CodeRefusal("compile-error", error.message)
        : this.at(error.pos - HEAD.length, error.message);
    }
    if (error instanceof RangeError) return new CodeRefusal("compile-error", NESTED);
    if (!(error instanceof SyntaxError)) return error;
    const { pos } = error as { pos?: number }; // The parser adds it.
    const offset = (pos ?? 0) - HEAD.length;
    const { message } = error;
    if (message.startsWith("Not enough stack space")) return this.at(offset, NESTED);
    return this.at(offset, adviceFor(message, this.source, this.#origin(offset), this.language === "javascript"));
  }

  #origin(offset: number): number {
    const at = Math.max(0, offset);
    return this.origins === null ? at : (originOf(this.origins, at) ?? this.source.length);
  }
}

/** True if a type or another part of TypeScript may begin here: `a: A`, `a as A`, `interface A`. */
const isTyped = (before: string, from: string): boolean =>
  /[\w$)\]}?]\s*$/.test(before) &&
  (/^[?]?:|^(?:as|satisfies)\b/.test(from) || /\b(?:interface|type|declare|namespace|abstract)\s+$/.test(before));

/** The parser's message, or a better one if it does not say what to do. */
function adviceFor(message: string, source: string, at: number, isJavaScript: boolean): string {
  const from = source.slice(at, at + 20);
  const before = source.slice(Math.max(0, at - 20), at);
  if (
    message.includes("'import'") ||
    message.includes("'import.meta'") ||
    /^Export '|^(?:import|export)\b/.test(message)
  ) {
    return from.startsWith("import")
      ? "The code is no module, and nothing can be imported: it has its input, and what the language has."
      : "The code is no module: return the value instead of exporting it.";
  }
  if (/^Unexpected (?:token|character)/.test(message)) {
    if (at >= source.length) return "The code ends in the middle: something is not closed.";
    if (from.startsWith("@")) return DECORATORS;
    if (/<[a-z][\w.]*\s+$/i.test(before) && /^[\w-]+=/.test(from)) return JSX;
    if (/\busing\s+$/.test(before)) return "using is not supported: write const, and dispose of it in a finally.";
    if (/^\s*\{/.test(source) && from.startsWith(":") && /[{,]\s*(?:"[^"]*"|'[^']*'|[\w$]+)\s*$/.test(before))
      return OBJECT;
    if (isJavaScript && isTyped(before, from)) return TYPED;
  }
  if (/^<(?:>|\/|[a-z][\w.-]*[\s/>])/i.test(from) || (/<\/?$/.test(before) && /^\/?[a-z>]/i.test(from))) return JSX;
  return message.endsWith(".") ? message : `${message}.`;
}
