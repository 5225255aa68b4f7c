import { CodeRefusal } from "../code-refusal";
import type { Syntax } from "./syntax";
import { placeOf } from "./text";
import type { Edit } from "./weave";

/** The identifier of a parameter property. */
export function identifierOf(property: Syntax): Syntax {
  const parameter = property["parameter"] as Syntax;
  return parameter.type === "AssignmentPattern" ? (parameter["left"] as Syntax) : parameter;
}

/**
 * The edits that make properties of a constructor's parameters, as TypeScript does: they are the first fields, and are set
 * at the start of the constructor or after its `super(…)`.
 */
export function propertiesOf(text: string, node: Syntax, base: number): readonly Edit[] {
  const body = node["body"] as Syntax;
  const found = (body["body"] as Syntax[]).find(
    ({ kind, value }) => kind === "constructor" && (value as Syntax)["body"] != null,
  );
  const method = found?.["value"] as Syntax | undefined;
  const parameters = ((method?.["params"] ?? []) as Syntax[]).filter(({ type }) => type === "TSParameterProperty");
  if (method === undefined || parameters.length === 0) return [];
  const names = parameters.map((parameter) => {
    const { type, start, name } = identifierOf(parameter);
    if (type === "Identifier") return name as string;
    const message = "A parameter that is a property has a name: take its parts in the constructor.";
    throw new CodeRefusal("compile-error", message, placeOf(text, start - base));
  });
  return [
    { at: body.start + 1 - base, text: names.map((name) => `${name};`).join("") },
    { at: beginOf(text, node, method, base), text: `;${names.map((name) => `this.${name} = ${name};`).join("")}` },
  ];
}

/** The offset at which the properties are set. */
function beginOf(text: string, node: Syntax, method: Syntax, base: number): number {
  const body = method["body"] as Syntax;
  const statements = body["body"] as Syntax[];
  if (node["superClass"]) {
    const call = statements.find(({ expression }) => {
      const callee = (expression as Syntax | undefined)?.["callee"] as Syntax | undefined;
      return callee?.type === "Super";
    });
    if (call !== undefined) return call.end - base;
    const message = "With parameters that are properties, super(…) is called by a statement of the constructor itself.";
    throw new CodeRefusal("compile-error", message, placeOf(text, method.start - base));
  }
  return (statements.findLast((statement) => statement["directive"] !== undefined)?.end ?? body.start + 1) - base;
}
