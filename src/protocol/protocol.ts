import { quote } from "../message/address";
import { nearestName } from "../message/nearest";
import { isNode } from "./discriminator";
import { isSchema, type Schema } from "./schema";
import type { ShapeOf, SignatureOf } from "./signatures";
import { Validator } from "./validator";

/** The effect of an operation on the world, for callers that decide by it, such as a model or a cache. Default of each: not said. */
export interface OperationHints {
  /** True when it changes nothing. */
  readonly readOnly?: boolean;
  /** True when the same call again has no further effect. */
  readonly idempotent?: boolean;
  /** True when it may destroy something; false when it only adds. */
  readonly destructive?: boolean;
}

interface About {
  /** Says in plain words what the operation does, for people and for language models. Default: none. */
  readonly description?: string;
  readonly hints?: OperationHints;
}

interface Asked extends About {
  readonly payload?: Schema;
  readonly reply?: Schema;
  readonly stream?: never;
  /** Replaces what `jsonSchemaOf` would say of a part. Default: the JSON Schema of the part's schema. */
  readonly schema?: { readonly payload?: object; readonly reply?: object; readonly items?: never };
}

interface Streamed extends About {
  readonly payload?: Schema;
  readonly reply?: never;
  readonly stream: Schema;
  /** Replaces what `jsonSchemaOf` would say of a part. Default: the JSON Schema of the part's schema. */
  readonly schema?: { readonly payload?: object; readonly items?: object; readonly reply?: never };
}

/**
 * The schemas of an operation's payload, and of its reply or its stream's items. Without these two it gives nothing. It may
 * also say what it does, by a `description` and `hints`.
 */
export type OperationSchemas = Asked | Streamed;

/** JSON Schemas, as data or as TypeBox makes them, that an operation gives in place of those of its schemas. */
export interface SchemaOverrides {
  readonly payload?: object;
  readonly reply?: object;
  readonly items?: object;
}

/** The names of an actor's hooks, which stand beside its handlers. */
export const HOOKS = ["onStart", "onRestart", "onStop"] as const;
export type Hook = (typeof HOOKS)[number];
export const isHook = (name: string): name is Hook => (HOOKS as readonly string[]).includes(name);

/**
 * One operation of a protocol at run time. A validator without a schema stands for each part that it does not have.
 *
 * @example
 * Counter.operations["add"]?.hasReply; // false
 */
export class Operation {
  readonly name: string;
  readonly hasPayload: boolean;
  readonly hasReply: boolean;
  readonly isStream: boolean;
  readonly payload: Validator;
  readonly reply: Validator;
  /** Checks each item of a stream. */
  readonly item: Validator;
  readonly description: string | undefined;
  readonly hints: OperationHints | undefined;
  /** The JSON Schemas that its definition gives. */
  readonly overrides: SchemaOverrides | undefined;

  constructor(name: string, { payload, reply, stream, description, hints, schema }: OperationSchemas) {
    this.name = name;
    this.hasPayload = payload !== undefined;
    this.hasReply = reply !== undefined;
    this.isStream = stream !== undefined;
    this.payload = new Validator(payload);
    this.reply = new Validator(reply);
    this.item = new Validator(stream);
    this.description = description;
    this.hints = hints && Object.freeze({ ...hints });
    this.overrides = schema && Object.freeze({ ...schema });
  }
}

/** The operations of a protocol, by name. */
export type Operations = Readonly<Record<string, Operation>>;

const names = new WeakMap<Operations, string>();

/**
 * The name of the protocol that has these operations, such as those that `operationsOf` gives. Undefined for an object that no protocol
 * has.
 *
 * @example
 * protocolOf(Counter.operations); // "counter"
 */
export const protocolOf = (operations: Protocol["operations"]): string | undefined => names.get(operations);

declare const signatures: unique symbol;
declare const shapes: unique symbol;

/** A named set of operations; `Signatures` is a record of function types, one for each. */
export interface Protocol<Name extends string = string, Signatures = unknown> {
  readonly name: Name;
  /** The operations by name. The object has no prototype, so any string may be looked up. */
  readonly operations: { readonly [operation: string]: Operation };
  /** For the compiler alone; absent at run time. */
  readonly [signatures]?: Signatures;
  /** For the compiler alone. It compares these member by member, because `-?` may change any of them. */
  readonly [shapes]?: { [K in keyof Signatures]-?: ShapeOf<Signatures[K]> };
}

/** The signatures of a protocol: `SignaturesOf<typeof Counter>`. */
export type SignaturesOf<P> = P extends Protocol<string, infer Signatures> ? Signatures : never;

/**
 * Defines the operations of an actor. Each may have a schema of its `payload`, and one of either its `reply` or the items
 * of its `stream`. Default: no payload, no reply. Standard Schemas must validate synchronously.
 *
 * A `description` and `hints` say what the operation does, for programs that show it to people or to language models;
 * `schema` replaces what `jsonSchemaOf` would say of its payload, its reply or its items.
 *
 * A payload that may be left out is a union: `payload: Type.Union([Type.Number(), Type.Undefined()])`. `Type.Optional` marks a
 * property of an object; `payload: Type.Optional(Type.Number())` still asks for a number.
 *
 * @throws TypeError when a name, a schema, a description or a hint is invalid. An operation cannot be named `then`, like a member of
 * Object.prototype, or like an actor's hook (`onStart`, `onRestart`, `onStop`).
 * @example
 * const Counter = defineProtocol("counter", {
 *   add: { payload: Type.Number() }, // (payload: number) => void
 *   total: { reply: Type.Number() }, // () => number
 *   ticks: { payload: Type.Number(), stream: Type.Number() }, // (payload: number) => Stream<number>
 * });
 */
