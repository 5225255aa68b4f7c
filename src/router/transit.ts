import { err, type Result } from "neverthrow";
import type { ActorEnvironment } from "../actor/cell/cell";
import { onAbort } from "../actor/envelopes/abort";
import { deadLetterOf, lateReplyLetter } from "../actor/envelopes/envelope";
import { quote } from "../message/address";
import { type DeliveryError, deliveryError, isDeliveryError, type MessageSource } from "../message/delivery-error";
import { inPattern, isReceived, type Message, markReceived } from "../message/message";
import { captureContext } from "../runtime/contexts";
import type { Mail } from "../runtime/mailbox";
import { isThenable } from "../runtime/thenable";
import { type Staged, Timeout } from "../runtime/timer-wheel";
import { deadLetterOfNobody } from "./dead-letters";
import { Dropped, type Interceptor, type Next, type Passage } from "./interceptor";

export type Outcome = Result<unknown, DeliveryError>;

/** Sends a message to its mailbox, with a timeout in milliseconds, and resolves to the outcome. */
export type Delivery = (message: Message, timeout: number) => Promise<Outcome>;

/**
 * One message on its way through the interceptors, from its sender to the mailbox and back. It is counted as accepted
 * when it enters. It leaves with its outcome, or is handed to a mailbox, which counts it anew.
 */
export class Transit implements Mail, Staged {
  next: Mail | null = null;
  readonly message: Message;
  /** True once a mailbox has the message, or its outcome is known. */
  hasLeft = false;
  /** Called when the message leaves, unless it left at once. */
  whenLeft: (() => void) | null = null;
  /** Set when the sender gave up: the reason. */
  failure: DeliveryError | null = null;
  readonly #environment: ActorEnvironment;
  /**
   * Calls in the sender's context: interceptors, and the mailbox behind them, see that context even if the message waited for
   * its turn (P16).
   */
  readonly inContext = captureContext();
  readonly #delay: number;
  readonly #deliver: Delivery;
  /** Null once nobody waits for the outcome. Always null for a tell. */
  #resolve: ((outcome: Outcome) => void) | null;
  readonly #isTold: boolean;
  #isEntered = false;
  #startedAt = -1;
  #timer: Timeout | null = null;
  #stopListening: (() => void) | null = null;

  constructor(
    environment: ActorEnvironment,
    message: Message,
    delay: number,
    deliver: Delivery,
    resolve: ((outcome: Outcome) => void) | null,
  ) {
    this.#environment = environment;
    this.message = message;
    this.#delay = delay;
    this.#deliver = deliver;
    this.#resolve = resolve;
    this.#isTold = resolve !== null;
  }

  get isWaiting(): boolean {
    return !this.hasLeft || this.#resolve !== null;
  }

