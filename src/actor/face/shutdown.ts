import type { Address } from "../../message/address";
import { inTurns } from "../../runtime/in-turns";
import { Timeout } from "../../runtime/timer-wheel";
import type { ActorEnvironment, Cell } from "../cell/cell";
import { abandon, stop } from "../life/lifecycle";

/**
 * Stops all actors of an environment, phase by phase. Abandons those that have not stopped within `timeout`
 * milliseconds, and returns their addresses. Logs them, too, unless it is quiet.
 */
export async function shutDown(
  environment: ActorEnvironment,
  timeout: number,
  isDraining: boolean,
  isQuiet = false,
): Promise<readonly Address[]> {
  const { directory, timers, logger } = environment;
  environment.isClosed = true;
  environment.resolvers?.close();
  const roots = directory.roots();
  await new Promise<void>((resolve) => {
    const timer = new Timeout(timeout, resolve);
    if (timeout !== Number.POSITIVE_INFINITY && roots.length > 0) timers.add(timer);
    void stopPhases(environment, roots, isDraining).then(() => {
      timers.remove(timer);
      resolve();
    });
  });
  const unfinished = [...directory.all()].map(({ address }) => address);
  for (const root of roots) abandon(root);
  if (unfinished.length > 0 && !isQuiet) {
    const who = unfinished.length === 1 ? "An actor" : `${unfinished.length} actors`;
    const first = unfinished.slice(0, 10).join(", ");
    logger.warn(`${who} did not stop within ${timeout} ms, abandoned: ${first}`, { unfinished });
  }
  return unfinished;
}

/** Waits until promises have settled that do not reject, and at most some milliseconds. */
export async function settledWithin(
  { timers }: ActorEnvironment,
  promises: readonly Promise<void>[],
  timeout: number,
): Promise<void> {
  if (promises.length === 0) return;
  await new Promise<void>((resolve) => {
    const timer = new Timeout(timeout, resolve);
    if (timeout !== Number.POSITIVE_INFINITY) timers.add(timer);
    void Promise.all(promises).then(() => {
      timers.remove(timer);
      resolve();
    });
  });
}

async function stopPhases(
  { dispatcher }: ActorEnvironment,
  roots: readonly Cell[],
  isDraining: boolean,
): Promise<void> {
  const phases = Map.groupBy(roots, ({ extras }) => extras?.phase ?? 0);
  for (const phase of [...phases.keys()].sort((a, b) => a - b)) {
    const group = phases.get(phase) ?? [];
    let left = group.length;
    await new Promise<void>((resolve) => {
      const stopOne = (root: Cell): void => stop(root, isDraining, () => --left === 0 && resolve());
      inTurns(dispatcher, group, stopOne, () => undefined);
    });
  }
}
