const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * `bun run` hands the Ctrl-C of a terminal on to what it runs, which the terminal has told already: what comes so soon after the
 * first is the same one. In milliseconds.
 */
const SAME = 300;

/** Calls `first` when this process is told to end, and `again` when it is told once more. Returns what undoes it. */
export function onEnding(first: () => void, again: () => void): () => void {
  let told: number | undefined;
  const onSignal = (): void => {
    if (told === undefined) {
      told = performance.now();
      first();
    } else if (performance.now() - told > SAME) again();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return () => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
}
