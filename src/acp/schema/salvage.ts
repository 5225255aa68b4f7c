/** A schema as `normalise` gives it, or a part of one. */
type Node = Readonly<Record<string, unknown>>;

/** Stands for a value that does not fit, and that its schema does not let one leave out. */
export const MISFIT: unique symbol = Symbol("misfit");

/**
 * Treats a value that does not fit as the official schema asks: an optional property that is wrong is left out, wrong items of some
 * lists are left out, and null stands for some empty lists. Gives the value itself when it fits, a copy with less in it, or `MISFIT`.
 * Values from JSON only: they have no circles.
 *
 * It interprets the schema: only messages that the compiled check has refused come here, and they are few. It ends at the first part that
 * cannot be left out.
 */
export function salvage(schema: unknown, value: unknown): unknown {
  const node = nodeOf(schema);
  if (value === null && node["x-null"] === true) return emptyOf(node);
  if (!hasType(node["type"], value)) return MISFIT;
  if ("const" in node && value !== node["const"]) return MISFIT;
  if (Array.isArray(node["enum"]) && !node["enum"].includes(value)) return MISFIT;
  if (typeof value === "number" && isOutside(node, value)) return MISFIT;
  if (typeof value === "string" && value.length < numberOr(node["minLength"], 0)) return MISFIT;
  if ("not" in node && salvage(node["not"], value) !== MISFIT) return MISFIT;
  let whole: unknown = value;
  if (Array.isArray(value)) whole = salvageItems(node, value);
  else if (typeof value === "object" && value !== null) whole = salvageProperties(node, nodeOf(value));
  if (whole === MISFIT || !Array.isArray(node["anyOf"])) return whole;
  return salvageBranches(node["anyOf"], whole);
}

function salvageItems({ items, "x-skip": skips }: Node, value: readonly unknown[]): unknown {
  if (items === undefined) return value;
  let isSame = true;
  const kept: unknown[] = [];
  for (const item of value) {
    const found = salvage(items, item);
    isSame &&= found === item;
    if (found !== MISFIT) kept.push(found);
    else if (skips !== true) return MISFIT;
  }
  return isSame ? value : kept;
}

function salvageProperties(node: Node, value: Node): unknown {
  const { properties, required, additionalProperties: others } = node;
  const known = nodeOf(properties);
  const needed: readonly unknown[] = Array.isArray(required) ? required : NONE;
  for (const name of needed) if (!Object.hasOwn(value, String(name))) return MISFIT;
  let copy: Record<string, unknown> | undefined;
  // Values from JSON have no inherited properties that the loop would visit. Object.entries made a refusal a third slower.
  for (const name in value) {
    const schema = Object.hasOwn(known, name) ? known[name] : others;
    if (schema === undefined) continue;
    const found = salvage(schema, value[name]);
    if (found === value[name]) continue;
    const rule = nodeOf(schema);
    if ((found === MISFIT && rule["x-error"] !== true) || name === "__proto__") return MISFIT;
    copy ??= { ...value };
    if (found !== MISFIT) copy[name] = found;
    else if (needed.includes(name)) copy[name] = emptyOf(rule);
    else delete copy[name];
  }
  return copy ?? value;
}

const NONE: readonly unknown[] = [];

/** The branches of a union that one property tells apart, and the others. */
interface Tagged {
  readonly key: string | undefined;
  readonly branches: ReadonlyMap<unknown, unknown>;
  readonly rest: readonly unknown[];
}

const tables = new WeakMap<readonly unknown[], Tagged>();

/** A key for which two branches at least have a literal, each its own. */
function taggedOf(branches: readonly unknown[]): Tagged {
  const found = tables.get(branches);
  if (found !== undefined) return found;
  const literal = (branch: unknown, key: string): unknown => nodeOf(nodeOf(nodeOf(branch)["properties"])[key])["const"];
  const keys = branches.flatMap((branch) => Object.keys(nodeOf(nodeOf(branch)["properties"])));
  const count = (key: string): number => branches.filter((branch) => literal(branch, key) !== undefined).length;
  const key = keys.find((each) => count(each) > 1) ?? keys.find((each) => count(each) === 1);
  const isTagged = (branch: unknown): boolean => key !== undefined && literal(branch, key) !== undefined;
  const tagged: Tagged = {
    key,
    branches: new Map(branches.filter(isTagged).map((branch) => [literal(branch, key ?? ""), branch])),
    rest: branches.filter((branch) => !isTagged(branch)),
  };
  tables.set(branches, tagged);
  return tagged;
}

/** The branch that the discriminator names, or else one of the others: as it is, or the first that can be made to fit. */
function salvageBranches(all: readonly unknown[], value: unknown): unknown {
  const { key, branches, rest } = taggedOf(all);
  const own = nodeOf(value);
  const branch = key !== undefined && Object.hasOwn(own, key) ? branches.get(own[key]) : undefined;
  let best = branch === undefined ? MISFIT : salvage(branch, value);
  for (const other of rest) {
    if (best === value) break;
    const found = salvage(other, value);
    if (found === value || best === MISFIT) best = found;
  }
  return best;
}

const emptyOf = ({ type }: Node): unknown => (type === "object" ? {} : []);

function hasType(type: unknown, value: unknown): boolean {
  if (type === undefined) return true;
  if (Array.isArray(type)) return type.some((each) => hasType(each, value));
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "integer") return Number.isInteger(value);
  if (type === "object") return typeof value === "object" && value !== null && !Array.isArray(value);
  return typeof value === type;
}

const isOutside = ({ minimum, maximum }: Node, value: number): boolean =>
  value < numberOr(minimum, -Infinity) || value > numberOr(maximum, Infinity);

const numberOr = (value: unknown, other: number): number => (typeof value === "number" ? value : other);
const nodeOf = (value: unknown): Node => (typeof value === "object" && value !== null ? (value as Node) : {}); // Its members are looked at one by one.
