/** Calls a function in the `AsyncLocalStorage` context that was current when this was captured. */
export type Enter = <Args extends unknown[], Result>(callback: (...args: Args) => Result, ...args: Args) => Result;

/**
 * Captures the current context (P16). The module takes 1.2 ms to load at the first call. That cannot be put off: only a capture
 * at its creation tells in which context a system was made.
 */
export const captureContext = (): Enter =>
  // snapshot() takes a function of any type and calls it with its own arguments, as Enter says.
  process.getBuiltinModule("node:async_hooks").AsyncLocalStorage.snapshot() as Enter;
