import { defineProtocol, type OperationSchemas, type Protocol, Type } from "../../index";
import { ContentBlock } from "../content";
import { isObject } from "../rooted";
import type { RemoteLimits } from "./options";
import { type RemoteSignatures, ToolError } from "./remote-signatures";
import { MOST_STEPS, type WrittenOut, writtenOut } from "./written-out";

/** A tool as another server lists it, so far as it is read here. The SDK has checked these parts. */
export interface RemoteTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined;
  readonly annotations?:
    | {
        readonly readOnlyHint?: boolean | undefined;
        readonly idempotentHint?: boolean | undefined;
        readonly destructiveHint?: boolean | undefined;
      }
    | undefined;
}

/** The tools of a server: the operations, and the tool that each stands for. */
export interface RemoteTools {
  readonly protocol: Protocol<string, RemoteSignatures>;
  /** By the names of the operations. */
  readonly tools: ReadonlyMap<string, RemoteTool>;
  /** Most steps that the check of a reply takes for one part of it, by the names of the operations. */
  readonly widths: ReadonlyMap<string, number>;
  /** Tells whether a list is the same as another one. */
  readonly fingerprint: string;
  /** Those that were left out, each with the reason. */
  readonly leftOut: readonly string[];
}

const HOOKS = ["onStart", "onRestart", "onStop", "then"];
const LONGEST_NAME = 128;
/** Most steps in which the schemas of all tools are written out. Replies are not checked by what is beyond. */
const MOST_STEPS_OF_ALL = 200_000;

/** Makes the protocol of a server's tools. A tool that cannot be an operation is left out. */
export function remoteTools(name: string, listed: readonly RemoteTool[], limits: RemoteLimits): RemoteTools {
  const operations: Record<string, OperationSchemas> = Object.create(null);
  const tools = new Map<string, RemoteTool>();
  const widths = new Map<string, number>();
  const leftOut: string[] = [];
  const texts: string[] = [];
  let steps = MOST_STEPS_OF_ALL;
  for (const tool of listed) {
    const operation = operationNamed(tool.name);
    const text = JSON.stringify([tool.name, tool.description, tool.inputSchema, tool.outputSchema, tool.annotations]);
    const reason = reasonAgainst(operation, text, tools, limits);
    if (reason !== undefined) {
      if (leftOut.length < 10) leftOut.push(`${JSON.stringify(tool.name.slice(0, 64))}: ${reason}`);
      continue;
    }
    const written = tool.outputSchema && writtenOut(tool.outputSchema, Math.min(MOST_STEPS, steps));
    steps -= written?.steps ?? 0;
    tools.set(operation, tool);
    widths.set(operation, written?.width ?? 1);
    operations[operation] = schemasOf(tool, written);
    texts.push(text);
  }
  // The names are known at run time alone: any operation may be asked, and gives an outcome.
  const protocol = defineProtocol(`mcp:${name}`, operations) as Protocol;
  return {
    protocol: protocol as Protocol<string, RemoteSignatures>,
    tools,
    widths,
    fingerprint: texts.join("\n"),
    leftOut,
  };
}

/** Names that JavaScript or an actor gives a meaning get an underscore. */
const operationNamed = (name: string): string => (name in Object.prototype || HOOKS.includes(name) ? `${name}_` : name);

function reasonAgainst(
  operation: string,
  text: string,
  tools: ReadonlyMap<string, unknown>,
  limits: RemoteLimits,
): string | undefined {
  if (tools.size >= limits.tools) return `there are more than ${limits.tools} tools`;
  if (operation === "" || operation.length > LONGEST_NAME) return `its name has not 1 to ${LONGEST_NAME} characters`;
  if (tools.has(operation)) return "another one has its name";
  if (text.length > limits.definition) return `its definition has more than ${limits.definition} bytes`;
  return undefined;
}

function schemasOf(
  { description, inputSchema, outputSchema, annotations }: RemoteTool,
  written: WrittenOut | undefined,
): OperationSchemas {
  const { readOnlyHint, idempotentHint, destructiveHint } = annotations ?? {};
  const isRequired = Array.isArray(inputSchema["required"]) && inputSchema["required"].length > 0;
  // The server validates the arguments. Here they must be an object, and what the server says of them is for readers.
  const payload = Type.Unsafe<Record<string, unknown>>({ type: "object" });
  return {
    ...(description !== undefined && description.trim() !== "" && { description }),
    hints: {
      ...(readOnlyHint !== undefined && { readOnly: readOnlyHint }),
      ...(idempotentHint !== undefined && { idempotent: idempotentHint }),
      ...(destructiveHint !== undefined && readOnlyHint !== true && { destructive: destructiveHint }),
    },
    payload: isRequired ? payload : Type.Union([payload, Type.Undefined()]),
    reply: written === undefined ? outcome(PLAIN) : outcome(Type.Unsafe<unknown>(written.schema)),
    schema: {
      payload: inputSchema,
      ...(outputSchema !== undefined && { reply: { anyOf: [good(placed(outputSchema)), FAILURE] } }),
    },
  };
}

const outcome = <Value extends typeof PLAIN | Type.TUnsafe<unknown>>(value: Value) =>
  Type.Union([
    Type.Object({ ok: Type.Literal(true), value }),
    Type.Object({ ok: Type.Literal(false), error: ToolError }),
  ]);

/** The same as JSON Schema. */
const good = (value: unknown): object => ({
  type: "object",
  required: ["ok", "value"],
  properties: { ok: { const: true }, value },
});
const FAILURE = {
  type: "object",
  required: ["ok", "error"],
  properties: {
    ok: { const: false },
    error: {
      type: "object",
      required: ["kind", "message"],
      properties: {
        kind: { enum: ["failed", "refused", "timeout", "lost", "invalid-reply"] },
        message: { type: "string" },
      },
    },
  },
};

/** The value of a tool without an output schema: its texts, or its parts if some are no texts. */
const PLAIN = Type.Union([Type.String(), Type.Array(ContentBlock)]);
/** The place of a reply's value in its schema. */
const VALUE = "#/anyOf/0/properties/value";
const DATA = new Set(["const", "enum", "default", "examples"]);
const DEEPEST = 64;

/** Makes a stranger's JSON Schema a part of another one: its references lead to where it stands then. */
function placed(schema: unknown, depth = 0): unknown {
  if (depth > DEEPEST) return {};
  if (Array.isArray(schema)) return schema.map((each) => placed(each, depth + 1));
  if (!isObject(schema)) return schema;
  const { $ref } = schema;
  if ($ref !== undefined && (typeof $ref !== "string" || !$ref.startsWith("#"))) return {}; // It leads elsewhere, where nobody looks.
  const parts = Object.entries(schema).filter(([key]) => key !== "$schema" && key !== "$id");
  return Object.fromEntries(parts.map(([key, value]) => [key, placedPart(key, value, depth)]));
}

function placedPart(key: string, value: unknown, depth: number): unknown {
  if (key === "$ref") return VALUE + String(value).slice(1);
  if (DATA.has(key)) return value;
  if (!NAMED.has(key) || !isObject(value)) return placed(value, depth + 1);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, placed(each, depth + 2)]));
}

/** Keywords whose value has names of its own, and not keywords. */
const NAMED = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);
