import {
  type AnyRef,
  type AskName,
  jsonSchemaOf,
  operationsOf,
  quote,
  type Ref,
  receive,
  type StreamName,
} from "../index";
import type { Endpoint, EndpointOptions, ExposedActor, Exposure } from "./contract";

/** The operations that strangers may call, as they are listed: names alone, or with options for some of them. */
type CheckedOperations<Signatures, Listed> = Listed extends readonly string[]
  ? readonly (AskName<Signatures> | StreamName<Signatures>)[]
  : { readonly [Name in keyof Listed]: CheckedOptions<Signatures, Name> };

type CheckedOptions<Signatures, Name> =
  Name extends StreamName<Signatures> ? true | EndpointOptions : Name extends AskName<Signatures> ? true : never;

/** Actors by the name that they have outside, each with the operations that strangers may call. */
export interface Exposing {
  readonly [name: string]: {
    readonly ref: AnyRef;
    readonly operations: readonly string[] | Readonly<Record<string, true | EndpointOptions | undefined>>;
  };
}

/** The same, checked: only operations that the actor has. */
export type Checked<E extends Exposing> = {
  readonly [Name in keyof E]: E[Name]["ref"] extends Ref<infer Signatures, infer _Shapes>
    ? { readonly ref: E[Name]["ref"]; readonly operations: CheckedOperations<Signatures, E[Name]["operations"]> }
    : never;
};

/** Names that can be in a path and in a document as they are. */
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.~-]*$/;

/** Makes the table of what can be reached, and compiles its validators: the first message would wait for that 50 ms. */
export function exposureOf(exposing: Exposing): Exposure {
  if (typeof exposing !== "object" || exposing === null) {
    throw new TypeError(
      `expose says what can be reached, such as { counter: { ref: counter, operations: ["add"] } }; got ${quote(exposing)}.`,
    );
  }
  return new Map(Object.entries(exposing).map(([name, each]) => [name, exposedActor(name, each)]));
}

function exposedActor(name: string, { ref, operations }: Exposing[string]): ExposedActor {
  if (!NAME.test(name)) {
    throw new TypeError(
      `An actor cannot be exposed as ${quote(name)}: write letters, digits, and . _ ~ - between them.`,
    );
  }
  const known = operationsOf(ref);
  if (known === null) {
    throw new TypeError(
      `${ref.address}, exposed as "${name}", has no protocol: only actors with schemas can be exposed.`,
    );
  }
  const listed = Array.isArray(operations)
    ? operations.map((operation) => [operation, true] as const)
    : Object.entries(operations);
  const endpoints = new Map<string, Endpoint>();
  const door = receive(ref);
  const actor: ExposedActor = { name, ref, address: ref.address, door, endpoints };
  for (const [operation, options] of listed) {
    if (options === undefined) continue;
    const found = known[operation];
    if (found === undefined) {
      throw new TypeError(
        `"${name}" has no operation ${quote(operation)} to expose: write one of ${Object.keys(known).join(", ")}.`,
      );
    }
    const json = jsonSchemaOf({ name, operations: known }, [operation])[operation];
    if (json === undefined) throw new Error(`There is no JSON Schema of ${name}.${operation}.`);
    found.payload.parse(undefined); // Compiles it.
    endpoints.set(operation, { actor, operation: found, json, options: options === true ? {} : options });
  }
  return actor;
}
