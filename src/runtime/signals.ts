/**
 * Calls once when the process gets one of some signals, and hands the signal on when that is done, so that the process
 * ends as it would have. Meanwhile a second signal ends it at once.
 *
 * @returns what takes the listeners off again.
 */
export function onSignals(signals: readonly NodeJS.Signals[], callback: () => Promise<unknown>): () => void {
  const unbind = (): void => {
    for (const signal of signals) process.off(signal, listener);
  };
  const listener = (signal: NodeJS.Signals): void => {
    unbind();
    void callback().finally(() => process.kill(process.pid, signal));
  };
  for (const signal of signals) process.on(signal, listener);
  return unbind;
}
