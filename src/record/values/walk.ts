import { transformJson } from "../transforms/json-texts";
import type { Spot } from "../transforms/matcher";
import type { Suspicion } from "../transforms/names";
import { isRedacted } from "../transforms/redacted";
import { isSecret, type TextRedactor } from "../transforms/text-redactor";
import type { Place, Transform } from "../transforms/transform";
import type { Digest } from "./digest";
import { keyText } from "./keys";
import { entriesOf, heard, isPlainKind, itemAt, kindOf, UNREADABLE } from "./kinds";
import { binaryOf, largeOf } from "./large";
import type { Limits } from "./limits";
import { type Problem, problemOf, problemOfOther, shownOf } from "./problem";
import { asText, dateText, masked, numberText, UNDEFINED, unwritable } from "./tags";

/** Thrown when a value has become too large; caught by the walk itself. */
const TOO_LARGE = Symbol("too large");

/** Writes one value: looks at each part of it once, changes what is to be changed, and tags what JSON lacks. */
export class Walk {
  readonly #digest: Digest;
  readonly #redactor: TextRedactor;
  readonly #limits: Limits;
  readonly #place: Place;
  /** The objects around the one that is being written: one that comes again is a circle. */
  readonly #around: unknown[] = [];
  /** Characters that may still be written. */
  #left: number;
  /** True while what is written is only hashed: nothing is redacted then. */
  #isRaw = false;

  constructor(digest: Digest, redactor: TextRedactor, limits: Limits, place: Place) {
    this.#digest = digest;
    this.#redactor = redactor;
    this.#limits = limits;
    this.#place = place;
    this.#left = limits.value;
  }

  /** The JSON text of the value. Never throws. */
  text(value: unknown, spot: Spot | null): string {
    try {
      return this.#transformed(value, spot, null, 0, false) ?? UNDEFINED;
    } catch (thrown) {
      return thrown === TOO_LARGE ? largeOf(value, this.#digest, this.#limits) : unwritable("hostile");
    }
  }

  /** The JSON text of an error: an object whose `message` is a text. Never throws. */
  problem(thrown: unknown, spot: Spot | null): string {
    try {
      if (spot?.transform != null)
        return `{"message":${asText(this.#apply(spot, spot.transform, thrown, null, 0, false) ?? '""')}}`;
      const own = problemOf(thrown);
      if (own !== undefined) this.#around.push(thrown);
      const problem = this.#shown(own ?? problemOfOther(thrown), spot);
      let text = "";
      for (const key of Object.keys(problem)) {
        const suspicion = this.#redactor.suspicion(key);
        const field = this.#transformed(problem[key], spot?.step(key) ?? null, suspicion, 1, false);
        if (field === undefined || key === "message") {
          if (key === "message") text = `"message":${asText(field ?? '""')}${text === "" ? "" : `,${text}`}`;
          continue;
        }
        const isName = key === "name" || key === "kind";
        text += `${text === "" ? "" : ","}${this.#key(key)}${isName ? asText(field) : field}`;
      }
      return text.startsWith('"message":') ? `{${text}}` : `{"message":""${text === "" ? "" : `,${text}`}}`;
    } catch (fault) {
      return `{"message":"${fault === TOO_LARGE ? "It is too large." : "It cannot be read."}"}`;
    }
  }

  #shown(problem: Problem, spot: Spot | null): Problem {
    const at = spot?.step("message") ?? null;
    const isChanged = at?.transform != null;
    return shownOf(problem, (message) => !isChanged && this.#shownText(message, at) === message);
  }

  /** The text of a member: what a transform makes of it, or its name, or itself. Undefined for one that is dropped. */
  #transformed(
    value: unknown,
    spot: Spot | null,
    suspicion: Suspicion | null,
    depth: number,
    isListed: boolean,
  ): string | undefined {
    const transform = spot?.transform;
    if (spot != null && transform != null) return this.#apply(spot, transform, value, suspicion, depth, isListed);
    return this.#named(value, spot, suspicion, depth, isListed);
  }

