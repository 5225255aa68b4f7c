import { err, ok, type Result } from "neverthrow";
import type { Address } from "../../message/address";
import { type AskError, deliveryError } from "../../message/delivery-error";
import type { Enter } from "../../runtime/contexts";
import type { Staged, TimerWheel, WheelTimer } from "../../runtime/timer-wheel";
import type { EndReason, Envelope, Origin, Recipient, Wait, Waiter } from "../contract";
import { onAbort } from "./abort";
import { lookForCircle } from "./deadlock";
import { EnvelopeSource } from "./envelope";
import { deadlineOf } from "./origin";

/** The result of an ask. */
export type AskResult<Reply = unknown> = Result<Reply, AskError>;

/** The resolve function of the promise that was made last with `capture`. */
export let captured: (result: AskResult) => void;

/** The executor of every ask's promise: a closure for each cost 12 ns more. */
export const capture = (resolve: (result: AskResult) => void): void => {
  captured = resolve;
};

/** State of an ask that waits beyond its turn, listens to a signal, is asked by a handler, or fails. */
class Guard implements WheelTimer {
  wheelPrevious: WheelTimer | null = null;
  wheelNext: WheelTimer | null = null;
  wheelSlot = -1;
  wheelDue = 0;
  stopListening: (() => void) | null = null;
  failure: AskError | null = null;
  nextWait: Wait | null = null;
  waiter: Waiter | null = null;
  servesOutside = false;
  /** The timers of the system that was asked first, which keeps the timer. */
  readonly timers: TimerWheel;
  readonly #ask: PendingAsk;

  constructor(ask: PendingAsk) {
    this.#ask = ask;
    this.timers = ask.cell.environment.timers;
  }
  get delay(): number {
    return this.#ask.delay;
  }
  get isWaiting(): boolean {
    return this.#ask.isWaiting;
  }
  expire(): void {
    this.#ask.expire();
  }
}

/**
 * An envelope whose sender waits. It settles once (P6): by a result, a refusal, its timer or its signal. State that few
 * asks need is in its guard: with 16 fields it took 45 ns to make, with these eight 13.
 */
export class PendingAsk implements Envelope, Staged, Wait {
  next: Envelope["next"] = null;
  readonly type: string;
  payload: unknown;
  origin: Origin;
  declare context?: Enter;
  /** In milliseconds. */
  readonly delay: number;
  /** The actor that has it; changes when it is forwarded. */
  cell: Recipient;
  #resolve: ((result: AskResult) => void) | null;
  #guard: Guard | null = null;

  constructor(
    cell: Recipient,
    type: string,
    payload: unknown,
    origin: Origin,
    delay: number,
    resolve: (result: AskResult) => void,
  ) {
    this.type = type;
    this.payload = payload;
    this.origin = origin;
    this.delay = delay;
    this.cell = cell;
    this.#resolve = resolve;
  }

  get pattern(): "ask" {
    return "ask";
  }

  get isWaiting(): boolean {
    return this.#resolve !== null;
  }
  get isOpen(): boolean {
    return this.#resolve !== null;
  }
  get isTold(): true {
    return true;
  }
  get canWait(): true {
    return true;
  }
  admitted(): void {}
  moveTo(cell: Recipient): void {
    if (cell.environment !== this.cell.environment) this.#guarded();
    this.cell = cell;
  }

  get nextWait(): Wait | null {
    return this.#guarded().nextWait;
  }
  set nextWait(wait: Wait | null) {
    this.#guarded().nextWait = wait;
  }

  get waiter(): Waiter | null {
    return this.#guard === null ? null : this.#guard.waiter;
  }
  set waiter(waiter: Waiter | null) {
    this.#guarded().waiter = waiter;
  }

  get servesOutside(): boolean {
    return this.#guard?.servesOutside === true;
  }
  set servesOutside(serves: boolean) {
    this.#guarded().servesOutside = serves;
  }

  /** The milliseconds that are left to it; all of them while its timer is not set. */
  get left(): number {
    return this.#guard === null || this.#guard.wheelSlot < 0 ? this.delay : this.#guard.timers.left(this.#guard);
  }

