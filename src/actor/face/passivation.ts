import type { AnyRef } from "../../message/address";
import type { ClockTimer } from "../../runtime/clock";
import type { Runnable } from "../../runtime/dispatcher";
import type { ActorEnvironment, Cell } from "../cell/cell";
import { IDLE } from "../cell/transitions";
import { stop } from "../life/lifecycle";

/**
 * The number of messages that an actor has handled, or failed to. With children, also who they are and what each has handled:
 * the sum of all stays the same when one of them stops while others work.
 */
type Handled = number | readonly (AnyRef | number)[];

/** The actor was busy, or nobody has looked at it before. */
const UNKNOWN = -1;

/**
 * Stops the actors of a resolver that have been idle for a while. It looks at each every `idle` milliseconds: one that is
 * not busy, and has handled nothing since the last look, is stopped. A message costs nothing. The clock's timer keeps no
 * process alive, and the actors are looked at by turns (P5).
 */
export class Passivation implements Runnable {
  nextReady: Runnable | null = null;
  readonly #environment: ActorEnvironment;
  /** In milliseconds. */
  readonly #idle: number;
  /** The actors, each with what it had handled at the last look. */
  readonly #actors = new Map<Cell, Handled>();
  #timer: ClockTimer | null = null;
  /** Those that are left of the present look. */
  #left: Iterator<[Cell, Handled]> | null = null;
  #hasEnded = false;

  constructor(environment: ActorEnvironment, idle: number) {
    this.#environment = environment;
    this.#idle = idle;
  }

  /** Looks after an actor from now on. */
  add(cell: Cell): void {
    if (this.#hasEnded) return;
    this.#actors.set(cell, UNKNOWN);
    if (this.#timer === null && this.#left === null) this.#wait();
  }

  /** Leaves the actors alone from now on. */
  end(): void {
    this.#hasEnded = true;
    this.#actors.clear();
    this.#timer?.cancel();
    this.#timer = null;
  }

  #wait(): void {
    this.#timer = this.#environment.clock.setTimer(() => {
      this.#timer = null;
      this.#left = this.#actors.entries();
      this.#environment.dispatcher.schedule(this);
    }, this.#idle);
    this.#timer.unref();
  }

  run(limit: number): number {
    for (let count = 0; count < limit; count++) {
      const next = this.#left?.next();
      if (next === undefined || next.done === true) {
        this.#left = null;
        if (this.#actors.size > 0) this.#wait();
        return count;
      }
      this.#look(...next.value);
    }
    this.#environment.dispatcher.schedule(this);
    return limit;
  }

  #look(cell: Cell, before: Handled): void {
    if (cell.isEnding) {
      this.#actors.delete(cell);
      return;
    }
    const handled = isBusy(cell) ? UNKNOWN : handledBy(cell);
    this.#actors.set(cell, handled);
    if (handled === UNKNOWN || !isSame(handled, before)) return;
    this.#actors.delete(cell);
    stop(cell, true);
  }
}

/** True while an actor, or one of its children, handles a message, has one that waits, begins, or begins anew. */
function isBusy({ activity, queue, extras }: Cell): boolean {
  if (activity !== IDLE || queue?.isEmpty === false) return true;
  if (extras === null) return false;
  const { bound, concurrency, instance, children } = extras;
  if ((bound?.waiting.size ?? 0) > 0 || (concurrency?.running.size ?? 0) > 0) return true;
  if ((instance?.stash.length ?? 0) > 0 || instance?.background?.isWaiting === true) return true;
  return children?.all().some(isBusy) ?? false;
}

function handledBy(cell: Cell): Handled {
  const children = cell.extras?.children?.all() ?? [];
  if (children.length === 0) return countOf(cell);
  const all: (AnyRef | number)[] = [countOf(cell)];
  for (const child of children) addHandled(child, all);
  return all;
}

/** Adds an actor below the one that is looked at, and those below it. */
function addHandled(cell: Cell, all: (AnyRef | number)[]): void {
  all.push(cell.ref, countOf(cell));
  for (const child of cell.extras?.children?.all() ?? []) addHandled(child, all);
}

const countOf = ({ queue, extras }: Cell): number => (queue?.handled ?? 0) + (extras?.failed ?? 0);

function isSame(handled: Handled, before: Handled): boolean {
  if (typeof handled === "number" || typeof before === "number") return handled === before;
  return handled.length === before.length && handled.every((each, index) => each === before[index]);
}
