import type { Readings } from "./suite";

/** How often the timer is to fire, in milliseconds. */
const TICK = 5;

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
  const deadline = performance.now() + milliseconds;
  const { ticks, gap, taken, played } = await watch(() => work(() => performance.now() >= deadline));
  if (played < 2) throw new Error(`${played} ${counted} were counted: no work, nothing to be fair to`);
  const idle = await watch(() => Bun.sleep(milliseconds));
  const inTime = Math.round(ticks * Math.min(1, milliseconds / taken));
  return { ticks: inTime, gap, [counted]: played, "ticks when idle": idle.ticks };
}

interface Watched<Played> {
  readonly ticks: number;
  readonly gap: number;
  /** In milliseconds. */
  readonly taken: number;
  readonly played: Played;
}

async function watch<Played>(play: () => Promise<Played>): Promise<Watched<Played>> {
  let ticks = 0;
  let gap = 0;
  const start = performance.now();
  let last = start;
  const sinceLast = () => {
    const now = performance.now();
    gap = Math.max(gap, now - last);
    last = now;
  };
  const timer = setInterval(() => {
    ticks++;
    sinceLast();
  }, TICK);
  const played = await play();
  clearInterval(timer);
  sinceLast();
  return { ticks, gap, taken: last - start, played };
}
