import { quote } from "../message/address";
import type { HandlerTable, Operations } from "./cell";

/** The hooks that stand beside the handlers. */
const HOOKS = ["onStart", "onRestart", "onStop"] as const;

/**
 * Refuses what is no table of handlers for each operation.
 *
 * @param who where it comes from, and @param gives how it got here: the beginning of the error's sentence.
 */
export function checkHandlers(handlers: unknown, operations: Operations, who: string, gives: string): HandlerTable {
  if (handlers instanceof Promise) {
    handlers.catch(() => undefined); // What is thrown below tells of it.
    throw new TypeError(
      `${who} ${gives} a promise; return the handlers at once, and await in onStart or in a handler.`,
    );
  }
  if (typeof handlers !== "object" || handlers === null) {
    throw new TypeError(`${who} ${gives} an object with a handler for each operation; got ${quote(handlers)}.`);
  }
  const table = handlers as HandlerTable; // The loop looks at each handler that will be called.
  for (const operation in operations) {
    if (typeof table[operation] !== "function") {
      throw new TypeError(`${who} has no handler for "${operation}"; add ${operation}() to what it ${gives}.`);
    }
  }
  for (const hook of HOOKS) {
    if (table[hook] !== undefined && typeof table[hook] !== "function") {
      throw new TypeError(`${who} ${gives} a ${hook} that is no function; got ${quote(table[hook])}.`);
    }
  }
  return table;
}
