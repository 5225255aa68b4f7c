import { isNode, listIn, nodeIn, type SchemaNode } from "./discriminator";
import type { JsonSchema } from "./schema";

/** The value that a sender writes, or the one that an asker reads after JSON has carried it. */
export type Side = "input" | "output";

/** The keyword by which an owner leaves a part out of what is described as JSON: with false, it is for askers in this process. */
export const FOR_JSON = "x-json";

/** The keyword by which a schema that keywords cannot describe says what stands for its values in JSON. */
export const JSON_FORM = "~json";

const ANNOTATIONS = ["title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"];
/** Keywords of draft 2020-12 whose value holds no schema. `type`, `const`, `enum`, `pattern` and `required` are treated apart. */
const PLAIN = new Set([
  ...ANNOTATIONS,
  ..."multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength maxItems minItems".split(" "),
  ..."uniqueItems maxContains minContains maxProperties minProperties dependentRequired format".split(" "),
  ..."contentEncoding contentMediaType $anchor $dynamicRef $dynamicAnchor".split(" "),
]);
const ONE_SCHEMA = new Set(
  "additionalProperties contains propertyNames if then else unevaluatedItems unevaluatedProperties contentSchema".split(
    " ",
  ),
);
/** A schema with none of these takes any value, as far as keywords say. */
const DECISIVE = ["type", "const", "enum", "anyOf", "oneOf", "allOf", "not", "$ref", "if", "$dynamicRef"];
const JSON_TYPES = new Set(["string", "number", "integer", "boolean", "null", "object", "array"]);
const ABSENT_TYPES: ReadonlySet<unknown> = new Set(["undefined", "void"]);

/** Thrown for a schema whose values JSON cannot hold. */
export class NotJson extends Error {
  /** True when only `undefined` fits, which JSON leaves out. */
  readonly isAbsence: boolean;
  readonly #path: readonly string[];

  constructor(reason: string, isAbsence = false, path: readonly string[] = []) {
    super(reason);
    this.isAbsence = isAbsence;
    this.#path = path;
  }

