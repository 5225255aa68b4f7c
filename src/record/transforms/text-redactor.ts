import { redactCredentials } from "./credentials";
import { findName, findNameOfClass, isOfEntry } from "./entries";
import { unescaped } from "./escapes";
import { ListItems } from "./list-items";
import { ENCODED, mayHoldSecret } from "./marks";
import { redactNamedValues } from "./named-values";
import {
  CONTAINER,
  CONTAINER_OF_TEXT,
  DEFAULTS,
  type DefaultName,
  NUMBER,
  type Suspicion,
  suspicionInQuery,
  suspicionOf,
  TEXT,
} from "./names";
import { isRedacted } from "./redacted";

/** The deepest nesting of texts in texts: JSON in a text of JSON in base64. */
const MOST_LAYERS = 3;
/** The deepest nesting of a JSON text in a text that is read. Deeper ones are redacted by the rules for texts alone. */
const DEEPEST_JSON = 100;

/**
 * Redacts texts by the defaults: credentials, values of suspicious names, both also where they are JSON in a text, base64, hex,
 * percent-encoded, or behind entities of HTML and escapes. Takes time in proportion to a text's length.
 */
export class TextRedactor {
  /** Gives the text in place of a secret. */
  readonly #redacted: (secret: string) => string;
  readonly #off: ReadonlySet<DefaultName>;
  /** True while no default is left: then texts stay as they are. */
  readonly isOff: boolean;

  constructor(redacted: (secret: string) => string, off: ReadonlySet<DefaultName>) {
    this.#redacted = (secret) => (isRedacted(secret) ? secret : redacted(secret));
    this.#off = off;
    this.isOff = DEFAULTS.every((name) => off.has(name));
  }

  readonly #isOn = (group: DefaultName): boolean => !this.#off.has(group);

  /** The suspicion of a name; null for an ordinary one, and for one whose default is switched off. */
  suspicion(name: string, isInQuery = false): Suspicion | null {
    const suspicion = isInQuery ? suspicionInQuery(name) : suspicionOf(name);
    return suspicion === null || this.#off.has(suspicion.group) ? null : suspicion;
  }

