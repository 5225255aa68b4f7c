import { readFileSync } from "node:fs";

/** What a process has of the machine. */
export interface Holdings {
  /** Bytes of memory of its own, in RAM and swapped out; not what it maps of files, of which it reads more as it goes. */
  readonly bytes: number;
  readonly threads: number;
}

/** What a process has now; undefined where it is gone, or where this is not Linux. Takes about 5 µs. */
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
