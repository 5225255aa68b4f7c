import { CodeRefusal } from "../code-refusal";
import type { Syntax } from "./syntax";
import type { Edit, Range } from "./weave";

/** Names that belong to a run or to the language. A session cannot keep values under them. */
const TAKEN: Readonly<Record<string, string>> = {
  input: "is the value that came with the request, and new in each run",
  tools: "is what the code is given to call, and new in each run",
  progress: "tells how far the code is, and is new in each run",
  arguments: "is no name that lasts",
  undefined: "is the language's",
  NaN: "is the language's",
  Infinity: "is the language's",
};

/** The edits that make declarations last. */
export interface Lasting {
  readonly declares: readonly string[];
  /** In their order. An edit at the beginning of a declaration has an `until`, one at the end has none. */
  readonly edits: readonly Edit[];
  /** The functions, put before the first statement so that they can be called above their declarations. */
  readonly hoists: readonly (string | Range)[];
}

/**
 * Turns the declarations of a program into assignments, so that their names last for later runs, as in a console:
 * - `let`, `const` and `class` at the top level, and `var` anywhere outside of functions. A `const` can be assigned to,
 *   because the code that declares it may be corrected and run again. A name that is read too early is undefined, not an
 *   error.
 * - Functions at the top level. They become expressions and move to the beginning. A function in a block stays there, and
 *   lasts no longer than the run.
 *
 * `placeOf` gives the place of an offset in the source; `base` is the offset at which `text` begins.
 */
export function makeLasting(
  text: string,
  statements: readonly Syntax[],
  base: number,
  placeOf: (at: number) => { line: number; column: number },
): Lasting {
  const declarations = new Declarations(text, base, placeOf);
  for (const statement of statements) declarations.top(statement);
  return { declares: [...declarations.names], edits: declarations.edits, hoists: declarations.hoists };
}

class Declarations {
  readonly names = new Set<string>();
  readonly edits: Edit[] = [];
  readonly hoists: (string | Range)[] = [];

  constructor(
    private readonly text: string,
    private readonly base: number,
    private readonly placeOf: (at: number) => { line: number; column: number },
  ) {}

  top(statement: Syntax): void {
    const start = statement.start - this.base;
    const end = statement.end - this.base;
    switch (statement.type) {
      case "VariableDeclaration":
        this.#variables(statement, true);
        return;
      case "ClassDeclaration": {
        const name = this.#declare(statement["id"] as Syntax);
        this.edits.push({ at: start, until: start, text: `;${name} = ` }, { at: end, text: ";" });
        return;
      }
      case "FunctionDeclaration": {
        // The assignment names the function. A name of its own would be another variable inside it.
        const id = statement["id"] as Syntax;
        const name = this.#declare(id);
        this.hoists.push(`;${name} = `, [start, id.start - this.base], [id.end - this.base, end], ";");
        this.edits.push({ at: start, until: end, text: ";" });
        return;
      }
      default:
        this.#visit(statement, true);
        return;
    }
  }

  #visit(statement: Syntax, isInList: boolean): void {
    switch (statement.type) {
      case "VariableDeclaration":
        if (statement["kind"] === "var") this.#variables(statement, isInList);
        return;
      case "BlockStatement":
        this.#visitAll(statement["body"]);
        return;
      case "IfStatement":
        this.#visit(statement["consequent"] as Syntax, false);
        if (statement["alternate"]) this.#visit(statement["alternate"] as Syntax, false);
        return;
      case "ForStatement":
        this.#head(statement["init"] as Syntax | null, false);
        this.#visit(statement["body"] as Syntax, false);
        return;
      case "ForInStatement":
      case "ForOfStatement":
        this.#head(statement["left"] as Syntax, true);
        this.#visit(statement["body"] as Syntax, false);
        return;
      case "WhileStatement":
      case "DoWhileStatement":
      case "LabeledStatement":
      case "WithStatement":
        this.#visit(statement["body"] as Syntax, false);
        return;
      case "SwitchStatement":
        for (const { consequent } of statement["cases"] as { consequent: unknown }[]) this.#visitAll(consequent);
        return;
      case "TryStatement":
        this.#visit(statement["block"] as Syntax, true);
        if (statement["handler"]) this.#visit((statement["handler"] as Syntax)["body"] as Syntax, true);
        if (statement["finalizer"]) this.#visit(statement["finalizer"] as Syntax, true);
        return;
    }
  }

  #visitAll(statements: unknown): void {
    for (const statement of statements as Syntax[]) this.#visit(statement, true); // As ESTree has them.
  }

  /** `let a, b = 1` becomes `;( a = void 0, b = 1)`. */
  #variables(node: Syntax, isInList: boolean): void {
    const end = node.end - this.base;
    const isEnded = this.text[end - 1] === ";";
    // The semicolon ends the previous line, which may have none. A statement that stands alone has no line before it.
    this.#keyword(node, isInList ? ";(" : "(");
    this.#declarators(node);
    this.edits.push({ at: isEnded ? end - 1 : end, text: isEnded ? ")" : ");" });
  }

  /** A `var` in the head of a loop. */
  #head(node: Syntax | null, isOver: boolean): void {
    if (node?.type !== "VariableDeclaration" || node["kind"] !== "var") return;
    const [{ id, init }] = node["declarations"] as [{ id: Syntax; init: Syntax | null }]; // At least one, by ESTree.
    if (isOver && init) {
      throw new CodeRefusal("compile-error", "Assign the value before the loop.", this.placeOf(id.start - this.base));
    }
    // `for (async of …)` would mean something else, and so would `({ a }) of`.
    const isBare = isOver && id.type !== "Identifier";
    this.#keyword(node, isBare ? "" : "(");
    this.#declarators(node);
    if (!isBare) this.edits.push({ at: node.end - this.base, text: ")" });
  }

  #keyword(node: Syntax, text: string): void {
    const at = node.start - this.base;
    this.edits.push({ at, until: at + (node["kind"] as string).length, text });
  }

  #declarators(node: Syntax): void {
    for (const { id, init } of node["declarations"] as { id: Syntax; init: Syntax | null }[]) {
      for (const name of namesIn(id)) this.#declare(name);
      // `var a` keeps an existing value.
      if (!init && node["kind"] !== "var") this.edits.push({ at: id.end - this.base, text: " = void 0" });
    }
  }

  #declare(id: Syntax): string {
    const name = id["name"] as string;
    const reason = Object.hasOwn(TAKEN, name) ? TAKEN[name] : undefined;
    if (reason !== undefined) {
      const message = `${name} ${reason}: give this another name.`;
      throw new CodeRefusal("compile-error", message, this.placeOf(id.start - this.base));
    }
    this.names.add(name);
    return name;
  }
}

/** The names that a pattern declares. */
export function namesIn(pattern: Syntax): Syntax[] {
  switch (pattern.type) {
    case "Identifier":
      return [pattern];
    case "ObjectPattern":
      return (pattern["properties"] as Syntax[]).flatMap((property) =>
        namesIn((property.type === "Property" ? property["value"] : property["argument"]) as Syntax),
      );
    case "ArrayPattern":
      return (pattern["elements"] as (Syntax | null)[]).flatMap((element) => (element ? namesIn(element) : []));
    case "AssignmentPattern":
      return namesIn(pattern["left"] as Syntax);
    default:
      return namesIn(pattern["argument"] as Syntax); // A rest element.
  }
}
