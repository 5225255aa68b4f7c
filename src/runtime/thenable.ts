/** True when `await` would wait for a value: an object or a function with a `then`. */
export const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  ((typeof value === "object" && value !== null) || typeof value === "function") &&
  "then" in value &&
  typeof value.then === "function";

/** True when a value is neither an object nor a function, and so cannot be waited for. */
export const isAtomic = (value: unknown): boolean =>
  (typeof value !== "object" && typeof value !== "function") || value === null;

/** True for an object as a literal or JSON makes it, without a `then`: it cannot be waited for. Reads no property of it. */
export function isPlainData(value: unknown): boolean {
  if (isAtomic(value)) return false;
  try {
    return Object.getPrototypeOf(value) === Object.prototype && !("then" in (value as object)); // It is no atom.
  } catch {
    return false; // A proxy that throws.
  }
}

const { then } = Promise.prototype;

/** Calls back if the value returned by a callback is a promise that rejects. Unheard, the rejection would end the process. */
export function hearRejection(returned: unknown, onRejected: (reason: unknown) => void): void {
  // Uses the language's own then: a promise's own one may throw.
  if (isThenable(returned)) void then.call(Promise.resolve(returned), undefined, onRejected);
}

/**
 * Marks a promise as heard before another one adopts it. Outside of a microtask, Bun may look for unheard rejections before the
 * other promise has subscribed. A rejection of the other promise is reported as usual.
 */
export function heard<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => undefined);
  return promise;
}
