/** A JSON Schema made by TypeBox: keywords, and hidden marks that a copy must keep. */
export interface SchemaNode {
  readonly type?: unknown;
  readonly const?: unknown;
  readonly enum?: unknown;
  readonly items?: unknown;
  readonly anyOf?: unknown;
  readonly allOf?: unknown;
  readonly properties?: unknown;
  readonly patternProperties?: unknown;
  readonly required?: unknown;
  readonly [keyword: string]: unknown;
}

/** A value that tells one branch of a union from the others. */
export type Tag = string | number | boolean;

/** A union whose branches are told apart by one property, and the branches that have no such property. */
export interface SplitUnion {
  readonly key: string;
  readonly tagged: ReadonlyMap<Tag, SchemaNode>;
  readonly rest: readonly unknown[];
}

/** True for a schema with keywords; false for `true` and `false`. */
export const isNode = (value: unknown): value is SchemaNode =>
  typeof value === "object" && value !== null && !Array.isArray(value);
export const nodeIn = (value: unknown): SchemaNode => (isNode(value) ? value : {});
export const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const isTag = (value: unknown): value is Tag =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean";

/** Finds the property that tells the most branches of a union apart; undefined if none tells two apart. */
export function splitUnion(branches: readonly unknown[]): SplitUnion | undefined {
  const required = branches.map((branch) => tagsOf(branch));
  let best: SplitUnion | undefined;
  for (const key of new Set(required.flatMap((tags) => [...tags.keys()]))) {
    const tagged = new Map<Tag, SchemaNode>();
    const rest: unknown[] = [];
    let isDistinct = true;
    for (const [index, branch] of branches.entries()) {
      const tags = required[index]?.get(key);
      if (tags === undefined || !isNode(branch)) {
        rest.push(branch);
        continue;
      }
      for (const tag of tags) {
        if (tagged.has(tag)) isDistinct = false;
        tagged.set(tag, branch);
      }
    }
    const isBetter = best === undefined || rest.length < best.rest.length;
    if (isDistinct && isBetter && branches.length - rest.length > 1) best = { key, tagged, rest };
  }
  return best;
}

/** The properties that the schema requires to have one of a few values, with these values. */
function tagsOf(schema: unknown): ReadonlyMap<string, ReadonlySet<Tag>> {
  const found = new Map<string, ReadonlySet<Tag>>();
  if (!isNode(schema)) return found;
  if (schema.type === "object" && isNode(schema.properties) && Array.isArray(schema.required)) {
    for (const [key, property] of Object.entries(schema.properties)) {
      const tags = schema.required.includes(key) ? literalsOf(property) : undefined;
      if (tags !== undefined && tags.length > 0) found.set(key, new Set(tags));
    }
  }
  if (Array.isArray(schema.allOf)) {
    for (const part of schema.allOf) {
      for (const [key, tags] of tagsOf(part)) if (!found.has(key)) found.set(key, tags);
    }
  }
  return found;
}

function literalsOf(schema: unknown): readonly Tag[] | undefined {
  if (!isNode(schema)) return undefined;
  if (isTag(schema.const)) return [schema.const];
  if (Array.isArray(schema.enum)) return schema.enum.every(isTag) ? schema.enum : undefined;
  if (!Array.isArray(schema.anyOf)) return undefined;
  const parts = schema.anyOf.map(literalsOf);
  return parts.every((part) => part !== undefined) ? parts.flat() : undefined;
}

/** Replaces the branches of a union, or leaves them. */
type ReplaceBranches = (branches: readonly unknown[], keyword: "anyOf" | "oneOf") => readonly unknown[];

/** Copies a schema with the branches of each union in it replaced. Parts without a union are not copied. */
export function rewriteUnions(schema: unknown, replace: ReplaceBranches): unknown {
  if (!isNode(schema)) return schema;
  const changes: Record<string, unknown> = {};
  const change = (keyword: string, value: unknown): void => {
    if (value !== schema[keyword]) changes[keyword] = value;
  };
  const rewriteList = (list: readonly unknown[]): readonly unknown[] =>
    keepIfSame(
      list,
      list.map((item) => rewriteUnions(item, replace)),
    );
  for (const keyword of ["additionalItems", "additionalProperties"]) {
    change(keyword, rewriteUnions(schema[keyword], replace));
  }
  for (const keyword of ["items", "prefixItems", "allOf"]) {
    const value = schema[keyword];
    change(keyword, Array.isArray(value) ? rewriteList(value) : rewriteUnions(value, replace));
  }
  for (const keyword of ["properties", "patternProperties"]) {
    const value = schema[keyword];
    if (!isNode(value)) continue;
    const before = Object.values(value);
    const after = rewriteList(before);
    if (after !== before) change(keyword, Object.fromEntries(Object.keys(value).map((key, i) => [key, after[i]])));
  }
  for (const keyword of ["anyOf", "oneOf"] as const) {
    const value = schema[keyword];
    if (Array.isArray(value)) change(keyword, rewriteList(replace(value, keyword)));
  }
  return Object.keys(changes).length === 0 ? schema : copyWith(schema, changes);
}

/** True when a schema refers to other parts of itself. Its parts cannot be compiled separately then. */
export function isEntangled(schema: unknown): boolean {
  if (typeof schema !== "object" || schema === null) return false;
  return Object.entries(schema).some(
    ([key, value]) =>
      ((key === "$ref" || key === "$dynamicRef" || key === "$recursiveRef") && typeof value === "string") ||
      key === "unevaluatedItems" ||
      key === "unevaluatedProperties" ||
      isEntangled(value),
  );
}

const keepIfSame = (before: readonly unknown[], after: readonly unknown[]): readonly unknown[] =>
  before.length === after.length && before.every((item, index) => item === after[index]) ? before : after;

export function copyWith(schema: SchemaNode, changes: SchemaNode): SchemaNode {
  const properties: PropertyDescriptorMap = Object.getOwnPropertyDescriptors(schema);
  for (const [key, value] of Object.entries(changes)) properties[key] = { value, enumerable: true };
  return Object.defineProperties({}, properties);
}
