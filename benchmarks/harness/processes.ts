import { readdirSync, readFileSync } from "node:fs";

const PAGE = 4096; // Bytes, on the machines that this is for.

/** Whether the kernel tells of processes as Linux does. */
export const canSeeProcesses = process.platform === "linux";

/** The processes that one has started, and theirs, as far as they are there. */
export function descendants(of: number): number[] {
  const found: number[] = [];
  for (const child of childrenOf(of)) found.push(child, ...descendants(child));
  return found;
}

function childrenOf(pid: number): number[] {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    return threads.flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean).map(Number),
    );
  } catch {
    return []; // It ended meanwhile.
  }
}

/** Sends a signal to processes, and to groups of them where a number is negative; those that have ended are passed over. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {}
  }
}

/** Bytes of memory that a process holds (RSS); 0 once it has ended. */
export function residentBytes(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // RSS is number 21 after the name, in parentheses, which may hold anything (proc_pid_stat(5)).
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[21]) * PAGE;
  } catch {
    return 0;
  }
}

const GRACE = 2_000; // Milliseconds that work which was given up has to clear up by itself.
/** Milliseconds by which a process may be seen to have ended of a Ctrl-C before the signal is heard here. */
const LATE = 20;

export class Interrupted extends Error {}

/** Waits for work; when the run is to end, ends its processes, gives it two seconds, and throws Interrupted. */
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

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Milliseconds in which a second Ctrl-C is the first one again: `bun run` hands on what the terminal has told already. */
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
