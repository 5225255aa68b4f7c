import { type Address, type AnyRef, quote } from "../message/address";
import { nearestName } from "../message/nearest";
import { HOOKS, isHook, type Operations, type Protocol } from "../protocol/protocol";
import type { HandlerTable } from "./contract";

/** The source of handlers, as the sentence of an error names it. */
interface Source {
  readonly what: string;
  readonly gives: string;
}
export const FROM_FACTORY: Source = { what: "The factory", gives: "returns" };
export const FROM_BECOME: Source = { what: "ctx.become()", gives: "takes" };

/** Throws unless the value has a handler for each operation of an actor. */
export function checkHandlers(
  handlers: unknown,
  operations: Operations,
  of: AnyRef,
  { what, gives }: Source,
): HandlerTable {
  if (handlers instanceof Promise) {
    handlers.catch(() => undefined); // The error below reports it.
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
      checkNames(table, operations, of); // A misspelt handler says more than a missing one.
      throw new TypeError(
        `${what} of ${of.address} has no handler for "${operation}"; add ${operation}() to what it ${gives}.`,
      );
    }
  }
  checkNames(table, operations, of);
  for (const hook of HOOKS) {
    if (table[hook] !== undefined && typeof table[hook] !== "function") {
      throw new TypeError(
        `${what} of ${of.address} ${gives} a ${hook} that is no function; got ${quote(table[hook])}.`,
      );
    }
  }
  return table;
}

/**
 * Checks an actor's handlers as the system does, from its factory or for `ctx.become`. Throws when an operation has no
 * handler, or when a function names neither an operation nor a hook. For code that runs handlers without a system, such
 * as a test kit.
 *
 * @throws TypeError that says what is wrong, and what was probably meant.
 * @example
 * checkBehaviour(factory(ctx), Counter, ctx.self);
 */
export function checkBehaviour(
  handlers: unknown,
  protocol: Protocol,
  of: AnyRef,
  from: "factory" | "become" = "factory",
): void {
  const table = checkHandlers(handlers, protocol.operations, of, from === "become" ? FROM_BECOME : FROM_FACTORY);
  if (from === "become") checkNoHooks(table, of.address);
}

/**
 * Prototypes whose methods were checked, with the operations they were checked for. Each class is checked once, not at
 * each spawn.
 */
const lookedThrough = new WeakMap<object, Operations>();

/**
 * Refuses functions that are neither a handler nor a hook. A plain object may have no other functions. An instance of a
 * class may have methods of its own: only a method that is one letter off a missing name is refused.
 */
function checkNames(table: HandlerTable, operations: Operations, of: AnyRef): void {
  const prototype: object | null = Object.getPrototypeOf(table);
  const isPlain = prototype === Object.prototype || prototype === null;
  for (const key in table) {
    if (key in operations || isHook(key)) continue;
    if (isPlain) checkName(table, key, operations, of, null);
    else if (Object.hasOwn(table, key)) checkName(table, key, operations, of, table);
  }
  if (isPlain) return;
  for (let at: object | null = prototype; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    if (lookedThrough.get(at) === operations) return;
    for (const key of Object.getOwnPropertyNames(at)) {
      if (key !== "constructor" && !(key in operations) && !isHook(key)) checkName(at, key, operations, of, table);
    }
  }
  lookedThrough.set(prototype, operations);
}

/** Refuses hooks among the handlers of `ctx.become`: they would never be called. */
export function checkNoHooks(handlers: object, address: Address): void {
  for (const hook of HOOKS) {
    if (Reflect.get(handlers, hook) === undefined) continue;
    throw new TypeError(
      `ctx.become() of ${address} takes no ${hook}, which would never be called: hooks stay those that the factory returned. ` +
        "Leave it out.",
    );
  }
}

/** @param instance if given, only a name that it lacks can have been meant. */
function checkName(
  holder: object,
  key: string,
  operations: Operations,
  of: AnyRef,
  instance: HandlerTable | null,
): void {
  if (typeof Object.getOwnPropertyDescriptor(holder, key)?.value !== "function") return; // Not read: it may be a getter.
  const names = [...Object.keys(operations), ...HOOKS];
  const lacking = names.filter((name) => typeof instance?.[name] !== "function");
  const meant = nearestName(key, lacking, instance === null ? undefined : 1);
  if (instance !== null && meant === undefined) return;
  const instead = meant === undefined ? `it has ${names.join(", ")}.` : `did you mean "${meant}"?`;
  throw new TypeError(`"${key}" is neither an operation of ${of.address} nor a hook; ${instead}`);
}
