import { err, ok } from "neverthrow";
import { type Address, type AnyRef, isAddress, quote } from "../../message/address";
import type { Issue } from "../../message/delivery-error";
import { sentenceOf } from "../../message/sentence-of";
import { CompiledSchema } from "../../protocol/compiled-schema";
import { isEntangled, type SchemaNode } from "../../protocol/discriminator";
import type { Operations } from "../../protocol/protocol";
import { isStandardSchema } from "../../protocol/schema";
import type { Parsed, Validator } from "../../protocol/validator";
import type { Environment, Exposure } from "../contract";
import { ActorRef, recipientOf } from "./ref";

/**
 * Says what a door gives for an address in a payload: a reference, or `true` for the actor at that address here. Anything
 * else refuses the payload. Called once for each address of a payload, and must answer at once.
 */
export type Expose = (at: Address) => AnyRef | boolean | undefined;

/** The place of a reference in a schema. */
export interface RefPlace {
  /** The operations that its actor must have; null when any actor will do. */
  readonly operations: Operations | null;
}

/** The places of references, by the checks that refSchema made. */
const places = new WeakMap<object, RefPlace>();

export function markPlace(check: object, place: RefPlace): void {
  places.set(check, place);
}

/** True when an actor has the operations of a place, in the same patterns. */
export const suits = (ref: AnyRef, { operations }: RefPlace): boolean =>
  Object.values(operations ?? {}).every((wanted) => {
    const own = recipientOf(ref).operation(wanted.name);
    // A null operation belongs to an actor that takes any message.
    return own === null || (own?.hasPayload === wanted.hasPayload && own.isStream === wanted.isStream);
  });

/** The addresses of the payload that is being checked; null while none of them may be a reference. */
let current: Addresses | null = null;

/** The reference that the present door gives for an address at a place of a payload. */
export const exposedAt = (value: unknown, place: RefPlace): AnyRef | undefined => current?.referenceFor(value, place);

/** The addresses of one payload, and what the door gives for them. */
class Addresses {
  readonly #environment: Environment;
  readonly #expose: Expose;
  readonly #found = new Map<Address, AnyRef | true | null>();

  constructor(environment: Environment, expose: Expose) {
    this.#environment = environment;
    this.#expose = expose;
  }

  /** Checks or revives a value of the payload. */
  within<Result>(work: () => Result): Result {
    const before = current;
    current = this;
    try {
      return work();
    } finally {
      current = before;
    }
  }

  referenceFor(value: unknown, place: RefPlace): AnyRef | undefined {
    if (!isAddress(value)) return undefined;
    const found = this.#find(value);
    const ref = found === true ? this.#own(value, place) : (found ?? undefined);
    return ref !== undefined && suits(ref, place) ? ref : undefined;
  }

  #find(at: Address): AnyRef | true | null {
    const known = this.#found.get(at);
    if (known !== undefined) return known;
    const found = this.#ask(at);
    this.#found.set(at, found);
    return found;
  }

  #ask(at: Address): AnyRef | true | null {
    const { logger, logLimit } = this.#environment;
    const before = current;
    current = null; // The function may check other payloads, which this one has nothing to do with.
    try {
      const given: unknown = this.#expose(at);
      if (given === true || ActorRef.is(given)) return given;
      if (given === false || given === undefined) return null;
      throw new TypeError(`it gave ${quote(given)}, which is neither a reference nor a boolean`);
    } catch (thrown) {
      if (logLimit.admit())
        logger.error(`The expose of a door failed for ${at}: ${sentenceOf(thrown)}`, { cause: thrown });
      return null;
    } finally {
      current = before;
    }
  }

  /** The actor at an address of this system, by address if it may have to be opened. */
  #own(at: Address, { operations }: RefPlace): AnyRef | undefined {
    const { resolvers, directory } = this.#environment;
    return (operations === null ? undefined : resolvers?.reference(at, operations)) ?? directory.get(at)?.ref;
  }
}

/** The references that a door exposes to those outside. */
export class Exposed implements Exposure {
  readonly #environment: Environment;
  readonly #expose: Expose;

  constructor(environment: Environment, expose: Expose) {
    this.#environment = environment;
    this.#expose = expose;
  }

