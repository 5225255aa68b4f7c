import type { AskResult, PendingAsk } from "../envelopes/ask";
import type { MessageFrame } from "./frames";

/** A message whose sender waits. */
export class Call {
  readonly frame: MessageFrame;
  /** False once its sender has given up. */
  isOpen = true;
  /** Items that the reader has room for. */
  credit = 0;
  /** The number of the next outcome. */
  index = 0;
  /** The ask, where its door is one of ours. */
  ask: PendingAsk | null = null;
  /** The outcome of that ask. */
  result: AskResult | null = null;
  /** Made for what takes a signal: to make one and to listen to it takes longer than a short ask. */
  #controller: AbortController | null = null;
  #wake: (() => void) | null = null;

  constructor(frame: MessageFrame) {
    this.frame = frame;
    this.grant(frame.credit);
  }

  /** Aborts when its sender gives up. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  /** Ignores a count that is none: it comes from outside (P18). */
  grant(count: unknown): void {
    if (typeof count !== "number" || !(count >= 1)) return;
    this.credit = Math.min(this.credit + Math.floor(count), Number.MAX_SAFE_INTEGER);
    this.#wake?.();
  }

  /** Waits until the reader has room, or gives up. */
  async untilRoom(): Promise<void> {
    while (this.credit < 1 && this.isOpen) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  giveUp(cause: unknown): void {
    this.isOpen = false;
    this.ask?.cancel(cause);
    this.#controller?.abort(cause);
    this.#wake?.();
  }
}
