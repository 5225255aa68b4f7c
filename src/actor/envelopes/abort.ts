import type { Enter } from "../../runtime/contexts";

/** Who waits for a signal, and the one listener that tells them. */
interface Watch {
  readonly callbacks: Set<() => void>;
  readonly listener: () => void;
}

// One listener for each signal, however many wait for it: to take 40,000 off one by one took seconds.
const watches = new WeakMap<AbortSignal, Watch>();

/** Calls back once when a signal is aborted, at once where it is already, and then in a context (P16); what it returns ends that. */
export function whenAborted(signal: AbortSignal, callback: () => void, enter: Enter): () => void {
  if (signal.aborted) enter(callback);
  else signal.addEventListener("abort", callback, { once: true });
  return () => signal.removeEventListener("abort", callback);
}

/** Calls back once when a signal is aborted; what it returns ends that. */
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
