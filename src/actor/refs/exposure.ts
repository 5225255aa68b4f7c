import { err, ok } from "neverthrow";
import { type Address, type AnyRef, isAddress, quote } from "../../message/address";
import type { Issue } from "../../message/delivery-error";
import { sentenceOf } from "../../message/sentence-of";
import { CompiledSchema } from "../../protocol/compiled-schema";
import { isEntangled, type SchemaNode } from "../../protocol/discriminator";
import type { Operations, Protocol } from "../../protocol/protocol";
import { isStandardSchema } from "../../protocol/schema";
import type { Parsed, Validator } from "../../protocol/validator";
import type { Environment, Exposure } from "../contract";
import { ActorRef, recipientOf } from "./ref";

/**
 * Says what a door gives for an address in a payload: a reference, or `true` for the actor at that address here. Anything
 * else refuses the payload. Called once for each address of a payload, and must answer at once. `wanted` is the protocol that the schema
 * names at the first place of that address, with which an actor elsewhere can be attached; undefined where it names none.
 */
export type Expose = (at: Address, wanted?: Protocol) => AnyRef | boolean | undefined;

/** The place of a reference in a schema. */
export interface RefPlace {
  /** The operations that its actor must have; null when any actor will do. */
  readonly operations: Operations | null;
  /** The protocol that has them. */
  readonly protocol: Protocol | undefined;
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

/** A payload from outside, with what its door gives for its addresses. */
interface Arrival {
  readonly environment: Environment;
  readonly expose: Expose;
  /** Called once for each address: `true` stands for the actor there, null for none. */
  readonly found: Map<Address, AnyRef | true | null>;
}

/** The payload that is being checked; null while none of its addresses may be a reference. */
let current: Arrival | null = null;

function within<Result>(arrival: Arrival | null, work: () => Result): Result {
  const before = current;
  current = arrival;
  try {
    return work();
  } finally {
    current = before;
  }
}

/** The reference that the present door gives for an address at a place of a payload. */
export function exposedAt(value: unknown, place: RefPlace): AnyRef | undefined {
  if (current === null || !isAddress(value)) return undefined;
  const { environment, found } = current;
  const given = found.get(value) ?? askFor(value, place, current);
  found.set(value, given);
  const ref = given === true ? actorAt(value, place, environment) : given;
  return ref !== undefined && ref !== null && suits(ref, place) ? ref : undefined;
}

function askFor(at: Address, { protocol }: RefPlace, { environment, expose }: Arrival): AnyRef | true | null {
  try {
    // The function may check other payloads, which this one has nothing to do with.
    const given: unknown = within(null, () => expose(at, protocol));
    if (given === true || ActorRef.is(given)) return given;
    if (given === false || given === undefined) return null;
    throw new TypeError(`it gave ${quote(given)}, which is neither a reference nor a boolean`);
  } catch (thrown) {
    const { logger, logLimit } = environment;
    const sentence = `The expose of a door failed for ${at}: ${sentenceOf(thrown)}`;
    if (logLimit.admit()) logger.error(sentence, { cause: thrown });
    return null;
  }
}

/** The actor at an address of this system, by address if it may have to be opened. */
const actorAt = (at: Address, { operations }: RefPlace, { resolvers, directory }: Environment): AnyRef | undefined =>
  (operations === null ? undefined : resolvers?.reference(at, operations)) ?? directory.get(at)?.ref;

const CHANGED: readonly Issue[] = [{ path: "", message: "has a reference that changed while it was read" }];

/**
 * The references that a door gives to those outside; null when it gives none.
 *
 * @throws TypeError when `expose` is no function. It names the door, `of`.
 */
export function exposureBy(environment: Environment, expose: Expose | undefined, of = "a door"): Exposure | null {
  if (expose === undefined) return null;
  if (typeof expose !== "function") {
    throw new TypeError(`The expose of ${of} is a function: (at) => at.startsWith("@(rooms/"); got ${quote(expose)}.`);
  }
  return { parse: (validator, payload) => parseIn({ environment, expose, found: new Map() }, validator, payload) };
}

function parseIn(arrival: Arrival, validator: Validator, payload: unknown): Parsed {
  const { schema } = validator;
  if (schema === undefined || !mayHavePlace(schema)) return validator.parse(payload);
  return within(arrival, () => {
    const parsed = validator.parse(payload);
    // The issues are found later, among the same addresses.
    if (parsed.isErr()) return err(() => within(arrival, parsed.error));
    try {
      return ok(revived(schema, parsed.value));
    } catch {
      return err(() => CHANGED);
    }
  });
}

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
  parseIn({ environment: recipientOf(of).environment, expose, found: new Map() }, validator, value);

// ——— Reviving

const isNode = (value: unknown): value is SchemaNode =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const NONE: SchemaNode = {};
const nodeOf = (value: unknown): SchemaNode => (isNode(value) ? value : NONE);
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Makes something of a schema once. */
function once<Made>(make: (schema: object) => Made): (schema: object) => Made {
  const known = new WeakMap<object, Made>();
  return (schema) => {
    if (!known.has(schema)) known.set(schema, make(schema));
    return known.get(schema) as Made; // It was just made.
  };
}

/** True when values of a schema may have a reference. The parts of a recursive schema cannot be told apart by themselves. */
const mayHavePlace = once((schema) => !isStandardSchema(schema) && !isEntangled(schema) && hasPlace(schema));

/** True when a schema, or a part of it, is the place of a reference. */
const hasPlace = once((schema) => placeOf(schema) !== undefined || Object.values(schema).some(leadsToPlace));
const leadsToPlace = (part: unknown): boolean => typeof part === "object" && part !== null && hasPlace(part);

function placeOf(schema: object): RefPlace | undefined {
  for (const refinement of listOf(nodeOf(schema)["~refine"])) {
    const { check } = nodeOf(refinement);
    const place = typeof check === "function" ? places.get(check) : undefined;
    if (place !== undefined) return place;
  }
  return undefined;
}

const compiled = once((schema) => new CompiledSchema({ allOf: [schema] }));

const patternsOf = once((schemas) =>
  Object.entries(schemas).map(([text, schema]) => ({ pattern: new RegExp(text, "u"), schema })),
);

/** Puts references in place of the addresses in a value that fits its schema. Copies what it changes. */
function revived(schema: unknown, value: unknown): unknown {
  if (!isNode(schema) || !hasPlace(schema)) return value;
  let result = atPlace(placeOf(schema), value);
  if (Array.isArray(result)) result = withItems(schema, result);
  else if (isNode(result)) result = withProperties(schema, result);
  for (const branches of [listOf(schema.anyOf), listOf(schema["oneOf"])]) {
    // The first alternative that fits.
    if (branches.some(leadsToPlace))
      result = revived(
        branches.find((one) => isNode(one) && compiled(one).check(result)),
        result,
      );
  }
  return listOf(schema.allOf).reduce((before, part) => revived(part, before), result);
}

function atPlace(place: RefPlace | undefined, value: unknown): unknown {
  if (place === undefined || ActorRef.is(value)) return value;
  const ref = exposedAt(value, place);
  if (ref === undefined) throw new TypeError("It was a reference when it was checked.");
  return ref;
}

function withProperties(schema: SchemaNode, value: SchemaNode): SchemaNode {
  const properties = nodeOf(schema.properties);
  const patterns = patternsOf(nodeOf(schema.patternProperties));
  let copy: SchemaNode | null = null;
  for (const key of new Set([...Object.keys(properties), ...Object.keys(value)])) {
    if (!(key in value)) continue;
    const own = Object.hasOwn(properties, key) ? [properties[key]] : [];
    const named = [...own, ...patterns.filter(({ pattern }) => pattern.test(key)).map((each) => each.schema)];
    const before: unknown = value[key];
    const all = named.length > 0 ? named : [schema["additionalProperties"]];
    const after = all.reduce((item, each) => revived(each, item), before);
    if (after === before) continue;
    copy ??= { ...value };
    // Defined, not assigned: a key from outside may be `__proto__`.
    Object.defineProperty(copy, key, { value: after, enumerable: true, writable: true, configurable: true });
  }
  return copy ?? value;
}

function withItems(schema: SchemaNode, value: readonly unknown[]): readonly unknown[] {
  const { items } = schema;
  const first = listOf(schema["prefixItems"] ?? items);
  const rest = Array.isArray(items) ? schema["additionalItems"] : items;
  const result = value.map((item, index) => revived(index < first.length ? first[index] : rest, item));
  return result.some((item, index) => item !== value[index]) ? result : value;
}
