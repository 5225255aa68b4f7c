import { type AnyRef, type Door, type Operation, operationsOf, type Ref, receive } from "../../../index";
import type { ToolTable } from "./tools-in-code";

/** A tool with only some of its operations. */
export interface ToolGrant {
  readonly ref: AnyRef;
  /** Names of operations in the protocol of `ref`; at least one. */
  readonly operations: readonly string[];
}

/**
 * The tools of code, by name: with `{ files }`, code can call `await tools.files.read({ path })`. A reference gives all
 * operations of its protocol.
 */
export type Tools = Readonly<Record<string, AnyRef | ToolGrant>>;

/**
 * Checks that literal names in `operations` are in the protocol of their `ref`. A list of type `string[]`, or a reference
 * without a protocol, is checked only at run time.
 */
export type KnownTools<T> = {
  readonly [Tool in keyof T]: T[Tool] extends {
    readonly ref: Ref<infer S, infer _Shapes>;
    readonly operations: infer Names;
  }
    ? Names extends readonly (infer Name)[]
      ? [string] extends [Name | ([keyof S] extends [never] ? string : never)]
        ? T[Tool]
        : { readonly ref: T[Tool]["ref"]; readonly operations: readonly (keyof S & string)[] }
      : T[Tool]
    : T[Tool];
};

/** One operation that code may call. */
export interface ToolOperation {
  readonly tool: string;
  readonly ref: AnyRef;
  /** Makes calls as from outside: the tool validates their payloads, and a call that makes it throw fails alone (P9). */
  readonly door: Door;
  readonly operation: Operation;
}

const NAME = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

/** The tools of an actor, checked once. */
export class ToolSet {
  /** The table for `toolsInCode`, as JSON. */
  readonly table: string;
  readonly #operations: ReadonlyMap<string, ReadonlyMap<string, ToolOperation>>;
  #streams = 0;

  /** @throws TypeError for an invalid tool. */
  constructor(tools: Tools) {
    const found = new Map<string, ReadonlyMap<string, ToolOperation>>();
    const table: Record<string, Record<string, "ask" | "stream">> = {};
    for (const [tool, operations] of readTools(tools)) {
      const kinds: Record<string, "ask" | "stream"> = {};
      for (const { operation } of operations.values()) kinds[operation.name] = operation.isStream ? "stream" : "ask";
      found.set(tool, operations);
      table[tool] = kinds;
    }
    this.#operations = found;
    this.table = JSON.stringify(table satisfies ToolTable);
  }

  find(tool: string, operation: string): ToolOperation | undefined {
    return this.#operations.get(tool)?.get(operation);
  }

  /** Returns a new stream number. None is used twice, so a stream that code keeps never reads one of a later run. */
  nextStream(): number {
    return ++this.#streams;
  }
}

/** The operations of each tool, in the order in which they were written. */
export function readTools(tools: Tools): ReadonlyMap<string, ReadonlyMap<string, ToolOperation>> {
  if (typeof tools !== "object" || tools === null || Array.isArray(tools)) {
    throw new TypeError("The tools of code are an object of references, such as { files }.");
  }
  const found = new Map<string, ReadonlyMap<string, ToolOperation>>();
  for (const [name, tool] of Object.entries(tools)) {
    if (!NAME.test(name) || name in Object.prototype || name === "then") {
      throw new TypeError(
        `A tool cannot be named ${JSON.stringify(name)}: write a name that code can have, such as "files".`,
      );
    }
    found.set(name, operationsIn(name, tool));
  }
  return found;
}

function operationsIn(tool: string, given: AnyRef | ToolGrant): ReadonlyMap<string, ToolOperation> {
  const isGrant = typeof given === "object" && given !== null && "ref" in given;
  const ref = isGrant ? given.ref : given;
  let known: ReturnType<typeof operationsOf>;
  try {
    known = operationsOf(ref);
  } catch {
    throw new TypeError(
      `The tool "${tool}" is no reference: write what spawn() returned, or { ref, operations: ["read"] } for a part of it.`,
    );
  }
  if (known === null) {
    throw new TypeError(
      `The tool "${tool}" has no protocol, which says what code may call: spawn an actor that has one, and give its reference.`,
    );
  }
  const names = isGrant ? given.operations : Object.keys(known);
  if (!Array.isArray(names) || names.length === 0) {
    throw new TypeError(`The operations of the tool "${tool}" are a list of names, such as ["read"].`);
  }
  const door = receive(ref);
  const operations = new Map<string, ToolOperation>();
  for (const name of names as readonly unknown[]) {
    const operation = typeof name === "string" ? known[name] : undefined;
    if (operation === undefined) {
      throw new TypeError(
        `The tool "${tool}" has no operation ${JSON.stringify(name)}; write some of ${Object.keys(known).join(", ")}.`,
      );
    }
    operations.set(operation.name, { tool, ref, door, operation });
  }
  return operations;
}
