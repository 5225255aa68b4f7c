import { err, ok, type Result } from "neverthrow";
import { listIn, nodeIn } from "./discriminator";
import { schemaOf } from "./json-schema";
import type { Operation } from "./protocol";
import type { JsonSchema } from "./schema";

/** A reply that is a value, or the reason why there is none. The replies of the tools are such. */
export type OutcomeReply<Value = unknown, Failure = unknown> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: Failure };

/** The form in which an operation's replies, or the items of its stream, are a value or an error. */
export interface Outcome {
  /** The JSON Schema of the value; undefined when a good reply carries none. */
  readonly value: JsonSchema | undefined;
  /** The JSON Schema of the error. */
  readonly error: JsonSchema;
  /** Reads a reply: `Ok` of its value, or `Err` of its error. Never throws. */
  read<Value, Failure>(reply: OutcomeReply<Value, Failure>): Result<Value, Failure>;
  read(reply: unknown): Result<unknown, unknown>;
}

/**
 * Tells whether an operation replies with `{ ok: true, value }` or `{ ok: false, error }`, and how to read it, so that a door
 * can answer an error as an error. For a stream, this is about each item. Null for any other operation, and for one whose reply
 * has no JSON Schema (`jsonSchemaOf` says why).
 *
 * @example
 * const outcome = outcomeOf(FileSystem.operations["read"]);
 * outcome?.read({ ok: false, error }).isErr(); // true
 */
export function outcomeOf(operation: Operation | undefined): Outcome | null {
  if (operation === undefined) return null;
  const root = schemaIn(operation);
  if (root === undefined) return null;
  const [values, errors] = [[] as (JsonSchema | undefined)[], [] as JsonSchema[]];
  const branches = branchesOf(root, root);
  for (const branch of branches) {
    const { ok: mark, ...others } = nodeIn(branch["properties"]);
    const isGood = constantOf(mark);
    if (!listIn(branch["required"]).includes("ok")) return null;
    if (isGood === true && ("value" in others || Object.keys(others).length === 0))
      values.push(schemaAt(others, "value"));
    else if (isGood === false && "error" in others) errors.push(schemaAt(others, "error") ?? {});
    else return null;
  }
  if (values.length === 0 || errors.length === 0) return null;
  const carried = values.filter((value) => value !== undefined);
  return { value: carried.length === 0 ? undefined : oneOf(carried, root), error: oneOf(errors, root), read };
}

/** A reply that is not such an object is taken for a value: nobody has checked it. */
function read<Value, Failure>(reply: OutcomeReply<Value, Failure>): Result<Value, Failure>;
function read(reply: unknown): Result<unknown, unknown> {
  if (typeof reply !== "object" || reply === null || !("ok" in reply)) return ok(reply);
  const { value, error } = reply as { value?: unknown; error?: unknown }; // Each may be missing.
  if (reply.ok === false) return err(error);
  return ok(reply.ok === true ? value : reply);
}

function schemaIn(operation: Operation): JsonSchema | undefined {
  try {
    return schemaOf(operation, operation.isStream ? "items" : "reply");
  } catch {
    return undefined;
  }
}

/** The branches of a union, those of unions in it included. A reference that leads back to itself has none. */
function branchesOf(schema: JsonSchema, root: JsonSchema, seen: readonly unknown[] = []): readonly JsonSchema[] {
  const reference = schema["$ref"];
  if (reference === "#" || (typeof reference === "string" && reference.startsWith(DEFINITION))) {
    if (seen.includes(reference)) return [];
    const found = reference === "#" ? root : nodeIn(root["$defs"])[nameIn(reference)];
    return found === undefined ? [schema] : branchesOf(nodeIn(found), root, [...seen, reference]);
  }
  const branches = schema["anyOf"] ?? schema["oneOf"];
  return Array.isArray(branches) ? branches.flatMap((branch) => branchesOf(nodeIn(branch), root, seen)) : [schema];
}

const DEFINITION = "#/$defs/";
const nameIn = (pointer: string): string =>
  decodeURIComponent(pointer.slice(DEFINITION.length)).replaceAll("~1", "/").replaceAll("~0", "~");

/** Schemas of parts, as one schema that stands by itself. What they say of the whole reply, is a definition in it. */
function oneOf(schemas: readonly JsonSchema[], root: JsonSchema): JsonSchema {
  const [first = {}, second] = schemas;
  const { $schema, $defs, ...whole } = root;
  let name = "reply";
  while (Object.hasOwn(nodeIn($defs), name)) name += "-";
  let isNamed = false;
  const moved = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(moved);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, key === "$ref" ? pointer(each) : moved(each)]),
    );
  };
  const pointer = (to: unknown): unknown => {
    if (typeof to !== "string" || !/^#(\/|$)/.test(to) || to.startsWith(DEFINITION)) return moved(to);
    isNamed = true;
    return `${DEFINITION}${name}${to.slice(1)}`;
  };
  const part = nodeIn(moved(second === undefined ? first : { anyOf: schemas }));
  const definitions: Record<string, unknown> = { ...nodeIn(moved($defs)) };
  if (isNamed) definitions[name] = moved(whole);
  return { $schema, ...part, ...(Object.keys(definitions).length > 0 && { $defs: definitions }) };
}

const schemaAt = (properties: JsonSchema, name: string): JsonSchema | undefined =>
  name in properties ? nodeIn(properties[name]) : undefined;

function constantOf(schema: unknown): unknown {
  const { const: only, enum: values } = nodeIn(schema);
  return Array.isArray(values) && values.length === 1 ? values[0] : only;
}