  get timer(): Timeout {
    this.#timer ??= new Timeout(this.#delay, () =>
      this.giveUp(deliveryError("timeout", sourceOf(this.message, !this.hasLeft), this.#delay)),
    );
    return this.#timer;
  }

  /** Starts the timeout, unless the message is over already. */
  startTimer(): void {
    if (!this.isWaiting || this.#delay === Number.POSITIVE_INFINITY) return;
    const { clock, dispatcher, timers } = this.#environment;
    if (this.hasLeft && dispatcher.isAwake) {
      timers.stage(this);
      return;
    }
    this.#startedAt = clock.monotonicTime();
    timers.add(this.timer);
  }

  /** Gives up when the signal is aborted. */
  listenTo(signal: AbortSignal): void {
    const cancel = (): void => this.giveUp(deliveryError("cancelled", sourceOf(this.message, false), signal.reason));
    if (signal.aborted) cancel();
    else this.#stopListening = onAbort(signal, cancel);
  }

  giveUp(error: DeliveryError): void {
    if (!this.isWaiting || this.failure !== null) return;
    this.failure = error;
    this.#settle(err(error));
    if (this.#isEntered) this.#die(error);
  }

  /** Ends with `stopped` at the shutdown, and tells the sender. */
  stop(): void {
    this.giveUp(deliveryError("stopped", sourceOf(this.message, true)));
    this.#die(this.failure);
  }

  // ——— Through the interceptors

  /** Entered on its sender's stack, too: an interceptor may change the context by `enterWith` (P16). */
  enter(chain: readonly Interceptor[]): void {
    this.#isEntered = true;
    if (this.failure !== null) {
      this.#die(this.failure); // The sender gave up while the message was queued.
      return;
    }
    const passed = this.inContext(stepOf, this, chain, 0, this.message);
    if (this.#isTold) void passed.then((outcome) => this.#answer(outcome));
  }

  /** Calls an interceptor, or hands over to the mailbox; in the sender's context, also for the `then` of a thenable. */
  step(chain: readonly Interceptor[], index: number, message: Message): Promise<Outcome> {
    const interceptor = chain[index];
    if (interceptor === undefined) return this.#handOver(message);
    let given: Promise<Outcome> | null = null;
    let hasEnded = false;
    const next: Next = (changed = message) => {
      if (given !== null) throw new TypeError("next() was called twice: a message is handed on once.");
      if (typeof changed !== "object" || changed === null) {
        throw new TypeError(`next() takes a message, such as { ...message, payload }; got ${quote(changed)}.`);
      }
      if (this.failure !== null) given = Promise.resolve(err(this.failure));
      else if (hasEnded) throw new TypeError("next() came after its interceptor had returned: return what it gives.");
      else given = this.inContext(stepOf, this, chain, index + 1, this.#asSent(changed)); // It may be called in any context.
      return given;
    };
    const fail = (thrown: unknown): Outcome => {
      hasEnded = true;
      return this.#fail(thrown, message, given !== null);
    };
    const conclude = (passage: unknown): Outcome => {
      hasEnded = true;
      try {
        return this.#conclude(passage, message, given !== null);
      } catch (thrown) {
        return fail(thrown);
      }
    };
    try {
      const passage: unknown = interceptor(message, next);
      if (passage === given && given !== null) return given;
      if (!isThenable(passage)) return Promise.resolve(conclude(passage));
      return Promise.resolve(passage).then(conclude, fail);
    } catch (thrown) {
      return Promise.resolve(fail(thrown));
    }
  }

  /** A message as the next interceptor sees it: in the pattern of this one, and marked if this one came from outside. */
  #asSent(message: Message): Message {
    const sent = inPattern(message, this.message.pattern);
    return isReceived(this.message) && !isReceived(sent) ? markReceived(sent) : sent;
  }

  #handOver(message: Message): Promise<Outcome> {
    const { clock, counts } = this.#environment;
    const spent = this.#startedAt < 0 ? 0 : clock.monotonicTime() - this.#startedAt;
    if (spent >= this.#delay) this.timer.expire(); // The timer is due, but has not fired yet.
    if (this.failure !== null) return Promise.resolve(err(this.failure));
    counts.accepted--; // The mailbox counts it anew.
    this.#leave();
    return this.#deliver(message, this.#delay - spent);
  }

  /** The outcome that an interceptor returned. Throws when the returned value is none. */
  #conclude(passage: unknown, message: Message, isHandedOn: boolean): Outcome {
    if (passage instanceof Dropped) {
      if (isHandedOn)
        throw new TypeError("drop() came after next(): the message has been sent; return ok() or an Err.");
      const error = deliveryError("cancelled", sourceOf(message, true), passage.why);
      if (this.#end("dead"))
        this.#environment.deadLetter({ ...deadLetterOf(error, this.#isTold), reason: "dropped" }, false);
      return err(error);
    }
    if (!isOutcome(passage)) {
      const what = passage === undefined ? "undefined (a return is missing)" : quote(passage);
      throw new TypeError(`An interceptor returns what next() gave, ok(answer) or drop("why"); this one: ${what}.`);
    }
    if (isHandedOn) return passage;
    if (passage.isOk()) this.#end("handled");
    else this.#fail(passage.error, message, false);
    return passage;
  }

  #fail(thrown: unknown, message: Message, isHandedOn: boolean): Outcome {
    const error = deliveryError("handler-failed", sourceOf(message, true), thrown);
    if (!isHandedOn) this.#end("failed");
    if (!this.#isTold) this.#environment.logger.error(error.message, { address: error.address, cause: thrown });
    return err(error);
  }

  // ——— Its outcome

  #end(outcome: "handled" | "failed" | "dead"): boolean {
    if (this.hasLeft) return false;
    const { counts, meters } = this.#environment;
    counts[outcome]++;
    if (meters !== null) meters.nobody[outcome]++;
    this.#leave();
    return true;
  }

  #die(error: DeliveryError | null): void {
    if (error !== null && this.#end("dead")) this.#environment.deadLetter(deadLetterOf(error, this.#isTold), false);
  }

  #leave(): void {
    this.hasLeft = true;
    if (this.#resolve === null) this.#release();
    this.whenLeft?.();
  }

  #answer(outcome: Outcome): void {
    if (this.#settle(outcome) || this.message.pattern !== "ask" || outcome.isErr() || outcome.value === undefined)
      return;
    const late = "left the interceptors after its asker gave up; ask with a longer timeout.";
    deadLetterOfNobody(this.#environment, lateReplyLetter(sourceOf(this.message, false), outcome.value, late));
  }

  #settle(outcome: Outcome): boolean {
    const resolve = this.#resolve;
    if (resolve === null) return false;
    this.#resolve = null;
    if (this.hasLeft) this.#release();
    this.#environment.settling.settle(resolve, outcome);
    return true;
  }

  #release(): void {
    if (this.#timer !== null) this.#environment.timers.remove(this.#timer);
    this.#stopListening?.();
  }
}

/** A function with arguments: a closure for each step would cost more. */
const stepOf = (transit: Transit, chain: readonly Interceptor[], index: number, message: Message): Promise<Outcome> =>
  transit.step(chain, index, message);

export const sourceOf = (message: Message, isIntercepted: boolean): MessageSource => ({
  to: message.to,
  type: message.type,
  ...(isIntercepted && { stage: "intercepted" as const }),
  toMessage: () => message,
});

/** Looks at the methods and not at the class: a program may have its own copy of neverthrow. */
function isOutcome(value: unknown): value is Outcome & Passage {
  if (typeof value !== "object" || value === null || !("isOk" in value) || typeof value.isOk !== "function")
    return false;
  const result = value as Outcome; // A value with isOk() is a Result.
  return result.isOk() || isDeliveryError(result.error);
}
