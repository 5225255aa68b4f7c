/** The part of a console that each tier implements. */
export interface ConsoleHost {
  /** Formats arguments as a console shows them. */
  show(parts: readonly unknown[]): string;
  /** Writes a text. `level` is an index of `LEVELS`. */
  tell(level: number, text: string): void;
  /** Milliseconds of a clock that never goes back. */
  now(): number;
}

/** The console that code sees, and a function that resets its indentation. */
export type ConsoleOf = readonly [console: Readonly<Record<string, unknown>>, begin: () => void];

/**
 * Makes the console of code, the same in each tier. Its methods need no `this`.
 *
 * The function is sent to the sandbox as source text, so it uses nothing outside itself. Groups, counters, timers and table
 * cells are limited, so that code cannot use them to write or to keep data without end.
 */
export function consoleOf(
  { show, tell, now }: ConsoleHost,
  makeTable: typeof import("./console-table").tableText,
): ConsoleOf {
  const MOST_GROUPS = 20;
  /** Most names of counters, and of timers, that are kept. */
  const MOST_NAMES = 1_000;
  /** Most characters of a text that is indented line by line: each of its lines grows by the margin. */
  const LONGEST_INDENTED = 64 * 1024;
  const { round } = Math;
  const { apply, ownKeys, deleteProperty } = Reflect;
  const { split } = String.prototype;
  const { join } = Array.prototype;
  // Without a prototype: code could put setters there, which would see each write. `__proto__` in a literal sets that and
  // makes no entry, which the compiler does not know.
  const none = (): Record<string, number | undefined> => ({ __proto__: null }) as never;

  let margin = "";
  const counts = none();
  const timers = none();
  const put = (into: Record<string, number | undefined>, name: string, value: number): void => {
    if (into[name] !== undefined || ownKeys(into).length < MOST_NAMES) into[name] = value;
  };

  const add = (level: number, parts: readonly unknown[]): void => {
    if (margin === "") tell(level, show(parts));
    else write(level, show(parts));
  };
  const write = (level: number, text: string): void => {
    if (margin === "" || text.length > LONGEST_INDENTED) tell(level, margin + text);
    else tell(level, margin + (apply(join, apply(split, text, ["\n"]), [`\n${margin}`]) as string));
  };
  const at =
    (level: number) =>
    (...parts: unknown[]): void =>
      add(level, parts);
  const group = (...parts: unknown[]): void => {
    if (parts.length > 0) add(1, parts);
    if (margin.length < 2 * MOST_GROUPS) margin += "  ";
  };
  const groupEnd = (): void => {
    let shorter = "";
    for (let length = 2; length < margin.length; length += 2) shorter += "  ";
    margin = shorter;
  };
  const nameOf = (label: unknown): string => (label === undefined ? "default" : show([label]));
  const elapsed = (name: string, parts: readonly unknown[]): void => {
    const since = timers[name];
    if (since === undefined) write(3, `There is no timer "${name}"; begin it with console.time.`);
    else write(1, `${name}: ${round((now() - since) * 1_000) / 1_000}ms${parts.length > 0 ? ` ${show(parts)}` : ""}`);
  };

  const console = {
    debug: at(0),
    log: at(1),
    info: at(2),
    warn: at(3),
    error: at(4),
    trace: at(0),
    dir: (value: unknown) => add(1, [value]),
    table: (value: unknown, columns?: readonly string[]) => {
      const text = makeTable(value, columns, show);
      if (text === undefined) add(1, [value]);
      else write(1, text);
    },
    assert: (isTrue: unknown, ...parts: unknown[]) => {
      if (!isTrue) add(4, ["Assertion failed", ...parts]);
    },
    group,
    groupCollapsed: group,
    groupEnd,
    count: (label?: unknown) => {
      const name = nameOf(label);
      const count = (counts[name] ?? 0) + 1;
      put(counts, name, count);
      write(1, `${name}: ${count}`);
    },
    countReset: (label?: unknown) => {
      deleteProperty(counts, nameOf(label));
    },
    time: (label?: unknown) => put(timers, nameOf(label), now()),
    timeLog: (label?: unknown, ...parts: unknown[]) => elapsed(nameOf(label), parts),
    timeEnd: (label?: unknown) => {
      const name = nameOf(label);
      elapsed(name, []);
      deleteProperty(timers, name);
    },
  };
  const begin = (): void => {
    margin = "";
  };
  return [console, begin];
}
