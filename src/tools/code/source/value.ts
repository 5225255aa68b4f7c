import type { Syntax } from "./syntax";
import { nameNotIn } from "./text";
import type { Edit } from "./weave";

const RETURN = "return ";
const CALL = "(input, tools)";
const FUNCTIONS: ReadonlySet<string> = new Set([
  "ArrowFunctionExpression",
  "FunctionExpression",
  "FunctionDeclaration",
]);
const HAVE_VALUE: ReadonlySet<string> = new Set([
  "IfStatement",
  "ForStatement",
  "ForInStatement",
  "ForOfStatement",
  "WhileStatement",
  "DoWhileStatement",
  "SwitchStatement",
  "TryStatement",
  "WithStatement",
]);

/** The parts that make a program return its value. */
export interface Valued {
  /** Before the first statement. */
  readonly declaration: string;
  /** In their order. */
  readonly edits: readonly Edit[];
  /** After the last statement. */
  readonly ending: string;
}

const NO_VALUE: Valued = { declaration: "", edits: [], ending: "" };

/**
 * The edits that make a function's body return the value of its last expression, as `eval` does (ECMAScript, the
 * "completion values" of statements). An expression that is the last statement gets a `return`. Otherwise each statement
 * that may be the last sets a variable. `base` is the offset at which `text` begins.
 *
 * @param isCalled whether a function that is all of the code is called with the input and the tools, and its value
 * returned.
 */
export function returnLast(text: string, statements: readonly Syntax[], base: number, isCalled: boolean): Valued {
  const last = statements.findLast((statement) => statement.type !== "EmptyStatement");
  if (last === undefined || last.type === "ReturnStatement" || last.type === "ThrowStatement") return NO_VALUE;
  const value = new Value(text, base);
  if (last.type === "ExpressionStatement") {
    const isOne = isCalled && isOneFunction(last["expression"] as Syntax, last, statements); // As ESTree has it.
    value.take(last, RETURN, isOne ? CALL : "");
    return { declaration: "", edits: value.edits, ending: "" };
  }
  let first = statements.length;
  while (first > 0) {
    const statement = statements[--first];
    if (statement !== undefined && value.isSure(statement)) break;
  }
  for (const statement of statements.slice(first)) value.visit(statement);
  if (value.edits.length === 0 && value.first === "void 0") return NO_VALUE;
  const declaration = `;let ${value.name} = ${value.first};`;
  return { declaration, edits: value.edits, ending: `;return ${value.name};` };
}

class Value {
  readonly edits: Edit[] = [];
  readonly name: string;
  /** The value before any statement: undefined, or the text of a directive. */
  first = "void 0";

  constructor(
    private readonly text: string,
    private readonly base: number,
  ) {
    this.name = nameNotIn(text, "$value");
  }

  /** True if a statement always has a value, so that those before it do not count. */
  isSure({ type }: Syntax): boolean {
    return type === "ExpressionStatement" || HAVE_VALUE.has(type);
  }

  /** Puts `before` before the expression of a statement. */
  take({ start, end, ...statement }: Syntax, before: string, call = ""): void {
    const isEnded = this.text[end - 1 - this.base] === ";";
    const directive = statement["directive"];
    if (directive !== undefined) {
      // A directive must stay as it is to stay a directive.
      const { start: from, end: to } = statement["expression"] as Syntax;
      this.first = this.text.slice(from - this.base, to - this.base);
      if (before === RETURN) this.insert(end, `;${RETURN}${this.first};`);
      return;
    }
    this.insert(start, `${before}(`);
    this.insert(isEnded ? end - 1 : end, isEnded ? `)${call}` : `)${call};`);
  }

  visit(statement: Syntax): void {
    const { type, start, end } = statement;
    // A label stays at its loop, because of `continue`.
    const body = labelled(statement);
    if (HAVE_VALUE.has(body.type)) {
      this.insert(start, `{${this.name} = void 0;`);
      this.visitParts(body);
      this.insert(end, "}");
    } else if (body !== statement) {
      this.visit(body);
    } else if (type === "ExpressionStatement") {
      this.take(statement, `${this.name} = `);
    } else if (type === "BlockStatement") {
      this.visitAll(statement["body"]);
    }
  }

  private visitParts(statement: Syntax): void {
    switch (statement.type) {
      case "IfStatement":
        this.visit(statement["consequent"] as Syntax);
        if (isSyntax(statement["alternate"])) this.visit(statement["alternate"]);
        return;
      case "SwitchStatement":
        for (const { consequent } of statement["cases"] as { consequent: unknown }[]) this.visitAll(consequent);
        return;
      case "TryStatement": {
        this.visit(statement["block"] as Syntax);
        if (isSyntax(statement["handler"])) {
          const body = statement["handler"]["body"] as Syntax;
          this.insert(body.start + 1, `${this.name} = void 0;`);
          this.visit(body);
        }
        if (isSyntax(statement["finalizer"])) {
          // The value of a `finally` counts only if it is left by `break` or `continue`.
          const { start, end } = statement["finalizer"];
          const saved = `${this.name}_`;
          this.insert(start + 1, `const ${saved} = ${this.name}; ${this.name} = void 0;`);
          this.visit(statement["finalizer"]);
          this.insert(end - 1, `;${this.name} = ${saved};`);
        }
        return;
      }
      default:
        this.visit(statement["body"] as Syntax);
    }
  }

  private visitAll(statements: unknown): void {
    for (const statement of statements as Syntax[]) this.visit(statement); // As ESTree has them.
  }

  private insert(at: number, text: string): void {
    this.edits.push({ at: at - this.base, text });
  }
}

/**
 * The call of a function whose declaration is all of the code. Null if the code is something else, or if the function
 * hides what it would be called with.
 */
export function callOfDeclared(statements: readonly Syntax[]): string | null {
  const last = statements.findLast((statement) => statement.type !== "EmptyStatement");
  if (last?.type !== "FunctionDeclaration" || !isOneFunction(last, last, statements)) return null;
  const { name } = last["id"] as Syntax; // As ESTree has it.
  return name === "input" || name === "tools" ? null : `;return ${name}${CALL};`;
}

/** True if a function, in the statement `last`, is all of the code but for directives. */
function isOneFunction({ type, generator }: Syntax, last: Syntax, statements: readonly Syntax[]): boolean {
  if (!FUNCTIONS.has(type) || generator === true) return false;
  return statements.every((each) => each === last || each.type === "EmptyStatement" || each["directive"] !== undefined);
}

function labelled(statement: Syntax): Syntax {
  let body = statement;
  while (body.type === "LabeledStatement") body = body["body"] as Syntax; // As ESTree has it.
  return body;
}

const isSyntax = (value: unknown): value is Syntax => typeof value === "object" && value !== null;
