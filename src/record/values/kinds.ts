import { isAddress, isDeliveryError } from "../../index";

/** True for an object without a class: a literal, or one of `Object.create(null)`. */
export function isPlainKind(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && typeof Reflect.get(value, "toJSON") !== "function";
}

/** The kinds that are written in a way of their own, by the class that makes them. */
const KINDS: readonly (readonly [new (...args: never[]) => unknown, string])[] = [
  [Date, "Date"],
  [Map, "Map"],
  [Set, "Set"],
  [Headers, "Headers"],
  [URLSearchParams, "URLSearchParams"],
  [FormData, "FormData"],
  [URL, "URL"],
  [RegExp, "RegExp"],
  [String, "String"],
  [Number, "Number"],
  [Boolean, "Boolean"],
  [BigInt as unknown as new () => unknown, "BigInt"], // For `instanceof` alone: nothing is made by it.
  [Blob, "Blob"],
  [ArrayBuffer, "Binary"],
  [SharedArrayBuffer, "Binary"],
  [Error, "Error"],
  ...[Promise, WeakMap, WeakSet, WeakRef, Request, Response, ReadableStream, WritableStream, AbortSignal].map(
    (own) => [own as unknown as new () => unknown, own.name] as const, // For `instanceof`, too.
  ),
];

/** The way in which an object is written: its class, if that has a way of its own; "Ref", "Binary", "Error", or "Other" for any other class. */
export function kindOf(value: object): string {
  if (ArrayBuffer.isView(value)) return "Binary";
  if (isDeliveryError(value)) return "Error";
  for (const [own, kind] of KINDS) if (value instanceof own) return kind;
  return isReference(value) ? "Ref" : "Other";
}

/** True for a reference to an actor, which writes itself as its address. */
function isReference(value: object): boolean {
  const { address, toJSON } = value as { readonly address?: unknown; readonly toJSON?: unknown };
  return isAddress(address) && typeof toJSON === "function" && toJSON.call(value) === address;
}

/** The entries of a map, of header fields, of parameters or of a form. */
export function entriesOf(value: object): Iterable<readonly [unknown, unknown]> {
  return value instanceof Map ? Map.prototype.entries.call(value) : (value as Headers).entries();
}

/** The bytes of a buffer, or of a view of one. */
export function bytesOf(value: object): Uint8Array {
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return new Uint8Array(value as ArrayBuffer);
}

/** In place of a member whose getter threw. */
export const UNREADABLE = Symbol("unreadable");

/** A member of an object. */
export function itemAt(value: object, key: string): unknown {
  try {
    return Reflect.get(value, key);
  } catch {
    return UNREADABLE;
  }
}

/** A value that a call made for the recording gave: where it is a promise that fails, nobody else hears it, and the process would end. */
export function heard(value: unknown): unknown {
  if (value instanceof Promise) Promise.prototype.then.call(value, undefined, () => {});
  return value;
}
