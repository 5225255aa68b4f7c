import type { consoleOf } from "../console";
import type { tableText } from "../console-table";
import type { toolsInCode } from "../tools/tools-in-code";
import type { display } from "./display";
import type { Natives } from "./natives";
import type { surroundings } from "./surroundings";

/** The functions that the prelude returns. The process calls them, never the code that runs. */
export type Prelude = readonly [
  begin: (program: unknown, order: string) => unknown,
  serialize: (value: unknown) => string,
  describe: (thrown: unknown) => string,
  answer: (call: number, text: string) => void,
  /** Calls the function of a timer. */
  fire: (timer: number) => void,
  /** Throws again the value that no code could catch. */
  rethrow: () => never,
];

/** The order of a run to the prelude, as JSON. `tools` is 0 for none, 1 for the tools of the previous run. */
export type Start = readonly [
  maxOutput: number,
  declares: readonly string[],
  tools: Parameters<typeof toolsInCode>[0] | 0 | 1,
  input?: unknown,
];

/**
 * Evaluated once, before any code comes. It makes the console, progress and tools, and turns values into texts.
 *
 * Like the functions that it is given, it is carried over as its own source text. It takes the functions of the language at
 * the start: in a session its own functions run again after code that may have changed the language's.
 */
export function prelude(
  natives: Natives,
  refusals: readonly string[],
  makeDisplay: typeof display,
  makeTools: typeof toolsInCode,
  makeConsole: typeof consoleOf,
  makeTable: typeof tableText,
  surround: typeof surroundings,
): Prelude {
  const { write, progress: tellProgress, call: tellCall } = natives;
  const { apply, getOwnPropertyDescriptor, defineProperty } = Reflect;
  const { stringify, parse } = JSON;
  const [PromiseOf, ErrorOf, TypeErrorOf, global] = [Promise, Error, TypeError, globalThis];
  const { limit, cut, line, told } = makeDisplay();

  /** A descriptor that inherits nothing from `Object.prototype`. */
  const descriptor = (value: unknown, isEnumerable: boolean) =>
    ({ __proto__: null, value, writable: true, enumerable: isEnumerable, configurable: true }) as PropertyDescriptor;

  /** Ends code that exceeds the output limit. Code that catches the error is ended at its next interrupt. */
  const check = (left: number): void => {
    if (left < 0) throw new ErrorOf("The logs are more than they may be.");
  };

  const [console, beginConsole] = makeConsole(
    { show: line, tell: (level, text) => check(write(`${level}${stringify(cut(text))}`)), now: Date.now },
    makeTable,
  );
  defineProperty(global, "console", descriptor(console, false));
  const { beginTimers, fire, rethrow } = surround(natives);

  const progress = (value: unknown): void => {
    const json = stringify(value) as string | undefined;
    if (json === undefined) throw new TypeErrorOf(`progress takes a value that has a JSON text, not a ${typeof value}`);
    const left = tellProgress(json);
    if (left === -2) throw new TypeErrorOf("Progress is nested more than 1000 deep; tell a flatter value.");
    check(left);
  };

  type Waiting = Record<number, ((answer: string) => void) | undefined>;
  /**
   * Resolves the open calls. It has no prototype, whose setters would see each entry: `__proto__` in a literal sets that
   * and makes no entry, which the compiler does not know.
   */
  const none = (): Waiting => ({ __proto__: null }) as unknown as Waiting;
  let waiting = none();

  const call = (request: string): Promise<string> => {
    const id = tellCall(request);
    return new PromiseOf<string>((resolve) => {
      if (id > 0) waiting[id] = resolve;
      else resolve(refusals[-id] as string); // See `Natives`.
    });
  };

  const answer: Prelude[3] = (id, text) => {
    const resolve = waiting[id];
    delete waiting[id];
    resolve?.(text);
  };

  let tools: unknown;
  const begin: Prelude[0] = (program, order) => {
    const start: Start = parse(order);
    limit(start[0]);
    waiting = none();
    beginConsole();
    beginTimers();
    const declares = start[1];
    for (let index = 0; index < declares.length; index++) {
      const name = declares[index] as string;
      if (getOwnPropertyDescriptor(global, name) !== undefined) continue;
      defineProperty(global, name, descriptor(undefined, true));
    }
    const table = start[2];
    if (table !== 1) tools = table === 0 ? undefined : makeTools(table, call, true);
    // A body can close the function around it. Then `program` may be no function, and fails here as it would anywhere.
    return apply(program as () => unknown, undefined, [start.length === 4 ? start[3] : undefined, tools, progress]);
  };

  /** `u` for undefined, `v` and the JSON text, or `x` and why there is none. */
  const serialize: Prelude[1] = (value) => {
    const kind = typeof value;
    if (value === undefined) return "u";
    if (kind === "function") return "xa function has no JSON text; return what it gives";
    if (kind === "symbol") return "xa symbol has no JSON text";
    if (kind === "bigint") return "xa bigint has no JSON text; return a string of it";
    try {
      const json = stringify(value) as string | undefined;
      return json === undefined ? "u" : `v${cut(json)}`;
    } catch (thrown) {
      const { name, message } = told(thrown);
      if (name === "InternalError" && message === "out of memory") throw thrown;
      if (name === "InternalError" && message === "stack overflow") return "xit is nested too deep";
      return `x${name === undefined ? "" : `${name}: `}${message}`;
    }
  };

  const describe: Prelude[2] = (thrown) => {
    const { name, message, stack } = told(thrown);
    // Put together by hand: `stringify` of a list would call a `toJSON` that the code may have given to all objects.
    const of = (value: string | undefined): string => (value === undefined ? "null" : stringify(value));
    return `[${of(name)},${of(message)},${of(stack)}]`;
  };

  return [begin, serialize, describe, answer, fire, rethrow];
}
