import type { Enter } from "../../runtime/contexts";

/** The callbacks of a signal, and the one listener that calls them. */
interface Watch {
  readonly callbacks: Set<() => void>;
  readonly listener: () => void;
}

// One listener for each signal, however many callbacks it has: removing 40,000 listeners one by one took seconds.
const watches = new WeakMap<AbortSignal, Watch>();

/**
 * Calls back once when a signal is aborted, or at once, in a context (P16), if it already is. The returned function
 * ends that.
 */
export function whenAborted(signal: AbortSignal, callback: () => void, enter: Enter): () => void {
  if (signal.aborted) enter(callback);
  else signal.addEventListener("abort", callback, { once: true });
  return () => signal.removeEventListener("abort", callback);
}

/** Calls back once when a signal is aborted. The returned function ends that. */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const watch = watches.get(signal) ?? beginWatch(signal);
  watch.callbacks.add(callback);
  return () => {
    if (!watch.callbacks.delete(callback) || watch.callbacks.size > 0 || watches.get(signal) !== watch) return;
    watches.delete(signal);
    signal.removeEventListener("abort", watch.listener);
  };
}

function beginWatch(signal: AbortSignal): Watch {
  const callbacks = new Set<() => void>();
  const listener = (): void => {
    watches.delete(signal);
    for (const callback of callbacks) callback();
  };
  const watch = { callbacks, listener };
  watches.set(signal, watch);
  signal.addEventListener("abort", listener, { once: true });
  return watch;
}
