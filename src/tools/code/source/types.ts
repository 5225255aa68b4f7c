// No library erases types within a bound (measured on Bun 1.4.5, 8 s a source). amaro 1.2, sucrase 3.35 and @babel/parser 8.1
// do not end on 126 characters (`<T>(` 25 times), Bun.Transpiler does not end on 64 KB of `a<` and keeps no columns, and
// oxc-parser 0.159 ends the whole process on 64 KB of `(`. ts-blank-space 0.9 ends on all, but brings TypeScript (23 MB,
// 300 ms to load) and refuses enums, parameter properties and `<T>x`. The parser of acorn is a class whose tokens are counted
// (limits.ts): it refuses the first in 5 ms. In return it takes 33 ms for 56 KB of plain code; sucrase takes 6, Babel 18.
// `bun test test/tools/code/source -t "hard to read"` shows the bound.
import { CodeRefusal } from "../code-refusal";
import { type EnumScope, editsOfEnum, scopesOfEnums } from "./enums";
import { identifierOf, propertiesOf } from "./parameter-properties";
import type { Syntax } from "./syntax";
import { afterTrivia, blank, lineEndOf, overlay, placeOf } from "./text";
import { type Edit, type Origins, weave } from "./weave";

const MODIFIERS = /\b(?:public|private|protected|readonly|abstract|override|declare)\b/g;
export const DECORATORS = "Decorators are not supported: call the function.";
/** Parts of TypeScript beside types that are not turned into JavaScript. */
const REFUSED: Readonly<Record<string, string>> = {
  TSModuleDeclaration: "A namespace is not supported: write an object.",
  TSImportEqualsDeclaration:
    "The code is no module, and nothing can be imported: write const for a name that is longer.",
  TSExportAssignment: "The code is no module: return the value instead of exporting it.",
  Decorator: DECORATORS,
};
/** Nodes that a line end ends if they have no semicolon. */
const ENDED = /^(?:ExpressionStatement|VariableDeclaration|ReturnStatement|ThrowStatement|PropertyDefinition)$/;

/**
 * Replaces the types in a source by spaces, as with TypeScript's `erasableSyntaxOnly`, so the JavaScript keeps its place.
 * Code for enums and parameter properties is written in between. The result is read again as JavaScript: a type that is
 * overlooked here is an error there. Offsets in the tree are those in the text plus `base`.
 */
export function withoutTypes(
  text: string,
  statements: readonly Syntax[],
  base: number,
): { readonly text: string; readonly origins: Origins | null } {
  const eraser = new Eraser(text, statements, base);
  // No recursion: a chain of a thousand calls is a tree of that depth, and the parser does not bound it.
  const waiting: Syntax[] = [...statements];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (!eraser.erase(node)) continue;
    for (const key in node) pushNodes(waiting, node[key]);
  }
  const erased = eraser.result();
  const { edits } = eraser;
  if (edits.length === 0) return { text: erased, origins: null };
  return weave(
    erased,
    edits.sort((a, b) => a.at - b.at),
  );
}

function pushNodes(waiting: Syntax[], value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value as unknown[]) if (isSyntax(item)) waiting.push(item);
  } else if (isSyntax(value)) {
    waiting.push(value);
  }
}

class Eraser {
  readonly #ranges: { start: number; end: number }[] = [];
  readonly #puts: { at: number; text: string }[] = [];
  /** The ends of statements. A statement that ends with a type gets a semicolon, so that the next line cannot continue it. */
  readonly #ends = new Set<number>();
  /** Insertions that move the text after them. */
  readonly edits: Edit[] = [];
  #enums: ReadonlyMap<Syntax, EnumScope> | null = null;

  constructor(
    private readonly text: string,
    private readonly statements: readonly Syntax[],
    private readonly base: number,
  ) {}

