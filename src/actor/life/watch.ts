import type { Address } from "../../message/address";
import { withOne, without } from "../../runtime/few";
import { putSignal } from "../cell/admission";
import type { Cell } from "../cell/cell";
import type { Origin } from "../contract";
import { ends } from "../envelopes/ends";
import { originBehind } from "../envelopes/handed-on";
import { Signal } from "../envelopes/signal";

/** The end of an actor that was watched. */
export interface Terminated {
  readonly address: Address;
  /**
   * The error, if a supervisor stopped it or its parent for a failure. Undefined if it was stopped for another reason,
   * or ended before the watch began. For an actor elsewhere, why it is unreachable.
   */
  readonly error: unknown;
  /**
   * Absent for an actor of this system. For one elsewhere (`system.attach`): `stopped`, or `unreachable` where its side is gone, or this side has ended the
   * attachment.
   */
  readonly reason?: "stopped" | "unreachable";
}

/** One actor's watch on another. */
export class Watch {
  readonly #watcher: Cell;
  readonly #watched: Cell;
  readonly #callback: (terminated: Terminated) => unknown;
  /** The metadata that the watching handler hands on. */
  readonly #origin: Origin;
  #signal: Signal | null = null;

  /** @param isPatient true to wait for the next end, where the actor's side is gone for now. */
  constructor(watcher: Cell, watched: Cell, callback: (terminated: Terminated) => unknown, isPatient = false) {
    this.#watcher = watcher;
    this.#watched = watched;
    this.#callback = callback;
    this.#origin = originBehind(watcher.present, watcher);
    const end = ends.get(watched);
    if (watched.isStopped || (end?.isGone && !isPatient)) {
      this.tell(end?.error);
      return;
    }
    const { extra } = watched;
    extra.watchers = withOne(extra.watchers, this);
    watcher.instance.watching.add(this);
  }

  /** Puts `terminated` into the watcher's mailbox, behind all messages that the watched actor sent before (P2). */
  tell(error: unknown): void {
    const { address } = this.#watched;
    this.#watcher.extras?.instance?.watching.delete(this);
    const end = ends.get(this.#watched);
    const terminated: Terminated = end === undefined ? { address, error } : { address, error, reason: end.reason };
    this.#signal = signalTo(this.#watcher, "terminated", () => this.#callback(terminated), this.#origin);
  }

  /** Ends the watch: the callback no longer runs, even if its signal waits in the mailbox. */
  end(): void {
    const { extras } = this.#watched;
    if (extras !== null) extras.watchers = without(extras.watchers, this);
    this.#watcher.extras?.instance?.watching.delete(this);
    this.#signal?.cancel();
  }
}

/** Puts a signal of the present instance at the end of a mailbox. */
export function signalTo(cell: Cell, type: string, callback: () => unknown, origin: Origin = null): Signal {
  const signal = new Signal(type, cell.generation, callback);
  signal.origin = origin;
  const bound = cell.extras?.bound ?? null;
  if (bound === null) cell.enqueue(signal);
  else putSignal(cell, bound, signal);
  return signal;
}
