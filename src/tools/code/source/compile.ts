import { CodeRefusal } from "../code-refusal";
import type { Purpose } from "./errand";
import { OFFSET, type Parse, type Parsed } from "./parser";
import { type Lasting, makeLasting, namesIn } from "./session";
import type { Reading } from "./source-program";
import type { Syntax } from "./syntax";
import { nameNotIn, placeOf } from "./text";
import { callOfDeclared, returnLast } from "./value";
import { type Edit, originOf, type Range, weave } from "./weave";

/** Parameters of the function whose body is the program, and the names around it. */
const GIVEN: ReadonlySet<string> = new Set(["input", "tools", "progress", "console"]);

/** Reads a source, and makes a program that returns its value. Nothing of it runs. */
export function compile(parse: Parse, code: string, purpose: Purpose): Reading | CodeRefusal {
  try {
    const parsed = parse(code);
    return purpose === "session" ? inSession(code, parsed) : alone(parsed, purpose === "run");
  } catch (error) {
    if (error instanceof CodeRefusal) return error;
    if (error instanceof RangeError) {
      return new CodeRefusal("compile-error", "The code is nested too deeply; write it in flatter parts.");
    }
    throw error;
  }
}

function alone(parsed: Parsed, isCalled: boolean): Reading {
  const { text, statements } = parsed;
  const valued = returnLast(text, statements, OFFSET, isCalled);
  const { declaration, edits } = valued;
  // Not in a session, where a declaration is for later runs.
  const ending = (isCalled ? callOfDeclared(statements) : null) ?? valued.ending;
  const beginning: Edit[] = declaration === "" ? [] : [{ at: beginOf(statements), text: declaration }];
  const declared = statements.flatMap(lexicalNames);
  const shadowed = declared.filter((name) => GIVEN.has(name));
  if (shadowed.length === 0) return readingOf(parsed, [...beginning, ...edits], ending, []);
  // `const input = 1` is an error beside a parameter of that name, but not within another function.
  const name = nameNotIn(text, "$program");
  // Pass these names on, so that a `var` of the same name still has its value.
  const kept = ["input", "tools", "progress"].filter((given) => !shadowed.includes(given) && text.includes(given));
  const rest = kept.join(", ");
  const isStrict = statements.some((statement) => statement["directive"] === "use strict");
  const head = { at: 0, text: `${isStrict ? '"use strict";' : ""}const ${name} = async (${rest}) => {\n` };
  const tail = `${ending}\n};return ${name}(${rest});`;
  return readingOf(parsed, [head, ...beginning, ...edits], tail, []);
}

function inSession(code: string, parsed: Parsed): Reading {
  const { text, statements, origins } = parsed;
  const { declares, edits, hoists } = makeLasting(text, statements, OFFSET, (at) =>
    placeOf(code, origins === null ? at : (originOf(origins, at) ?? 0)),
  );
  const valued = returnLast(text, statements, OFFSET, true);
  const beginning: (string | Range)[] = [...hoists, valued.declaration];
  const all = [{ at: beginOf(statements), text: beginning }, ...merge(edits, valued.edits)];
  return readingOf(parsed, all, valued.ending, declares);
}

function readingOf(
  { text, origins }: Parsed,
  edits: readonly Edit[],
  ending: string,
  declares: readonly string[],
): Reading {
  const woven = weave(text, edits, ending);
  return { body: woven.text, declares, origins: origins === null ? [woven.origins] : [woven.origins, origins] };
}

/** The offset at which the directives end. */
const beginOf = (statements: readonly Syntax[]): number =>
  (statements.find((statement) => statement["directive"] === undefined)?.start ?? OFFSET) - OFFSET;

function lexicalNames(statement: Syntax): string[] {
  const { type } = statement;
  if (type === "ClassDeclaration") return [(statement["id"] as Syntax)["name"] as string];
  if (type !== "VariableDeclaration" || statement["kind"] === "var") return [];
  const declarators = statement["declarations"] as { id: Syntax }[]; // As ESTree has them.
  return declarators.flatMap(({ id }) => namesIn(id)).map((id) => id["name"] as string);
}

/**
 * Merges two lists of edits in their order. At the same place, the end of a declaration comes first, then the edit for a
 * value (of the statements around it or of the next one), then the beginning of a declaration.
 */
function merge(declarations: Lasting["edits"], values: readonly Edit[]): Edit[] {
  const merged: Edit[] = [];
  let next = 0;
  for (const edit of declarations) {
    const isEnd = edit.until === undefined;
    for (let value = values[next]; value !== undefined; value = values[++next]) {
      if (value.at > edit.at || (value.at === edit.at && isEnd)) break;
      merged.push(value);
    }
    merged.push(edit);
  }
  return [...merged, ...values.slice(next)];
}