  /** Erases the parts of a node that are no JavaScript. True if the nodes within it are to be visited. */
  erase(node: Syntax): boolean {
    const { type } = node;
    const start = node.start - this.base;
    const end = node.end - this.base;
    const isDeclared = node["declare"] === true;
    const refusal = REFUSED[type];
    if (refusal !== undefined && !isDeclared)
      throw new CodeRefusal("compile-error", refusal, placeOf(this.text, start));
    if (ENDED.test(type) && this.text[end - 1] !== ";") this.#ends.add(end);
    if (isDeclared || node["abstract"] === true) {
      // An abstract class stays a class, without its abstract members.
      if (isDeclared || !type.startsWith("Class")) return this.#drop(start, end);
      this.#word(start, "abstract");
    }
    switch (type) {
      case "TSAsExpression":
      case "TSSatisfiesExpression":
        return this.#cast(node["expression"] as Syntax, end);
      case "TSNonNullExpression":
        return this.#range(end - 1, end);
      case "TSTypeAssertion":
        return this.#assertion(start, node);
      case "TSInstantiationExpression": // Its type arguments are a node.
        return true;
      case "ClassDeclaration":
      case "ClassExpression":
        return this.#class(node);
      case "PropertyDefinition":
      case "MethodDefinition":
      case "AccessorProperty":
        return this.#member(node, start, end);
      case "TSEnumDeclaration":
        return this.#enum(node, start);
      case "TSEnumMember":
      case "TSParameterProperty":
        return true;
      case "ImportDeclaration":
      case "ExportNamedDeclaration":
        return this.#module(node, start, end);
      case "VariableDeclarator":
        if (node["definite"] === true) this.#mark(node["id"] as Syntax, "!");
        return true;
      case "ArrowFunctionExpression":
        this.#arrow(node, start);
        return this.#parameters(node);
      case "FunctionDeclaration":
      case "FunctionExpression":
        return this.#parameters(node);
      case "Identifier":
      case "ObjectPattern":
      case "ArrayPattern":
        if (node["optional"] === true) this.#mark(node, "?");
        return true;
      default:
        break;
    }
    if (!type.startsWith("TS")) return true;
    return type.endsWith("Declaration") || type === "TSDeclareFunction" || type === "TSIndexSignature"
      ? type === "TSTypeParameterDeclaration"
        ? this.#range(start, end)
        : this.#drop(start, end)
      : this.#range(start, end);
  }

  result(): string {
    let out = "";
    let from = 0;
    const { text } = this;
    const ranges = this.#ranges.sort((a, b) => a.start - b.start || b.end - a.end);
    for (const { start, end } of ranges) {
      if (end <= from) continue;
      const begin = Math.max(start, from);
      out += text.slice(from, begin);
      // A statement that ended with the line must still end, whatever is on the next line.
      out += this.#ends.has(end) ? `;${blank(text.slice(begin + 1, end))}` : blank(text.slice(begin, end));
      from = end;
    }
    out += text.slice(from);
    return overlay(
      out,
      this.#puts.sort((a, b) => a.at - b.at),
    );
  }