  /** A member that has a name, which may say that it is secret. */
  #named(value: unknown, spot: Spot | null, suspicion: Suspicion | null, depth: number, isListed: boolean): string {
    if (suspicion !== null) {
      if (isSecret(value, suspicion)) return this.#redacted(value, depth);
      if (typeof value === "object" && value !== null) {
        // Judged again as it was written: a getter may have given something else.
        const text = this.#value(value, spot, depth, isListed);
        return isSecret(JSON.parse(text), suspicion) ? this.#redacted(value, depth) : text;
      }
    }
    return this.#value(value, spot, depth, isListed);
  }

  #apply(
    spot: Spot,
    transform: Transform,
    value: unknown,
    suspicion: Suspicion | null,
    depth: number,
    isListed: boolean,
  ): string | undefined {
    switch (transform.kind) {
      case "drop":
        return undefined;
      case "redact":
        return this.#redacted(value, depth);
      case "mask": {
        if (typeof value !== "string" && typeof value !== "number" && typeof value !== "bigint") {
          return this.#redacted(value, depth);
        }
        return this.#quoted(masked(String(value), transform.keep));
      }
      case "replace": {
        let replaced: unknown;
        try {
          replaced = heard(transform.replacement(value, this.#place));
        } catch {
          return this.#redacted(value, depth);
        }
        // Its result is not replaced again inside: `{ name: { name: … } }` would have no end.
        const below = Object.is(replaced, value) ? spot.passed() : spot.without();
        return this.#named(replaced, below, transform.isNamed ? null : suspicion, depth, isListed);
      }
    }
  }

  /** A value as it is, without a look for secrets. */
  #raw(value: unknown, depth: number): string {
    const before = this.#isRaw;
    this.#isRaw = true;
    try {
      return this.#value(value, null, depth, false);
    } finally {
      this.#isRaw = before;
    }
  }

  /** The hash of a value in place of it: of a text itself, of anything else as JSON. */
  #redacted(value: unknown, depth: number): string {
    if (typeof value === "string") return this.#quoted(isRedacted(value) ? value : this.#digest.redacted(value));
    const left = this.#left;
    let hashed: string;
    try {
      this.#left = this.#limits.value;
      hashed = this.#raw(value, depth);
    } catch (thrown) {
      if (thrown !== TOO_LARGE) throw thrown;
      hashed = `over ${this.#limits.value}`;
    } finally {
      this.#left = left;
    }
    return this.#quoted(this.#digest.redacted(hashed));
  }

  #value(value: unknown, spot: Spot | null, depth: number, isListed: boolean): string {
    switch (typeof value) {
      case "string":
        return this.#text(value, spot);
      case "number":
        return this.#spend(numberText(value));
      case "boolean":
        return this.#spend(value ? "true" : "false");
      case "undefined":
        return this.#spend(UNDEFINED);
      case "bigint":
        return this.#spend(`{"$bigint":"${value}"}`);
      case "object":
        return value === null ? this.#spend("null") : this.#part(value, spot, depth, isListed);
      default:
        return this.#spend(unwritable(typeof value));
    }
  }

  #text(text: string, spot: Spot | null): string {
    if (text.length > this.#limits.text) {
      const bytes = Buffer.byteLength(text);
      return this.#spend(`{"$large":{"bytes":${bytes},"sha256":"${this.#digest.hash(text)}","type":"text"}}`);
    }
    return this.#quoted(this.#isRaw ? text : this.#shownText(text, spot));
  }

  /** A text after the transforms that lead into it, where it is JSON, and the defaults. */
  #shownText(text: string, spot: Spot | null): string {
    if (spot === null) return this.#redactor.redact(text);
    const changed = transformJson(
      text,
      spot,
      (at, value) => this.#apply(at, at.transform as Transform, value, null, 0, false), // It has one: else it is not asked.
      (whole) => this.#digest.redacted(whole),
    );
    return this.#redactor.redact(changed);
  }

  #quoted(text: string): string {
    return this.#spend(JSON.stringify(text));
  }

  /** An object of any kind. A getter that throws, a proxy or a `toJSON` may make it unwritable, and nothing around it. */
  #part(value: object, spot: Spot | null, depth: number, isListed: boolean): string {
    if (depth >= this.#limits.depth) return this.#spend(unwritable("depth"));
    if (this.#around.includes(value)) return this.#spend(unwritable("circle"));
    const around = this.#around.length;
    this.#around.push(value);
    try {
      return this.#object(value, spot, depth, isListed);
    } catch {
      return this.#spend(unwritable("hostile")); // It throws again where the value has become too large.
    } finally {
      this.#around.length = around;
    }
  }

  #object(value: object, spot: Spot | null, depth: number, isListed = false): string {
    if (Array.isArray(value)) return this.#list(value, spot, depth, isListed);
    if (isPlainKind(value)) return this.#members(value, Object.keys(value), spot, depth);
    const kind = kindOf(value);
    switch (kind) {
      case "Date":
        return this.#spend(dateText(value as Date));
      case "Map":
      case "Headers":
      case "URLSearchParams":
      case "FormData":
        return `{"$map":${this.#entries(value, spot, depth)}}`;
      case "Set":
        return `{"$set":${this.#list([...Set.prototype.values.call(value)], spot, depth, false)}}`;
      case "URL":
        return this.#text((value as URL).href, null);
      case "RegExp":
        return this.#text(String(value), null);
      case "String":
      case "Number":
      case "Boolean":
      case "BigInt":
        return this.#value(value.valueOf(), spot, depth, false);
      case "Ref":
        return this.#spend(`{"$ref":${JSON.stringify((value as { address: string }).address)}}`);
      case "Blob":
        return this.#spend(`{"$binary":{"bytes":${(value as Blob).size},"type":"Blob"}}`);
      case "Binary":
        return this.#spend(binaryOf(value, this.#digest));
      case "Error":
        return `{"$error":${this.#object(this.#shown(problemOf(value) as Problem, spot), spot, depth)}}`;
      case "Other":
        return this.#other(value, spot, depth);
      default:
        return this.#spend(unwritable(kind));
    }
  }

  /** An instance of a class: what its `toJSON` gives, or its own keys. */
  #other(value: object, spot: Spot | null, depth: number): string {
    const toJson: unknown = Reflect.get(value, "toJSON");
    if (typeof toJson !== "function") return this.#members(value, Object.keys(value), spot, depth);
    const json = heard(toJson.call(value, ""));
    if (json === value) return this.#members(value, Object.keys(value), spot, depth);
    return this.#value(json, spot, depth + 1, false);
  }

  #list(list: readonly unknown[], spot: Spot | null, depth: number, isListed: boolean): string {
    let text = "";
    const { length } = list;
    const items = this.#isRaw ? null : this.#redactor.items(length, isListed);
    for (let index = 0; index < length; index++) {
      const value = list[index];
      const suspicion = items?.next(value) ?? null;
      const item = this.#transformed(value, spot?.item(index) ?? null, suspicion, depth + 1, true);
      if (item !== undefined) text += text === "" ? item : `,${item}`;
      this.#left--;
    }
    return `[${text}]`;
  }

  #members(value: object, keys: readonly string[], spot: Spot | null, depth: number): string {
    let text = "";
    const items = keys.map((key) => itemAt(value, key));
    for (const [index, key] of keys.entries()) {
      const { text: name, isOrdinary, isOfEntry } = keyText(key);
      const suspicion = isOrdinary && !isOfEntry ? null : this.#suspicionOfMember(value, keys, items, key);
      const item = items[index];
      const member =
        item === UNREADABLE
          ? this.#spend(unwritable("getter"))
          : this.#transformed(item, spot?.step(key) ?? null, suspicion, depth + 1, false);
      if (member === undefined) continue;
      const written = isOrdinary ? this.#spend(name) : this.#key(key);
      text += text === "" ? written + member : `,${written}${member}`;
    }
    return `{${text}}`;
  }

  #suspicionOfMember(value: object, keys: readonly string[], items: readonly unknown[], key: string): Suspicion | null {
    if (this.#isRaw) return null;
    const suspicion = this.#redactor.suspicion(key);
    if (suspicion !== null || !keyText(key).isOfEntry) return suspicion;
    // As it is written, and as it was: a name that only the class has says the same.
    const entry: Record<string, unknown> = {};
    for (const [index, each] of keys.entries()) if (each !== "__proto__") entry[each] = items[index];
    const found = this.#redactor.suspicionOfEntry(entry, key);
    return found !== null || isPlainKind(value) ? found : this.#redactor.suspicionOfEntry(value, key);
  }

  /** A key that may hold a credential itself, or is so long that its hash stands for it. */
  #key(key: string): string {
    if (key.length > this.#limits.text) return this.#spend(`${JSON.stringify(this.#digest.redacted(key))}:`);
    return this.#spend(keyText(this.#isRaw ? key : this.#redactor.redact(key)).text);
  }

  #entries(entries: object, spot: Spot | null, depth: number): string {
    const isQuery = entries instanceof URLSearchParams;
    let text = "";
    for (const [key, value] of entriesOf(entries)) {
      const name = typeof key === "string" ? key : undefined;
      const suspicion = name === undefined || this.#isRaw ? null : this.#redactor.suspicion(name, isQuery);
      const item = this.#transformed(
        value,
        name === undefined ? null : (spot?.step(name) ?? null),
        suspicion,
        depth + 1,
        false,
      );
      if (item === undefined) continue;
      text += `${text === "" ? "" : ","}[${this.#value(key, null, depth + 1, false)},${item}]`;
      this.#spend("[],");
    }
    return `[${text}]`;
  }

  /** Counts what is written. */
  #spend(text: string): string {
    this.#left -= text.length;
    if (this.#left < 0) throw TOO_LARGE;
    return text;
  }
}
