import { quote } from "../message/address";
import { nearestName } from "../message/nearest";
import { sentenceOf } from "../message/sentence-of";
import { cleanSchema, mayBeUndefined, NotJson, type Side } from "./json-form";
import type { Operation, OperationHints, Protocol } from "./protocol";
import { isStandardSchema, type JsonSchema, type StandardSchemaV1 } from "./schema";
import type { Validator } from "./validator";

/** The JSON Schema dialect of all that is made here. */
const DIALECT = "https://json-schema.org/draft/2020-12/schema";

/** An operation as JSON can say it: its schemas, and what its definition says of it. */
export interface OperationJsonSchema {
  readonly description?: string;
  readonly hints?: OperationHints;
  /** `"tell"` for an operation that gives nothing. It may be asked, too: the ask then ends when it was handled. */
  readonly pattern: "ask" | "stream" | "tell";
  /** The payload as its sender writes it; undefined when the operation takes none. */
  readonly input: JsonSchema | undefined;
  /** False when the payload may be left out. */
  readonly isInputRequired: boolean;
  /** The reply as its asker reads it; undefined when there is none. */
  readonly output: JsonSchema | undefined;
  /** Each item of the stream; undefined when the operation does not stream. */
  readonly items: JsonSchema | undefined;
}

/** The operations of a protocol by name. */
type ByName<Signatures, Name> = [keyof Signatures] extends [never]
  ? { readonly [operation: string]: OperationJsonSchema }
  : { readonly [K in keyof Signatures & Name & string]: OperationJsonSchema };

/**
 * Gives the JSON Schema (draft 2020-12) of each operation's payload, reply and items, for a manifest, an OpenAPI document
 * or the tools of a language model. A schema of TypeBox is taken as it is, without what is not JSON Schema. A Standard
 * Schema is asked for its own (`~standard.jsonSchema`), which zod and ArkType have. What an operation's `schema` gives,
 * stands in place of both.
 *
 * Parts that JSON cannot hold, such as a `bigint` or a `Uint8Array`, are left out where the schema lets them be: as a branch
 * of a union, or as an optional property. A reference to an actor is its address. A refinement (`Type.Refine`) cannot be
 * said, so a value that fits the JSON Schema may still be refused.
 *
 * @param names the operations wanted. Default: all.
 * @throws TypeError when a part has no JSON Schema, with the operation, the reason and what to write; and for a name that the
 * protocol does not have.
 * @example
 * const { add } = jsonSchemaOf(Counter);
 * add.input; // { $schema: "https://json-schema.org/draft/2020-12/schema", type: "number" }
 */
export function jsonSchemaOf<Signatures, Name extends string = string>(
  protocol: Protocol<string, Signatures>,
  names?: readonly (Name & ([keyof Signatures] extends [never] ? string : keyof Signatures))[],
): ByName<Signatures, Name> {
  const found: Record<string, OperationJsonSchema> = Object.create(null);
  if (typeof protocol?.operations !== "object") {
    throw new TypeError(`jsonSchemaOf takes what defineProtocol() returned; got ${quote(protocol)}.`);
  }
  const known = Object.keys(protocol.operations);
  for (const name of names ?? known) {
    const operation = protocol.operations[name];
    if (operation === undefined) {
      const near = nearestName(name, known);
      throw new TypeError(
        `Protocol "${protocol.name}" has no operation ${quote(name)}: write ${near ?? (known.join(", ") || "none")}.`,
      );
    }
    found[name] = describe(protocol.name, operation);
  }
  // It has the names that were asked for, of the protocol that `Signatures` is of.
  return Object.freeze(found) as ByName<Signatures, Name>;
}

function describe(protocol: string, operation: Operation): OperationJsonSchema {
  const { description, hints, isStream, hasReply, name } = operation;
  const part = (key: Part): JsonSchema | undefined => {
    try {
      return schemaOf(operation, key);
    } catch (thrown) {
      throw new TypeError(
        `Operation ${protocol}.${name} has no JSON Schema for its ${key}: ${reasonOf(thrown)}. ` +
          `Write one beside it, such as schema: { ${key}: { type: "string" } }.`,
      );
    }
  };
  const input = part("payload");
  return Object.freeze({
    ...(description !== undefined && { description }),
    ...(hints !== undefined && { hints }),
    pattern: isStream ? "stream" : hasReply ? "ask" : "tell",
    input,
    isInputRequired: input !== undefined && !takesUndefined(operation.payload),
    output: part("reply"),
    items: part("items"),
  });
}

type Part = "payload" | "reply" | "items";

/** The JSON Schema of a part of an operation; undefined when it does not have that part. Throws when there is none. */
export function schemaOf(operation: Operation, part: Part): JsonSchema | undefined {
  const validator = operation[part === "items" ? "item" : part];
  const { schema } = validator;
  if (schema === undefined) return undefined;
  const given = operation.overrides?.[part];
  const side = part === "payload" ? "input" : "output";
  if (given !== undefined) return { $schema: DIALECT, ...("~kind" in given ? cleanSchema(given, side) : given) };
  if (isStandardSchema(schema)) return { $schema: DIALECT, ...standardSchema(schema, side) };
  try {
    return { $schema: DIALECT, ...cleanSchema(schema, side) };
  } catch (thrown) {
    if (thrown instanceof NotJson && thrown.isAbsence) return undefined; // Only `undefined` fits.
    throw thrown;
  }
}

/** Asks a library for its JSON Schema (https://standardschema.dev/json-schema). */
function standardSchema(schema: StandardSchemaV1, side: Side): JsonSchema {
  const standard: object = schema["~standard"];
  const { vendor } = schema["~standard"];
  const converter: unknown = "jsonSchema" in standard ? standard.jsonSchema : undefined;
  if (typeof converter !== "object" || converter === null) {
    throw new NotJson(`${vendor} offers none (it has no ~standard.jsonSchema)`);
  }
  const convert: unknown = (converter as Record<Side, unknown>)[side]; // Checked below: it may be no function.
  if (typeof convert !== "function") throw new NotJson(`${vendor} offers none for an ${side}`);
  let given: unknown;
  try {
    given = convert.call(converter, { target: "draft-2020-12" });
  } catch (thrown) {
    throw new NotJson(`${vendor} says: ${messageOf(thrown)}`);
  }
  if (isJsonSchema(given)) return given;
  throw new NotJson(`${vendor} gave ${quote(given)} for an ${side}, and an object is wanted at once`);
}

/** False for a promise; `then` is a keyword, too. */
const isJsonSchema = (given: unknown): given is JsonSchema =>
  typeof given === "object" &&
  given !== null &&
  !Array.isArray(given) &&
  !("then" in given && typeof given.then === "function");

function takesUndefined(payload: Validator): boolean {
  const { schema } = payload;
  if (schema === undefined) return true;
  return (isStandardSchema(schema) || mayBeUndefined(schema)) && payload.parse(undefined).isOk();
}

const reasonOf = (thrown: unknown): string => (thrown instanceof NotJson ? thrown.sentence : messageOf(thrown));

const messageOf = (thrown: unknown): string =>
  (thrown instanceof Error ? thrown.message : sentenceOf(thrown)).replace(/\.$/, "");
