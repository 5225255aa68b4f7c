/** Whether a value is to be waited for: an object or a function with a `then`, as `await` has it. */
export const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  ((typeof value === "object" && value !== null) || typeof value === "function") &&
  "then" in value &&
  typeof value.then === "function";

/** Whether a value is neither an object nor a function, and so cannot be waited for. */
export const isAtomic = (value: unknown): boolean =>
  (typeof value !== "object" && typeof value !== "function") || value === null;

const { then } = Promise.prototype;

/** Calls back where a function that nobody awaits has returned a promise, and that rejects: unheard, it would end the process. */
export function hearRejection(returned: unknown, onRejected: (reason: unknown) => void): void {
  // The language's own then: one that a promise brings along may throw.
  if (isThenable(returned)) void then.call(Promise.resolve(returned), undefined, onRejected);
}

/**
 * Marks a promise as heard that another one takes over. Where that happens outside of a microtask, Bun may look for rejections
 * that nobody heard before the other one has asked for it; the rejection of that one is told as ever.
 */
export function heard<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => undefined);
  return promise;
}
