import { readFileSync } from "node:fs";
import type { Readings } from "./suite";

const TICK = 5; // Milliseconds.

export async function watch<Played>(play: () => Promise<Played>, clock: () => number) {
  let [ticks, gap, last] = [0, 0, clock()];
  const look = () => {
    const now = clock();
    gap = Math.max(gap, now - last);
    last = now;
  };
  const timer = setInterval(() => {
    ticks++;
    look();
  }, TICK);
  try {
    const played = await play();
    look();
    return { ticks, gap, played };
  } finally {
    clearInterval(timer);
  }
}

export const wallTime = (): number => performance.now();

/** What this thread has run for, in milliseconds: not what its workers, the collector's threads or other processes have. */
export function threadTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** For how long this thread had work and waited for a processor, in milliseconds; 0 where the system does not tell (Linux does). */
export function waitedTime(): number {
  try {
    return Number(readFileSync("/proc/thread-self/schedstat", "latin1").split(" ")[1]) / 1e6;
  } catch {
    return 0;
  }
}

/**
 * Counts the ticks that a 5 ms timer gets beside work, and those that it gets for as long while the process idles. `work` goes on until
 * `isOver()` and resolves with its hops; where it ends late, the ticks are those of a time as long as was asked for.
 */
export async function watchTimer(
  milliseconds: number,
  work: (isOver: () => boolean) => Promise<number>,
): Promise<Readings> {
  const start = wallTime();
  const { ticks, gap, played } = await watch(() => work(() => wallTime() - start >= milliseconds), wallTime);
  const inTime = Math.round(ticks * Math.min(1, milliseconds / (wallTime() - start)));
  if (played < 2) throw new Error(`${played} hops were counted: no work, nothing to be fair to`);
  const idle = await watch(() => Bun.sleep(milliseconds), wallTime);
  return { ticks: inTime, gap, hops: played, "ticks when idle": idle.ticks };
}

const TIMES = 5; // What the work does itself is there each time; what the collector does is not.

export const GAP = "gap, least of 5";
export const WORST_GAP = "gap, most of 5";

/** Milliseconds of this thread that a timer of 5 ms waits at most beside work, which is done once to warm up. */
export async function gapBeside(prepare: () => void, work: () => Promise<void>): Promise<Readings> {
  const gaps: number[] = [];
  for (let i = 0; i <= TIMES; i++) {
    prepare();
    Bun.gc(true);
    const gap = await longestGap(work);
    if (i > 0) gaps.push(gap);
  }
  return { [GAP]: Math.min(...gaps), [WORST_GAP]: Math.max(...gaps) };
}

/** The same once, of work that is warm. */
export const longestGap = async (work: () => Promise<unknown>): Promise<number> => (await watch(work, threadTime)).gap;
