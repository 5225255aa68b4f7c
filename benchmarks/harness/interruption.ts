import { descendants, signalAll } from "./processes";

/** What work that was given up has to clear up by itself, in milliseconds. */
const GRACE = 2_000;
/** A Ctrl-C is told to processes, too: one that ended of it may be seen before the signal is. In milliseconds. */
const LATE = 20;

/** The run was ended before its end. */
export class Interrupted extends Error {
  constructor() {
    super("interrupted");
    this.name = "Interrupted";
  }
}

/**
 * Waits for work, and gives it up when the run is to end: its processes are ended, and it gets two seconds to clear up.
 *
 * @throws Interrupted when it was given up, whatever became of it.
 */
export async function unlessInterrupted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const late = Promise.withResolvers<never>();
  let timer: Timer | undefined;
  const giveUp = () => {
    endDescendants("SIGTERM");
    timer = setTimeout(() => late.reject(new Interrupted()), GRACE);
  };
  if (signal.aborted) giveUp();
  signal.addEventListener("abort", giveUp);
  try {
    return await Promise.race([work, late.promise]);
  } catch (error) {
    if (!signal.aborted) await Bun.sleep(LATE);
    throw signal.aborted ? new Interrupted() : error;
  } finally {
    signal.removeEventListener("abort", giveUp);
    clearTimeout(timer);
  }
}

/** Ends the processes that this one has started, and theirs, where they can be found. */
export function endDescendants(signal: NodeJS.Signals): void {
  signalAll(descendants(process.pid), signal);
}
