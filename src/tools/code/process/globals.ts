/** What code finds beside the language: what needs nothing of the machine. */
const KEPT: ReadonlySet<PropertyKey> = new Set(
  [
    "globalThis Infinity NaN undefined eval isFinite isNaN parseFloat parseInt decodeURI decodeURIComponent encodeURI",
    "encodeURIComponent escape unescape Object Function Boolean Symbol Error AggregateError EvalError RangeError",
    "ReferenceError SuppressedError SyntaxError TypeError URIError Number BigInt Math Date Temporal String RegExp Array",
    "Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array BigInt64Array BigUint64Array",
    "Float16Array Float32Array Float64Array Map Set WeakMap WeakSet WeakRef FinalizationRegistry ArrayBuffer",
    "SharedArrayBuffer DataView Atomics JSON Iterator Promise Reflect Proxy Intl WebAssembly DisposableStack",
    "AsyncDisposableStack console setTimeout clearTimeout setInterval clearInterval setImmediate clearImmediate",
    "queueMicrotask structuredClone atob btoa TextEncoder TextDecoder URL URLSearchParams AbortController AbortSignal",
    "Event EventTarget DOMException performance crypto",
  ].flatMap((names) => names.split(" ")),
);

const scope = globalThis as Record<PropertyKey, unknown>; // Any name may be there.

const { hasOwn } = Object;
const { defineProperty } = Reflect;
/** It inherits nothing: code may have given all objects a `get`. */
const NOTHING: PropertyDescriptor = Object.assign(Object.create(null), {
  value: undefined,
  writable: true,
  enumerable: true,
  configurable: true,
});

/**
 * Takes the other names out of code's sight: process, fetch and the like. That is tidiness and no boundary, since modules
 * of Bun can still be imported; what they would do, the kernel refuses. `Bun` cannot be taken away, and is hidden by a
 * parameter. (Made undefined, and not deleted, which costs 1 to 3 ms at the start.)
 */
export function hideGlobals(): void {
  for (const key of Reflect.ownKeys(globalThis)) {
    if (!KEPT.has(key) && key !== "Bun" && typeof key === "string") scope[key] = undefined;
  }
}

/** Makes what the code of a session declares, where it is not there yet, and can be: code may have frozen all. */
export function declare(names: readonly string[]): void {
  for (let index = 0; index < names.length; index++) {
    const name = names[index] ?? "";
    if (!hasOwn(scope, name)) defineProperty(scope, name, NOTHING);
  }
}

/** Does what needs the name of `process`, which some modules look at while they are loaded. */
export function withProcess<Value>(given: unknown, work: () => Value): Value {
  const hidden = Reflect.getOwnPropertyDescriptor(scope, "process");
  Reflect.defineProperty(scope, "process", { value: given, writable: true, configurable: true });
  try {
    return work();
  } finally {
    if (hidden === undefined) Reflect.deleteProperty(scope, "process");
    else Reflect.defineProperty(scope, "process", hidden);
  }
}
