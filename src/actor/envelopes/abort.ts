import { type AskError, deliveryError, type MessageSource } from "../../message/delivery-error";
import type { Enter } from "../../runtime/contexts";
import { Timeout, type TimerWheel } from "../../runtime/timer-wheel";
import type { Deadline } from "../contract";
import { leftUntil } from "./origin";

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

/**
 * Gives up once a signal is aborted, or a deadline is over; at once if the signal already is. The returned function ends
 * that.
 */
export function untilOver(
  signal: AbortSignal | undefined,
  deadline: Deadline | null,
  timers: TimerWheel,
  source: () => MessageSource,
  giveUp: (error: AskError) => void,
): (() => void) | null {
  const cancel = (): void => giveUp(deliveryError("cancelled", source(), signal?.reason));
  if (signal?.aborted === true) {
    cancel();
    return null;
  }
  const stopListening = signal === undefined ? null : onAbort(signal, cancel);
  if (deadline === null) return stopListening;
  const expire = (): void => giveUp(deliveryError("timeout", source(), deadline.given));
  const timer = new Timeout(Math.max(leftUntil(deadline), 0), expire);
  timers.add(timer);
  return () => {
    timers.remove(timer);
    stopListening?.();
  };
}
