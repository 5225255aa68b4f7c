/**
 * The console of code, the same in each tier: its methods need no `this`, and tell the index of their level (see `LEVELS`).
 *
 * It is carried into the sandbox as its own source text, so that it uses nothing from around it.
 */
export function consoleOf(add: (level: number, parts: readonly unknown[]) => void): Readonly<Record<string, unknown>> {
  const at =
    (level: number) =>
    (...parts: unknown[]) =>
      add(level, parts);
  return {
    debug: at(0),
    log: at(1),
    info: at(2),
    warn: at(3),
    error: at(4),
    trace: at(0),
    dir: (value: unknown) => add(1, [value]),
    table: (value: unknown) => add(1, [value]),
    assert: (isTrue: unknown, ...parts: unknown[]) => {
      if (!isTrue) add(4, ["Assertion failed", ...parts]);
    },
  };
}
