/** How many callbacks have not ended yet: the process ends once the last one has. */
let running = 0;

/**
 * Calls once when the process gets one of some signals, and hands the signal on when that is done, and what others were called
 * for it is too, so that the process ends as it would have. Meanwhile a second signal ends it at once.
 *
 * @returns what takes the listeners off again.
 */
export function onSignals(
  signals: readonly NodeJS.Signals[],
  callback: (signal: NodeJS.Signals) => Promise<unknown>,
): () => void {
  const unbind = (): void => {
    for (const signal of signals) process.off(signal, listener);
  };
  const listener = (signal: NodeJS.Signals): void => {
    unbind();
    running++;
    void callback(signal).finally(() => {
      running--;
      if (running === 0) process.kill(process.pid, signal);
    });
  };
  for (const signal of signals) process.on(signal, listener);
  return unbind;
}
