import type { Cell } from "../cell/cell";
import { Instance } from "../cell/state";
import { lookForCircle, waitEnds } from "../envelopes/deadlock";
import type { Handling } from "../envelopes/handling";
import { StopWait } from "../envelopes/wait-graph";
import { stop } from "../life/lifecycle";

// The waits of an actor's code: the handling that they belong to, and the wait for a child's stop.

/** True when a restart has replaced the instance of that generation. A stopped cell has no generation. */
export const isReplaced = (cell: Cell, generation: number): boolean =>
  cell.generation !== generation && !cell.isStopped;

/**
 * The handling that a new wait belongs to: the present one, or else the instance's. For a replaced instance, one that
 * is over.
 */
export function waiterOf(cell: Cell, generation: number): Handling {
  if (isReplaced(cell, generation)) return Instance.ended().backgroundOf(cell, cell.generation);
  return cell.handling ?? cell.instance.backgroundOf(cell, cell.generation);
}

/**
 * The stop of a child. It becomes a wait of the handler that awaits it: a stop that nobody awaits costs no promise.
 *
 * @param generation that of the parent's instance.
 */
export function stopping(child: Cell, parent: Cell, generation: number): PromiseLike<undefined> {
  const { settling } = child.environment;
  const wait = (): Promise<undefined> => {
    if (child.isStopped) return settling.resolved(undefined);
    const stopWait = new StopWait(child);
    const waiter = waiterOf(parent, generation);
    if (!waiter.isOver) waiter.add(stopWait);
    const stopped = new Promise<undefined>((resolve) => {
      stop(child, false, () => {
        stopWait.isOpen = false;
        waitEnds(stopWait);
        settling.settle(resolve, undefined);
      });
    });
    lookForCircle(waiter);
    return stopped;
  };
  let stopped: Promise<undefined> | null = null;
  return {
    // biome-ignore lint/suspicious/noThenProperty: `await` calls it, and a promise is made only then.
    then(onFulfilled, onRejected) {
      stopped ??= wait();
      return stopped.then(onFulfilled, onRejected);
    },
  };
}
