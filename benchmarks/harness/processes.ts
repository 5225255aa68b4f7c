import { readdirSync, readFileSync } from "node:fs";

/** Bytes of a page of memory, on the machines that this is for. */
const PAGE = 4096;
/** Ticks of the kernel's accounts in a second, which are the same on all machines (`sysconf(_SC_CLK_TCK)`). */
const TICKS = 100;

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
    } catch {
      // It ended meanwhile.
    }
  }
}

/** Bytes of memory that a process holds (RSS); 0 once it has ended. */
export const residentBytes = (pid: number): number => statOf(pid, 21) * PAGE;

/** Milliseconds of a processor that a process has used; 0 once it has ended. */
export const processorTime = (pid: number): number => ((statOf(pid, 11) + statOf(pid, 12)) * 1_000) / TICKS;

/** A number of what the kernel tells of a process, counted after its name: utime and stime are 11 and 12, RSS 21 (proc_pid_stat(5)). */
function statOf(pid: number, field: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[field]); // The name, in parentheses, may hold anything.
  } catch {
    return 0;
  }
}

/** Milliseconds that work which was given up has to clear up by itself. */
const GRACE = 2_000;
/** Milliseconds by which a process may be seen to have ended of a Ctrl-C before the signal is heard here. */
const LATE = 20;

/** The run was ended before its end. */
export class Interrupted extends Error {}

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
