import { Timeout } from "../../runtime/timer-wheel";
import type { Envelope, Environment } from "../contract";

/** Which hook a signal calls; `undefined` for what is no hook. */
export type Hook = "onStart" | "onRestart" | "onStop";

/** The type of the signal that stands for an instance while it handles nothing, as in its factory. It is never handled. */
export const BACKGROUND = "background";

/**
 * What an actor does in its turn besides its messages: a hook, a tick of a timer, the end of an actor that it watches.
 * It waits among the messages, in order, and is neither counted as one nor held to the mailbox's bound.
 */
export class Signal implements Envelope {
  next: Envelope | null = null;
  readonly pattern = "tell";
  readonly payload = undefined;
  readonly origin = null;
  declare readonly context?: never;
  readonly failure = null;
  readonly isTold = false; // Nobody but the log learns that a hook or a timer failed.
  readonly canWait = true;
  /** What it is, for who reads the log. */
  readonly type: string;
  readonly hook: Hook | undefined;
  /** Of which instance of its actor it is: one of an instance that was replaced is passed over. */
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

  run(): unknown {
    return this.#isCancelled ? undefined : this.#callback();
  }

  /** Gives a hook that waits `hookTimeout` milliseconds to come to its end. */
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
