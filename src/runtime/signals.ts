/** The callbacks that have not ended yet. The process ends after the last one. */
let running = 0;

/**
 * Calls back once when the process gets one of the signals. When this callback, and all others that run, have ended, the
 * process ends by that signal, as it would have. A second signal meanwhile ends it at once.
 *
 * @returns a function that removes the listeners.
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
