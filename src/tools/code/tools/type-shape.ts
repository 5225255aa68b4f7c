import { defineProtocol, type Schema } from "../../../index";

/** A TypeScript type, before it is written as text. */
export type Shape =
  | { readonly kind: "atom"; readonly text: string }
  | { readonly kind: "join"; readonly by: "|" | "&"; readonly parts: readonly Shape[] }
  | { readonly kind: "array"; readonly item: Shape }
  | { readonly kind: "tuple"; readonly items: readonly Shape[]; readonly least: number }
  | { readonly kind: "object"; readonly members: readonly Member[]; readonly others: Shape | null }
  | { readonly kind: "named"; readonly definition: Definition };

export interface Member {
  readonly name: string;
  readonly isOptional: boolean;
  readonly description: string | undefined;
  readonly shape: Shape;
}

/** A type that refers to itself, or that is referred to by name. */
export interface Definition {
  readonly hint: string;
  shape: Shape;
}

type Node = Readonly<Record<string, unknown>>;

interface Scope {
  readonly root: Node;
  readonly definitions: Node;
}

const atom = (text: string): Shape => ({ kind: "atom", text });
const UNKNOWN = atom("unknown");
const NEVER = atom("never");
const KINDS: Readonly<Record<string, Shape>> = {
  string: atom("string"),
  number: atom("number"),
  integer: atom("number"),
  boolean: atom("boolean"),
  null: atom("null"),
  undefined: atom("undefined"),
  void: atom("undefined"),
  bigint: NEVER, // No JSON text holds one.
};

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && !Array.isArray(value);
const nodeIn = (value: unknown): Node => (isNode(value) ? value : {});
const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const textIn = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** Converts schemas to types. Rules that no type can express are left out; unknown parts become `unknown`. */
export class Shapes {
  readonly #definitions = new Map<Node, Definition>();

  /** @param side the value sent to an operation, or the one it returns: a schema that transforms values has two types. */
  of(schema: Schema, side: "input" | "output", hint: string): Shape {
    const node = jsonSchemaOf(schema, side);
    const scope = { root: node, definitions: {} };
    return refersToItself(node) ? this.#defined(node, scope, hint) : this.#shape(node, scope, hint);
  }

