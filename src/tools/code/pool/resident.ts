import { readFileSync } from "node:fs";

/** The resources that a process holds. */
export interface Holdings {
  /** Bytes of its own memory, in RAM or swapped out. Mapped files are not counted: they grow as more of them is read. */
  readonly bytes: number;
  readonly threads: number;
}

/** The present holdings of a process; undefined if it is gone, or outside of Linux. Takes about 5 µs. */
export function holdingsOf(pid: number): Holdings | undefined {
  let status: string;
  try {
    status = readFileSync(`/proc/${pid}/status`, "latin1");
  } catch {
    return undefined;
  }
  let kilobytes: number | undefined;
  for (const [, count] of status.matchAll(/^(?:RssAnon|RssShmem|VmSwap):\s+(\d+) kB$/gm)) {
    kilobytes = (kilobytes ?? 0) + Number(count);
  }
  const threads = Number(/^Threads:\s+(\d+)$/m.exec(status)?.[1] ?? 0);
  return kilobytes === undefined ? undefined : { bytes: kilobytes * 1024, threads };
}