  under(key: string): NotJson {
    return new NotJson(this.message, this.isAbsence, [key, ...this.#path]);
  }

  get sentence(): string {
    return this.#path.length === 0 ? this.message : `at /${this.#path.join("/")}, ${this.message}`;
  }
}

/**
 * The JSON Schema (draft 2020-12) of a TypeBox schema: a copy without TypeBox's own marks, unknown keywords and parts that
 * JSON cannot hold. Definitions stand at its root.
 *
 * @throws NotJson when JSON can hold no value that fits.
 */
export const cleanSchema = (schema: object, side: Side): JsonSchema => new Cleaner(schema as SchemaNode, side).run();

type Scope = Readonly<Record<string, unknown>>;

class Cleaner {
  readonly #root: SchemaNode;
  readonly #side: Side;
  /** The nodes that references point to, by their new names. */
  readonly #names = new Map<SchemaNode, string>();
  readonly #definitions: Record<string, unknown> = {};
  readonly #ids: Scope;

  constructor(root: SchemaNode, side: Side) {
    this.#root = root;
    this.#side = side;
    this.#ids = idsIn(root, {}, new Set());
  }

  run(): JsonSchema {
    const schema = this.#node(this.#root, {});
    const definitions = this.#names.size === 0 ? {} : { $defs: this.#definitions };
    return schema === true ? definitions : { ...nodeIn(schema), ...definitions };
  }

  #node(given: unknown, outer: Scope): SchemaNode | boolean {
    if (!isNode(given)) return given !== false;
    if (JSON_FORM in given) return withNotes(given, nodeIn(given[JSON_FORM]));
    if (isBytes(given)) throw new NotJson("JSON cannot hold bytes");
    if (given[FOR_JSON] === false) throw new NotJson("it is for askers in this process alone");
    const scope = { ...outer, ...nodeIn(given["definitions"]), ...nodeIn(given["$defs"]) };
    let found: Record<string, unknown> = {};
    for (const [keyword, value] of Object.entries(given)) {
      if (keyword === "type") found["type"] = jsonTypes(value);
      else if (keyword === "const") found["const"] = literal(value);
      else if (keyword === "enum") found["enum"] = literals(listIn(value));
      else if (keyword === "pattern") found["pattern"] = patternText(value);
      else if (keyword === "$ref") found["$ref"] = this.#reference(String(value), scope);
      else if (keyword === "not") {
        const refused = this.#nodeOrNot(value, scope);
        if (!(refused instanceof NotJson)) found["not"] = refused; // Otherwise no JSON value is one of those.
      } else if (keyword === "properties") Object.assign(found, this.#properties(given, scope));
      else if (keyword === "required") found["required"] ??= value;
      else if (keyword === "patternProperties" || keyword === "dependentSchemas") {
        found[keyword] = mapValues(nodeIn(value), (each) => this.#node(each, scope));
      } else if (keyword === "anyOf" || keyword === "oneOf")
        found = { ...found, ...this.#union(keyword, value, scope) };
      else if (keyword === "allOf") found["allOf"] = listIn(value).map((part) => this.#node(part, scope));
      else if (ONE_SCHEMA.has(keyword)) found[keyword] = this.#node(value, scope);
      else if (PLAIN.has(keyword) || keyword.startsWith("x-")) Object.assign(found, plain(keyword, value));
    }
    Object.assign(found, this.#items(given, scope));
    if (Array.isArray(found["required"]) && found["required"].length === 0) delete found["required"];
    return found;
  }

  /** Leaves out the properties that JSON cannot hold. */
  #properties(given: SchemaNode, scope: Scope): Record<string, unknown> {
    const required = new Set(listIn(given.required));
    const properties: [string, unknown][] = [];
    for (const [name, property] of Object.entries(nodeIn(given.properties))) {
      // JSON leaves out a property that is undefined: its reader cannot count on it.
      if (this.#side === "output" && mayBeUndefined(property)) required.delete(name);
      const node = this.#nodeOrNot(property, scope);
      if (!(node instanceof NotJson)) properties.push([name, node]);
      else if (required.has(name)) throw node.under(name);
    }
    return { properties: Object.fromEntries(properties), required: [...required] };
  }

  /** A list of schemas says each item of a tuple; 2020-12 has `prefixItems` for that, and `items` for the others. */
  #items(given: SchemaNode, scope: Scope): Record<string, unknown> {
    const { items, prefixItems, additionalItems } = given;
    const first = Array.isArray(items) ? items : prefixItems;
    const others = Array.isArray(items) ? additionalItems : items;
    return {
      ...(Array.isArray(first) && {
        prefixItems: first.map((item, index) => under(String(index), () => this.#node(item, scope))),
      }),
      ...(others !== undefined && { items: under("items", () => this.#node(others, scope)) }),
    };
  }

  /** Leaves out the branches that JSON cannot hold. */
  #union(keyword: string, branches: unknown, scope: Scope): Record<string, unknown> {
    const kept: (SchemaNode | boolean)[] = [];
    const refused: NotJson[] = [];
    for (const branch of listIn(branches)) {
      const node = this.#nodeOrNot(branch, scope);
      if (node instanceof NotJson) refused.push(node);
      else kept.push(node);
    }
    const [only] = kept;
    if (only === undefined) {
      throw (
        refused.find(({ isAbsence }) => !isAbsence) ?? refused[0] ?? new NotJson("no value fits a union of nothing")
      );
    }
    return kept.length === 1 && isNode(only) ? only : { [keyword]: kept };
  }

  #nodeOrNot(given: unknown, scope: Scope): SchemaNode | boolean | NotJson {
    try {
      return this.#node(given, scope);
    } catch (thrown) {
      if (thrown instanceof NotJson) return thrown;
      throw thrown;
    }
  }

  /** References by id and to definitions become references to definitions at the root. */
  #reference(reference: string, scope: Scope): string {
    const name = reference.replace(/^#\/(\$defs|definitions)\//, "");
    const node = Object.hasOwn(scope, name) ? scope[name] : this.#ids[name];
    if (!isNode(node)) return reference;
    if (node === this.#root) return "#";
    const known = this.#names.get(node);
    if (known !== undefined) return pointerTo(known);
    let free = name;
    for (let count = 2; Object.hasOwn(this.#definitions, free); count++) free = `${name}-${count}`;
    this.#names.set(node, free);
    this.#definitions[free] = true; // Keeps the name while the definition is made, which may refer to itself.
    try {
      this.#definitions[free] = this.#node(node, scope);
    } catch (thrown) {
      this.#names.delete(node);
      delete this.#definitions[free];
      throw thrown;
    }
    return pointerTo(free);
  }
}

const pointerTo = (name: string): string =>
  `#/$defs/${encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"))}`;

/** The nodes that have an `$id`, by it. */
function idsIn(value: unknown, found: Record<string, unknown>, seen: Set<unknown>): Scope {
  if (typeof value !== "object" || value === null || seen.has(value)) return found;
  seen.add(value);
  if (isNode(value) && typeof value["$id"] === "string") found[value["$id"]] ??= value;
  for (const each of Object.values(value)) idsIn(each, found, seen);
  return found;
}

/** True when `undefined` may fit a schema of TypeBox. */
export function mayBeUndefined(schema: unknown): boolean {
  if (!isNode(schema)) return schema === true;
  const { type, anyOf, oneOf, allOf } = schema as SchemaNode & { readonly oneOf?: unknown };
  if (ABSENT_TYPES.has(type) || (Array.isArray(type) && type.some((each) => ABSENT_TYPES.has(each)))) return true;
  const branches = anyOf ?? oneOf;
  if (Array.isArray(branches)) return branches.some(mayBeUndefined);
  if (Array.isArray(allOf)) return allOf.every(mayBeUndefined);
  return !DECISIVE.some((keyword) => keyword in schema) && !(JSON_FORM in schema) && !isBytes(schema);
}

function jsonTypes(type: unknown): unknown {
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  const held = types.filter((each) => JSON_TYPES.has(each as string)); // A set may be asked for any value.
  if (held.length > 0) return Array.isArray(type) ? held : held[0];
  if (types.every((each) => ABSENT_TYPES.has(each))) throw new NotJson("only undefined fits", true);
  throw new NotJson(`JSON cannot hold a ${String(types.find((each) => !ABSENT_TYPES.has(each)))}`);
}

const isLiteral = (value: unknown): boolean => {
  if (typeof value === "number") return Number.isFinite(value);
  return value === null || ["string", "boolean", "object"].includes(typeof value);
};

function literal(value: unknown): unknown {
  if (isLiteral(value)) return value;
  throw new NotJson(
    value === undefined ? "only undefined fits" : `JSON cannot hold ${String(value)}`,
    value === undefined,
  );
}

function literals(values: readonly unknown[]): readonly unknown[] {
  const held = values.filter(isLiteral);
  if (held.length === 0) throw new NotJson("JSON can hold none of its values");
  return held;
}

function patternText(pattern: unknown): unknown {
  if (!(pattern instanceof RegExp)) return pattern;
  if (/[imsv]/.test(pattern.flags)) throw new NotJson(`JSON Schema has no pattern with the flags "${pattern.flags}"`);
  return pattern.source;
}

/** A keyword as data; an annotation that JSON cannot hold is left out. */
function plain(keyword: string, value: unknown): Record<string, unknown> {
  try {
    const text = JSON.stringify(value);
    return text === undefined ? {} : { [keyword]: JSON.parse(text) };
  } catch {
    return {};
  }
}

/** The form of a schema in JSON, with the schema's own annotations. */
const withNotes = (schema: SchemaNode, form: SchemaNode): SchemaNode => ({
  ...form,
  ...Object.assign({}, ...ANNOTATIONS.filter((key) => key in schema).map((key) => plain(key, schema[key]))),
});

const SAMPLES = [null, true, 0, "", [], {}];

/** True when a schema without keywords takes bytes, and no value that JSON can hold. */
function isBytes(schema: SchemaNode): boolean {
  const refinements = listIn(schema["~refine"]) as readonly { check(value: unknown): unknown }[]; // As TypeBox makes them.
  if (refinements.length === 0 || DECISIVE.some((keyword) => keyword in schema)) return false;
  const takes = (value: unknown): boolean => refinements.every((refinement) => Boolean(refinement.check(value)));
  try {
    return takes(new Uint8Array()) && !SAMPLES.some(takes);
  } catch {
    return false;
  }
}

function under<T>(key: string, run: () => T): T {
  try {
    return run();
  } catch (thrown) {
    throw thrown instanceof NotJson ? thrown.under(key) : thrown;
  }
}

const mapValues = (node: SchemaNode, change: (value: unknown) => unknown): Record<string, unknown> =>
  Object.fromEntries(Object.entries(node).map(([key, value]) => [key, under(key, () => change(value))]));