  #range(start: number, end: number): boolean {
    this.#ranges.push({ start, end });
    // An expression within is visited, a type is not.
    return this.text[start] === "!" && end === start + 1;
  }

  /** Leaves out a statement or a member of a class. A semicolon separates the text before it from the text after it. */
  #drop(start: number, end: number): boolean {
    this.#ranges.push({ start, end });
    this.#puts.push({ at: start, text: ";" });
    return false;
  }

  #cast(expression: Syntax, end: number): boolean {
    // Skip the parentheses around the expression, and comments, up to `as`.
    let at = expression.end - this.base;
    for (; at < end; at++) {
      const char = this.text[at] ?? "";
      if (char === "/") at = this.#afterComment(at) - 1;
      else if (char !== ")" && char.trim() !== "") break;
    }
    this.#ranges.push({ start: at, end });
    return true;
  }

  #afterComment(at: number): number {
    if (this.text[at + 1] === "*") return this.text.indexOf("*/", at + 2) + 2;
    return lineEndOf(this.text, at);
  }

  #assertion(start: number, node: Syntax): boolean {
    const { end } = node["typeAnnotation"] as Syntax;
    this.#range(start, this.text.indexOf(">", end - this.base) + 1);
    if (this.#hasLineEnd(start, (node["expression"] as Syntax).start - this.base)) {
      // A line that ends after `return` would end the statement. The parenthesis is open there.
      this.#puts.push({ at: start, text: "(" });
      this.edits.push({ at: node.end - this.base, text: ")" });
    }
    return true;
  }

  #hasLineEnd(start: number, end: number): boolean {
    return /[\r\n\u2028\u2029]/.test(this.text.slice(start, end));
  }

  /** Leaves out imports and exports of types, and the word before an enum. The rest is refused as JavaScript. */
  #module(node: Syntax, start: number, end: number): boolean {
    const { declaration } = node as { declaration?: Syntax | null };
    const specifiers = node["specifiers"] as { importKind?: string; exportKind?: string }[];
    const isOfTypes = specifiers.length > 0 && specifiers.every((each) => each.importKind === "type");
    if (declaration?.type.startsWith("TS") === true || declaration?.["declare"] === true) {
      this.#word(start, "export");
      return true;
    }
    if (declaration) return true;
    return isOfTypes || node["importKind"] === "type" || node["exportKind"] === "type" ? this.#drop(start, end) : true;
  }

  #enum(node: Syntax, start: number): boolean {
    this.#enums ??= scopesOfEnums(this.statements);
    const scope = this.#enums.get(node);
    if (scope === undefined) {
      throw new CodeRefusal(
        "compile-error",
        "An enum is no statement here: write it before.",
        placeOf(this.text, start),
      );
    }
    const { puts, edits } = editsOfEnum(this.text, node, scope, this.base);
    this.#puts.push(...puts);
    for (const edit of edits) this.edits.push(edit);
    return true;
  }

  #class(node: Syntax): boolean {
    for (const edit of propertiesOf(this.text, node, this.base)) this.edits.push(edit);
    const [first] = (node["implements"] as Syntax[] | undefined) ?? [];
    if (first === undefined) return true;
    const body = (node["body"] as Syntax).start - this.base;
    this.#ranges.push({ start: this.text.lastIndexOf("implements", first.start - this.base), end: body });
    return true;
  }

  #member(node: Syntax, start: number, end: number): boolean {
    const value = node["value"];
    if (isSyntax(value) && (value.type === "TSDeclareMethod" || value.type === "TSEmptyBodyFunctionExpression")) {
      return this.#drop(start, end);
    }
    const key = node["key"] as Syntax;
    const until = key.start - this.base;
    for (const { index, 0: word } of this.text.slice(start, until).matchAll(MODIFIERS)) {
      const at = start + index;
      this.#ranges.push({ start: at, end: at + word.length });
      if (index === 0) this.#puts.push({ at, text: ";" }); // `a = 1` and `*b() {}` on two lines must not become a product.
    }
    if (node["optional"] === true) this.#mark(node, "?", key.end - this.base);
    if (node["definite"] === true) this.#mark(node, "!", key.end - this.base);
    return true;
  }

  #parameters(node: Syntax): boolean {
    const parameters = node["params"] as (Syntax | undefined)[];
    for (const parameter of parameters) if (parameter?.type === "TSParameterProperty") this.#modifiers(parameter);
    const [first] = parameters;
    if (first?.type === "Identifier" && first["name"] === "this") {
      const end = afterTrivia(this.text, first.end - this.base);
      this.#ranges.push({ start: first.start - this.base, end: this.text[end] === "," ? end + 1 : end });
    }
    return true;
  }

  #modifiers(property: Syntax): void {
    const start = property.start - this.base;
    const until = identifierOf(property).start - this.base;
    for (const { index, 0: word } of this.text.slice(start, until).matchAll(MODIFIERS)) {
      this.#word(start + index, word);
    }
  }

  /** Moves the parentheses of an arrow function: no line may end before the first, nor between the last and `=>`. */
  #arrow(node: Syntax, start: number): void {
    const generic = node["typeParameters"];
    let open = node["async"] === true ? afterTrivia(this.text, start + "async".length) : start;
    if (isSyntax(generic)) {
      const from = generic.start - this.base;
      open = afterTrivia(this.text, generic.end - this.base);
      if (this.#hasLineEnd(from, open)) this.#puts.push({ at: from, text: "(" }, { at: open, text: " " });
    }
    const result = node["returnType"];
    if (!isSyntax(result)) return;
    const last = (node["params"] as Syntax[]).at(-1);
    let close = afterTrivia(this.text, last === undefined ? open + 1 : last.end - this.base);
    if (this.text[close] === ",") close = afterTrivia(this.text, close + 1);
    const end = result.end - this.base;
    if (this.#hasLineEnd(close, end)) this.#puts.push({ at: close, text: " " }, { at: end - 1, text: ")" });
  }

  /** Erases the mark between a name and its type. */
  #mark(node: Syntax, mark: string, from = this.#afterName(node)): void {
    const at = this.text.indexOf(mark, from);
    if (at !== -1 && at < node.end - this.base) this.#ranges.push({ start: at, end: at + 1 });
  }

  #afterName(node: Syntax): number {
    const type = node["typeAnnotation"];
    const end = (isSyntax(type) ? type.start : node.end) - this.base;
    return node.type === "Identifier" ? node.start - this.base : this.text.lastIndexOf("?", end);
  }

  #word(start: number, word: string): void {
    this.#ranges.push({ start, end: start + word.length });
  }
}

const isSyntax = (value: unknown): value is Syntax =>
  typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";
