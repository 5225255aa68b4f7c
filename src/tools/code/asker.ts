import type { Context } from "../../index";
import type { Asker } from "./tier";

/** The request that is worked on: it ends when the asker gives up. */
export type Task = Handled | Pick<Context<never>, "signal">;
type Handled = Pick<Context<never>, "signal" | "onAbort">;

/** The asker of the message that is handled. An AbortSignal in its place takes 1.2 µs of a sandboxed run of 46. */
class LightAsker implements Asker {
  aborted = false;
  #listener: (() => void) | null = null;
  readonly #forget: () => void;

  constructor(task: Handled) {
    this.#forget = task.onAbort(() => {
      this.aborted = true;
      this.#listener?.();
    });
  }

  addEventListener(_type: "abort", listener: () => void): void {
    this.#listener = listener;
  }

  removeEventListener(): void {
    this.#listener = null;
    this.#forget();
  }
}

/** Whoever waits for a task. */
export const askerOf = (task: Task): Asker => ("onAbort" in task ? new LightAsker(task) : task.signal);
