/** How many of these were collected; a conservative collector may keep some for a while. */
export async function countCollected(watched: readonly WeakRef<object>[]): Promise<number> {
  for (let round = 0; round < 5; round++) {
    await new Promise<void>((resolve) => setImmediate(resolve));
    Bun.gc(true);
  }
  return watched.filter((each) => each.deref() === undefined).length;
}

/** Tells how many listeners a signal has of those that are added from now on. */
export function countListeners(signal: AbortSignal): () => number {
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners++;
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners--;
    remove(...args);
  };
  return () => listeners;
}
