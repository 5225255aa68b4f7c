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
export function residentBytes(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * PAGE;
  } catch {
    return 0;
  }
}

/** Milliseconds of a processor that a process has used; 0 once it has ended. */
export function processorTime(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name, in parentheses, may hold anything; utime and stime are the 12th and 13th after it (proc_pid_stat(5)).
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS;
  } catch {
    return 0;
  }
}
