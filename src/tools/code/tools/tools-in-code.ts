/** What code may call: for each tool its operations, and whether one is asked or streamed. */
export type ToolTable = Readonly<Record<string, Readonly<Record<string, "ask" | "stream">>>>;

/** What goes to the host, as JSON. A stream is opened first, read item by item, and closed where it is left early. */
export type CallRequest =
  | { readonly tool: string; readonly operation: string; readonly payload?: unknown }
  | { readonly next: number }
  | { readonly close: number };

/** What comes back, as JSON. The value of a stream's opening is its number, of a `next` a `{ done, value }`. */
export type CallAnswer =
  | { readonly ok: true; readonly value?: unknown }
  | { readonly ok: false; readonly kind: string; readonly message: string };

/**
 * Makes what code sees as `tools`: `await tools.files.read({ path })`, and `for await` of what streams. What the host refuses
 * is thrown as a ToolError, with its `kind`.
 *
 * It is carried into each tier as its own source text, so that it uses nothing from around it. What it needs of the
 * language it takes at the start, and afterwards it looks at no prototype, which the code may have changed by then: not for
 * what it sends, nor for what came back. What code can gain by changes of its own is nothing, since the host reads each
 * request as if it came from a stranger; what is kept from it is to be broken by those of an earlier run of its session.
 *
 * @param isPlacedLate whether the engine gives an error that has no stack one where it is thrown, and none of the calls
 * that wait for it: so does QuickJS.
 */
export function toolsInCode(
  table: ToolTable,
  call: (request: string) => Promise<string>,
  isPlacedLate = false,
): Readonly<Record<string, unknown>> {
  // Carried as a text, it is no module, and has a `caller` otherwise.
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
  /** A descriptor inherits nothing, such as a `get`. */
  const hidden = (value: unknown) =>
    ({ __proto__: null, value, configurable: true, writable: true }) as PropertyDescriptor;
  const ofPromise = hidden(PromiseOf);

  /** By its own member, `await` takes a promise for what it is, and asks no `then` for it. */
  const sure = <Value>(promise: Promise<Value>): Promise<Value> => defineProperty(promise, "constructor", ofPromise);

  /** The request is put together by hand, of a head without its end, which takes a third of the time. */
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

  /** Rejected without a throw, the error has no stack until it is thrown where code awaits it. */
  const unplaced = (error: Error): Promise<never> => {
    delete error.stack;
    const promise = new PromiseOf<never>((_, reject) => reject(error));
    // Whoever returns it asks for both.
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

  /** Without it a stream that was returned, or awaited, would be told as `{}`. */
  const unread = (): never => {
    throw new ErrorOf("a tool's stream has no JSON text; read it by for await");
  };

  /** The names that there are, the nearest to that word first. */
  const listed = (word: string, all: readonly string[]): string => {
    // Made when they are needed, which is never where all goes well.
    /** How many names stand for all, how many are looked at, and the most characters of one. */
    const NAMED = 20;
    const LOOKED_AT = 500;
    const LONGEST = 60;
    /** Numbers by their index; a list would ask the prototype of lists, which code may have changed. */
    const numbers = (): Record<number, number> => create(null);
    const lower = (text: string): string => {
      let short = "";
      for (let at = 0; at < text.length && at < LONGEST; at++) short += text[at];
      return apply(toLowerCase, short, []) as string;
    };
    /** How many letters are to be put in, taken out or replaced to make one word of the other. */
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
      far[best] = 1_000; // Further than any.
      text += `${count === 0 ? "" : ", "}${all[best]}`;
    }
    return all.length > count ? `${text} and ${all.length - count} more` : text;
  };
  /**
   * What the tools, and each of them, inherit from: it is asked for what they do not have. The names of all objects, and those
   * by which a promise or JSON is told, are not there without a word.
   */
  const absent = new ProxyOf(freeze(create(null)), {
    __proto__: null,
    get: (_: object, key: string | symbol, receiver: unknown): unknown => {
      if (typeof key === "symbol" || key === "then" || key === "toJSON" || hasOwn(ofAll, key)) return undefined;
      let path = receiver === tools ? "tools" : "";
      let all: readonly string[] = names;
      for (let at = 0; at < names.length && path === ""; at++) {
        const tool = names[at] as string; // There are as many.
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
    const tool = names[at] as string; // There are as many.
    const kinds = table[tool] ?? {};
    const operations = keys(kinds);
    const methods = create(absent);
    for (let index = 0; index < operations.length; index++) {
      const operation = operations[index] as string; // There are as many.
      let known: string | undefined; // Made when it is called first, which most are not.
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
