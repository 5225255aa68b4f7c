import type { Readings } from "./suite";

/** How often the timer is to fire, in milliseconds. */
const TICK = 5;

/**
 * Counts the ticks that a 5 ms timer gets while two actors volley, and the longest gap between two of them; then the ticks it gets
 * for as long while the process idles, which is all that can be had. `volley` plays until `isOver()` and resolves with the number
 * of hops; nothing else stops it, since a mailbox that starves timers starves a stop.
 */
export async function watchTimer(
  milliseconds: number,
  volley: (isOver: () => boolean) => Promise<number>,
): Promise<Readings> {
  const deadline = performance.now() + milliseconds;
  const { ticks, gap, played: hops } = await watch(() => volley(() => performance.now() >= deadline));
  if (hops < 2) throw new Error(`the actors played ${hops} hops; no volley, nothing to be fair to`);
  const idle = await watch(() => Bun.sleep(milliseconds));
  return { ticks, gap, hops, "ticks when idle": idle.ticks };
}

async function watch<Played>(play: () => Promise<Played>): Promise<{ ticks: number; gap: number; played: Played }> {
  let ticks = 0;
  let gap = 0;
  let last = performance.now();
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
  return { ticks, gap, played };
}
