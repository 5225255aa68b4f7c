import { address } from "../../index";

/**
 * A value that a recording has no more of than its size, hash or kind.
 *
 * @example
 * const value = readValue(line.payload);
 * if (value instanceof Opaque) console.log(value.kind, value.type, value.bytes); // "large text 90000"
 */
export class Opaque {
  /** `binary`, `large` or `unwritable`. */
  readonly kind: "binary" | "large" | "unwritable";
  /** Its size in bytes. Undefined for what could not be written. */
  readonly bytes: number | undefined;
  /** The keyed hash. Undefined where there is none. */
  readonly sha256: string | undefined;
  /** The kind of the value: `text`, `Uint8Array`, `function` … */
  readonly type: string | undefined;

  constructor(kind: Opaque["kind"], { bytes, sha256, type }: Record<string, unknown>) {
    this.kind = kind;
    this.bytes = typeof bytes === "number" ? bytes : undefined;
    this.sha256 = typeof sha256 === "string" ? sha256 : undefined;
    this.type = typeof type === "string" ? type : undefined;
  }
}

/**
 * The value of JSON in a recording: tags are dates, maps, bigints and so on again. A reference is its address, and what the recording does
 * not hold is an `Opaque`. A tag that it does not know, or whose content is not of that tag, stays as it is.
 *
 * @example
 * readValue(JSON.parse('{"at":{"$date":"2026-01-01T00:00:00.000Z"}}')) // { at: Date }
 */
export function readValue(json: unknown): unknown {
  if (typeof json !== "object" || json === null) return json;
  if (Array.isArray(json)) return json.map(readValue);
  const keys = Object.keys(json);
  const [first = ""] = keys;
  if (keys.length === 1 && TAG.test(first)) {
    try {
      return untagged(first, Reflect.get(json, first), json);
    } catch {
      return json; // Somebody wrote the file by hand, or changed it.
    }
  }
  const value = {};
  for (const key of keys) {
    // An own key may be __proto__, which an assignment would not make.
    Object.defineProperty(value, key.startsWith("$") ? key.slice(1) : key, {
      value: readValue(Reflect.get(json, key)),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return value;
}

/** A key with one `$`, but for `$__proto__`: that is an own key `__proto__`. */
const TAG = /^\$[a-z]/;

const LISTS = new Set(["$map", "$set"]);
const OBJECTS = new Set(["$error", "$binary", "$large"]);

function untagged(tag: string, content: unknown, whole: object): unknown {
  if (LISTS.has(tag) && !Array.isArray(content)) return whole;
  if (OBJECTS.has(tag) && (typeof content !== "object" || content === null)) return whole;
  switch (tag) {
    case "$undefined":
      return undefined;
    case "$bigint":
      return BigInt(String(content));
    case "$date":
      return new Date(String(content));
    case "$number":
      return Number(content);
    case "$ref":
      return address(String(content).replace(/^@\(|\)$/g, ""));
    case "$map":
      return new Map((content as [unknown, unknown][]).map(([key, value]) => [readValue(key), readValue(value)]));
    case "$set":
      return new Set((content as unknown[]).map(readValue));
    case "$error":
      return errorOf(readValue(content) as Record<string, unknown>);
    case "$binary":
    case "$large":
      return new Opaque(tag === "$binary" ? "binary" : "large", content as Record<string, unknown>);
    case "$unwritable":
      return new Opaque("unwritable", { type: content });
    default:
      return whole;
  }
}

/** An error with the fields that were written. */
function errorOf(fields: Record<string, unknown>): Error {
  const error = new Error(String(fields["message"] ?? ""));
  for (const [key, value] of Object.entries(fields)) {
    Object.defineProperty(error, key, { value, enumerable: false, configurable: true, writable: true });
  }
  return error;
}
