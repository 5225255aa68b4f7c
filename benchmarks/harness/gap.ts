import type { Readings } from "./suite";

/** How often the timer is to fire, in milliseconds. */
const TICK = 5;
/** How often the work is done: what is its own is there each time, and what the collector of garbage does is not. */
const TIMES = 5;

/** What a probe of gaps reads. */
export const GAP = "gap, least of 5";
export const WORST_GAP = "gap, most of 5";

/** What this thread has run for, in milliseconds: not what its workers, the collector's threads or other processes have. */
function threadTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/**
 * The longest that a timer of 5 ms waits while this thread is at work, in milliseconds of its processor: what other processes
 * have of that is no gap of ours. The work is done once to warm up.
 *
 * @param work throws unless it was done.
 */
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
export async function longestGap(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = threadTime();
  const look = (): void => {
    const now = threadTime();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(look, TICK);
  try {
    await work();
    look();
  } finally {
    clearInterval(timer);
  }
  return longest;
}
