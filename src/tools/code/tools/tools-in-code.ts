/** The operations that code may call, by tool. Each is an ask or a stream. */
export type ToolTable = Readonly<Record<string, Readonly<Record<string, "ask" | "stream">>>>;

/** A request to the host, as JSON. A stream is opened first, read item by item, and closed if it is left early. */
export type CallRequest =
  | { readonly tool: string; readonly operation: string; readonly payload?: unknown }
  | { readonly next: number }
  | { readonly close: number };

/** An answer of the host, as JSON. Opening a stream gives its number; a `next` gives `{ done, value }`. */
export type CallAnswer =
  | { readonly ok: true; readonly value?: unknown }
  | { readonly ok: false; readonly kind: string; readonly message: string };

/**
 * Makes the `tools` of code: `await tools.files.read({ path })`, and `for await` for streams. A refusal of the host is thrown
 * as a ToolError, with its `kind`.
 *
 * The function is sent to each tier as source text, so it uses nothing outside itself. It takes the built-ins that it needs at
 * the start. Afterwards it reads no prototype, neither for requests nor for answers, because code may have changed it. Code
 * cannot gain anything by such changes: the host reads each request as if a stranger had sent it. But the changes of one run
 * must not break a later run of the same session.
 *
 * @param isPlacedLate true if the engine, like QuickJS, gives an error without a stack a new one where the error is thrown.
 * That stack lacks the calls that wait for the error.
 */
