import type { Address } from "../message/address";
import { type DeliveryError, deliveryError } from "../message/delivery-error";
import type { Message } from "../message/message";
import type { Operation } from "../protocol/protocol";
import type { Runnable } from "../runtime/dispatcher";
import { Mailbox, type MessageQueue } from "../runtime/mailbox";
import { checkedReply, checkPayload } from "./checking";
import type { Factory } from "./context";
import { type Envelope, EnvelopeSource, lateLetter, letterOf, messageIn, Tell } from "./envelope";
import type { Environment } from "./environment";
import { Extras, stopReason } from "./extras";
import { admit, forget, release } from "./flow";
import { Handling } from "./handling";
import { Instance } from "./instance";
import { ALIVE, AWAITING, DRAINING, GUARDED, HANDLING, IDLE, READY, RESTARTING, STOPPED, SUSPENDED } from "./life";
import { failed, proceed } from "./lifecycle";
import { PendingAsk } from "./pending-ask";
import type { ActorRef } from "./ref";
import { Signal } from "./signal";
import { tellOfSlowness, watchSlowness } from "./slow-handler";
import { PendingStream } from "./stream";
import { isThenable } from "./thenable";

export type Operations = Readonly<Record<string, Operation>>;

/** What an actor does: a handler for each operation, or one for every message (an actor of a router). */
export type Behaviour = HandlerTable | ((message: Message) => unknown);
export type HandlerTable = Record<string, (payload: unknown) => unknown>;

/** Makes an actor's behaviour, at its start and at each restart; null where it has one for good. */
export type AnyFactory = Factory<never> | null;

/**
 * One actor: its mailbox, its behaviour and what it is doing. It handles one message at a time (P3), counts the
 * outcome of each message once (P1), and is handed its turns by the dispatcher. How it begins, fails and ends is in
 * lifecycle.ts; its fields are for this room.
 */
export class Cell implements Runnable {
  nextReady: Runnable | null = null;
  readonly environment: Environment;
  readonly address: Address;
  readonly parent: Cell | null;
  /** What it can be asked for; null for an actor of a router, which takes every message. */
  readonly operations: Operations | null;
  /** Makes its behaviour; forgotten when it has stopped. */
  factory: AnyFactory;
  /** The reference to it. */
  ref: ActorRef | null = null;
  /** The message that is being handled, where one at a time is. */
  current: Envelope | null = null;
  mailbox: MessageQueue<Envelope> = new Mailbox<Envelope>();
  behaviour: Behaviour | null = null;
  activity = SUSPENDED;
  life = ALIVE;
  /** How many messages it has handled. */
  handled = 0;
  extras: Extras | null = null;

  constructor(
    environment: Environment,
    address: Address,
    parent: Cell | null,
    operations: Operations | null,
    factory: AnyFactory,
  ) {
    this.environment = environment;
    this.address = address;
    this.parent = parent;
    this.operations = operations;
    this.factory = factory;
    if (parent !== null) {
      parent.extra.children ??= new Set();
      parent.extra.children.add(this);
    }
    environment.cells.set(address, this);
  }

  get extra(): Extras {
    this.extras ??= new Extras();
    return this.extras;
  }

  /** What it has besides its closure until the next restart. */
  get instance(): Instance {
    const { extra } = this;
    extra.instance ??= new Instance();
    return extra.instance;
  }

  get generation(): number {
    return this.extras === null ? 0 : this.extras.generation;
  }
  get isAlive(): boolean {
    return this.life <= GUARDED;
  }
  /** Whether its mailbox has a bound, or something stands before it. */
  get isGuarded(): boolean {
    return this.extras !== null && (this.extras.flow !== null || this.extras.relay !== null);
  }
  get isStopped(): boolean {
    return this.life === STOPPED;
  }

  // ——— What is known of it

