import type { Address, AnyRef } from "../../message/address";
import { type DeliveryError, deliveryError, type Pause } from "../../message/delivery-error";
import type { Operation, Operations } from "../../protocol/protocol";
import type { Runnable } from "../../runtime/dispatcher";
import { Mailbox, type MessageQueue } from "../../runtime/mailbox";
import type { AnyFactory, Behaviour, Envelope, Environment, Recipient, Relay, Wait } from "../contract";
import { deadLetterOf, EnvelopeSource, fans, Tell, tellOf } from "../envelopes/envelope";
import { Handling } from "../envelopes/handling";
import { ActorRef, recipientOf } from "../refs/ref";
import { send, tellAsWritten } from "../refs/sending";
import { admit, forget } from "./admission";
import { Children, type Directory } from "./directory";
import { Extras, Instance } from "./state";
import {
  ALIVE,
  AWAITING,
  awaitHandlers,
  becomeIdle,
  becomeReady,
  beginTurn,
  CHILDREN_STOP,
  DRAINING,
  GUARDED,
  IDLE,
  READY,
  RESTARTING,
  STOPPED,
  SUSPENDED,
  suspend,
} from "./transitions";

/** Drives the actors: called once for a turn or a transition, never for a message. The layers above provide it. */
export interface Engine {
  /** Runs the hook that comes before all messages. */
  runHook(cell: Cell): number;
  /** Handles at most `limit` messages; returns their number. */
  runMessages(cell: Cell, limit: number): number;
  /** Takes the next step of an actor that starts, restarts or stops. */
  proceed(cell: Cell): void;
  /** Runs the factory of an actor. */
  makeBehaviour(cell: Cell): Behaviour;
}

/** The services that the actors of one system share. */
export interface ActorEnvironment extends Environment {
  readonly directory: Directory<Cell>;
  readonly engine: Engine;
}

/**
 * One actor: its mailbox, its behaviour and its activity. It handles one message at a time (P3), counts the outcome of
 * each message once (P1), and gets its turns from the dispatcher. Its turns are in turn.ts; its start, failures and end
 * in lifecycle.ts. Its fields are for `src/actor` alone.
 */
export class Cell implements Runnable, Recipient {
  nextReady: Runnable | null = null;
  readonly environment: ActorEnvironment;
  readonly parent: Cell | null;
  /** Its operations; null for an actor of a router, which takes every message. */
  readonly operations: Operations | null;
  /** Makes its behaviour; dropped when it has stopped. */
  readonly factory: AnyFactory;
  /** The reference to it, which keeps its address. */
  readonly ref: ActorRef;
  /** The message that is being handled, unless it has a concurrency. */
  current: Envelope | null = null;
  /** Made for the first message: many actors wait long for one, or for ever. */
  queue: MessageQueue<Envelope> | null = null;
  readonly behaviour: Behaviour | null = null;
  /** Its activity at the moment. */
  readonly activity: number = SUSPENDED;
  /** Its stage of life. Both are changed in transitions.ts. */
  readonly life: number = ALIVE;
  extras: Extras<Cell> | null = null;

  /** @param name its address; of a child, its name where that is plain. */
  constructor(
    environment: ActorEnvironment,
    name: string,
    parent: Cell | null,
    operations: Operations | null,
    factory: AnyFactory,
  ) {
    this.environment = environment;
    this.ref = new ActorRef(this, name);
    this.parent = parent;
    this.operations = operations;
    this.factory = factory;
    if (parent !== null) {
      parent.extra.children ??= new Children(parent.addressLength);
      parent.extra.children.add(this);
    }
  }

  get address(): Address {
    return this.ref.address;
  }

  /** The length of its address, in characters; known without the address. */
  get addressLength(): number {
    return this.extras?.children?.parentLength ?? ActorRef.lengthOf(this.ref);
  }

  get mailbox(): MessageQueue<Envelope> {
    this.queue ??= new Mailbox<Envelope>();
    return this.queue;
  }

  get extra(): Extras<Cell> {
    this.extras ??= new Extras();
    return this.extras;
  }

