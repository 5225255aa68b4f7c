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

/** The stop of a child. It becomes a wait of the handler that awaits it: a stop that nobody awaits costs no promise. */
export class Stopping implements PromiseLike<void> {
  readonly #child: Cell;
  readonly #parent: Cell;
  readonly #generation: number;
  #stopped: Promise<undefined> | null = null;

  /** @param generation that of the parent's instance. */
  constructor(child: Cell, parent: Cell, generation: number) {
    this.#child = child;
    this.#parent = parent;
    this.#generation = generation;
  }

  // biome-ignore lint/suspicious/noThenProperty: it is awaited as a promise is
  then<Value = void, Other = never>(
    onFulfilled?: ((value: undefined) => Value | PromiseLike<Value>) | null,
    onRejected?: ((reason: unknown) => Other | PromiseLike<Other>) | null,
  ): Promise<Value | Other> {
    this.#stopped ??= this.#wait();
    return this.#stopped.then(onFulfilled, onRejected);
  }

  #wait(): Promise<undefined> {
    const child = this.#child;
    const { settling } = child.environment;
    if (child.isStopped) return settling.resolved(undefined);
    const wait = new StopWait(child);
    const waiter = waiterOf(this.#parent, this.#generation);
    if (!waiter.isOver) waiter.add(wait);
    const stopped = new Promise<undefined>((resolve) => {
      stop(child, false, () => {
        wait.isOpen = false;
        waitEnds(wait);
        settling.settle(resolve, undefined);
      });
    });
    lookForCircle(waiter);
    return stopped;
  }
}
