/** The globals that code keeps: the language, and those that need nothing of the machine. */
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
/** A descriptor that inherits nothing: code may have given all objects a `get`. */
const NOTHING: PropertyDescriptor = Object.assign(Object.create(null), {
  value: undefined,
  writable: true,
  enumerable: true,
  configurable: true,
});

/**
 * Hides the other names from code: process, fetch and the like. This is tidiness and no boundary, since modules of Bun can
 * still be imported; the kernel refuses what they would do. `Bun` cannot be removed, and is hidden by a parameter. (The
 * names are made undefined, because deleting them costs 1 to 3 ms at the start.)
 */
export function hideGlobals(): void {
  for (const key of Reflect.ownKeys(globalThis)) {
    if (!KEPT.has(key) && key !== "Bun" && typeof key === "string") scope[key] = undefined;
  }
}

/** Defines the names that code of a session declares, if they are missing and can be defined: code may have frozen all. */
export function declare(names: readonly string[]): void {
  for (let index = 0; index < names.length; index++) {
    const name = names[index] ?? "";
    if (!hasOwn(scope, name)) defineProperty(scope, name, NOTHING);
  }
}

/** Does some work with `process` in sight. Some modules need it while they are loaded. */
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
