import type { JsonSchema } from "../index";

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A JSON Schema whose root is an object, as those of tools are. */
export interface Rooted {
  readonly schema: JsonSchema & { readonly type: "object" };
  /** True when the value is no object. It then becomes the property `value` of one. */
  readonly isWrapped: boolean;
}

/** The schema of no value: an empty object. */
export const NOTHING: Rooted["schema"] = Object.freeze({ type: "object", properties: {}, additionalProperties: false });

/**
 * Makes a JSON Schema one of an object. The dialect is that of the protocol, and is left out unless the schema's owner wrote it: validators
 * of older clients know no other dialect by name.
 */
export function rooted(schema: JsonSchema, isRequired: boolean, keepsDialect = false): Rooted {
  const { $schema, ...own } = schema;
  const dialect = keepsDialect && $schema !== undefined ? { $schema } : {};
  if (isOfObjects(own, own, 0)) return { schema: { ...dialect, ...own, type: "object" }, isWrapped: false };
  const { inner, $defs } = nested(own, "#/properties/value");
  return {
    schema: {
      ...dialect,
      type: "object",
      properties: { value: inner },
      ...(isRequired && { required: ["value"] }),
      additionalProperties: false,
      ...$defs,
    },
    isWrapped: true,
  };
}

/**
 * A schema for a place within another one, and the definitions to put at the other one's root.
 *
 * @param at the place, as a JSON Schema reference.
 */
export function nested(
  { $schema: _, $defs, ...schema }: JsonSchema,
  at: string,
): { readonly inner: unknown; readonly $defs: { readonly $defs?: unknown } } {
  return { inner: moved(schema, at), $defs: $defs === undefined ? {} : { $defs: moved($defs, at) } };
}

const DEEPEST = 32;

/** True when each value that fits is an object. */
function isOfObjects(schema: unknown, root: JsonSchema, depth: number): boolean {
  if (!isNode(schema) || depth > DEEPEST) return false;
  const { type, $ref, anyOf, oneOf, allOf, const: only } = schema;
  if (type !== undefined) return type === "object";
  if (typeof $ref === "string") return isOfObjects(definitionAt($ref, root), root, depth + 1);
  if (only !== undefined) return isNode(only);
  const branches = anyOf ?? oneOf;
  if (Array.isArray(branches))
    return branches.length > 0 && branches.every((each) => isOfObjects(each, root, depth + 1));
  return Array.isArray(allOf) && allOf.some((each) => isOfObjects(each, root, depth + 1));
}

function definitionAt(pointer: string, root: JsonSchema): unknown {
  if (pointer === "#") return root;
  if (!pointer.startsWith("#/")) return undefined;
  let at: unknown = root;
  for (const part of pointer.slice(2).split("/")) {
    const key = decoded(part).replaceAll("~1", "/").replaceAll("~0", "~");
    at = isNode(at) && Object.hasOwn(at, key) ? at[key] : Array.isArray(at) ? at[Number(key)] : undefined;
  }
  return at;
}

/** A copy whose references to the root lead to its new place. References to definitions stay. */
function moved(value: unknown, at: string): unknown {
  if (Array.isArray(value)) return value.map((each) => moved(each, at));
  if (!isNode(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      key === "$ref" && typeof each === "string" ? movedPointer(each, at) : moved(each, at),
    ]),
  );
}

const movedPointer = (pointer: string, at: string): string =>
  pointer === "#" || (pointer.startsWith("#/") && !pointer.startsWith("#/$defs/")) ? at + pointer.slice(1) : pointer;

const isNode = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
