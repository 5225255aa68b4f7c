/** Calls a function in the `AsyncLocalStorage` context that was current when this was captured. */
export type Enter = <Args extends unknown[], Result>(callback: (...args: Args) => Result, ...args: Args) => Result;

/**
 * Captures the current context (P16). The module takes 1.2 ms to load at the first call; nothing less can tell in which context
 * a system was made, and a context that is entered too late has been crossed already.
 */
export const captureContext = (): Enter =>
  // The types of the module let the inner function be of any kind, and call it with its own arguments, as Enter says.
  process.getBuiltinModule("node:async_hooks").AsyncLocalStorage.snapshot() as Enter;
