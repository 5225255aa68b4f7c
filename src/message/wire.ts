import { err, ok, type Result } from "neverthrow";
import { asDetail, type FormatError, formatError, isAddress, quote } from "./address";
import { type Message, type Metadata, RECEIVED } from "./message";
import type { MessageResponse } from "./response";
import { sentenceOf } from "./sentence-of";

/** Deepest nesting of a payload that may leave the process. */
export const MAX_DEPTH = 512;

/** Longest key or foreign text in an error. It may hold parts of a payload, and an error must not carry a whole one. */
const MAX_TEXT = 200;

/**
 * Writes a message or response as JSON, or says which value JSON cannot carry: a function, a symbol, a bigint, NaN or an
 * infinity (also as an object, such as `new Number(NaN)`), a Map, Set, RegExp, Error, Blob or anything else that JSON would
 * write as `{}` though it holds something, binary data, a cycle, or nesting over 512 levels. `undefined` is written as JSON has
 * it (left out; null in an array), and an instance of another class as its own keys.
 *
 * @example
 * serializeMessage(createMessage(address("echo"), "say", 1n)) // Err: /payload is a bigint …
 */
export function serializeMessage(message: Message | MessageResponse): Result<string, FormatError> {
  try {
    for (const [key, value] of Object.entries(message)) {
      const error = findUnserializable(value, `/${key}`, []);
      if (error !== undefined) return err(error);
    }
    return ok(JSON.stringify(message));
  } catch (thrown) {
    return err(
      formatError(
        "unserializable-payload",
        "",
        `The message cannot be written: ${asDetail(sentenceOf(thrown), MAX_TEXT)}`,
      ),
    );
  }
}

/**
 * Writes a value as JSON, or says which part JSON cannot carry, as `serializeMessage` does: for what a door sends. `undefined` is
 * written as null. Never throws.
 *
 * @param replace gives what is written in place of an object that has a `toJSON`, such as a reference, or the object itself. Called
 * for nothing else, so that plain data costs no more. What it throws comes back as the error.
 * @example
 * writeJson({ at: 3n }) // Err: /at is a bigint, which JSON cannot carry; send a string.
 */
export function writeJson(value: unknown, replace?: (object: object) => unknown): Result<string, FormatError> {
  try {
    if (isPlain(value, 0)) return ok(JSON.stringify(value) ?? "null");
    const error = findUnserializable(value, "", []);
    if (error !== undefined) return err(error);
    return ok(JSON.stringify(value, replace && replacerOf(replace)) ?? "null");
  } catch (thrown) {
    return err(
      formatError(
        "unserializable-payload",
        "",
        `The value cannot be written: ${asDetail(sentenceOf(thrown), MAX_TEXT)}`,
      ),
    );
  }
}

/** A replacer for JSON.stringify, which calls it with what toJSON gave: the object itself is in its holder. */
const replacerOf = (replace: (object: object) => unknown) =>
  function (this: unknown, key: string, json: unknown): unknown {
    const object = (this as Record<string, unknown>)[key]; // JSON.stringify says so: the holder has the key.
    if (typeof object !== "object" || object === null || !("toJSON" in object)) return json;
    const written = replace(object);
    return written === object ? json : written;
  };

/** True for a tree of plain data. A look for a fault, with its path, takes five times as long. */
function isPlain(value: unknown, depth: number): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object") return typeof value === "string" || typeof value === "boolean" || value === undefined;
  if (value === null) return true;
  if (depth === MAX_DEPTH || "toJSON" in value) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (Array.isArray(value)) return prototype === Array.prototype && value.every((item) => isPlain(item, depth + 1));
  if (prototype !== Object.prototype) return false;
  for (const key in value) if (!isPlain((value as Record<string, unknown>)[key], depth + 1)) return false;
  return true;
}

