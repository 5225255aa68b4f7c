import {
  type AnyRef,
  type AskName,
  checkOptions,
  jsonSchemaOf,
  type OptionChecks,
  operationsOf,
  option,
  quote,
  type Ref,
  receive,
  type StreamName,
} from "../index";
import type { Endpoint, EndpointOptions, ExposedActor, Exposure, ResumeOptions } from "./contract";

/** The operations of one actor that can be reached: their names, or a record of them where some have options. */
export type ExposedOperations = readonly string[] | Readonly<Record<string, true | EndpointOptions>>;

/** Actors by the name that they have outside, each with the operations that strangers may call. */
export interface Exposing {
  readonly [name: string]: { readonly ref: AnyRef; readonly operations: ExposedOperations };
}

/**
 * Checks that the listed operations are in the protocol of their `ref`, and that only streams have options. A list of type `string[]`, or a
 * reference without a protocol, is checked only at run time.
 */
export type Checked<E> = {
  readonly [Name in keyof E]: E[Name] extends {
    readonly ref: Ref<infer Signatures, infer _Shapes>;
    readonly operations: infer Listed;
  }
    ? [keyof Signatures] extends [never]
      ? E[Name]
      : { readonly ref: E[Name]["ref"]; readonly operations: CheckedOperations<Signatures, Listed> }
    : E[Name];
};

type CheckedOperations<Signatures, Listed> = Listed extends readonly (infer Name)[]
  ? [string] extends [Name]
    ? Listed
    : readonly (keyof Signatures & string)[]
  : { readonly [Name in keyof Listed]: CheckedOptions<Signatures, Name> };

type CheckedOptions<Signatures, Name> =
  Name extends StreamName<Signatures> ? true | EndpointOptions : Name extends AskName<Signatures> ? true : never;

/** Names that can be in a path and in a document as they are. */
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.~-]*$/;

const RESUME: OptionChecks<ResumeOptions> = { for: option.duration, items: option.count, bytes: option.count };
const ENDPOINT: OptionChecks<EndpointOptions> = {
  resume: option.group(RESUME, "{ for: 30_000 }"),
  format: option.oneOf("sse", "ai-sdk"),
};
const ENTRY: OptionChecks<Exposing[string]> = { ref: option.any, operations: option.any }; // Both are looked at one by one.

/** Makes the table of what can be reached, and compiles its validators: the first message would wait for that 50 ms. */
export function exposureOf(exposing: Exposing): Exposure {
  if (typeof exposing !== "object" || exposing === null || Array.isArray(exposing)) {
    throw new TypeError(
      `expose says what can be reached, such as { counter: { ref: counter, operations: ["add"] } }; got ${quote(exposing)}.`,
    );
  }
  return new Map(Object.entries(exposing).map(([name, each]) => [name, exposedActor(name, each)]));
}

function exposedActor(name: string, entry: Exposing[string]): ExposedActor {
  if (!NAME.test(name)) {
    throw new TypeError(
      `No actor can be exposed as ${quote(name)}: begin with a letter, a digit or _, and go on with those, or . ~ -`,
    );
  }
  if (typeof entry !== "object" || entry === null || !Object.hasOwn(entry, "ref")) {
    throw new TypeError(
      `The exposed actor "${name}" is written as { ref: counter, operations: ["add"] }; got ${quote(entry)}.`,
    );
  }
  checkOptions(entry, ENTRY, `the exposed actor "${name}"`, '{ ref: counter, operations: ["add"] }');
  const { ref } = entry;
  const known = operationsAt(name, ref);
  const endpoints = new Map<string, Endpoint>();
  const actor: ExposedActor = { name, ref, address: ref.address, door: receive(ref), endpoints };
  const listed = listedIn(name, entry.operations);
  for (const [operation, given] of listed) {
    const found = known[operation];
    if (found === undefined) {
      const names = Object.keys(known).join(", ");
      throw new TypeError(`"${name}" has no operation ${quote(operation)} to expose; write some of ${names}.`);
    }
    if (operation === "." || operation === ".." || !operation.isWellFormed()) {
      throw new TypeError(`No path can lead to an operation named ${quote(operation)}: give it another name.`);
    }
    const of = `the operation ${operation} of "${name}"`;
    if (given !== true) {
      checkOptions(given, ENDPOINT, of, "{ resume: { for: 30_000 } }");
      const [option] = Object.keys(given);
      if (option !== undefined && !found.isStream) {
        throw new TypeError(`${option} is an option of streams, and ${of} is none: write true in its place.`);
      }
    }
    const json = jsonSchemaOf({ name, operations: known }, [operation])[operation];
    if (json === undefined) throw new Error(`There is no JSON Schema of ${of}.`);
    found.payload.parse(undefined); // Compiles it.
    endpoints.set(operation, { actor, operation: found, json, options: given === true ? {} : given });
  }
  return actor;
}

function operationsAt(name: string, ref: AnyRef): NonNullable<ReturnType<typeof operationsOf>> {
  let known: ReturnType<typeof operationsOf>;
  try {
    known = operationsOf(ref);
  } catch {
    throw new TypeError(`The ref of the exposed actor "${name}" is no reference: write what spawn() returned.`);
  }
  if (known !== null) return known;
  throw new TypeError(
    `${ref.address}, exposed as "${name}", takes any message: only an actor with a protocol can be exposed.`,
  );
}

const isList = (operations: ExposedOperations): operations is readonly string[] => Array.isArray(operations);

/** The operations as they were listed, each with its options. */
function listedIn(name: string, operations: ExposedOperations): readonly (readonly [string, true | EndpointOptions])[] {
  if (isList(operations)) {
    const twice = operations.find((operation, index) => operations.indexOf(operation) < index);
    if (twice === undefined) return operations.map((operation) => [operation, true]);
    throw new TypeError(`"${name}" exposes ${quote(twice)} twice: write it once.`);
  }
  if (typeof operations === "object" && operations !== null) return Object.entries(operations);
  throw new TypeError(
    `The operations of the exposed actor "${name}" are an array of names, or an object such as { ticks: true }; got ${quote(operations)}.`,
  );
}