  /** Messages that wait: in the mailbox, for room in it, or stashed. Counted when asked for. */
  get queued(): number {
    let count = this.extras?.instance?.stash.length ?? 0;
    for (const envelope of this.mailbox) if (!(envelope instanceof Signal)) count++;
    for (const envelope of this.extras?.flow?.waiting ?? []) if (!(envelope instanceof Signal)) count++;
    return count;
  }

  /** Messages that are being handled. */
  get running(): number {
    return this.envelopes().filter((envelope) => !(envelope instanceof Signal)).length;
  }

  /** What is being handled. */
  envelopes(): Envelope[] {
    const several = [...(this.extras?.concurrency?.running ?? [])].map((handling) => handling.envelope);
    return this.current === null ? several : [this.current, ...several];
  }

  /** How many messages it takes at once, and what is known of those that it handles. */
  occupation(): { readonly slots: number; readonly handlings: readonly Handling[] } {
    const { extras } = this;
    if (extras === null) return { slots: 1, handlings: [] };
    if (extras.handling !== null) return { slots: 1, handlings: [extras.handling] };
    if (extras.concurrency === null) return { slots: 1, handlings: [] };
    return { slots: extras.concurrency.limit, handlings: [...extras.concurrency.running] };
  }

  /** The envelope that the running code handles. */
  get present(): Envelope | null {
    return this.current ?? this.extras?.concurrency?.present?.envelope ?? null;
  }

  /** What is known of it; made when asked for. */
  get handling(): Handling | null {
    if (this.current === null) return this.extras?.concurrency?.present ?? null;
    const { extra } = this;
    extra.handling ??= new Handling(this.current);
    return extra.handling;
  }

  // ——— Sending to it

  /** The operation of a name; undefined where there is none, null where any name will do. */
  operation(type: string): Operation | null | undefined {
    return this.operations === null ? null : this.operations[type];
  }

  /** Puts an envelope into the mailbox, or refuses it and says why. */
  accept(envelope: Envelope, operation: Operation | null | undefined): DeliveryError | null {
    const { environment } = this;
    environment.counts.accepted++;
    // Short, so that it is compiled into its callers: what is rare is looked at behind one test.
    if (
      this.life !== ALIVE ||
      operation === undefined ||
      operation === null ||
      operation.isStream ||
      environment.validatesAlways ||
      envelope.origin !== null
    ) {
      return this.#acceptChecked(envelope, operation);
    }
    this.enqueue(envelope);
    return null;
  }

