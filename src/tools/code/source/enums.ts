import { CodeRefusal } from "../code-refusal";
import type { Syntax } from "./syntax";
import { afterTrivia, nameNotIn, placeOf } from "./text";
import type { Edit } from "./weave";

/** Most enums of a source. Each becomes 200 characters of JavaScript. */
const MOST = 500;

/** The declaration of an enum. */
export interface EnumScope {
  /** The keyword as in TypeScript's output, or null for a further declaration of the same enum. */
  readonly keyword: "var " | "let " | null;
  /** Its members, including those of other declarations. */
  readonly members: ReadonlySet<string>;
}

/** Finds the enums in statements. Declarations of the same enum share their members. */
export function scopesOfEnums(statements: readonly Syntax[]): ReadonlyMap<Syntax, EnumScope> {
  const scopes = new Map<Syntax, EnumScope>();
  collect(statements, "var ", scopes);
  const waiting: unknown[] = [...statements];
  while (waiting.length > 0) {
    const node = waiting.pop() as Syntax | null; // Only objects are pushed.
    if (typeof node?.type !== "string") continue;
    const { type, body } = node;
    if (Array.isArray(body)) collect(body, "let ", scopes);
    if (type === "SwitchStatement") {
      collect(
        (node["cases"] as { consequent: Syntax[] }[]).flatMap(({ consequent }) => consequent),
        "let ",
        scopes,
      );
    }
    for (const key in node) {
      const value = node[key];
      if (Array.isArray(value)) for (const item of value) waiting.push(item);
      else if (typeof value === "object") waiting.push(value);
    }
  }
  return scopes;
}

function collect(statements: readonly Syntax[], keyword: "var " | "let ", scopes: Map<Syntax, EnumScope>): void {
  const known = new Map<string, Set<string>>();
  for (const statement of statements) {
    const declared =
      statement.type === "ExportNamedDeclaration" ? (statement["declaration"] as Syntax | null) : statement;
    if (declared?.type !== "TSEnumDeclaration" || declared["declare"] === true) continue;
    const name = (declared["id"] as Syntax)["name"] as string;
    const before = known.get(name);
    const members = before ?? new Set();
    for (const { id } of membersOf(declared)) members.add(nameOf(id));
    known.set(name, members);
    if (scopes.size >= MOST) throw new CodeRefusal("compile-error", "There are too many enums; write objects.");
    scopes.set(declared, { keyword: before === undefined ? keyword : null, members });
  }
}

interface Member extends Syntax {
  readonly id: Syntax;
  readonly initializer?: Syntax;
}

const membersOf = (node: Syntax): readonly Member[] => node["members"] as Member[]; // As the parser has them.
const nameOf = (id: Syntax): string => String(id.type === "Literal" ? id["value"] : id["name"]);

/**
 * The edits that make an object of an enum. The expressions of its members stay in their places:
 * `enum A { B, C = B + 1 }` becomes `var A = {};{…[add("B", last + 1), add("C", A.B + 1)];}`.
 */
export function editsOfEnum(
  text: string,
  node: Syntax,
  { keyword, members }: EnumScope,
  base: number,
): { readonly puts: readonly { at: number; text: string }[]; readonly edits: readonly Edit[] } {
  const id = node["id"] as Syntax;
  const name = id["name"] as string;
  const idEnd = id.end - base;
  const add = nameNotIn(text, "$enum");
  const puts: { at: number; text: string }[] = [];
  const edits: Edit[] = [];
  const start = node.start - base;
  const word = node["const"] === true ? afterTrivia(text, start + "const".length) : start;
  if (word > start) puts.push({ at: start, text: " ".repeat("const".length) });
  puts.push({ at: word, text: keyword ?? "    " });
  if (keyword === null) puts.push({ at: id.start - base, text: " ".repeat(id.end - id.start) });
  const brace = afterTrivia(text, idEnd);
  const set = `${name}[${add}N] = ${add}L = ${add}V; if (typeof ${add}V !== "string") ${name}[${add}V] = ${add}N;`;
  const begin = `{let ${add}L = -1;const ${add} = (${add}N, ${add}V) => {${set}}, ${add}A = [`;
  edits.push({ at: brace, until: brace + 1, text: keyword === null ? begin : ` = {};${begin}` });
  let isText = false;
  for (const member of membersOf(node)) {
    const { id: key, initializer } = member;
    const quote = key.type === "Literal" ? "" : '"';
    edits.push({ at: key.start - base, text: `${add}(${quote}` });
    if (initializer === undefined) {
      if (isText) {
        const message = "Give this member a value: the one before it has a text.";
        throw new CodeRefusal("compile-error", message, placeOf(text, key.start - base));
      }
      edits.push({ at: key.end - base, text: `${quote}, ${add}L + 1)` });
      continue;
    }
    const equals = afterTrivia(text, key.end - base);
    edits.push({ at: key.end - base, text: quote }, { at: equals, until: equals + 1, text: "," });
    for (const edit of references(text, initializer, name, members, base)) edits.push(edit);
    edits.push({ at: member.end - base, text: ")" });
    isText = initializer.type === "TemplateLiteral" || typeof initializer["value"] === "string";
  }
  edits.push({ at: node.end - 1 - base, text: "];" });
  return { puts, edits };
}

/** The edits that make `B` in a member's expression the enum's own. */
function references(
  text: string,
  expression: Syntax,
  name: string,
  members: ReadonlySet<string>,
  base: number,
): readonly Edit[] {
  const edits: Edit[] = [];
  const waiting: unknown[] = [expression];
  while (waiting.length > 0) {
    const node = waiting.pop() as Syntax | null | undefined;
    if (Array.isArray(node)) for (const each of node) waiting.push(each);
    if (typeof node?.type !== "string") continue;
    const at = node.start - base;
    if (/Function|Class/.test(node.type)) {
      throw new CodeRefusal(
        "compile-error",
        "Make this function before the enum, and call it here.",
        placeOf(text, at),
      );
    }
    if (node.type === "Identifier") {
      if (members.has(node["name"] as string)) edits.push({ at, text: `${name}.` });
    } else if (node.type === "MemberExpression") {
      waiting.push(node["object"], node["computed"] === true ? node["property"] : null);
    } else if (node.type === "Property") {
      const value = node["value"] as Syntax;
      if (node["shorthand"] === true && members.has(value["name"] as string)) {
        edits.push({ at, text: `${value["name"]}: ` });
      }
      waiting.push(value, node["computed"] === true ? node["key"] : null);
    } else if (node.type.startsWith("TS")) {
      waiting.push(node["expression"]);
    } else {
      for (const key in node) waiting.push(node[key]);
    }
  }
  return edits.sort((a, b) => a.at - b.at);
}
