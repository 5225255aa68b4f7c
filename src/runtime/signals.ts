/**
 * The name of a signal of a process: the same as `NodeJS.Signals`, which only those have who have the types of Node or Bun.
 *
 * @example
 * const signals: SignalName[] = ["SIGINT", "SIGHUP"];
 */
export type SignalName =
  | "SIGABRT"
  | "SIGALRM"
  | "SIGBUS"
  | "SIGCHLD"
  | "SIGCONT"
  | "SIGFPE"
  | "SIGHUP"
  | "SIGILL"
  | "SIGINT"
  | "SIGIO"
  | "SIGIOT"
  | "SIGKILL"
  | "SIGPIPE"
  | "SIGPOLL"
  | "SIGPROF"
  | "SIGPWR"
  | "SIGQUIT"
  | "SIGSEGV"
  | "SIGSTKFLT"
  | "SIGSTOP"
  | "SIGSYS"
  | "SIGTERM"
  | "SIGTRAP"
  | "SIGTSTP"
  | "SIGTTIN"
  | "SIGTTOU"
  | "SIGUNUSED"
  | "SIGURG"
  | "SIGUSR1"
  | "SIGUSR2"
  | "SIGVTALRM"
  | "SIGWINCH"
  | "SIGXCPU"
  | "SIGXFSZ"
  | "SIGBREAK"
  | "SIGLOST"
  | "SIGINFO";

/** The callbacks that have not ended yet. The process ends after the last one. */
let running = 0;

/**
 * Calls back once when the process gets one of the signals. When this callback, and all others that run, have ended, the
 * process ends by that signal, as it would have. A second signal meanwhile ends it at once. The first process of a
 * container exits with 128 plus the signal's number instead.
 *
 * @returns a function that removes the listeners.
 */
export function onSignals(
  signals: readonly SignalName[],
  callback: (signal: SignalName) => Promise<unknown>,
): () => void {
  const unbind = (): void => {
    for (const signal of signals) process.off(signal, listener);
  };
  const listener = (signal: SignalName): void => {
    unbind();
    running++;
    void callback(signal).finally(() => {
      running--;
      if (running === 0) void endBy(signal);
    });
  };
  for (const signal of signals) process.on(signal, listener);
  return unbind;
}

async function endBy(signal: NodeJS.Signals): Promise<void> {
  process.kill(process.pid, signal);
  if (process.pid !== 1) return;
  // The kernel drops signals to the first process of a container that have no listener there.
  const { constants } = await import("node:os");
  process.exit(128 + constants.signals[signal]);
}
