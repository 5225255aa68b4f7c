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
 * It is carried into each tier as its own source text, so that it uses nothing from around it, and takes what it needs of
 * the language before the code runs.
 */
export function toolsInCode(
  table: ToolTable,
  call: (request: string) => Promise<string>,
): Readonly<Record<string, unknown>> {
  const { parse, stringify } = JSON;
  const { keys, create, freeze, defineProperty } = Object;
  const { asyncIterator } = Symbol;
  const ErrorClass = Error;

  const ask = async (request: unknown): Promise<unknown> => {
    const text = stringify(request);
    const answer = parse(await call(text)) as CallAnswer;
    if (answer.ok) return answer.value;
    const error = new ErrorClass(answer.message);
    defineProperty(error, "name", { value: "ToolError", configurable: true, writable: true });
    defineProperty(error, "kind", { value: answer.kind, enumerable: true });
    throw error;
  };

  const stream = (tool: string, operation: string, payload: unknown) => {
    let opening: Promise<unknown> | undefined;
    let isOver = false;
    const iterator = {
      async next(): Promise<unknown> {
        if (isOver) return { done: true, value: undefined };
        opening ??= ask({ tool, operation, payload });
        try {
          const item = (await ask({ next: await opening })) as { done: boolean; value: unknown };
          if (item.done) isOver = true;
          return item;
        } catch (thrown) {
          isOver = true;
          throw thrown;
        }
      },
      async return(value: unknown): Promise<unknown> {
        if (!isOver && opening !== undefined) await ask({ close: await opening });
        isOver = true;
        return { done: true, value };
      },
      [asyncIterator]: () => iterator,
    };
    return iterator;
  };

  const tools = create(null);
  for (const tool of keys(table)) {
    const operations = table[tool] ?? {};
    const methods = create(null);
    for (const operation of keys(operations)) {
      methods[operation] =
        operations[operation] === "stream"
          ? (payload: unknown) => stream(tool, operation, payload)
          : (payload: unknown) => ask({ tool, operation, payload });
    }
    tools[tool] = freeze(methods);
  }
  return freeze(tools);
}
