import { err, ok, type Result } from "neverthrow";
import { type DeliveryError, deliveryError } from "../../message/delivery-error";
import type { Enter } from "../../runtime/contexts";
import { Timeout } from "../../runtime/timer-wheel";
import type { EndReason, Envelope, Origin, Recipient } from "../contract";
import { onAbort } from "./abort";
import type { OfferOptions } from "./call-options";
import { EnvelopeSource } from "./envelope";
import { deadlineIn, leftUntil } from "./origin";

/** The result of an offer. */
type OfferResult = Result<void, DeliveryError>;

/** The resolve function of the promise that was made last with `captureOffer`. */
export let capturedOffer: (result: OfferResult) => void;

/** The executor of every offer's promise: a closure for each would cost more. */
export const captureOffer = (resolve: (result: OfferResult) => void): void => {
  capturedOffer = resolve;
};

/** A tell whose sender waits until the mailbox has room (P11). From then on it is an ordinary tell. */
export class PendingOffer implements Envelope {
  next: Envelope["next"] = null;
  readonly pattern = "tell";
  readonly canWait = true;
  readonly type: string;
  payload: unknown;
  origin: Origin;
  declare context?: Enter;
  failure: DeliveryError | null = null;
  /** The actor whose mailbox it is for. */
  cell: Recipient;
  /** In milliseconds. */
  readonly delay: number;
  /** Made when it has to wait. */
  #timer: Timeout | null = null;
  #stopListening: (() => void) | null = null;
  #resolve: ((result: OfferResult) => void) | null;

  constructor(
    cell: Recipient,
    type: string,
    payload: unknown,
    origin: Origin,
    { timeout = cell.environment.askTimeout, signal }: OfferOptions,
    resolve: (result: OfferResult) => void,
  ) {
    this.cell = cell;
    this.type = type;
    this.payload = payload;
    this.origin = origin;
    this.#resolve = resolve;
    const deadline = deadlineIn(origin);
    this.delay = deadline === null ? timeout : Math.min(timeout, Math.max(leftUntil(deadline), 1));
    if (signal === undefined) return;
    if (signal.aborted) this.fail(deliveryError("cancelled", this.#source(), signal.reason));
    else this.#stopListening = onAbort(signal, () => this.cancel(signal.reason));
  }

  #source(): EnvelopeSource {
    return new EnvelopeSource(this, this.cell, "offered");
  }

  get isWaiting(): boolean {
    return this.#resolve !== null;
  }
  get isTold(): boolean {
    return this.#resolve !== null || this.failure !== null;
  }

  /** Begins to wait, unless the mailbox took it at once. */
  wait(): void {
    if (this.#resolve === null || this.delay === Number.POSITIVE_INFINITY) return;
    this.#timer = new Timeout(this.delay, () => this.#giveUp(deliveryError("timeout", this.#source(), this.delay)));
    this.cell.environment.timers.add(this.#timer);
  }

  /** The milliseconds that it still waits for room; all of them while its timer is not set. */
  get waitsFor(): number {
    return this.#timer === null ? this.delay : this.cell.environment.timers.left(this.#timer);
  }

  moveTo(cell: Recipient): void {
    this.cell = cell;
  }

  admitted(): void {
    this.#settle(ok(undefined));
  }

  complete(): boolean {
    return true;
  }

  fail(error: DeliveryError): void {
    if (this.#resolve !== null) this.failure = error;
    this.#settle(err(error));
  }

  /** The error with which it ends together with the offer that it is a part of. */
  ended(reason: EndReason): DeliveryError {
    return typeof reason === "symbol" ? deliveryError("cancelled", this.#source(), reason) : reason;
  }

  /** Gives up. Does nothing once it has settled. */
  cancel(reason: unknown): void {
    if (this.#resolve !== null) this.#giveUp(deliveryError("cancelled", this.#source(), reason));
  }

  #giveUp(error: DeliveryError): void {
    if (this.#resolve === null) return;
    this.fail(error);
    this.cell.abandon(this, error);
  }

  #settle(result: OfferResult): void {
    const resolve = this.#resolve;
    if (resolve === null) return;
    this.#resolve = null;
    if (this.#timer !== null) this.cell.environment.timers.remove(this.#timer);
    this.#stopListening?.();
    this.#stopListening = null;
    this.cell.environment.settling.settle(resolve, result);
  }
}
