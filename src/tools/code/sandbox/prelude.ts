import type { consoleOf } from "../console";
import type { tableText } from "../console-table";
import type { toolsInCode } from "../tools/tools-in-code";
import type { display } from "./display";
import type { Natives } from "./natives";
import type { surroundings } from "./surroundings";

/** What the prelude gives: called by the process, never by the code that runs. */
export type Prelude = readonly [
  begin: (program: unknown, order: string) => unknown,
  serialize: (value: unknown) => string,
  describe: (thrown: unknown) => string,
  answer: (call: number, text: string) => void,
  /** Calls what a timer is to call. */
  fire: (timer: number) => void,
  /** Throws what was thrown where no code could catch it. */
  rethrow: () => never,
];

/** What the prelude is told of a run, as JSON: `tools` is 0 for none, 1 for those of the run before. */
export type Start = readonly [
  maxOutput: number,
  declares: readonly string[],
  tools: Parameters<typeof toolsInCode>[0] | 0 | 1,
  input?: unknown,
];

/**
 * What is evaluated once, before any code comes: the console, progress and tools, and what makes texts of values.
 *
 * Like the functions that it is given, it is carried over as its own source text, and takes what it needs of the language
 * at the start. It runs again in a session, among what the code before changed.
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

  /** A descriptor that has nothing from the prototype of objects. */
  const descriptor = (value: unknown, isEnumerable: boolean) =>
    ({ __proto__: null, value, writable: true, enumerable: isEnumerable, configurable: true }) as PropertyDescriptor;

  /** Ends code that says too much; what catches it is ended when it is next interrupted. */
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
  /** What resolves the calls that wait. It has no prototype, whose setters would see what is put here. */
  const none = (): Waiting => ({ __proto__: null }) as unknown as Waiting;
  let waiting = none();

  const call = (request: string): Promise<string> => {
    const id = tellCall(request);
    return new PromiseOf<string>((resolve) => {
      if (id > 0) waiting[id] = resolve;
      else resolve(refusals[-id] as string); // By `Natives`.
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
    // What is no function, because the body closed the one that was put around it, fails here as it would anywhere.
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
    // Put together by hand: `stringify` of an object would ask for a `toJSON` that the code may have given to all.
    const of = (value: string | undefined): string => (value === undefined ? "null" : stringify(value));
    return `[${of(name)},${of(message)},${of(stack)}]`;
  };

  return [begin, serialize, describe, answer, fire, rethrow];
}