  parse(validator: Validator, payload: unknown): Parsed {
    const revive = reviverOf(validator.schema);
    if (revive === null) return validator.parse(payload);
    const addresses = new Addresses(this.#environment, this.#expose);
    return addresses.within(() => {
      const parsed = validator.parse(payload);
      // The issues are found later, among the same addresses.
      if (parsed.isErr()) return err(() => addresses.within(parsed.error));
      try {
        return ok(revive(parsed.value));
      } catch {
        return err(() => CHANGED);
      }
    });
  }
}

const CHANGED: readonly Issue[] = [{ path: "", message: "has a reference that changed while it was read" }];

/**
 * Checks a value that came from outside, and gives it with references in place of the addresses that `ref.toJSON` wrote.
 * For code that reads values from elsewhere by itself: a door (`receive`) does the same for payloads, and an attached
 * reference (`system.attach`) for replies and items. What it changes is copied.
 *
 * @param of a reference to any actor of the system in which the references are to lead.
 * @param validator that of the operation: `operationsOf(ref)?.[name]?.reply`, `.item` or `.payload`.
 * @throws TypeError when `of` is no reference.
 * @example
 * const reply = reviveRefs(files, operationsOf(files)["open"].reply, JSON.parse(text), (at) => at.startsWith("@(node-7/"));
 */
export const reviveRefs = (of: AnyRef, validator: Validator, value: unknown, expose: Expose): Parsed =>
  new Exposed(recipientOf(of).environment, expose).parse(validator, value);

// ——— Reviving

/** Puts references in place of addresses, in a value that fits its schema. Copies what it changes. */
type Revive = (value: unknown) => unknown;

const revivers = new WeakMap<object, Revive | null>();

/** The reviver of a schema, made once; null when the schema has no place for a reference. */
function reviverOf(schema: Validator["schema"]): Revive | null {
  if (schema === undefined || isStandardSchema(schema)) return null;
  const known = revivers.get(schema);
  if (known !== undefined) return known;
  // The parts of a recursive schema cannot be told apart by themselves.
  const made = isEntangled(schema) ? null : reviverIn(schema);
  revivers.set(schema, made);
  return made;
}

const isNode = (value: unknown): value is SchemaNode =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function reviverIn(schema: unknown): Revive | null {
  if (!isNode(schema)) return null;
  const all = [ofPlace(schema), ofObject(schema), ofArray(schema), ofUnion(schema.anyOf), ofUnion(schema["oneOf"])];
  if (Array.isArray(schema.allOf)) all.push(...schema.allOf.map(reviverIn));
  const steps = all.filter((step) => step !== null);
  const [only] = steps;
  if (only === undefined) return null;
  return steps.length === 1 ? only : (value) => steps.reduce((revived, step) => step(revived), value);
}

function ofPlace(schema: SchemaNode): Revive | null {
  const refinements: unknown = schema["~refine"];
  if (!Array.isArray(refinements)) return null;
  for (const { check } of refinements) {
    const place = places.get(check);
    if (place === undefined) continue;
    return (value) => {
      if (ActorRef.is(value)) return value;
      const ref = exposedAt(value, place);
      if (ref === undefined) throw new TypeError("It was a reference when it was checked.");
      return ref;
    };
  }
  return null;
}

/** Pairs of names and revivers, of those that have one. */
const pairsOf = (schemas: unknown): (readonly [string, Revive])[] =>
  Object.entries(isNode(schemas) ? schemas : {}).flatMap(([name, schema]) => {
    const revive = reviverIn(schema);
    return revive === null ? [] : [[name, revive] as const];
  });

function ofObject(schema: SchemaNode): Revive | null {
  const properties = pairsOf(schema.properties);
  const patterns = pairsOf(schema.patternProperties).map(([text, revive]) => [new RegExp(text, "u"), revive] as const);
  const named = Object.keys(schema.patternProperties ?? {}).map((text) => new RegExp(text, "u"));
  const others = reviverIn(schema["additionalProperties"]);
  if (properties.length === 0 && patterns.length === 0 && others === null) return null;
  const isNamed = (key: string): boolean =>
    (isNode(schema.properties) && Object.hasOwn(schema.properties, key)) || named.some((pattern) => pattern.test(key));
  return (value) => {
    if (!isNode(value)) return value;
    const changes = new Map<string, unknown>();
    const change = (key: string, revive: Revive): void => {
      const before = changes.has(key) ? changes.get(key) : value[key];
      const after = revive(before);
      if (after !== before) changes.set(key, after);
    };
    for (const [key, revive] of properties) if (key in value) change(key, revive);
    if (patterns.length > 0 || others !== null) {
      for (const key of Object.keys(value)) {
        for (const [pattern, revive] of patterns) if (pattern.test(key)) change(key, revive);
        if (others !== null && !isNamed(key)) change(key, others);
      }
    }
    return changes.size === 0 ? value : copyWith(value, changes);
  };
}

/** Defines each property: a key from outside may be `__proto__`. */
function copyWith(value: SchemaNode, changes: ReadonlyMap<string, unknown>): object {
  const copy = { ...value };
  for (const [key, changed] of changes) {
    Object.defineProperty(copy, key, { value: changed, enumerable: true, writable: true, configurable: true });
  }
  return copy;
}

function ofArray(schema: SchemaNode): Revive | null {
  const listed = Array.isArray(schema["prefixItems"])
    ? schema["prefixItems"]
    : Array.isArray(schema.items)
      ? schema.items
      : [];
  const first = listed.map(reviverIn);
  const rest = reviverIn(Array.isArray(schema.items) ? schema["additionalItems"] : schema.items);
  if (rest === null && first.every((revive) => revive === null)) return null;
  return (value) => {
    if (!Array.isArray(value)) return value;
    let copy: unknown[] | null = null;
    for (let i = 0; i < value.length; i++) {
      const revive = i < first.length ? first[i] : rest;
      if (revive === null || revive === undefined) continue;
      const before: unknown = value[i];
      const after = revive(before);
      if (after === before) continue;
      copy ??= [...value];
      copy[i] = after;
    }
    return copy ?? value;
  };
}

/** Revives by the first alternative that fits. */
function ofUnion(branches: unknown): Revive | null {
  if (!Array.isArray(branches)) return null;
  const all = branches.map((branch) => ({
    schema: new CompiledSchema({ allOf: [branch] }),
    revive: reviverIn(branch),
  }));
  if (all.every(({ revive }) => revive === null)) return null;
  return (value) => {
    const fitting = all.find(({ schema }) => schema.check(value));
    return fitting?.revive?.(value) ?? value;
  };
}
