import type { Address } from "../message/address";
import { type DeliveryError, deliveryError } from "../message/delivery-error";
import type { Message } from "../message/message";
import type { Operation } from "../protocol/protocol";
import type { Runnable } from "../runtime/dispatcher";
import { Mailbox } from "../runtime/mailbox";
import { checkedReply, checkPayload } from "./checking";
import { type Envelope, EnvelopeSource, lateLetter, letterOf, messageIn, Tell } from "./envelope";
import type { Environment } from "./environment";
import { Extras, stopReason } from "./extras";
import { PendingAsk } from "./pending-ask";
import type { ActorRef } from "./ref";
import { PendingStream } from "./stream";

export type Operations = Readonly<Record<string, Operation>>;

/** What an actor does: a handler for each operation, or one for every message (an actor of a router). */
export type Behaviour = HandlerTable | ((message: Message) => unknown);
export type HandlerTable = Record<string, (payload: unknown) => unknown>;

// What an actor is doing, and how far its life has got: numbers, because they are looked at several times a message.
const STARTING = 0;
const IDLE = 1;
const READY = 2;
const HANDLING = 3;
const AWAITING = 4;

const ALIVE = 0;
const STOPPING = 1;
const STOPPED = 2;

/**
 * One actor: its mailbox, its behaviour and what it is doing. It handles one message at a time (P3), counts the
 * outcome of each message once (P1), and is handed its turns by the dispatcher.
 */
export class Cell implements Runnable {
  nextReady: Runnable | null = null;
  readonly environment: Environment;
  readonly address: Address;
  readonly parent: Cell | null;
  /** What it can be asked for; null for an actor of a router, which takes every message. */
  readonly operations: Operations | null;
  /** The reference to it. */
  ref: ActorRef | null = null;
  /** The message that is being handled. */
  current: Envelope | null = null;
  readonly #mailbox = new Mailbox<Envelope>();
  #behaviour: Behaviour | null = null;
  #activity = STARTING;
  #life = ALIVE;
  #extras: Extras | null = null;

  constructor(environment: Environment, address: Address, parent: Cell | null, operations: Operations | null) {
    this.environment = environment;
    this.address = address;
    this.parent = parent;
    this.operations = operations;
    if (parent !== null) {
      parent.#extra.children ??= new Set();
      parent.#extra.children.add(this);
    }
    environment.cells.set(address, this);
  }

