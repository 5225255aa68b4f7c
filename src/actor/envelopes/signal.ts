import type { Hook } from "../../protocol/protocol";
import { Timeout } from "../../runtime/timer-wheel";
import type { Envelope, Environment, Origin } from "../contract";

/** The type of the signal that stands for an instance while it handles nothing, as in its factory. It is never handled. */
export const BACKGROUND = "background";

/**
 * A hook, a tick of a timer, or the end of a watched actor: work in an actor's turn that is no message. It waits among
 * the messages, in order. It does not count as a message, nor against the mailbox's bound.
 */
export class Signal implements Envelope {
  next: Envelope["next"] = null;
  readonly pattern = "tell";
  readonly payload = undefined;
  /** Has the metadata that it hands on: those of the handler that set it, or of its observer. Null for most. */
  origin: Origin = null;
  declare readonly context?: never;
  readonly failure = null;
  readonly isTold = false; // Nobody but the log learns that a hook or a timer failed.
  readonly canWait = true;
  /** Its name in the log. */
  readonly type: string;
  /** The hook that it calls; undefined for a timer or a watch. */
  readonly hook: Hook | undefined;
  /** The instance it belongs to. It is skipped once that instance has been replaced. */
  readonly generation: number;
  readonly #onDone: (() => void) | undefined;
  readonly #callback: () => unknown;
  #isCancelled = false;
  #endLimit: (() => void) | null = null;

  constructor(type: string, generation: number, callback: () => unknown, hook?: Hook, onDone?: () => void) {
    this.type = type;
    this.generation = generation;
    this.#callback = callback;
    this.hook = hook;
    this.#onDone = onDone;
  }

  cancel(): void {
    this.#isCancelled = true;
  }

  /** False once it was cancelled: it does nothing then. */
  get isDue(): boolean {
    return !this.#isCancelled;
  }

  run(): unknown {
    return this.#isCancelled ? undefined : this.#callback();
  }

  /** Gives a waiting hook `hookTimeout` milliseconds to end. */
  limit({ timers, hookTimeout }: Environment, onTimeout: (thrown: Error) => void): void {
    if (this.hook === undefined || hookTimeout === Number.POSITIVE_INFINITY) return;
    const timeout = new Timeout(hookTimeout, () =>
      onTimeout(new Error(`${this.type} did not end within ${hookTimeout} ms`)),
    );
    this.#endLimit = () => timers.remove(timeout);
    timers.add(timeout);
  }

  admitted(): void {}
  moveTo(): void {}
  complete(): boolean {
    this.#endLimit?.();
    this.#onDone?.();
    return true;
  }
  fail(): void {
    this.#endLimit?.();
  }
}
