import type { Readings } from "./suite";

/** How often the timer is to fire, in milliseconds. */
const TICK = 5;

interface Watched<Played> {
  readonly ticks: number;
  /** The longest between two ticks, by the clock that was given. */
  readonly gap: number;
  readonly played: Played;
}

/** Counts the ticks of a timer while something goes on. */
async function watch<Played>(play: () => Promise<Played>, clock: () => number): Promise<Watched<Played>> {
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

const wallTime = (): number => performance.now();

/** What this thread has run for, in milliseconds: not what its workers, the collector's threads or other processes have. */
export function threadTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/**
 * Counts the ticks that a 5 ms timer gets while something busy goes on, and the longest gap between two of them; then the ticks it
 * gets for as long while the process idles, which is all that can be had. `work` goes on until `isOver()` and resolves with how
 * many pieces of it were done (`counted` names them); nothing else stops it, since work that starves timers starves a stop. Where
 * it ends late, the ticks are those of a time as long as was asked for.
 */
export async function watchTimer(
  milliseconds: number,
  work: (isOver: () => boolean) => Promise<number>,
  counted = "hops",
): Promise<Readings> {
  const start = wallTime();
  const { ticks, gap, played } = await watch(() => work(() => wallTime() - start >= milliseconds), wallTime);
  const inTime = Math.round(ticks * Math.min(1, milliseconds / (wallTime() - start)));
  if (played < 2) throw new Error(`${played} ${counted} were counted: no work, nothing to be fair to`);
  const idle = await watch(() => Bun.sleep(milliseconds), wallTime);
  return { ticks: inTime, gap, [counted]: played, "ticks when idle": idle.ticks };
}

/** How often the work is done: what is its own is there each time, and what the collector of garbage does is not. */
const TIMES = 5;

/** What a probe of gaps reads. */
export const GAP = "gap, least of 5";
export const WORST_GAP = "gap, most of 5";

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
export const longestGap = async (work: () => Promise<unknown>): Promise<number> => (await watch(work, threadTime)).gap;