  /** The text without its credentials. The same text where there are none. */
  redact(text: string, layer = 0): string {
    if (text.length < 6 || this.isOff || !mayHoldSecret(text) || isRedacted(text)) return text;
    const json = layer < MOST_LAYERS ? this.#redactJson(text, layer) : undefined;
    if (json !== undefined) return json;
    if (ODD.test(text)) {
      const plain = text.normalize("NFKC").replace(INVISIBLE, "");
      const redacted = plain === text ? text : this.redact(plain, layer);
      return redacted === plain ? text : redacted;
    }
    const named = redactNamedValues(text, this.#isOn, this.#redacted);
    const plain = redactCredentials(named, this.#isOn, this.#redacted);
    if (layer >= MOST_LAYERS) return plain;
    return this.#redactEscapes(this.#redactPercents(this.#redactRuns(plain, layer), layer), layer);
  }

  /** Entities of HTML, and escapes outside of what is JSON: a text that holds a credential behind them is written without them. */
  #redactEscapes(text: string, layer: number): string {
    const plain = unescaped(text);
    if (plain === text) return text;
    const redacted = this.redact(plain, layer + 1);
    return redacted === plain ? text : redacted;
  }

  /** Base64 and hex: a run that says something with a credential in it is redacted as a whole. */
  #redactRuns(text: string, layer: number): string {
    if (!ENCODED.test(text)) return text;
    return text.replace(RUNS, (run) => (this.#isEncoded(run, layer) ? this.#redacted(run) : run));
  }

  #isEncoded(run: string, layer: number): boolean {
    const at = ENCODED.exec(run)?.index;
    if (at === undefined) return false;
    const hex = HEX.exec(run);
    const forms = [Buffer.from(run.slice(at), "base64").toString("latin1")];
    if (at > 0) forms.push(Buffer.from(run, "base64").toString("latin1"));
    if (hex !== null) forms.push(Buffer.from(hex[0], "hex").toString("latin1"));
    return forms.some((form) => this.redact(form, layer + 1) !== form);
  }

  /** Percent-encoded texts: a word that holds a credential once it is decoded is redacted as a whole. */
  #redactPercents(text: string, layer: number): string {
    if (!PERCENT.test(text)) return text;
    const holds = (part: string): boolean => {
      const decoded = decoded8(part);
      return decoded !== part && this.redact(decoded, layer + 1) !== decoded;
    };
    if (!holds(text)) return text; // One look for most texts, in place of one for each word.
    const words = text.replace(WORDS, (word) => (PERCENT.test(word) && holds(word) ? this.#redacted(word) : word));
    return holds(words) ? this.#redacted(text) : words;
  }

  /** A text that is JSON, with what it holds redacted; undefined where it is none. It is written anew only where something is. */
  #redactJson(text: string, layer: number): string | undefined {
    if (!/^\s*[[{"]/.test(text)) return undefined;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return undefined;
    }
    const found = { isRedacted: false, isTooDeep: false };
    const result = this.#inJson(value, 0, layer, found);
    if (found.isTooDeep) return undefined;
    if (!found.isRedacted) return text;
    return JSON.stringify(result, null, /\n([ \t]+)\S/.exec(text)?.[1]);
  }

  #inJson(
    value: unknown,
    depth: number,
    layer: number,
    found: { isRedacted: boolean; isTooDeep: boolean },
    isListed = false,
  ): unknown {
    if (typeof value === "string") {
      const text = this.redact(value, layer + 1);
      if (text !== value) found.isRedacted = true;
      return text;
    }
    if (typeof value !== "object" || value === null) return value;
    if (depth === DEEPEST_JSON) {
      found.isTooDeep = true;
      return value;
    }
    const isList = Array.isArray(value);
    const member = (item: unknown, suspicion: Suspicion | null): unknown => {
      if (suspicion === null || !isSecret(item, suspicion)) {
        return this.#inJson(item, depth + 1, layer, found, isList);
      }
      found.isRedacted = true;
      return this.#redacted(typeof item === "string" ? item : JSON.stringify(item));
    };
    if (isList) {
      const items = this.items(value.length, isListed);
      return value.map((item) => member(item, items.next(item)));
    }
    const result: Record<string, unknown> = {};
    for (const [key, item] of Object.entries(value)) {
      const name = this.redact(key, layer + 1);
      if (name !== key) found.isRedacted = true;
      const suspicion = this.suspicion(key) ?? (isOfEntry(key) ? this.suspicionOfEntry(value, key) : null);
      Object.defineProperty(result, name, {
        value: member(item, suspicion),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
    return result;
  }

  /** Judges the items of a list, by those before them. @param isListed true for a list that is an item of a list itself. */
  items(length: number, isListed: boolean): ListItems {
    return new ListItems(suspicionOf, this.#isOn, length, isListed);
  }

  /** The suspicion of the value at `key` by the name beside it, as in `{ name: "Cookie", value: "a=b" }`. */
  suspicionOfEntry(entry: object, key: string): Suspicion | null {
    const judge = (name: string) => this.suspicion(name);
    const prototype: unknown = Object.getPrototypeOf(entry);
    const found = findName(entry, key, judge);
    return found !== null || prototype === Object.prototype ? found : findNameOfClass(entry, judge);
  }
}

/** True for a value that is secret below a name. An empty one says nothing, and a redacted one stays. */
export function isSecret(value: unknown, suspicion: Suspicion): boolean {
  const { kinds } = suspicion;
  switch (typeof value) {
    case "string":
      return (kinds & TEXT) !== 0 && value !== "" && !isRedacted(value) && !ORDINARY.has(value);
    case "number":
    case "bigint":
      return (kinds & NUMBER) !== 0;
    case "object":
      if (value === null) return false;
      if ((kinds & CONTAINER) !== 0) return true;
      if ((kinds & TEXT) !== 0 && (standsForText(value) || wrapsSecret(value, suspicion))) return true;
      return (kinds & CONTAINER_OF_TEXT) !== 0 && holdsText(value, 0);
    default:
      return false;
  }
}

/** True for an object that is written as a text, and for a list of texts. */
function standsForText(value: object): boolean {
  if (Array.isArray(value)) return holdsText(value, 0);
  return value instanceof String || value instanceof Number || typeof Reflect.get(value, "toJSON") === "function";
}

/** True for an object whose member says that it is the value itself: `{ auth: { value: "…" } }`. */
function wrapsSecret(value: object, suspicion: Suspicion): boolean {
  if (Object.getPrototypeOf(value) !== Object.prototype) return false;
  return Object.keys(value).some((key) => {
    if (!WRAPPED.test(key)) return false;
    const member: unknown = Reflect.get(value, key);
    return typeof member === "object" && member !== null ? standsForText(member) : isSecret(member, suspicion);
  });
}

/** Keys of a value by itself. */
const WRAPPED = /^(?:value|header|key|data|raw|content|text|string)$/i;
/** The values of `credentials` of `fetch`. */
const ORDINARY = new Set(["include", "omit", "same-origin"]);
/** Letters that read as those of ASCII, and characters that nobody sees: a name in them is the same name. */
const ODD = /[\u00ad\u200b-\u200d\u2060\ufeff\uff01-\uff5e]/;
const INVISIBLE = /[\u00ad\u200b-\u200d\u2060\ufeff]/g;
/** Base64 may be cut into lines, of which the last one may be short. */
const RUNS = /[A-Za-z0-9+/_-]{16,}(?:\r?\n[A-Za-z0-9+/_-]{16,})*(?:\r?\n[A-Za-z0-9+/_-]{1,15}(?![^\r\n=]))?/g;
const HEX = /(?:[0-9a-fA-F]{2}){8,}/;
const PERCENT = /%[0-9a-fA-F]{2}/;
const WORDS = /[^\s"'`<>]+/g;

function holdsText(value: unknown, depth: number): boolean {
  if (typeof value === "string") return value !== "";
  if (typeof value !== "object" || value === null) return false;
  if (depth === 8 || !(Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype)) return true;
  return Object.values(value).some((item) => holdsText(item, depth + 1));
}

/** A percent-encoded text as its bytes say, one character each. A fault in it changes nothing. */
function decoded8(text: string): string {
  return text
    .replace(/\+/g, " ")
    .replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
