import type { Address } from "../message/address";
import { Timeout } from "../runtime/timer-wheel";
import type { Environment } from "./environment";

/** Stops all actors of an environment, abandons those that do not stop within `timeout` milliseconds, and names these. */
export async function shutDown(
  environment: Environment,
  timeout: number,
  isDraining: boolean,
): Promise<readonly Address[]> {
  const { cells, timers, logger } = environment;
  environment.isClosed = true;
  const roots = [...cells.values()].filter((cell) => cell.parent === null);
  await new Promise<void>((resolve) => {
    let left = roots.length;
    if (left === 0) {
      resolve();
      return;
    }
    const timer = new Timeout(timeout, resolve);
    if (timeout !== Number.POSITIVE_INFINITY) timers.add(timer);
    for (const root of roots) {
      root.stop(isDraining, () => {
        if (--left > 0) return;
        timers.remove(timer);
        resolve();
      });
    }
  });
  const unfinished = [...cells.keys()];
  for (const root of roots) root.abandon();
  if (unfinished.length > 0) {
    const who = unfinished.length === 1 ? "An actor" : `${unfinished.length} actors`;
    const first = unfinished.slice(0, 10).join(", ");
    logger.warn(`${who} did not stop within ${timeout} ms, abandoned: ${first}`, { unfinished });
  }
  return unfinished;
}