  get #extra(): Extras {
    this.#extras ??= new Extras();
    return this.#extras;
  }

  get isAlive(): boolean {
    return this.#life === ALIVE;
  }
  get isStopped(): boolean {
    return this.#life === STOPPED;
  }
  get queued(): number {
    return this.#mailbox.size;
  }

  /** Begins to handle messages; those that came while it was made have waited. */
  start(behaviour: Behaviour): void {
    this.#behaviour = behaviour;
    this.#goOn();
  }

  // ——— Sending to it

  /** The operation of a name; undefined where there is none, null where any name will do. */
  operation(type: string): Operation | null | undefined {
    return this.operations === null ? null : this.operations[type];
  }

  /**
   * Puts an envelope into the mailbox, or refuses it and says why.
   *
   * @param isTold whether the sender learns of a refusal, so that nothing needs to be logged.
   */
  accept(envelope: Envelope, operation: Operation | null | undefined, isTold: boolean): DeliveryError | null {
    const { environment } = this;
    environment.counts.accepted++;
    // Short, so that it is compiled into its callers: what is rare is looked at behind one test.
    if (
      this.#life !== ALIVE ||
      operation === undefined ||
      operation === null ||
      operation.isStream ||
      environment.validatesAlways ||
      envelope.origin !== null
    ) {
      const error = this.#objection(envelope, operation);
      if (error !== null) return this.#refuse(envelope, error, isTold);
    }
    this.#mailbox.put(envelope);
    if (this.#activity === IDLE) {
      this.#activity = READY;
      environment.dispatcher.schedule(this);
    }
    return null;
  }

  /** Why a message is not to be handled; null when it is. */
  #objection(envelope: Envelope, operation: Operation | null | undefined): DeliveryError | null {
    if (this.#life !== ALIVE) return this.#error("stopped", envelope);
    if (operation === null) return null;
    if (operation === undefined || operation.isStream !== envelope instanceof PendingStream) {
      return this.#error("unknown-operation", envelope);
    }
    return checkPayload(envelope, operation, this);
  }

  #error(kind: "stopped" | "unknown-operation", envelope: Envelope): DeliveryError {
    return deliveryError(kind, new EnvelopeSource(envelope, this));
  }

  #refuse(envelope: Envelope, error: DeliveryError, isTold: boolean): DeliveryError {
    this.environment.counts.dead++;
    envelope.fail(error);
    this.environment.bury(letterOf(error, isTold));
    return error;
  }

  // ——— Handling

  run(limit: number): number {
    if (this.#activity !== READY) return 0; // It was stopped since it was scheduled.
    this.#activity = HANDLING;
    const count =
      this.operations === null || this.environment.validatesAlways
        ? this.#runEach(limit)
        : this.#runHandlers(limit, this.#behaviour as HandlerTable); // An actor with operations has a table of handlers.
    if (this.#activity !== AWAITING) this.#goOn();
    return count;
  }

  #runEach(limit: number): number {
    let count = 0;
    for (let envelope = this.#mailbox.take(); envelope !== null; envelope = this.#mailbox.take()) {
      this.#handle(envelope);
      count++;
      if (count >= limit || this.#activity === AWAITING) break;
    }
    return count;
  }

  /** What #runEach does, for what comes most: in one loop, because a call for each message cost a quarter of a tell. */
  #runHandlers(limit: number, handlers: HandlerTable): number {
    const { counts } = this.environment;
    let type = "";
    let handler: HandlerTable[string] | undefined;
    let hasReply = false;
    let count = 0;
    for (let envelope = this.#mailbox.take(); envelope !== null; envelope = this.#mailbox.take()) {
      const isTell = envelope instanceof Tell;
      if (isTell || (envelope instanceof PendingAsk && envelope.isWaiting)) {
        this.current = envelope;
        let result: unknown;
        try {
          if (envelope.type !== type) {
            type = envelope.type; // Messages of one kind come in rows: finding their handler once saved a fifth.
            handler = handlers[type];
            hasReply = this.operation(type)?.hasReply === true;
          }
          result = handler?.call(handlers, envelope.payload);
        } catch (thrown) {
          this.#fail(envelope, thrown);
        }
        if (this.#extras === null && this.current !== null && (typeof result !== "object" || result === null)) {
          this.current = null;
          counts.handled++;
          const reply = hasReply ? result : undefined;
          if (!isTell && !envelope.complete(reply)) this.#buryLateReply(envelope, reply);
        } else if (this.current !== null) this.#conclude(envelope, result);
      } else this.#handle(envelope);
      count++;
      if (count >= limit || this.#activity === AWAITING) break;
    }
    return count;
  }

  #goOn(): void {
    if (!this.#mailbox.isEmpty) {
      this.#activity = READY;
      this.environment.dispatcher.schedule(this);
    } else {
      this.#activity = IDLE;
      if (this.#life === STOPPING) this.#stopChildren();
    }
  }

  #handle(envelope: Envelope): void {
    if (envelope.failure !== null) {
      this.#refuse(envelope, envelope.failure, true); // Its sender gave up while it was queued.
      return;
    }
    this.current = envelope;
    let result: unknown;
    try {
      // start() came before; accept() let only operations of the protocol through, and spawn looked for their handlers.
      const behaviour = this.#behaviour as Behaviour;
      result =
        typeof behaviour === "function"
          ? behaviour(messageIn(envelope, this))
          : behaviour[envelope.type]?.(envelope.payload);
    } catch (thrown) {
      this.#fail(envelope, thrown);
      return;
    }
    this.#conclude(envelope, result);
  }

  /** Waits for what a handler returned where that is a promise or a stream; otherwise it is the result. */
  #conclude(envelope: Envelope, result: unknown): void {
    try {
      const outcome = envelope instanceof PendingStream ? envelope.produce(result) : result;
      if (isThenable(outcome)) {
        this.#await(outcome);
        return;
      }
    } catch (thrown) {
      this.#fail(envelope, thrown);
      return;
    }
    this.#succeed(envelope, result);
  }

  #await(result: PromiseLike<unknown>): void {
    const extra = this.#extra;
    extra.onFulfilled ??= (value) => this.#resume(value, true);
    extra.onRejected ??= (thrown) => this.#resume(thrown, false);
    // The language's own then: one that a promise brings along may call back at once, or twice.
    then.call(Promise.resolve(result), extra.onFulfilled, extra.onRejected);
    this.#activity = AWAITING;
  }

  #resume(outcome: unknown, isFulfilled: boolean): void {
    if (this.current === null) return; // It was abandoned: its message has been counted.
    if (isFulfilled) this.#succeed(this.current, outcome);
    else this.#fail(this.current, outcome);
    this.#goOn();
  }

  #succeed(envelope: Envelope, result: unknown): void {
    const { counts, validatesAlways } = this.environment;
    let reply: unknown;
    try {
      reply = checkedReply(this.operation(envelope.type), result, validatesAlways);
    } catch (thrown) {
      this.#fail(envelope, thrown);
      return;
    }
    this.#finish();
    counts.handled++;
    if (!envelope.complete(reply)) this.#buryLateReply(envelope, reply);
  }

  #fail(envelope: Envelope, thrown: unknown): void {
    const error = deliveryError("handler-failed", new EnvelopeSource(envelope, this), thrown);
    this.#finish();
    this.environment.counts.failed++;
    envelope.fail(error);
    // Who waited has been told; who gave up expects the handler to end early.
    if (envelope.pattern === "tell") {
      this.environment.logger.error(error.message, { address: this.address, cause: error.cause });
    }
  }

  #finish(): void {
    this.current = null;
    if (this.#extras !== null) this.#extras.controller = null;
  }

  #buryLateReply(envelope: Envelope, reply: unknown): void {
    this.environment.counts.accepted++;
    this.environment.counts.dead++;
    this.environment.bury(lateLetter(envelope, this, reply));
  }

  /** The asker of a message gave up: tells its handler, when it is the one that runs (P7). */
  abandonHandling(envelope: Envelope, error: DeliveryError): void {
    if (this.current === envelope) this.#extras?.controller?.abort(error);
  }

  /**
   * While a message is handled: aborts when its sender gives up, or the actor is stopped. Otherwise: when the actor is
   * stopped. Made when read.
   */
  get signal(): AbortSignal {
    const extra = this.#extra;
    if (this.current === null) {
      extra.lifetime ??= new AbortController();
      if (this.#life !== ALIVE) extra.lifetime.abort(stopReason(this.address));
      return extra.lifetime.signal;
    }
    if (extra.controller === null) {
      extra.controller = new AbortController();
      if (this.current.failure !== null) extra.controller.abort(this.current.failure);
      else if (this.#life !== ALIVE) extra.controller.abort(stopReason(this.address));
    }
    return extra.controller.signal;
  }

  // ——— Stopping

  /** Stops after the running message: the rest is drained, or dead-lettered; then its children stop, then it (P13). */
  stop(isDraining: boolean, whenStopped?: () => void): void {
    if (this.#life === STOPPED) {
      whenStopped?.();
      return;
    }
    if (whenStopped !== undefined) this.#extra.whenStopped.push(whenStopped);
    if (this.#life === STOPPING && isDraining) return;
    this.#life = STOPPING;
    this.#extras?.abort(stopReason(this.address));
    if (this.current !== null && this.current.pattern === "stream")
      this.current.fail(this.#error("stopped", this.current));
    if (isDraining) this.#extra.isDraining = true;
    else this.#discard();
    if (this.#mailbox.isEmpty && (this.#activity === IDLE || this.#activity === READY)) this.#goOn();
  }

  #discard(): void {
    for (let envelope = this.#mailbox.take(); envelope !== null; envelope = this.#mailbox.take()) {
      const error = envelope.failure ?? this.#error("stopped", envelope);
      this.#refuse(envelope, error, envelope.pattern !== "tell");
    }
  }

  #stopChildren(): void {
    const children = this.#extras?.children;
    if (children === undefined || children === null || children.size === 0) {
      this.#terminate();
      return;
    }
    const isDraining = this.#extra.isDraining;
    for (const child of [...children]) child.stop(isDraining);
  }

  #childStopped(child: Cell): void {
    const children = this.#extras?.children;
    children?.delete(child);
    if (this.#life === STOPPING && this.#activity === IDLE && children?.size === 0) this.#terminate();
  }

  #terminate(): void {
    const whenStopped = this.#extras?.whenStopped;
    this.#life = STOPPED;
    // A reference to a stopped actor keeps nothing of it alive (P14).
    this.#behaviour = null;
    this.#extras = null;
    this.environment.cells.delete(this.address);
    if (this.parent !== null) this.parent.#childStopped(this);
    if (whenStopped !== undefined) for (const callback of whenStopped) callback();
  }

  /** Ends it without waiting for its handler: the running message counts as failed, its asker gets `stopped`. */
  abandon(): void {
    if (this.#life === STOPPED) return;
    this.#life = STOPPING;
    for (const child of [...(this.#extras?.children ?? [])]) child.abandon();
    this.#discard();
    const envelope = this.current;
    if (envelope !== null) {
      this.#extras?.abort(stopReason(this.address));
      this.#finish();
      this.environment.counts.failed++;
      envelope.fail(deliveryError("stopped", new EnvelopeSource(envelope, this), true));
    }
    if (!this.isStopped) this.#terminate();
  }
}

const { then } = Promise.prototype;

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