  /** The error it came back with. */
  get failure(): AskError | null {
    return this.#guard === null ? null : this.#guard.failure;
  }

  /** The timer that ends it, made when it is set. */
  get timer(): WheelTimer {
    return this.#guarded();
  }

  #guarded(): Guard {
    this.#guard ??= new Guard(this);
    return this.#guard;
  }

  /** Gives up when a signal is aborted. */
  listenTo(signal: AbortSignal): void {
    if (signal.aborted) {
      this.fail(deliveryError("cancelled", this.#source(), signal.reason));
      return;
    }
    this.#guarded().stopListening = onAbort(signal, () =>
      this.#giveUp(deliveryError("cancelled", this.#source(), signal.reason), false),
    );
  }

  /** Gives up, for a reason. */
  cancel(reason: unknown): void {
    if (this.#resolve !== null) this.#giveUp(deliveryError("cancelled", this.#source(), reason), false);
  }

  #source(): EnvelopeSource {
    return new EnvelopeSource(this, this.cell);
  }

  complete(result: unknown): boolean {
    if (this.#resolve === null) return result === undefined; // An empty reply is not late.
    const resolve = this.#resolve;
    this.#resolve = null;
    if (this.#guard !== null) this.#release(this.#guard);
    resolve(ok(result));
    return true;
  }

  fail(error: AskError): void {
    this.#fail(error, error.kind === "handler-failed"); // The handler's turn has counted that.
  }

  #fail(error: AskError, isCounted: boolean): void {
    const resolve = this.#resolve;
    if (resolve === null) return;
    this.#resolve = null;
    const guard = this.#guarded();
    guard.failure = error;
    this.#release(guard);
    if (isCounted) resolve(err(error));
    else this.cell.environment.settling.settle(resolve, err(error));
  }

  expire(): void {
    this.#giveUp(this.#timedOut(), true); // The event loop has just had its turn.
  }

  /** Names the cause that kept its actor from handling it: a stream, a hold or a restart. */
  #timedOut(): AskError {
    const { cell } = this;
    const isWaiting = cell.present !== this && cell.handlingOf(this) === null;
    const stream = isWaiting && cell.isFull ? cell.stream : undefined;
    // While a handler of the last instance still runs, that handler is the cause.
    const isPaused = isWaiting && cell.pause !== undefined && cell.envelopes().length === 0;
    const pause = isPaused ? cell.pause : undefined;
    return deliveryError("timeout", new EnvelopeSource(this, cell, undefined, stream, pause), this.delay);
  }

  endWith(reason: EndReason): void {
    this.#giveUp(this.ended(reason), true); // At most once for each wait: later asks are refused.
  }

  closeCircle(path: readonly Address[]): void {
    this.#giveUp(deliveryError("ask-cycle", this.#source(), path), true); // The search has its own turn.
  }

  /** The error with which it ends together with its handler, or with the ask that it is a part of. */
  ended(reason: EndReason): AskError {
    return typeof reason !== "symbol" && reason.kind === "timeout"
      ? this.#timedOut()
      : deliveryError("cancelled", this.#source(), reason);
  }

  #giveUp(error: AskError, isCounted: boolean): void {
    if (this.#resolve === null) return;
    this.#fail(error, isCounted);
    this.cell.abandon(this, error);
  }

  #release(guard: Guard): void {
    guard.timers.remove(guard);
    guard.stopListening?.();
    guard.stopListening = null;
    const { waiter } = guard;
    guard.waiter = null; // As waitEnds() does, which would cost two more calls each.
    if (waiter?.isSeveral === true) lookForCircle(waiter);
  }
}

/** The part of one actor in an ask that goes to several. It has no timer, and the time that is left to the whole. */
export class PartialAsk extends PendingAsk {
  readonly #whole: Envelope;

  constructor(cell: Recipient, whole: Envelope, resolve: (result: AskResult) => void) {
    super(cell, whole.type, whole.payload, whole.origin, Number.POSITIVE_INFINITY, resolve);
    this.#whole = whole;
    if (whole.servesOutside === true) this.servesOutside = true;
  }

  override get left(): number {
    return deadlineOf(this.#whole);
  }
}
