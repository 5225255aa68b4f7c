import { isSchema, type Schema } from "./schema";
import type { ShapeOf, SignatureOf } from "./signatures";
import { Validator } from "./validator";

/** The schemas of an operation's payload, and of its reply or its stream's items. Without these two it gives nothing. */
export type OperationSchemas =
  | { readonly payload?: Schema; readonly reply?: Schema; readonly stream?: never }
  | { readonly payload?: Schema; readonly reply?: never; readonly stream: Schema };

/** One operation of a protocol at run time. A validator without a schema stands for each part that it does not have. */
export class Operation {
  readonly name: string;
  readonly hasPayload: boolean;
  readonly hasReply: boolean;
  readonly isStream: boolean;
  readonly payload: Validator;
  readonly reply: Validator;
  /** Checks each item of a stream. */
  readonly item: Validator;

  constructor(name: string, { payload, reply, stream }: OperationSchemas) {
    this.name = name;
    this.hasPayload = payload !== undefined;
    this.hasReply = reply !== undefined;
    this.isStream = stream !== undefined;
    this.payload = new Validator(payload);
    this.reply = new Validator(reply);
    this.item = new Validator(stream);
  }
}

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
 * A payload that may be left out is a union: `payload: Type.Union([Type.Number(), Type.Undefined()])`. `Type.Optional` marks a
 * property of an object; `payload: Type.Optional(Type.Number())` still asks for a number.
 *
 * @throws TypeError when a name or a schema is invalid. An operation cannot be named `then`, like a member of
 * Object.prototype, or like an actor's hook (`onStart`, `onRestart`, `onStop`).
 *
 * ```ts
 * const Counter = defineProtocol("counter", {
 *   add: { payload: Type.Number() }, // (payload: number) => void
 *   total: { reply: Type.Number() }, // () => number
 *   ticks: { payload: Type.Number(), stream: Type.Number() }, // (payload: number) => Stream<number>
 * });
 * ```
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
  return Object.freeze({ name, operations: Object.freeze(found) });
}

function checkName(protocol: string, operation: string): void {
  if (operation === "") {
    throw new TypeError(`Protocol "${protocol}" has an operation without a name: give it one, such as "add".`);
  }
  if (operation === "onStart" || operation === "onRestart" || operation === "onStop") {
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

function checkSchemas(operation: string, schemas: OperationSchemas): void {
  if (typeof schemas !== "object" || schemas === null || Array.isArray(schemas)) {
    throw new TypeError(`Operation ${operation} must be an object: write { payload: Type.String() }, or {} for none.`);
  }
  for (const [key, schema] of Object.entries(schemas)) {
    if (key !== "payload" && key !== "reply" && key !== "stream") {
      throw new TypeError(`Operation ${operation} has an unknown key "${key}": write payload, reply or stream.`);
    }
    if (schema !== undefined && !isSchema(schema)) {
      throw new TypeError(
        `Operation ${operation} has a ${key} that is not a schema: write one of TypeBox, such as Type.String() or ` +
          "Type.Object({ … }), or one that implements Standard Schema.",
      );
    }
  }
  if (schemas.reply !== undefined && schemas.stream !== undefined) {
    throw new TypeError(`Operation ${operation} has both a reply and a stream: leave out one of them.`);
  }
}