  /** The state of its present instance, until the next restart. */
  get instance(): Instance {
    if (this.life === STOPPED) return Instance.ended(); // Kept by nobody (P14).
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
  /** True when its mailbox has a bound, or a relay stands before it. */
  get admitsLater(): boolean {
    return this.extras !== null && (this.extras.bound !== null || this.extras.relay !== null);
  }
  /** True once it takes no more messages. */
  get isEnding(): boolean {
    return this.life > GUARDED && this.life !== RESTARTING;
  }
  get isStopped(): boolean {
    return this.life === STOPPED;
  }

  // ——— Its state

  /** The envelopes that are being handled. */
  envelopes(): Envelope[] {
    const { current, extras } = this;
    const one = current === null ? [] : [current];
    // Kept short: most actors handle one at a time, and each actor that stops itself calls this.
    if (extras === null || extras.concurrency === null) return one;
    return [...one, ...[...extras.concurrency.running].map((handling) => handling.envelope)];
  }

  /** The records of the messages that are being handled. */
  get handlings(): readonly Handling[] {
    const { extras } = this;
    if (extras === null) return [];
    const { handling, concurrency } = extras;
    return [...(handling === null ? [] : [handling]), ...(concurrency?.running ?? [])];
  }

  /** The envelope that the running code handles. */
  get present(): Envelope | null {
    return this.extras?.concurrency?.present?.envelope ?? this.current;
  }

  /** The record of an envelope that is being handled; null when nothing is recorded. */
  handlingOf(envelope: Envelope | Wait): Handling | null {
    const { extras } = this;
    if (extras === null) return null;
    return this.current === envelope ? extras.handling : (extras.concurrency?.of(envelope) ?? null);
  }

  /** The record of the message that the running code handles; made on demand. */
  get handling(): Handling | null {
    const present = this.extras?.concurrency?.present ?? null; // Also while a signal waits.
    if (present !== null || this.current === null) return present;
    const { extra } = this;
    extra.handling ??= new Handling(this, this.current);
    return extra.handling;
  }

  // ——— Sending to it

  /** The operation of a name; undefined when there is none, null when any name will do. */
  operation(type: string): Operation | null | undefined {
    return this.operations === null ? null : this.operations[type];
  }

  /** Takes a tell from outside of actors, as it was written: with a payload, with options, or with both. */
  tell(type: string, first: unknown, second: unknown): void {
    const { queue, environment } = this;
    const operation = this.operation(type);
    const isBare = operation?.hasPayload === false;
    // When many wait, the mailbox needs no envelope, and takes later tells of this operation by itself.
    const isBehind = queue !== null && this.activity !== IDLE && this.takesUnseen(operation);
    if (second !== undefined || (isBare && first !== undefined)) tellAsWritten(this, operation, type, first, second);
    else if (!(isBehind && queue.append(type, first, tellOf, environment.counts, isBare, environment.meters)))
      send(this, new Tell(type, first, null), operation, null);
  }

  /** True when messages of an operation, from outside of actors, can go straight into the mailbox. */
  takesUnseen(operation: Operation | null | undefined): boolean {
    return this.life === ALIVE && operation?.isStream === false && !this.environment.looksAtEach;
  }

  /** The fast way in for messages from outside of actors; false when a message needs more checks. */
  takes(envelope: Envelope, operation: Operation | null | undefined): boolean {
    const { queue, environment } = this;
    if (queue === null || !this.takesUnseen(operation)) return false;
    const { meters } = environment;
    if (meters !== null && --meters.untilTimed < 0) return false;
    environment.counts.accepted++;
    queue.put(envelope);
    if (this.activity === IDLE) this.schedule();
    return true;
  }

  /** Puts an envelope into the mailbox, or refuses it and returns the error. */
  accept(envelope: Envelope, operation: Operation | null | undefined): DeliveryError | null {
    // Split into short functions, which are compiled into their callers.
    if (envelope.origin === null && this.takes(envelope, operation)) return null;
    return admit(this, envelope, operation);
  }

  enqueue(envelope: Envelope): void {
    this.mailbox.put(envelope);
    if (this.activity === IDLE) this.schedule();
  }

  schedule(): void {
    becomeReady(this);
    this.environment.dispatcher.schedule(this);
  }

  error(kind: "stopped" | "unknown-operation", envelope: Envelope): DeliveryError {
    return deliveryError(kind, new EnvelopeSource(envelope, this));
  }

  /** Dead-letters an envelope. A planned drop is not logged. */
  refuse(envelope: Envelope, error: DeliveryError, isPlanned = false): DeliveryError {
    this.environment.counts.dead++;
    return this.deadLetter(envelope, error, isPlanned);
  }

  /** Publishes a dead letter that is counted already. */
  deadLetter(envelope: Envelope, error: DeliveryError, isPlanned = false): DeliveryError {
    const { environment } = this;
    const { isTold } = envelope;
    envelope.fail(error);
    environment.meters?.countDead(this.operations, envelope.type);
    // A letter that nobody hears is not made: a flood of refusals pays for each.
    if (!isTold || environment.hearsDeadLetters) environment.deadLetter(deadLetterOf(error, isTold), isPlanned);
    return error;
  }

  // ——— Its turns

  run(limit: number): number {
    const activity: number = this.activity; // Widened to a number: it changes below.
    if (activity !== READY) return 0; // Stopped since it was scheduled.
    beginTurn(this);
    const { engine } = this.environment;
    const count = this.life > DRAINING ? engine.runHook(this) : engine.runMessages(this, limit);
    if (this.activity !== AWAITING) this.goOn();
    return count;
  }

  get relay(): Relay | null {
    return this.extras === null ? null : this.extras.relay;
  }
  get isStrict(): boolean {
    return this.environment.validatesAlways || this.extras?.validates === true;
  }
  get pause(): Pause | undefined {
    if (this.life !== RESTARTING) return this.extras?.bound?.isProvisional === true ? "opening" : undefined;
    return this.extras?.restart?.isHeld === true ? "held" : "restarting";
  }
  get isRestarting(): boolean {
    return this.life === RESTARTING;
  }
  get isStoppingChildren(): boolean {
    return this.extras?.ending === CHILDREN_STOP;
  }
  get awaited(): readonly (Handling | Cell)[] {
    return this.isStoppingChildren ? [...this.handlings, ...(this.extras?.children?.all() ?? [])] : this.handlings;
  }
  get isFull(): boolean {
    return this.extras?.concurrency?.isFull ?? this.current !== null;
  }
  get stream(): string | undefined {
    const one = this.current?.pattern === "stream" ? this.current.type : undefined;
    return this.extras?.concurrency?.stream ?? one;
  }
  get soleHandling(): Handling | null | undefined {
    const { extras } = this;
    if (extras === null) return null;
    return extras.concurrency === null && extras.relay === null ? extras.handling : undefined;
  }
  get occupants(): readonly (readonly Handling[])[] {
    const { handling = null, concurrency = null } = this.extras ?? {};
    const groups: Handling[][] = handling === null ? [] : [[handling]];
    if (concurrency?.isFull === true) groups.push([...concurrency.running]);
    return groups;
  }

  get isConcurrent(): boolean {
    return this.extras !== null && this.extras.concurrency !== null;
  }

  /** Takes its next message, or the next step of its life. */
  goOn(): void {
    const { extras } = this;
    if (this.life <= DRAINING) {
      if (extras?.concurrency?.isFull === true) {
        awaitHandlers(this);
        return;
      }
      if (this.queue !== null && !this.queue.isEmpty) {
        this.schedule();
        return;
      }
      becomeIdle(this);
      if (this.life !== DRAINING) {
        if (extras !== null && extras.instance !== null) extras.instance.timers?.onIdle();
        return;
      }
    }
    suspend(this);
    this.environment.engine.proceed(this);
  }

  /** The sender of a message gave up: tells its handler, when one runs (P7). */
  abandon(envelope: Envelope, error: DeliveryError): void {
    const { extras } = this;
    if (this.isStopped) fans.get(envelope)?.abandon(error); // Other actors may have what a pool's workers forwarded.
    if (extras === null) return;
    const handling = this.handlingOf(envelope);
    if (handling !== null) handling.abandon(error);
    else if (extras.relay !== null) extras.relay.abandon?.(envelope, error);
    else if (extras.bound !== null && this.current !== envelope) forget(this, extras.bound, envelope, error);
  }
}

/** The cell behind a reference. Throws a TypeError for a reference of another copy of envoi. */
export function cellOf(ref: AnyRef): Cell {
  const recipient = recipientOf(ref);
  if (recipient instanceof Cell) return recipient;
  throw new TypeError(`${ref.address} is a reference that another copy of envoi has made: use one copy of it.`);
}