function findUnserializable(
  value: unknown,
  path: string,
  parents: unknown[],
  isFromToJSON = false,
): FormatError | undefined {
  const refuse = (what: string, instead: string): FormatError =>
    formatError(
      "unserializable-payload",
      asDetail(path, MAX_TEXT),
      `${path === "" ? "The value" : asDetail(path)} is ${what}, which JSON cannot carry; send ${instead}.`,
    );
  switch (typeof value) {
    case "bigint":
      return refuse("a bigint", "a string");
    case "function":
      return refuse("a function", "data");
    case "symbol":
      return refuse("a symbol", "a string");
    case "number":
      return Number.isFinite(value) ? undefined : refuse(String(value), "null or a string");
    case "object":
      break;
    default:
      return undefined;
  }
  if (value === null) return undefined;
  if (parents.includes(value)) return refuse("a reference to its own parent", "a tree");
  if (parents.length >= MAX_DEPTH) return refuse(`nested over ${MAX_DEPTH} levels deep`, "something flatter");
  if (value instanceof Date && Number.isNaN(value.getTime())) return refuse("an invalid Date", "null or a string");
  // JSON.stringify calls toJSON once. It does not call that of the result: a Date is then written as {}.
  if (!isFromToJSON && "toJSON" in value && typeof value.toJSON === "function") {
    const json: unknown = value.toJSON(path.slice(path.lastIndexOf("/") + 1));
    return findUnserializable(json, path, json === value ? parents : [...parents, value], true);
  }
  if (ArrayBuffer.isView(value)) return refuse("binary data", "base64 text");
  const kind = kindOf(value);
  switch (kind) {
    case "Object":
    case "Array":
    case "Arguments":
    case "String":
    case "Boolean":
      break;
    case "Number":
      return findUnserializable(Number(value), path, parents); // JSON.stringify unwraps it, too.
    case "BigInt":
      return refuse("a bigint", "a string");
    case "Symbol":
      return refuse("a symbol", "a string");
    default:
      // Some kinds may have fields of their own, but JSON would still lose what they hold.
      if (EMPTIED.has(kind) || Object.keys(value).length === 0)
        return refuse(`${/^[AEIO]/.test(kind) ? "an" : "a"} ${asDetail(kind)}`, "a plain object, an array or a string");
  }
  parents.push(value);
  for (const key of Object.keys(value)) {
    // JSON.stringify reads own enumerable keys only.
    const error = findUnserializable((value as Record<string, unknown>)[key], `${path}/${escapeSegment(key)}`, parents);
    if (error !== undefined) return error;
  }
  parents.pop();
  return undefined;
}

/**
 * The kind of an object, such as "Map". The language's own toString tells it even for objects of other realms. The class is
 * looked at too, because an object may name itself otherwise, and a proxy does.
 */
function kindOf(value: object): string {
  const said = Object.prototype.toString.call(value).slice("[object ".length, -1);
  if (EMPTIED.has(said)) return said;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === Array.prototype) return said; // Most objects are plain.
  const known = HOLDERS.find((holder) => value instanceof holder);
  if (known !== undefined) return known.name;
  // JSON unwraps such an object, but loses the value of a proxy of one.
  return said === "Object" && WRAPPERS.some((wrapper) => value instanceof wrapper) ? "Proxy" : said;
}

const HOLDERS = [Error, Map, Set, WeakMap, WeakSet, WeakRef, Promise, RegExp, Date, ArrayBuffer, SharedArrayBuffer];
const WRAPPERS = [Number, String, Boolean, BigInt, Symbol];

/** Kinds whose content JSON loses, even if they have fields of their own. */
const EMPTIED = new Set([
  ...HOLDERS.map(({ name }) => name),
  ...["Proxy", "Blob", "File", "Request", "Response", "ReadableStream", "WritableStream"],
]);

const escapeSegment = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1");

class Refusal {
  readonly #error: FormatError;
  constructor(path: string, message: string) {
    this.#error = formatError(
      path === "/to" || path === "/from" ? "invalid-address" : "invalid-message",
      path,
      message,
    );
  }

  /** The error of a caught refusal. Unlike `instanceof`, this runs no code of a hostile value. */
  static errorIn(thrown: unknown): FormatError | undefined {
    return typeof thrown === "object" && thrown !== null && #error in thrown ? thrown.#error : undefined;
  }
}

/**
 * Reads a message from outside: JSON text, or the result of `JSON.parse`. Fields that a message does not have are left out.
 * The message is marked: its actor validates the payload, whatever the system's `validate` says. A spread of the message
 * keeps the mark, a `structuredClone` does not. A missing payload is `undefined`. Errors: `invalid-message`, or
 * `invalid-address` for `to` and `from`.
 *
 * @example
 * const message = parseMessage(await request.text());
 * const reply = message.isOk() ? await router.ask(message.value) : message.error.message;
 */
