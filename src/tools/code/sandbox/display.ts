/** Turns values into texts. */
export interface Display {
  /** Sets how many characters of a text are worth making. A longer text exceeds the output limit in any case. */
  limit(characters: number): void;
  cut(text: string): string;
  /** Values as a console shows them, in one line. */
  line(values: readonly unknown[]): string;
  /** Describes a thrown value. Only errors have a name. */
  told(thrown: unknown): { readonly name?: string; readonly message: string; readonly stack?: string };
}

/** The text for a value that throws when inspected. `display` repeats it, because it uses nothing outside itself. */
export const UNSHOWN = "a value that cannot be shown";

/**
 * Carried into the interpreter as its own source text, so it uses nothing outside itself. It takes the functions of the
 * language at the start, and later calls no method of a prototype, because the code may have changed it by then. (The
 * code could only make its own values show wrongly: it gains access to nothing here.)
 */
export function display(): Display {
  const { ownKeys, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
  const { isArray } = Array;
  const { stringify } = JSON;
  const { call } = Function.prototype;
  // biome-ignore lint/suspicious/noExplicitAny: a function from any method to any function has no better type.
  const free = (method: any): ((self: unknown, ...rest: unknown[]) => any) => call.bind(method);
  const getterOf = (prototype: object, key: string | symbol) => free(getOwnPropertyDescriptor(prototype, key)?.get);
  const slice = free(String.prototype.slice);
  const startsWith = free(String.prototype.startsWith);
  const functionText = free(Function.prototype.toString);
  const symbolText = free(Symbol.prototype.toString);
  const bigintText = free(BigInt.prototype.toString);
  const isoText = free(Date.prototype.toISOString);
  const timeOf = free(Date.prototype.getTime);
  const sourceOf = getterOf(RegExp.prototype, "source");
  const flagsOf = getterOf(RegExp.prototype, "flags");
  const mapSize = getterOf(Map.prototype, "size");
  const setSize = getterOf(Set.prototype, "size");
  const mapEach = free(Map.prototype.forEach);
  const setEach = free(Set.prototype.forEach);
  const typedName = getterOf(getPrototypeOf(Uint8Array.prototype) as object, Symbol.toStringTag);
  const isError = Error.isError ?? ((value: unknown) => value instanceof Error);
  const [isNoNumber, text] = [Number.isNaN, String];
  const DEPTH = 4;
  const ITEMS = 100;
  const NODES = 5_000;

  let budget = 0;
  let nodes = 0;

  type Seen = { readonly value: unknown; readonly next: Seen } | null;

  /** Cuts to one character over the budget: still too long, as it has at least as many bytes, but no longer costly. */
  const cut = (value: string): string => (value.length > budget ? slice(value, 0, budget + 1) : value);

  const show = (value: unknown, depth: number, seen: Seen): string => {
    switch (typeof value) {
      case "string":
        return stringify(cut(value));
      case "number":
        return value === 0 && 1 / value < 0 ? "-0" : text(value);
      case "bigint":
        return `${bigintText(value)}n`;
      case "symbol":
        return symbolText(value);
      case "object":
        return value === null ? "null" : showObject(value, depth, seen);
      case "function":
        return showFunction(value);
      default:
        return text(value);
    }
  };

  const showFunction = (value: object): string => {
    const name = getOwnPropertyDescriptor(value, "name")?.value;
    const word = startsWith(functionText(value), "class") ? "class" : "Function";
    return typeof name === "string" && name !== "" ? `[${word}: ${slice(name, 0, 200)}]` : `[${word} (anonymous)]`;
  };

  const showObject = (value: object, depth: number, seen: Seen): string => {
    for (let at = seen; at !== null; at = at.next) if (at.value === value) return "[Circular]";
    const special = showSpecial(value);
    if (special !== undefined) return special;
    const name = nameOf(value);
    if (depth > DEPTH || nodes > NODES) return isArray(value) ? "[Array]" : `[${name || "Object"}]`;
    const inner: Seen = { value, next: seen };
    if (isArray(value)) return showItems(value, value.length, "", depth, inner);
    const typed: unknown = typedName(value);
    if (typed !== undefined) return showItems(value, (value as Uint8Array).length, `${typed}`, depth, inner);
    return showCollection(value, depth, inner) ?? showMembers(value, name, depth, inner);
  };

  const attempt = <Value>(work: () => Value): Value | undefined => {
    try {
      return work();
    } catch {
      return undefined;
    }
  };

  const showSpecial = (value: object): string | undefined => {
    if (isError(value)) return showError(value);
    const time: number | undefined = attempt(() => timeOf(value));
    if (time !== undefined) return isNoNumber(time) ? "Invalid Date" : isoText(value);
    if (value === RegExp.prototype) return undefined;
    return attempt(() => `/${sourceOf(value)}/${flagsOf(value)}`);
  };

  const showError = (value: object): string => {
    const { name, message } = value as Error;
    const named = typeof name === "string" ? slice(name, 0, 200) : "Error";
    return typeof message === "string" && message !== "" ? `${named}: ${message}` : named;
  };

  /** The name of an object's class; "" if it has none. */
  const nameOf = (value: object): string => {
    const prototype = getPrototypeOf(value);
    if (prototype === null) return "[Object: null prototype]";
    const maker = getOwnPropertyDescriptor(prototype, "constructor")?.value;
    if (typeof maker !== "function") return "";
    const name = getOwnPropertyDescriptor(maker, "name")?.value;
    return typeof name === "string" && name !== "Object" ? slice(name, 0, 200) : "";
  };

  const showItems = (items: object, length: number, name: string, depth: number, seen: Seen): string => {
    const head = name === "" ? "" : `${name}(${length}) `;
    if (length === 0) return `${head}[]`;
    let shown = "";
    for (let index = 0; index < length && index < ITEMS; index++) {
      nodes++;
      const own = getOwnPropertyDescriptor(items, text(index));
      shown += (index === 0 ? "" : ", ") + (own === undefined ? "<empty>" : showMember(own, depth, seen));
    }
    return `${head}[ ${shown}${length > ITEMS ? `, ... ${length - ITEMS} more` : ""} ]`;
  };

  const showCollection = (value: object, depth: number, seen: Seen): string | undefined => {
    const ofMap: number | undefined = attempt(() => mapSize(value));
    const size: number | undefined = ofMap ?? attempt(() => setSize(value));
    if (size === undefined) return undefined;
    let shown = "";
    let count = 0;
    const add = (item: unknown, key: unknown): void => {
      nodes++;
      if (count++ >= ITEMS) return;
      const entry = ofMap === undefined ? "" : `${show(key, depth + 1, seen)} => `;
      shown += (count === 1 ? "" : ", ") + entry + show(item, depth + 1, seen);
    };
    if (ofMap === undefined) setEach(value, add);
    else mapEach(value, add);
    const head = `${ofMap === undefined ? "Set" : "Map"}(${size})`;
    if (size === 0) return `${head} {}`;
    return `${head} { ${shown}${size > ITEMS ? `, ... ${size - ITEMS} more` : ""} }`;
  };

  const showMembers = (value: object, name: string, depth: number, seen: Seen): string => {
    const keys = ownKeys(value);
    let shown = "";
    let count = 0;
    for (let index = 0; index < keys.length; index++) {
      if (index > ITEMS * 10) break;
      // The cast holds: the index is in bounds, and `ownKeys` returns only keys.
      const key = keys[index] as string | symbol;
      const own = getOwnPropertyDescriptor(value, key);
      if (own === undefined || own.enumerable !== true) continue;
      nodes++;
      if (++count > ITEMS) break;
      const label = typeof key === "symbol" ? `[${symbolText(key)}]` : isPlain(key) ? key : stringify(key);
      shown += `${count === 1 ? "" : ", "}${label}: ${showMember(own, depth, seen)}`;
    }
    const head = name === "" ? "" : `${name} `;
    return shown === "" ? `${head}{}` : `${head}{ ${shown}${count > ITEMS ? ", ..." : ""} }`;
  };

  const showMember = (own: PropertyDescriptor, depth: number, seen: Seen): string => {
    if (own.get !== undefined) return "[Getter]";
    return own.set === undefined ? show(own.value, depth + 1, seen) : "[Setter]";
  };

  const isPlain = (key: string): boolean => {
    if (key === "" || key.length > 100) return false;
    for (let index = 0; index < key.length; index++) {
      // Code cannot change the characters of a string primitive.
      const at = key[index] as string;
      const isLetter = (at >= "a" && at <= "z") || (at >= "A" && at <= "Z") || at === "_" || at === "$";
      if (!isLetter && (index === 0 || at < "0" || at > "9")) return false;
    }
    return true;
  };

  const line = (values: readonly unknown[]): string => {
    nodes = 0;
    let shown = "";
    for (let index = 0; index < values.length && shown.length <= budget; index++) {
      const value = values[index];
      shown += (index === 0 ? "" : " ") + (typeof value === "string" ? cut(value) : show(value, 0, null));
    }
    return shown;
  };

  const told: Display["told"] = (thrown) => {
    if (!isError(thrown))
      return { message: slice(attempt(() => line([thrown])) ?? "a value that cannot be shown", 0, 8_000) };
    const { name, message, stack } = (attempt(() => {
      const { name, message, stack } = thrown as Error;
      return { name, message, stack };
    }) ?? {}) as Partial<Record<string, unknown>>;
    return {
      name: typeof name === "string" ? slice(name, 0, 200) : "Error",
      message: typeof message === "string" ? slice(message, 0, 8_000) : "",
      stack: typeof stack === "string" ? slice(stack, 0, 8_000) : "",
    };
  };

  const limit = (characters: number): void => {
    budget = characters;
  };

  return { limit, cut, line, told };
}
