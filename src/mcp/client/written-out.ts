import type { JsonSchema } from "../../index";
import { isObject } from "../rooted";

/** A stranger's JSON Schema in a form that is quick to check by. */
export interface WrittenOut {
  /** The schema without references. It accepts every value that the stranger's own accepts, and may accept more. */
  readonly schema: JsonSchema;
  /** Most steps that a check takes for one part of a value, by and large. */
  readonly width: number;
  /** The steps that it took to write it out. */
  readonly steps: number;
}

/** Most steps of a schema: each is one part of it, or 32 letters of its data. */
export const MOST_STEPS = 5_000;
const STEP = 32;
const DEEPEST = 64;
/** Keywords that check one value by each of several schemas. */
const SIDES = ["allOf", "anyOf", "oneOf"];
/** Keywords whose value may be an array of schemas, for the items of an array. */
const ITEMS = new Set(["items", "prefixItems"]);
/** Keywords whose value is a schema, for what is in the value. */
const INNER = ["items", "additionalProperties", "contains", "propertyNames"];
/**
 * Keywords that are left out. A stranger's pattern may take for ever on a stranger's text. The others could refuse a value that fits once
 * a part of them is left out.
 */
const LEFT_OUT = new Set([
  ...["$schema", "$id", "$ref", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$defs", "definitions"],
  ...["pattern", "patternProperties", "format", "not", "if", "then", "else", "maxContains", "dependentSchemas"],
  ...["dependencies", "unevaluatedProperties", "unevaluatedItems", "additionalItems", "default", "examples"],
  ...["title", "description", "$comment", "contentSchema"],
]);

interface Waiting {
  readonly schema: unknown;
  readonly depth: number;
  /** The object or array that it becomes a part of, and where. */
  readonly into: object;
  readonly key: string | number;
}

/**
 * Writes a schema out: each reference is replaced by the schema that it leads to. References to references can stand for more schemas than
 * there is time to check, or for endlessly many, so parts beyond the most steps, or deeper than 64 levels, are not checked.
 */
export function writtenOut(root: JsonSchema, most = MOST_STEPS): WrittenOut {
  const made: { root: unknown } = { root: {} };
  let steps = 0;
  const waiting: Waiting[] = [];
  const later: Later = (schema, depth, into, key) => {
    Reflect.set(into, key, {});
    if (depth <= DEEPEST && waiting.length < most) waiting.push({ schema, depth, into, key });
  };
  later(root, 0, made, "root");
  // Level by level: what is cut off is the deepest.
  for (const { schema, depth, into, key } of waiting) {
    const own = stepsOf(schema);
    if (steps + own > most) break;
    steps += own;
    Reflect.set(into, key, isObject(schema) ? partsOf(schema, root, depth + 1, later) : schema);
  }
  return { schema: isObject(made.root) ? made.root : {}, width: widthOf(made.root).all, steps };
}

/** The steps of a schema without the schemas in it. */
function stepsOf(schema: unknown): number {
  if (!isObject(schema)) return 1;
  const { enum: values, const: value, required } = schema;
  const data = [values, value, required].filter((each) => each !== undefined);
  const inner = [...SIDES, "prefixItems"].map((key) => (Array.isArray(schema[key]) ? schema[key].length : 0));
  const names = isObject(schema["properties"]) ? Object.keys(schema["properties"]).length : 0;
  const letters = data.length === 0 ? 0 : JSON.stringify(data).length;
  return inner.reduce((sum, each) => sum + each, 1 + names + Math.floor(letters / STEP));
}

type Later = (schema: unknown, depth: number, into: object, key: string | number) => void;

/** @param depth that of the schemas in it. */
function partsOf(schema: Record<string, unknown>, root: JsonSchema, depth: number, later: Later): object {
  const made: Record<string, unknown> = Object.create(null);
  const all: unknown[] = [];
  const list = (schemas: readonly unknown[], into: unknown[] = []): unknown[] => {
    for (const each of schemas) later(each, depth, into, into.length);
    return into;
  };
  const isOpen = "patternProperties" in schema; // Its patterns may let in any name.
  for (const [key, value] of Object.entries(schema)) {
    if (LEFT_OUT.has(key) || (isOpen && key === "additionalProperties")) continue;
    if (key === "allOf") list(listIn(value), all);
    else if (key === "anyOf" || key === "oneOf") {
      // One of several may be checked in a part of it, and so fit, too.
      if (Array.isArray(value)) all.push({ anyOf: list(value) });
    } else if (key === "prefixItems" || Array.isArray(value)) {
      // The items of older dialects were an array.
      made[key === "items" ? "prefixItems" : key] = ITEMS.has(key) ? list(listIn(value)) : value;
    } else if (key === "properties") {
      const properties: object = Object.create(null);
      if (isObject(value)) for (const [name, each] of Object.entries(value)) later(each, depth, properties, name);
      made[key] = properties;
    } else if (INNER.includes(key)) later(value, depth, made, key);
    else made[key] = value;
  }
  const { $ref } = schema;
  if (typeof $ref === "string") list([placeIn(root, $ref)], all);
  if (all.length > 0) made["allOf"] = all;
  return made;
}

/** The schema that a reference leads to. One that leads elsewhere, or nowhere, stands for anything. */
function placeIn(root: JsonSchema, reference: string): unknown {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return {};
  let at: unknown = root;
  for (const part of reference.slice(2).split("/")) {
    const key = decoded(part).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return {};
    at = (at as Record<string, unknown>)[key]; // It has the key.
  }
  return at;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

interface Width {
  /** The steps for a value itself. */
  readonly here: number;
  /** Most steps for one part of it. */
  readonly below: number;
  readonly all: number;
}

/** The schemas of `anyOf` and `allOf` each take their steps for one value; one of the properties takes its own. */
function widthOf(schema: unknown): Width {
  if (!isObject(schema)) return { here: 1, below: 0, all: 1 };
  const { allOf, anyOf, prefixItems, properties } = schema;
  let here = stepsOf(schema);
  let below = 0;
  for (const each of [...listIn(allOf), ...listIn(anyOf)]) {
    const side = widthOf(each);
    here += side.here;
    below += side.below;
  }
  let widest = 0;
  for (const each of [...listIn(prefixItems), ...(isObject(properties) ? Object.values(properties) : [])]) {
    widest = Math.max(widest, widthOf(each).all);
  }
  below += widest;
  for (const key of INNER) if (schema[key] !== undefined) below += widthOf(schema[key]).all;
  if (schema["uniqueItems"] === true) below += UNIQUE;
  return { here, below, all: Math.max(here, below) };
}

/** The steps that it takes to compare an item with all others. */
const UNIQUE = 50;

const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Most steps of one check: about a second. */
const MOST_WORK = 500_000_000;
/** The letters that a value of JSON takes at least. */
const VALUE = 2;
/** Letters of a text that take as long to check as one value's. */
const QUICK = 8;

/** True for a value that is checked soon enough by a schema of a width. */
export function isSoonChecked(value: unknown, width: number, mostLetters: number): boolean {
  const most = MOST_WORK / width;
  if (mostLetters <= most) return true;
  let letters = 0;
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const at = waiting.pop();
    letters += VALUE;
    if (typeof at === "string") letters += at.length / QUICK;
    else if (typeof at === "object" && at !== null) {
      for (const [key, each] of Object.entries(at)) {
        letters += Array.isArray(at) ? 0 : key.length / QUICK;
        waiting.push(each);
      }
    }
    if (letters > most) return false;
  }
  return true;
}