export function parseMessage(input: unknown): Result<Message, FormatError> {
  return read(input, "message", (fields) => ({
    id: text(fields, "id"),
    pattern: oneOf(fields, "pattern", ["tell", "ask", "stream"]),
    to: addressIn(fields, "to"),
    from: optional(fields, "from", addressIn),
    type: text(fields, "type"),
    payload: fields["payload"],
    correlationId: optional(fields, "correlationId", text),
    timestamp: time(fields, "timestamp"),
    metadata: optional(fields, "metadata", record),
    [RECEIVED]: true,
  }));
}

/**
 * Reads a response from outside: JSON text, or the result of `JSON.parse`. Errors: `invalid-message`, or `invalid-address` for
 * `to` and `from`.
 *
 * @example
 * parseResponse(line).map((response) => (response.ok ? response.payload : response.error.message))
 */
export function parseResponse(input: unknown): Result<MessageResponse, FormatError> {
  return read(input, "response", (fields): MessageResponse => {
    const shape = {
      id: text(fields, "id"),
      pattern: oneOf(fields, "pattern", ["reply"]),
      to: optional(fields, "to", addressIn),
      from: addressIn(fields, "from"),
      type: text(fields, "type"),
      correlationId: text(fields, "correlationId"),
      timestamp: time(fields, "timestamp"),
    };
    if (fields["ok"] === true) return { ...shape, ok: true, payload: fields["payload"] };
    if (fields["ok"] !== false) throw wrong("ok", fields["ok"], "true or false");
    const error = record(fields, "error");
    if (typeof error["retryable"] !== "boolean") throw wrong("error/retryable", error["retryable"], "true or false");
    return {
      ...shape,
      ok: false,
      error: {
        kind: text(error, "kind", "error/"),
        message: text(error, "message", "error/"),
        retryable: error["retryable"],
      },
    };
  });
}

type Fields = Readonly<Record<string, unknown>>;

function read<T>(input: unknown, what: string, build: (fields: Fields) => T): Result<T, FormatError> {
  try {
    const value: unknown = typeof input === "string" ? JSON.parse(input) : input;
    if (!isRecord(value)) throw new Refusal("", `A ${what} is a JSON object; got ${quote(value)}.`);
    return ok(build(value));
  } catch (thrown) {
    const error = Refusal.errorIn(thrown);
    return err(
      error ?? formatError("invalid-message", "", `A ${what} is JSON: ${asDetail(sentenceOf(thrown), MAX_TEXT)}`),
    );
  }
}

const isRecord = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const wrong = (field: string, value: unknown, expected: string): Refusal =>
  new Refusal(
    `/${field}`,
    value === undefined ? `/${field} is missing: it is ${expected}.` : `/${field} is ${expected}; got ${quote(value)}.`,
  );

function text(fields: Fields, name: string, inside = ""): string {
  const value = fields[name];
  if (typeof value !== "string" || value === "") throw wrong(inside + name, value, "a text that is not empty");
  return value;
}

function addressIn(fields: Fields, name: string) {
  const value = fields[name];
  if (!isAddress(value)) throw wrong(name, value, "an address such as @(workers/3)");
  return value;
}

function oneOf<const Choice extends string>(fields: Fields, name: string, choices: readonly Choice[]): Choice {
  const found = choices.find((choice) => choice === fields[name]);
  if (found === undefined) throw wrong(name, fields[name], `one of ${choices.join(", ")}`);
  return found;
}

function time(fields: Fields, name: string): number {
  const value = fields[name];
  if (typeof value !== "number" || !Number.isFinite(value))
    throw wrong(name, value, "a time in milliseconds since 1970");
  return value;
}

function record(fields: Fields, name: string): Metadata {
  const value = fields[name];
  if (!isRecord(value)) throw wrong(name, value, "an object");
  return value;
}

function optional<T>(fields: Fields, name: string, reader: (fields: Fields, name: string) => T): T | undefined {
  return fields[name] === undefined || fields[name] === null ? undefined : reader(fields, name);
}
