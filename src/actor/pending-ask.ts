import { err, ok, type Result } from "neverthrow";
import { type AskError, deliveryError } from "../message/delivery-error";
import type { Message } from "../message/message";
import type { WheelTimer } from "../runtime/timer-wheel";
import type { Cell } from "./cell";
import { type Envelope, EnvelopeSource } from "./envelope";

/** What an ask comes back with. */
export type AskResult<Reply = unknown> = Result<Reply, AskError>;

/** How long to wait for a reply. */
export interface AskOptions {
  /** In milliseconds; `Infinity` waits for ever. Default: the system's `askTimeout`, 5,000. */
  readonly timeout?: number;
  /** Gives up when aborted: the ask comes back `cancelled`, and the handler's own signal is aborted. */
  readonly signal?: AbortSignal;
}

/** The delay that options ask for, in milliseconds. */
export function delayOf(options: AskOptions, standard: number): number {
  const { timeout, signal } = options;
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new TypeError(`The signal of an ask is an AbortSignal, such as new AbortController().signal.`);
  }
  if (timeout === undefined) return standard;
  if (typeof timeout !== "number" || !(timeout > 0)) {
    throw new RangeError(
      `The timeout of an ask is a number of milliseconds above 0, or Infinity; got ${String(timeout)}.`,
    );
  }
  return timeout;
}

let captured: (result: AskResult) => void;
// One executor for all asks; a closure for each cost 12 ns more.
const capture = (resolve: (result: AskResult) => void): void => {
  captured = resolve;
};

/** An envelope whose sender waits: it settles once (P6), by a reply, a refusal, its timer or its signal. */
export class PendingAsk implements Envelope, WheelTimer {
  next: Envelope | null = null;
  readonly type: string;
  payload: unknown;
  origin: Message | Cell | null;
  wheelPrevious: WheelTimer | null = null;
  wheelNext: WheelTimer | null = null;
  wheelSlot = -1;
  wheelDue = 0;
  readonly delay: number;
  isWaiting = true;
  /** What it came back with instead of a reply. */
  failure: AskError | null = null;
  /** Whether the handler's result is the reply; else the asker gets `undefined`. */
  readonly hasReply: boolean;
  readonly promise: Promise<AskResult>;
  readonly #resolve: (result: AskResult) => void;
  readonly #cell: Cell;
  #stopListening: (() => void) | null = null;

  constructor(
    cell: Cell,
    type: string,
    payload: unknown,
    origin: Message | Cell | null,
    delay: number,
    hasReply: boolean,
  ) {
    this.type = type;
    this.payload = payload;
    this.origin = origin;
    this.hasReply = hasReply;
    this.promise = new Promise(capture);
    this.#resolve = captured;
    this.#cell = cell;
    this.delay = delay;
  }

  /** Gives up when a signal is aborted. */
  listenTo(signal: AbortSignal): void {
    if (signal.aborted) {
      this.fail(deliveryError("cancelled", this.#source(), signal.reason));
      return;
    }
    const onAbort = (): void => this.#giveUp(deliveryError("cancelled", this.#source(), signal.reason));
    signal.addEventListener("abort", onAbort, { once: true });
    this.#stopListening = () => signal.removeEventListener("abort", onAbort);
  }

  #source(): EnvelopeSource {
    return new EnvelopeSource(this, this.#cell);
  }

  reply(value: unknown): void {
    this.#settle(ok(value));
  }

  fail(error: AskError): void {
    this.failure = error;
    this.#settle(err(error));
  }

  expire(): void {
    this.#giveUp(deliveryError("timeout", this.#source(), this.delay));
  }

  #giveUp(error: AskError): void {
    if (!this.isWaiting) return;
    this.fail(error);
    this.#cell.abandonHandling(this, error);
  }

  #settle(result: AskResult): void {
    if (!this.isWaiting) return;
    this.isWaiting = false;
    if (this.wheelSlot >= 0) this.#cell.environment.timers.remove(this);
    if (this.#stopListening !== null) this.#stopListening();
    this.#resolve(result);
  }
}