  #shape(given: unknown, outer: Scope, hint: string): Shape {
    if (given === false) return NEVER;
    if (!isNode(given)) return UNKNOWN;
    if (given["x-json"] === false) return NEVER; // Code sends and gets JSON.
    const definitions = { ...nodeIn(given["definitions"]), ...nodeIn(given["$defs"]) };
    const scope =
      Object.keys(definitions).length === 0
        ? outer
        : { ...outer, definitions: { ...outer.definitions, ...definitions } };
    const parts: Shape[] = [];
    const reference = textIn(given["$ref"]);
    if (reference !== undefined) parts.push(this.#referred(reference, scope, hint));
    if ("const" in given) parts.push(literal(given["const"]));
    if (Array.isArray(given["enum"])) parts.push(union(given["enum"].map(literal)));
    for (const keyword of ["anyOf", "oneOf"]) {
      if (Array.isArray(given[keyword]))
        parts.push(union(given[keyword].map((part) => this.#shape(part, scope, hint))));
    }
    for (const part of listIn(given["allOf"])) parts.push(this.#shape(part, scope, hint));
    const { type } = given;
    if (!("const" in given) && !("enum" in given)) {
      if (Array.isArray(type)) parts.push(union(type.map((one) => this.#typed(one, given, scope, hint))));
      else if (type !== undefined) parts.push(this.#typed(type, given, scope, hint));
    }
    if (isNode(given["not"]) && Object.keys(given["not"]).length === 0) parts.push(NEVER);
    if (parts.length === 0 && isBytes(given)) return NEVER;
    return intersection(parts);
  }

  #typed(type: unknown, node: Node, scope: Scope, hint: string): Shape {
    if (type === "object") return this.#object(node, scope);
    if (type === "array") return this.#array(node, scope, hint);
    return typeof type === "string" && Object.hasOwn(KINDS, type) ? (KINDS[type] ?? UNKNOWN) : UNKNOWN;
  }

  #object(node: Node, scope: Scope): Shape {
    const required = new Set(listIn(node["required"]));
    const members: Member[] = [];
    for (const [name, property] of Object.entries(nodeIn(node["properties"]))) {
      const shape = this.#shape(property, scope, name);
      const isOptional = !required.has(name);
      if (shape === NEVER && !isOptional) return NEVER;
      if (shape === NEVER) continue;
      members.push({ name, isOptional, description: textIn(nodeIn(property)["description"]), shape });
    }
    const others = [...Object.values(nodeIn(node["patternProperties"])), node["additionalProperties"]].filter(isNode);
    const shape = others.length === 0 ? null : union(others.map((other) => this.#shape(other, scope, "value")));
    // TypeScript requires each named member to be of the index type, too.
    return { kind: "object", members, others: shape !== null && members.length > 0 ? UNKNOWN : shape };
  }

  #array(node: Node, scope: Scope, hint: string): Shape {
    const items = Array.isArray(node["items"]) ? node["items"] : node["prefixItems"];
    if (Array.isArray(items)) {
      const shapes = items.map((item) => this.#shape(item, scope, hint));
      const { minItems, additionalItems, items: rest } = node;
      const isClosed = additionalItems === false || rest === false || Array.isArray(rest) || rest === undefined;
      const least = typeof minItems === "number" ? Math.min(minItems, shapes.length) : shapes.length;
      return isClosed ? { kind: "tuple", items: shapes, least } : { kind: "array", item: UNKNOWN };
    }
    return { kind: "array", item: node["items"] === undefined ? UNKNOWN : this.#shape(node["items"], scope, hint) };
  }

  #referred(reference: string, scope: Scope, hint: string): Shape {
    if (reference === "#") return this.#defined(scope.root, scope, hint);
    const name = reference.replace(/^#\/(\$defs|definitions)\//, "");
    const node = Object.hasOwn(scope.definitions, name) ? scope.definitions[name] : undefined;
    return isNode(node) ? this.#defined(node, scope, name) : UNKNOWN;
  }

  #defined(node: Node, scope: Scope, hint: string): Shape {
    const known = this.#definitions.get(node);
    if (known !== undefined) return { kind: "named", definition: known };
    const definition: Definition = { hint, shape: UNKNOWN };
    this.#definitions.set(node, definition);
    definition.shape = this.#shape(node, scope, hint);
    return { kind: "named", definition };
  }
}

/** Returns the JSON Schema of a schema. A Standard Schema has one if its library can make it. */
function jsonSchemaOf(schema: Schema, side: "input" | "output"): Node {
  if (!("~standard" in schema)) return schema as Node; // All other schemas are JSON Schemas.
  try {
    const standard: object = schema["~standard"];
    const make: unknown = "jsonSchema" in standard ? nodeIn(standard.jsonSchema)[side] : undefined;
    return typeof make === "function" ? nodeIn(make({ target: "draft-2020-12" })) : {};
  } catch {
    return {}; // JSON Schema cannot express a part of it, such as a Date.
  }
}

function refersToItself(node: Node): boolean {
  try {
    return JSON.stringify(node).includes('"$ref":"#"');
  } catch {
    return false;
  }
}

/** True when a schema without keywords accepts bytes, and no value that JSON can hold. */
function isBytes(node: Node): boolean {
  if (!("~refine" in node)) return false;
  const takes = (value: unknown): boolean => payload.parse(value).isOk();
  const payload = validatorOf(node as Schema); // A schema of TypeBox: no other has refinements.
  return takes(new Uint8Array()) && ![null, true, 0, "", [], {}].some(takes);
}

function validatorOf(payload: Schema) {
  const { operation } = defineProtocol("probe", { operation: { payload } }).operations;
  if (operation === undefined) throw new Error("It was defined.");
  return operation.payload;
}

function literal(value: unknown): Shape {
  if (value === null || typeof value === "string" || typeof value === "boolean") return atom(JSON.stringify(value));
  if (typeof value === "number")
    return Number.isFinite(value) ? atom(JSON.stringify(value)) : (KINDS["number"] ?? UNKNOWN);
  return typeof value === "bigint" ? NEVER : UNKNOWN;
}

function union(parts: readonly Shape[]): Shape {
  return join("|", parts, UNKNOWN, NEVER);
}

function intersection(parts: readonly Shape[]): Shape {
  return join("&", parts, NEVER, UNKNOWN);
}

/** @param all the part that makes all others redundant, and @param nothing the part that is redundant itself. */
function join(by: "|" | "&", parts: readonly Shape[], all: Shape, nothing: Shape): Shape {
  const said = parts
    .flatMap((part) => (part.kind === "join" && part.by === by ? part.parts : [part]))
    .filter((part) => part !== nothing);
  if (said.includes(all)) return all;
  const [first, second] = said;
  if (first === undefined) return nothing;
  return second === undefined ? first : { kind: "join", by, parts: said };
}
