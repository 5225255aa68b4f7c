import { quote } from "../message/address";
import type { HandlerTable, Operations } from "./cell";
import type { AnyRef } from "./ref";

/** The hooks that stand beside the handlers. */
const HOOKS = ["onStart", "onRestart", "onStop"] as const;

/** Where handlers come from, as the sentence of an error tells it. */
interface Source {
  readonly what: string;
  readonly gives: string;
}
export const FROM_FACTORY: Source = { what: "The factory", gives: "returns" };
export const FROM_BECOME: Source = { what: "ctx.become()", gives: "takes" };

/** Refuses what is no table of handlers for each operation of an actor. */
export function checkHandlers(
  handlers: unknown,
  operations: Operations,
  of: AnyRef,
  { what, gives }: Source,
): HandlerTable {
  if (handlers instanceof Promise) {
    handlers.catch(() => undefined); // What is thrown below tells of it.
    throw new TypeError(
      `${what} of ${of.address} ${gives} a promise; return the handlers at once, and await in onStart or in a handler.`,
    );
  }
  if (typeof handlers !== "object" || handlers === null) {
    throw new TypeError(
      `${what} of ${of.address} ${gives} an object with a handler for each operation; got ${quote(handlers)}.`,
    );
  }
  const table = handlers as HandlerTable; // The loop looks at each handler that will be called.
  for (const operation in operations) {
    if (typeof table[operation] !== "function") {
      throw new TypeError(
        `${what} of ${of.address} has no handler for "${operation}"; add ${operation}() to what it ${gives}.`,
      );
    }
  }
  for (const hook of HOOKS) {
    if (table[hook] !== undefined && typeof table[hook] !== "function") {
      throw new TypeError(
        `${what} of ${of.address} ${gives} a ${hook} that is no function; got ${quote(table[hook])}.`,
      );
    }
  }
  return table;
}
