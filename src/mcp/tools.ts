import {
  type AnyRef,
  checkOptions,
  type Door,
  type JsonSchema,
  jsonSchemaOf,
  type Operation,
  type OperationJsonSchema,
  type OptionChecks,
  type Outcome,
  operationsOf,
  option,
  outcomeOf,
  quote,
  receive,
} from "../index";
import { isContent } from "./content";
import type { McpExposing, ToolOperations, ToolOptions } from "./options";
import { isObject, NOTHING, nested, type Rooted, rooted } from "./rooted";

/** A tool as clients see it in the list. */
export interface ListedTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonSchema & { readonly type: "object" };
  readonly outputSchema?: JsonSchema & { readonly type: "object" };
  readonly annotations: Readonly<Record<string, string | boolean>>;
}

/** The form of a tool's arguments or result. A `value` becomes the property `value` of an object; `content` is parts for a model. */
export type Form = "nothing" | "object" | "value" | "content";

/** One operation as a tool. */
export interface Tool {
  readonly name: string;
  readonly ref: AnyRef;
  readonly door: Door;
  readonly operation: Operation;
  readonly takes: Form;
  /** False when the payload may be left out. */
  readonly isPayloadRequired: boolean;
  readonly gives: Form;
  /** Reads replies or items that are outcomes. Null if they are not. */
  readonly outcome: Outcome | null;
  readonly listed: ListedTool;
}

/** The tools of a server, by name. */
export type Tools = ReadonlyMap<string, Tool>;

/** Names that models' APIs accept, too. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const EXPOSED = /^[A-Za-z0-9_][A-Za-z0-9_.~-]*$/;
const ENTRY: OptionChecks<McpExposing[string]> = { ref: option.any, operations: option.any };
const TOOL: OptionChecks<ToolOptions> = {
  name: option.rule("is 1 to 64 letters, digits, _ or -", (value) => typeof value === "string" && NAME.test(value)),
  title: option.text,
  description: option.text,
};

/** Makes the table of tools, once. A call finds all it needs by the tool's name. Compiles the validators. */
export function toolsOf(exposing: McpExposing): Tools {
  if (!isObject(exposing)) {
    throw new TypeError(
      `expose says what becomes tools, such as { notes: { ref: files, operations: ["read"] } }; got ${quote(exposing)}.`,
    );
  }
  const tools = new Map<string, Tool>();
  for (const [actor, entry] of Object.entries(exposing)) {
    if (!EXPOSED.test(actor)) {
      throw new TypeError(
        `No actor can be exposed as ${quote(actor)}: begin with a letter, a digit or _, and go on with those, or . ~ -`,
      );
    }
    checkOptions(entry, ENTRY, `the exposed actor "${actor}"`, '{ ref: counter, operations: ["add"] }');
    for (const tool of toolsOfActor(actor, entry)) {
      const other = tools.get(tool.name);
      if (other !== undefined) {
        throw new TypeError(
          `Two tools would be named "${tool.name}": ${other.ref.address} ${other.operation.name} and ${tool.ref.address} ` +
            `${tool.operation.name}. Give one of them another name: { ${tool.operation.name}: { name: "…" } }.`,
        );
      }
      tools.set(tool.name, tool);
    }
  }
  return tools;
}

function toolsOfActor(actor: string, { ref, operations }: McpExposing[string]): readonly Tool[] {
  const known = knownOperations(ref, `the exposed actor "${actor}"`);
  const door = receive(ref);
  return listedIn(actor, operations).map(([name, options]) => {
    const operation = known[name];
    if (operation === undefined) {
      throw new TypeError(
        `"${actor}" has no operation ${quote(name)} to expose; write some of ${Object.keys(known).join(", ")}.`,
      );
    }
    checkOptions(options, TOOL, `the tool ${name} of "${actor}"`, '{ title: "Read a note" }');
    operation.payload.parse(undefined); // Compiles it: the first call would wait for that.
    const said = jsonSchemaOf({ name: actor, operations: known }, [name])[name];
    if (said === undefined) throw new Error(`There is no JSON Schema of the operation ${name} of "${actor}".`);
    if (JSON.stringify(said.input)?.includes('"x-mcp-header":') === true) {
      throw new TypeError(
        `The payload of ${name} of "${actor}" has x-mcp-header, and no headers are held to arguments here: leave it out.`,
      );
    }
    return toolOf(actor, { ref, door, operation }, said, options);
  });
}