export function defineProtocol<
  const Name extends string,
  Operations extends Readonly<Record<string, OperationSchemas>>,
>(
  name: Name,
  operations: Operations,
  // The template detaches the names from their declaration. Otherwise the declaration files of a package that exports a
  // protocol would get `reset: {}`, which is no signature.
): Protocol<Name, { -readonly [K in keyof Operations as `${K & string}`]: SignatureOf<Operations[K]> }> {
  if (typeof name !== "string" || !/^[\p{L}\p{N}_][\p{L}\p{N}_.:/-]*$/u.test(name)) {
    throw new TypeError(
      `A protocol cannot be named ${JSON.stringify(name)}: write letters, digits, and . : / _ - between them, such as "counter".`,
    );
  }
  if (typeof operations !== "object" || operations === null) {
    throw new TypeError(`Protocol "${name}" needs an object of operations: write { add: { payload: Type.Number() } }.`);
  }
  const found: Record<string, Operation> = Object.create(null);
  for (const [operation, schemas] of Object.entries(operations)) {
    checkName(name, operation);
    checkSchemas(`${name}.${operation}`, schemas);
    found[operation] = new Operation(operation, schemas);
  }
  names.set(found, name);
  return Object.freeze({ name, operations: Object.freeze(found) });
}

function checkName(protocol: string, operation: string): void {
  if (operation === "") {
    throw new TypeError(`Protocol "${protocol}" has an operation without a name: give it one, such as "add".`);
  }
  if (isHook(operation)) {
    throw new TypeError(
      `Protocol "${protocol}" cannot have an operation named "${operation}", which is an actor's hook: choose another name.`,
    );
  }
  if (operation === "then" || operation in Object.prototype) {
    throw new TypeError(
      `Protocol "${protocol}" cannot have an operation named "${operation}", which JavaScript gives a meaning: choose another name.`,
    );
  }
}

const SCHEMAS = ["payload", "reply", "stream"] as const;
const KEYS = [...SCHEMAS, "description", "hints", "schema"] as const;
const HINTS = ["readOnly", "idempotent", "destructive"] as const;
const PARTS = ["payload", "reply", "items"] as const;
type Names = readonly string[];

function checkSchemas(operation: string, schemas: OperationSchemas): void {
  if (!isNode(schemas)) {
    throw new TypeError(`Operation ${operation} must be an object: write { payload: Type.String() }, or {} for none.`);
  }
  checkKeys(operation, "key", schemas, KEYS);
  for (const key of SCHEMAS) {
    if (schemas[key] !== undefined && !isSchema(schemas[key])) {
      throw new TypeError(
        `Operation ${operation} has a ${key} that is not a schema: write one of TypeBox, such as Type.String() or ` +
          "Type.Object({ … }), or one that implements Standard Schema.",
      );
    }
  }
  if (schemas.reply !== undefined && schemas.stream !== undefined) {
    throw new TypeError(`Operation ${operation} has both a reply and a stream: leave out one of them.`);
  }
  checkAbout(operation, schemas);
  checkOverrides(operation, schemas);
}

function checkAbout(operation: string, { description, hints }: OperationSchemas): void {
  if (description !== undefined && (typeof description !== "string" || description.trim() === "")) {
    throw new TypeError(
      `The description of operation ${operation} is a text, such as "Adds to the total."; got ${quote(description)}.`,
    );
  }
  if (hints === undefined) return;
  if (!isNode(hints)) {
    throw new TypeError(`The hints of operation ${operation} are an object: write { readOnly: true }.`);
  }
  checkKeys(operation, "hint", hints, HINTS);
  for (const key of HINTS) {
    if (hints[key] !== undefined && typeof hints[key] !== "boolean") {
      throw new TypeError(`The hint ${key} of operation ${operation} is true or false; got ${quote(hints[key])}.`);
    }
  }
  if (hints.readOnly === true && hints.destructive === true) {
    throw new TypeError(
      `Operation ${operation} cannot be both readOnly and destructive: leave out one of these hints.`,
    );
  }
}

function checkOverrides(operation: string, { payload, reply, stream, schema }: OperationSchemas): void {
  if (schema === undefined) return;
  if (!isNode(schema)) {
    throw new TypeError(`The schema of operation ${operation} is an object: write { payload: { type: "string" } }.`);
  }
  checkKeys(operation, "part of its schema", schema, PARTS);
  const parts = { payload, reply, items: stream };
  for (const key of PARTS) {
    const given: unknown = schema[key];
    if (given === undefined) continue;
    if (parts[key] === undefined) {
      const what = key === "items" ? "stream" : key;
      throw new TypeError(`Operation ${operation} has no ${what}: leave out the ${key} of its schema.`);
    }
    if (!isNode(given) || "~standard" in (given as object)) {
      throw new TypeError(
        `The schema of operation ${operation} has a ${key} that is not a JSON Schema: write one as data, such as { type: "string" }.`,
      );
    }
  }
}

/** Refuses a misspelt key, and names the one that was meant. */
function checkKeys(operation: string, what: "key" | "hint" | "part of its schema", given: object, known: Names): void {
  for (const key of Object.keys(given)) {
    if (known.includes(key)) continue;
    const meant = nearestName(key, known) ?? `${known.slice(0, -1).join(", ")} or ${known.at(-1)}`;
    throw new TypeError(`Operation ${operation} has an unknown ${what} ${quote(key)}: write ${meant}.`);
  }
}
