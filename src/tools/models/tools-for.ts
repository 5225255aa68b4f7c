import {
  type AnyRef,
  type Door,
  type DoorOptions,
  type JsonSchema,
  jsonSchemaOf,
  type OperationJsonSchema,
  outcomeOf,
  quote,
  receive,
} from "../../index";
import { type KnownTools, readTools, type Tools } from "../code/tools/tool-set";
import { type CallOptions, type CallResult, callBy, type ModelTool } from "./call-tool";
import { rootOf } from "./root-object";

/** A tool as the protocol of chat completions declares it. */
export interface OpenAiTool {
  readonly type: "function";
  readonly function: { readonly name: string; readonly description: string; readonly parameters: JsonSchema };
}

/** A tool as the protocol of Anthropic's messages declares it. */
export interface AnthropicTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonSchema;
}

interface Declarations {
  readonly openai: OpenAiTool;
  readonly anthropic: AnthropicTool;
}

/** The protocols of models for which tools can be declared. */
export type ToolFormat = keyof Declarations;

/** Options for declaring tools, and for the messages of their calls. */
export interface ToolsForOptions<Format extends ToolFormat = ToolFormat> extends DoorOptions {
  /** The protocol of the model: that of chat completions (OpenAI, and most servers), or that of Anthropic's messages. */
  readonly format: Format;
}

/** Tools for a model. */
export interface ModelTools<Format extends ToolFormat = ToolFormat> {
  /** The `tools` of a request to the model: data of JSON, in the order of the tools and of their operations. */
  readonly declarations: readonly Declarations[Format][];
  /**
   * Calls a tool with a model's arguments, and returns its value, or an error for the model to read. The arguments are a JSON text or a
   * value that was parsed from one. They are bounded (1,048,576 letters, 128 levels) and validated once, by the schema of the operation. A
   * stream gives `{ items, isComplete }`, as a tool of MCP does, and an operation without a reply null. Never rejects because of what the model wrote.
   *
   * @throws RangeError or TypeError (as a rejection) when an option cannot be one.
   */
  callTool(name: string, args: unknown, options?: CallOptions): Promise<CallResult>;
}

const LONGEST_NAME = 64;
const LONGEST_DESCRIPTION = 1_024;

/**
 * Declares operations of actors as tools for a language model, and calls them. A tool is a reference, or some operations of one, as
 * for the code actor. Its name in the declarations is one such as `files_read`: unique, of at most 64 letters, digits, `_` and `-`.
 * Its description is that of the operation, or else that of the payload. The root of each schema is an object: a payload of another
 * form becomes the property `input` of one.
 *
 * The schemas are JSON Schema, draft 2020-12, as `jsonSchemaOf` gives them, and none is declared as `strict`. The strict mode of
 * each format holds the model to a schema while it writes, and takes only a part of JSON Schema. `callTool` validates the
 * arguments in any case. For strict mode, give the operation a payload schema within that part, and set `strict` in its declaration:
 *
 * | JSON Schema | strict of `openai` | strict of `anthropic` |
 * | --- | --- | --- |
 * | `additionalProperties: false` in each object | needed | needed |
 * | properties that may be left out | no: all are `required`, and may be null instead | yes, few |
 * | `anyOf`, `enum`, `const`, `$ref` to `$defs` | yes | yes; `enum` of plain values |
 * | recursion | yes | no |
 * | `minimum`, `maximum`, `multipleOf` | yes | no |
 * | `minLength`, `maxLength` | no | no |
 * | `pattern`, `format` | yes, some | yes, some |
 * | `minItems`, `maxItems` | yes | `minItems` of 0 or 1 |
 * | `oneOf`, `not`, `if`, `patternProperties`, `prefixItems` | no | no |
 *
 * This is the state of 2026, by the documents of both.
 *
 * @throws TypeError for an invalid tool, an unknown format, or a payload without a JSON Schema.
 * @example
 * const tools = toolsFor({ files: { ref: files, operations: ["read", "list"] } }, { format: "openai" });
 * const body = { model, messages, tools: tools.declarations };
 * const result = await tools.callTool(call.function.name, call.function.arguments);
 */
export function toolsFor<const T extends Tools, Format extends ToolFormat>(
  tools: T & KnownTools<T>,
  options: ToolsForOptions<Format>,
): ModelTools<Format> {
  const { format, ...doors } = checked(options);
  const known = new Map<string, ModelTool>();
  const declarations: Declarations[Format][] = [];
  for (const [tool, operations] of readTools(tools)) {
    const opened = new Map<AnyRef, Door>();
    for (const [operationName, { ref, operation }] of operations) {
      const door = opened.get(ref) ?? receive(ref, doors);
      opened.set(ref, door);
      const protocol = { name: tool, operations: { [operationName]: operation } };
      const described = jsonSchemaOf(protocol, [operationName])[operationName];
      if (described === undefined) continue; // It has the one that was asked for.
      const root = rootOf(described);
      const name = freeName(`${tool}_${operationName}`, known);
      known.set(name, { door, operation, outcome: outcomeOf(operation), root });
      declarations.push(DECLARE[format](name, descriptionOf(described, tool, operationName), root.schema));
    }
  }
  return { declarations, callTool: (name, args, given = {}) => callBy(known, name, args, given) };
}

const DECLARE: {
  readonly [Format in ToolFormat]: (name: string, description: string, schema: JsonSchema) => Declarations[Format];
} = {
  openai: (name, description, parameters) => ({ type: "function", function: { name, description, parameters } }),
  anthropic: (name, description, schema) => ({ name, description, input_schema: schema }),
};

function checked<Format extends ToolFormat>(options: ToolsForOptions<Format>): ToolsForOptions<Format> {
  const example = '{ format: "openai" }';
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`The options of toolsFor are an object, such as ${example}; got ${quote(options)}.`);
  }
  if (!Object.hasOwn(DECLARE, options.format)) {
    throw new TypeError(
      `The format of toolsFor is one of ${Object.keys(DECLARE).join(", ")}; got ${quote(options.format)}.`,
    );
  }
  const wrong = Object.keys(options).find((name) => !["format", "metadata", "expose"].includes(name));
  if (wrong === undefined) return options;
  throw new TypeError(`There is no option "${wrong}" of toolsFor; write one of format, metadata, expose.`);
}

/** A name in the letters of both formats that no tool has yet. */
function freeName(wanted: string, known: ReadonlyMap<string, unknown>): string {
  const plain = wanted.replace(/[^\w-]/g, "_").slice(0, LONGEST_NAME);
  let name = plain;
  for (let count = 2; known.has(name); count++) {
    const mark = `_${count}`;
    name = `${plain.slice(0, LONGEST_NAME - mark.length)}${mark}`;
  }
  return name;
}

function descriptionOf({ description, input, pattern }: OperationJsonSchema, tool: string, operation: string): string {
  const own = description ?? input?.["description"];
  const text = typeof own === "string" && own !== "" ? own : `Calls ${operation} of ${tool}.`;
  const whole = pattern === "stream" ? `${text} Gives a list of items.` : text;
  return whole.length <= LONGEST_DESCRIPTION ? whole : `${whole.slice(0, LONGEST_DESCRIPTION - 1).toWellFormed()}…`;
}
