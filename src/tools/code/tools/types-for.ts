import { type KnownTools, readTools, type Tools } from "./tool-set";
import { type Shape, Shapes, textIn } from "./type-shape";
import { commentText, keyText, TypeTexts } from "./type-text";

const SURROUNDINGS = `/** The input of the code. */
declare const input: unknown;
/** Says how far the code is; the value is one that JSON can hold. */
declare function progress(value: unknown): void;
`;
const FAULT = `/** What a call of a tool throws where it comes to no reply. */
interface ToolError extends Error {
  readonly name: "ToolError";
  /** "invalid-payload", "refused", "budget", "timeout", "handler-failed", and others. */
  readonly kind: string;
}
`;

interface Line {
  readonly name: string;
  readonly comment: string | undefined;
  readonly payload: Shape | null;
  readonly result: Shape | null;
  readonly isStream: boolean;
}

/**
 * Writes TypeScript declarations of the names that code has in scope, for a model that writes code: `tools`, `input`,
 * `progress`, and the error that a call may throw. They come from the protocols' schemas and descriptions: that of an operation,
 * or else that of its payload. A part that a schema
 * does not describe is `unknown`.
 *
 * @throws TypeError for an invalid tool.
 * @example
 * const prompt = `Write JavaScript against these declarations:\n${typesFor({ files })}`;
 */
export function typesFor<const T extends Tools>(tools: T & KnownTools<T>): string {
  const shapes = new Shapes();
  const texts = new TypeTexts(["ToolError", "Promise", "AsyncIterable", "tools", "input", "progress"]);
  const all: Shape[] = [];
  const look = (shape: Shape, tool: string, hint: string): Shape => {
    texts.look(shape, `${tool} ${hint}`);
    all.push(shape);
    return shape;
  };
  const table: [tool: string, lines: Line[]][] = [];
  for (const [tool, operations] of readTools(tools)) {
    const lines: Line[] = [];
    for (const [name, { operation }] of operations) {
      const { payload, reply, item, isStream } = operation;
      const given = payload.schema;
      const result = isStream ? item.schema : reply.schema;
      lines.push({
        name,
        comment:
          operation.description ??
          (given !== undefined && "description" in given ? textIn(given.description) : undefined),
        payload: given === undefined ? null : look(shapes.of(given, "input", `${name}Payload`), tool, `${name}Payload`),
        result: result === undefined ? null : look(shapes.of(result, "output", `${name}Reply`), tool, `${name}Reply`),
        isStream,
      });
    }
    table.push([tool, lines]);
  }
  texts.name(all);
  texts.restart();
  const named = texts.definitions().map((text) => `${text}\n`);
  if (table.length === 0) return SURROUNDINGS;
  const written = table.map(
    ([tool, lines]) => `  readonly ${keyText(tool)}: {\n${lines.map((line) => methodText(line, texts)).join("")}  };\n`,
  );
  return `${SURROUNDINGS}${FAULT}${named.join("")}declare const tools: {\n${written.join("")}};\n`.replaceAll(
    / +\n/g,
    "\n",
  );
}

function methodText({ name, comment, payload, result, isStream }: Line, texts: TypeTexts): string {
  const indent = "    ";
  const given = payload === null ? "" : texts.text(payload, indent);
  const mark = given === "unknown" || /(^| )undefined( |$)/.test(given) ? "?" : "";
  const value = result === null ? "void" : texts.text(result, indent);
  const returned = `${isStream ? "AsyncIterable" : "Promise"}<${value}>`;
  return `${commentText(comment, indent)}${indent}${keyText(name)}(${payload === null ? "" : `payload${mark}: ${given}`}): ${returned};\n`;
}