export function toolsInCode(
  table: ToolTable,
  call: (request: string) => Promise<string>,
  isPlacedLate = false,
): Readonly<Record<string, unknown>> {
  const { parse, stringify } = JSON;
  const { keys, create, freeze, defineProperty, hasOwn } = Object;
  const { asyncIterator } = Symbol;
  const ErrorOf = Error;
  const PromiseOf = Promise;
  const ProxyOf = Proxy;
  const ofAll = Object.prototype;
  const { apply } = Reflect;
  const { toLowerCase } = String.prototype;
  const { then } = PromiseOf.prototype;

  const member = (of: object, key: "value"): unknown => (hasOwn(of, key) ? (of as { value: unknown })[key] : undefined);
  /** Makes a descriptor without a prototype, so that it inherits nothing, such as a `get`. */
  const hidden = (value: unknown) =>
    ({ __proto__: null, value, configurable: true, writable: true }) as PropertyDescriptor;
  const ofPromise = hidden(PromiseOf);

  /** Gives a promise its own `constructor`: `await` then knows it as a promise, and does not call its `then`. */
  const sure = <Value>(promise: Promise<Value>): Promise<Value> => defineProperty(promise, "constructor", ofPromise);

  /** Builds the request by hand from a head without its closing brace, which takes a third of the time. */
  const ask = (head: string, payload?: unknown): Promise<unknown> => sure(answered(head, payload));
  const answered = async (head: string, payload: unknown): Promise<unknown> => {
    const json = payload === undefined ? undefined : (stringify(payload) as string | undefined);
    const request = json === undefined ? `${head}}` : `${head},"payload":${json}}`;
    const answer = parse(await sure(call(request))) as CallAnswer;
    if (answer.ok) return member(answer, "value");
    const error = errorOf(answer.kind, answer.message);
    if (isPlacedLate) return unplaced(error);
    throw error;
  };

  const errorOf = (kind: string, message: string): Error => {
    const error = new ErrorOf(message);
    defineProperty(error, "name", hidden("ToolError"));
    return defineProperty(error, "kind", { __proto__: null, value: kind, enumerable: true } as PropertyDescriptor);
  };

  const isRefusal = (thrown: unknown): thrown is Error =>
    typeof thrown === "object" && thrown !== null && hasOwn(thrown, "kind");

  /** Rejects without a throw: the error then has no stack until it is thrown where code awaits it. */
  const unplaced = (error: Error): Promise<never> => {
    delete error.stack;
    const promise = new PromiseOf<never>((_, reject) => reject(error));
    // An async function that returns the promise reads both members.
    defineProperty(promise, "then", hidden(then));
    return defineProperty(promise, "constructor", hidden(undefined));
  };

  const stream = (head: string, payload: unknown) => {
    let opening: Promise<unknown> | undefined;
    let isOver = false;
    const number = (): Promise<unknown> => {
      opening ??= ask(head, payload);
      return opening;
    };
    const next = async (): Promise<unknown> => {
      if (isOver) return { done: true, value: undefined };
      try {
        const item = (await ask(`{"next":${await number()}`)) as { readonly done: boolean };
        if (item.done) isOver = true;
        return { done: item.done, value: member(item, "value") };
      } catch (thrown) {
        isOver = true;
        if (isPlacedLate && isRefusal(thrown)) return unplaced(thrown);
        throw thrown;
      }
    };
    const leave = async (value: unknown): Promise<unknown> => {
      const isOpen = !isOver && opening !== undefined;
      isOver = true;
      if (isOpen) await ask(`{"close":${await number()}`);
      return { done: true, value };
    };
    const iterator = {
      next: () => sure(next()),
      return: (value: unknown) => sure(leave(value)),
      [asyncIterator]: () => iterator,
    };
    return defineProperty(iterator, "toJSON", hidden(unread));
  };

  /** The `toJSON` of a stream. Without it, a stream that code returned or awaited would become `{}`. */
  const unread = (): never => {
    throw new ErrorOf("a tool's stream has no JSON text; read it by for await");
  };

  /** Lists the known names, the nearest to the word first. */
  const listed = (word: string, all: readonly string[]): string => {
    // All of this is made only when a name is wrong.
    /** Most names that are listed, most that are compared, and most characters of a name that are compared. */
    const NAMED = 20;
    const LOOKED_AT = 500;
    const LONGEST = 60;
    /** Numbers by index. An array would use its prototype, which code may have changed. */
    const numbers = (): Record<number, number> => create(null);
    const lower = (text: string): string => {
      let short = "";
      for (let at = 0; at < text.length && at < LONGEST; at++) short += text[at];
      return apply(toLowerCase, short, []) as string;
    };
    /** The edit distance: how many letters to insert, delete or replace to turn one word into the other. */
    const distance = (from: string, to: string): number => {
      let row = numbers();
      for (let column = 0; column <= to.length; column++) row[column] = column;
      for (let at = 1; at <= from.length; at++) {
        const next = numbers();
        next[0] = at;
        for (let column = 1; column <= to.length; column++) {
          let least = (row[column - 1] as number) + (from[at - 1] === to[column - 1] ? 0 : 1);
          if ((row[column] as number) + 1 < least) least = (row[column] as number) + 1;
          if ((next[column - 1] as number) + 1 < least) least = (next[column - 1] as number) + 1;
          next[column] = least;
        }
        row = next;
      }
      return row[to.length] as number;
    };
    const wanted = lower(word);
    const far = numbers();
    let looked = 0;
    for (; looked < all.length && looked < LOOKED_AT; looked++) {
      far[looked] = distance(wanted, lower(all[looked] as string));
    }
    let text = "";
    let count = 0;
    for (; count < NAMED && count < looked; count++) {
      let best = 0;
      for (let at = 1; at < looked; at++) if ((far[at] as number) < (far[best] as number)) best = at;
      far[best] = 1_000; // Farther than any other, so it is not chosen again.
      text += `${count === 0 ? "" : ", "}${all[best]}`;
    }
    return all.length > count ? `${text} and ${all.length - count} more` : text;
  };
  /**
   * The prototype of `tools` and of each tool. Reading an unknown name throws here. Symbols, `then`, `toJSON` and the names of
   * all objects are undefined instead, because promises and JSON read them.
   */
  const absent = new ProxyOf(freeze(create(null)), {
    __proto__: null,
    get: (_: object, key: string | symbol, receiver: unknown): unknown => {
      if (typeof key === "symbol" || key === "then" || key === "toJSON" || hasOwn(ofAll, key)) return undefined;
      let path = receiver === tools ? "tools" : "";
      let all: readonly string[] = names;
      for (let at = 0; at < names.length && path === ""; at++) {
        const tool = names[at] as string; // The index is in range.
        if (tools[tool] !== receiver) continue;
        path = `tools.${tool}`;
        all = keys(receiver as object);
      }
      if (path === "") return undefined;
      const short = key.length > 60 ? "…" : `.${key}`;
      throw errorOf("unknown-operation", `There is no ${path}${short}. There are: ${listed(key, all)}.`);
    },
  } as ProxyHandler<object>);

  const tools = create(absent);
  const names = keys(table);
  for (let at = 0; at < names.length; at++) {
    const tool = names[at] as string; // The index is in range.
    const kinds = table[tool] ?? {};
    const operations = keys(kinds);
    const methods = create(absent);
    for (let index = 0; index < operations.length; index++) {
      const operation = operations[index] as string; // The index is in range.
      let known: string | undefined; // Made at the first call: most operations are never called.
      const head = (): string => (known ??= `{"tool":${stringify(tool)},"operation":${stringify(operation)}`);
      methods[operation] =
        kinds[operation] === "stream"
          ? (payload: unknown) => stream(head(), payload)
          : (payload: unknown) => ask(head(), payload);
    }
    tools[tool] = freeze(methods);
  }
  return freeze(tools);
}