/** The operations of an actor that has a protocol. */
export function knownOperations(ref: AnyRef, of: string): { readonly [operation: string]: Operation } {
  let known: ReturnType<typeof operationsOf>;
  try {
    known = operationsOf(ref);
  } catch {
    throw new TypeError(`The ref of ${of} is no reference: write what spawn() returned.`);
  }
  if (known !== null) return known;
  throw new TypeError(
    `${ref.address}, the ref of ${of}, takes any message: only an actor with a protocol can be served.`,
  );
}

const isList = (operations: ToolOperations): operations is readonly string[] => Array.isArray(operations);

function listedIn(actor: string, operations: ToolOperations): readonly (readonly [string, ToolOptions])[] {
  if (isList(operations)) {
    const twice = operations.find((name, index) => operations.indexOf(name) < index);
    if (twice === undefined) return operations.map((name) => [name, {}]);
    throw new TypeError(`"${actor}" exposes ${quote(twice)} twice: write it once.`);
  }
  if (isObject(operations)) {
    return Object.entries(operations).map(([name, options]) => [name, options === true ? {} : options]);
  }
  throw new TypeError(
    `The operations of the exposed actor "${actor}" are an array of names, or an object such as { add: true }; got ${quote(operations)}.`,
  );
}

function toolOf(
  actor: string,
  parts: Pick<Tool, "ref" | "door" | "operation">,
  said: OperationJsonSchema,
  options: ToolOptions,
): Tool {
  const { operation } = parts;
  const name = options.name ?? `${actor}_${operation.name}`.replaceAll(/[^A-Za-z0-9_-]/g, "_");
  if (!NAME.test(name)) {
    throw new TypeError(
      `The tool "${name}" has a name of more than 64 characters: give it another, as { ${operation.name}: { name: "…" } }.`,
    );
  }
  const { overrides, hints } = operation;
  const outcome = outcomeOf(operation);
  const input = said.input && rooted(said.input, said.isInputRequired, hasDialect(overrides?.payload));
  const good = outcome === null ? (said.output ?? said.items) : outcome.value;
  const hasContent = good !== undefined && !operation.isStream && isContent(good);
  const output = hasContent || good === undefined ? undefined : outputOf(operation, good);
  const title = options.title ?? `${inWords(actor)}: ${inWords(operation.name).toLowerCase()}`;
  const listed: ListedTool = {
    name,
    title,
    description: options.description ?? said.description ?? title,
    inputSchema: input?.schema ?? NOTHING,
    ...(output !== undefined && { outputSchema: output.schema }),
    annotations: {
      title,
      ...(hints?.readOnly !== undefined && { readOnlyHint: hints.readOnly }),
      ...(hints?.destructive !== undefined && { destructiveHint: hints.destructive }),
      ...(hints?.idempotent !== undefined && { idempotentHint: hints.idempotent }),
    },
  };
  return {
    ...parts,
    name,
    takes: input === undefined ? "nothing" : input.isWrapped ? "value" : "object",
    isPayloadRequired: said.isInputRequired,
    gives: hasContent ? "content" : output === undefined ? "nothing" : output.isWrapped ? "value" : "object",
    outcome,
    listed,
  };
}

/** The schema of a tool's result. A stream's result is an object with its items. */
function outputOf(operation: Operation, schema: JsonSchema): Rooted {
  if (!operation.isStream) return rooted(schema, true, hasDialect(operation.overrides?.reply));
  const { inner, $defs } = nested(schema, "#/properties/items/items");
  return {
    isWrapped: false,
    schema: {
      type: "object",
      properties: {
        items: { type: "array", items: inner },
        isComplete: { type: "boolean", description: "False when there may be more items." },
      },
      required: ["items", "isComplete"],
      ...$defs,
    },
  };
}

const hasDialect = (given: object | undefined): boolean => given !== undefined && "$schema" in given;

/** `readMany` as "Read many". */
function inWords(name: string): string {
  const words = name
    .replaceAll(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2")
    .replaceAll(/[_.~/:-]+/g, " ")
    .trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
