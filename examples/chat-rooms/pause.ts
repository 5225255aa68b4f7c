import type { Clock } from "envoi";

/** Resolves after some milliseconds, or when the signal is aborted. */
export function pause(clock: Clock, milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve();
      return;
    }
    const end = (): void => {
      timer.cancel();
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = clock.setTimer(end, milliseconds);
    signal?.addEventListener("abort", end);
  });
}
