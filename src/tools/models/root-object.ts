import type { JsonSchema, OperationJsonSchema } from "../../index";

/** The property for an input that is no object. */
export const INPUT = "input";

/** The schema of a tool's arguments, and the way to make an operation's payload of them. */
export interface Root {
  readonly schema: JsonSchema;
  readonly payloadOf: (args: object) => unknown;
  /** True when the payload stands in a property of its own. */
  readonly isWrapped: boolean;
}

/** Keywords that no model's API takes at the root of the arguments. */
const NOT_AT_ROOT = ["$ref", "anyOf", "oneOf", "allOf", "not", "if", "enum", "const"];
/** Keywords whose value is data, and no schema. */
const DATA: ReadonlySet<string> = new Set(["const", "enum", "default", "examples"]);

/** The arguments of a tool are an object. An input of another form becomes a property of one. */
export function rootOf({ input, isInputRequired }: Pick<OperationJsonSchema, "input" | "isInputRequired">): Root {
  if (input === undefined) {
    const schema = { type: "object", properties: {}, additionalProperties: false };
    return { schema, payloadOf: () => undefined, isWrapped: false };
  }
  const { $schema: _, ...root } = input;
  if (root["type"] === "object" && !NOT_AT_ROOT.some((keyword) => keyword in root)) {
    const { required } = root;
    const isNeeded = isInputRequired || !Array.isArray(required) || required.length === 0;
    return {
      schema: { ...root, properties: root["properties"] ?? {} },
      payloadOf: (args) => (isNeeded || Object.keys(args).length > 0 ? args : undefined),
      isWrapped: false,
    };
  }
  const { $defs, ...inner } = root;
  return {
    schema: {
      type: "object",
      properties: { [INPUT]: moved(inner) },
      ...(isInputRequired && { required: [INPUT] }),
      additionalProperties: false,
      ...($defs !== undefined && { $defs: moved($defs) }),
    },
    payloadOf: (args) => (Object.hasOwn(args, INPUT) ? (args as Record<string, unknown>)[INPUT] : undefined), // It has it.
    isWrapped: true,
  };
}

/** A copy whose references to the root lead to its new place. Definitions stay at the root. */
function moved(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(moved);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => {
      if (DATA.has(key)) return [key, each];
      const isInner =
        key === "$ref" && typeof each === "string" && /^#(\/|$)/.test(each) && !each.startsWith("#/$defs/");
      return [key, isInner ? `#/properties/${INPUT}${String(each).slice(1)}` : moved(each)];
    }),
  );
}
