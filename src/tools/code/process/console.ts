/** Gives code a console whose methods need no `this`: what it is told goes on, with the index of its level. */
export function setConsole(add: (level: number, parts: readonly unknown[]) => void): void {
  const at =
    (level: number) =>
    (...parts: unknown[]) =>
      add(level, parts);
  const value = {
    debug: at(0),
    log: at(1),
    info: at(2),
    warn: at(3),
    error: at(4),
    trace: at(0),
    dir: (shown: unknown) => add(1, [shown]),
    table: (shown: unknown) => add(1, [shown]),
    assert: (isTrue: unknown, ...parts: unknown[]) => {
      if (!isTrue) add(4, ["Assertion failed", ...parts]);
    },
  };
  Object.defineProperty(globalThis, "console", { value, writable: true, configurable: true });
}