  #acceptChecked(envelope: Envelope, operation: Operation | null | undefined): DeliveryError | null {
    const { extras } = this;
    if (extras !== null && extras.relay !== null && this.isAlive) {
      this.environment.counts.accepted--; // Who gets it counts it.
      return extras.relay.accept(envelope, operation);
    }
    const error = this.#objection(envelope, operation);
    if (error !== null) return this.refuse(envelope, error);
    if (extras !== null && extras.flow !== null) return admit(this, extras.flow, envelope);
    this.enqueue(envelope);
    return null;
  }

  enqueue(envelope: Envelope): void {
    this.mailbox.put(envelope);
    if (this.activity === IDLE) this.schedule();
  }

  schedule(): void {
    this.activity = READY;
    this.environment.dispatcher.schedule(this);
  }

  /** Why a message is not to be handled; null when it is. */
  #objection(envelope: Envelope, operation: Operation | null | undefined): DeliveryError | null {
    if (!this.isAlive && this.life !== RESTARTING) return this.error("stopped", envelope);
    if (operation === null) return null;
    if (operation === undefined || operation.isStream !== envelope instanceof PendingStream) {
      return this.error("unknown-operation", envelope);
    }
    return checkPayload(envelope, operation, this);
  }

  error(kind: "stopped" | "unknown-operation", envelope: Envelope): DeliveryError {
    return deliveryError(kind, new EnvelopeSource(envelope, this));
  }

  /** Makes a dead letter of an envelope; one that was meant to be dropped is not logged. */
  refuse(envelope: Envelope, error: DeliveryError, isPlanned = false): DeliveryError {
    const { isTold } = envelope;
    this.environment.counts.dead++;
    envelope.fail(error);
    this.environment.bury(letterOf(error, isTold), isPlanned);
    return error;
  }

  // ——— Handling

  run(limit: number): number {
    if (this.activity !== READY) return 0; // It was stopped since it was scheduled.
    this.activity = HANDLING;
    let count = 1;
    if (this.life > DRAINING) this.#runHook();
    else {
      if (this.extras !== null) this.extras.instance?.timers?.onBusy();
      count =
        this.operations === null || this.life !== ALIVE || this.environment.isObserved || this.isConcurrent
          ? this.#runEach(limit)
          : this.#runHandlers(limit, this.behaviour as HandlerTable); // An actor with operations has a table of handlers.
    }
    if (this.activity !== AWAITING) this.goOn();
    return count;
  }

  get isConcurrent(): boolean {
    return this.extras !== null && this.extras.concurrency !== null;
  }

  #runHook(): void {
    const { extra } = this;
    const { hook } = extra;
    extra.hook = null;
    if (hook !== null) this.#handle(hook);
  }

  #runEach(limit: number): number {
    let count = 0;
    for (let envelope = this.#take(); envelope !== null; envelope = this.#take()) {
      this.#handle(envelope);
      count++;
      if (count >= limit || this.activity !== HANDLING) break;
    }
    return count;
  }

  #take(): Envelope | null {
    const envelope = this.mailbox.take();
    const flow = this.extras === null ? null : this.extras.flow;
    if (flow !== null && envelope !== null && !(envelope instanceof Signal)) release(this, flow);
    return envelope;
  }

  /** What #runEach does, for what comes most: in one loop, because a call for each message cost a quarter of a tell. */
  #runHandlers(limit: number, handlers: HandlerTable): number {
    const { counts } = this.environment;
    let type = "";
    let handler: HandlerTable[string] | undefined;
    let hasReply = false;
    let count = 0;
    let handled = 0;
    for (let envelope = this.mailbox.take(); envelope !== null; envelope = this.mailbox.take()) {
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
        const isPlain = this.extras === null || this.extras.handling === null;
        if (isPlain && this.current !== null && (typeof result !== "object" || result === null)) {
          this.current = null;
          handled++;
          counts.handled++;
          const reply = hasReply ? result : undefined;
          if (!isTell && !envelope.complete(reply)) this.#buryLateReply(envelope, reply);
        } else if (this.current !== null) this.#conclude(envelope, result);
      } else this.#handle(envelope);
      count++;
      if (count >= limit || this.activity !== HANDLING || this.behaviour !== handlers) break;
    }
    this.handled += handled;
    return count;
  }

  /** Takes its next message, or whatever its life has come to. */
  goOn(): void {
    if (this.life <= DRAINING) {
      if (this.isConcurrent && this.extras?.concurrency?.isFull === true) {
        this.activity = AWAITING;
        return;
      }
      if (!this.mailbox.isEmpty) {
        this.schedule();
        return;
      }
      this.activity = IDLE;
      if (this.life !== DRAINING) {
        if (this.extras !== null) this.extras.instance?.timers?.onIdle();
        return;
      }
    }
    this.activity = SUSPENDED;
    proceed(this);
  }

  #handle(envelope: Envelope): void {
    if (envelope.failure !== null) {
      this.refuse(envelope, envelope.failure); // Its sender gave up while it was queued.
      return;
    }
    if (envelope instanceof Signal) {
      if (envelope.generation !== this.generation) return;
    } else if (this.isConcurrent) {
      this.#handleConcurrently(envelope);
      return;
    }
    this.current = envelope;
    let result: unknown;
    try {
      result = this.#call(envelope);
    } catch (thrown) {
      this.#fail(envelope, thrown);
      return;
    }
    if (this.current === envelope) this.#conclude(envelope, result);
  }

  #call(envelope: Envelope): unknown {
    if (envelope instanceof Signal) return envelope.run();
    const { environment } = this;
    if (environment.beforeHandle !== null) {
      environment.beforeHandle({ address: this.address, operation: envelope.type, payload: envelope.payload });
    }
    // start() came before; accept() let only operations of the protocol through, and spawn looked for their handlers.
    const behaviour = this.behaviour as Behaviour;
    const begun = environment.slowHandler === Number.POSITIVE_INFINITY ? 0 : environment.clock.monotonicTime();
    try {
      return typeof behaviour === "function"
        ? behaviour(messageIn(envelope, this))
        : behaviour[envelope.type]?.(envelope.payload);
    } finally {
      if (environment.slowHandler !== Number.POSITIVE_INFINITY) tellOfSlowness(this, envelope, begun);
    }
  }

  /** Waits for what a handler returned where that is a promise or a stream; otherwise it is the result. */
  #conclude(envelope: Envelope, result: unknown): void {
    let awaited: Promise<unknown> | null;
    try {
      const isProducing = envelope instanceof PendingStream && this.extras?.handling?.isPassedOn !== true;
      const outcome = isProducing ? envelope.produce(result) : result;
      awaited = isThenable(outcome) ? Promise.resolve(outcome) : null;
    } catch (thrown) {
      this.#fail(envelope, thrown);
      return;
    }
    if (awaited === null) this.#succeed(envelope, result);
    else this.#await(envelope, awaited);
  }

  #await(envelope: Envelope, settled: Promise<unknown>): void {
    const { extra, environment } = this;
    this.activity = AWAITING;
    extra.handling ??= new Handling(envelope);
    extra.handling.since = environment.dispatcher.now;
    if (envelope instanceof Signal) {
      this.#awaitSignal(envelope, settled);
      return;
    }
    extra.onFulfilled ??= (value) => this.#resume(value, true);
    extra.onRejected ??= (thrown) => this.#resume(thrown, false);
    // The language's own then: one that a promise brings along may call back at once, or twice.
    then.call(settled, extra.onFulfilled, extra.onRejected);
    watchSlowness(this, extra.handling);
  }

  /** By its own identity: a hook that comes too late must not end what is handled then. */
  #awaitSignal(signal: Signal, settled: Promise<unknown>): void {
    const resume = (outcome: unknown, isFulfilled: boolean): void => {
      if (this.current === signal) this.#resume(outcome, isFulfilled);
    };
    signal.limit(this.environment, (thrown) => resume(thrown, false));
    then.call(
      settled,
      (value) => resume(value, true),
      (thrown) => resume(thrown, false),
    );
  }

  #resume(outcome: unknown, isFulfilled: boolean): void {
    if (this.current === null) return; // It was abandoned: its message has been counted.
    if (isFulfilled) this.#succeed(this.current, outcome);
    else this.#fail(this.current, outcome);
    this.goOn();
  }

  #succeed(envelope: Envelope, result: unknown): void {
    const { counts, validatesAlways } = this.environment;
    const handling = this.current === null ? (this.extras?.concurrency?.of(envelope) ?? null) : this.extras?.handling;
    if (handling?.isPassedOn === true) {
      this.#finish(envelope);
      return;
    }
    let reply: unknown;
    try {
      reply = checkedReply(this.operation(envelope.type), result, validatesAlways);
    } catch (thrown) {
      this.#fail(envelope, thrown);
      return;
    }
    this.#finish(envelope);
    if (!(envelope instanceof Signal)) {
      this.handled++;
      counts.handled++;
    }
    if (!envelope.complete(reply)) this.#buryLateReply(envelope, reply);
  }

  #fail(envelope: Envelope, thrown: unknown): void {
    const error = deliveryError("handler-failed", new EnvelopeSource(envelope, this), thrown);
    this.#finish(envelope);
    const { extra } = this;
    extra.failed++;
    if (!(envelope instanceof Signal)) this.environment.counts.failed++;
    if (envelope.failure !== null) return; // Its sender gave up, and a handler that ends early for that has not failed.
    const { isTold } = envelope;
    envelope.fail(error);
    failed(this, envelope, error, isTold);
  }

  #finish(envelope: Envelope): void {
    const { extras } = this;
    let handling: Handling | null = null;
    if (this.current === envelope) {
      this.current = null;
      if (extras === null) return;
      handling = extras.handling;
      extras.handling = null;
    } else if (extras !== null && extras.concurrency !== null) {
      handling = extras.concurrency.of(envelope);
      if (handling !== null) extras.concurrency.running.delete(handling);
    }
    if (handling !== null && handling.slowness !== null) this.environment.timers.remove(handling.slowness);
  }

  #buryLateReply(envelope: Envelope, reply: unknown): void {
    this.environment.counts.accepted++;
    this.environment.counts.dead++;
    this.environment.bury(lateLetter(envelope, this, reply), false);
  }

  // ——— Several at once

  #handleConcurrently(envelope: Envelope): void {
    // #handle looked: it is concurrent.
    const concurrency = this.extra.concurrency as NonNullable<Extras["concurrency"]>;
    const handling = new Handling(envelope);
    handling.since = this.environment.dispatcher.now;
    concurrency.running.add(handling);
    let settled: Promise<unknown>;
    try {
      const outcome = concurrency.run(handling, () => {
        const result = this.#call(envelope);
        return envelope instanceof PendingStream && !handling.isPassedOn ? envelope.produce(result) : result;
      });
      if (!isThenable(outcome)) {
        this.#succeed(envelope, outcome);
        return;
      }
      settled = Promise.resolve(outcome);
    } catch (thrown) {
      this.#fail(envelope, thrown);
      return;
    }
    then.call(
      settled,
      (value) => this.#settle(handling, value, true),
      (thrown) => this.#settle(handling, thrown, false),
    );
    if (concurrency.isFull) this.activity = AWAITING;
    watchSlowness(this, handling);
  }

  #settle(handling: Handling, outcome: unknown, isFulfilled: boolean): void {
    if (this.extras?.concurrency?.running.has(handling) !== true) return; // It was abandoned.
    if (isFulfilled) this.#succeed(handling.envelope, outcome);
    else this.#fail(handling.envelope, outcome);
    // A hook has the actor to itself; and who is scheduled goes on then.
    if (this.current === null && this.activity !== READY && this.activity !== HANDLING) this.goOn();
  }

  // ——— Giving up

  /** The sender of a message gave up: tells its handler, when one runs (P7). */
  abandonHandling(envelope: Envelope, error: DeliveryError): void {
    const { extras } = this;
    if (extras === null) return;
    if (this.current === envelope) {
      extras.handling?.abandon(error);
      return;
    }
    const handling = extras.concurrency?.of(envelope) ?? null;
    if (handling !== null) handling.abandon(error);
    else if (extras.flow !== null) forget(this, extras.flow, envelope, error);
  }

  /** Counts what is handled now as failed; its askers get `stopped`. */
  abandonRunning(): void {
    for (const envelope of this.envelopes()) {
      this.#finish(envelope);
      if (!(envelope instanceof Signal)) this.environment.counts.failed++;
      envelope.fail(deliveryError("stopped", new EnvelopeSource(envelope, this), true));
    }
  }

  /**
   * While a message is handled: aborts when its sender gives up, or the actor is stopped. Otherwise: when the actor is
   * stopped or restarts. Made when read.
   */
  get signal(): AbortSignal {
    const { handling } = this;
    if (handling === null || handling.envelope instanceof Signal) {
      const { instance } = this;
      instance.lifetime ??= new AbortController();
      if (!this.isAlive) instance.lifetime.abort(stopReason(this.address));
      return instance.lifetime.signal;
    }
    if (handling.controller === null) {
      handling.controller = new AbortController();
      const { failure } = handling.envelope;
      if (failure !== null) handling.controller.abort(failure);
      else if (this.life > GUARDED && this.life !== RESTARTING) handling.controller.abort(stopReason(this.address));
    }
    return handling.controller.signal;
  }
}

const { then } = Promise.prototype;
