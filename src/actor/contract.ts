import type { Address, AnyRef } from "../message/address";
import type { AskError, DeliveryError, Pause } from "../message/delivery-error";
import type { Message, Metadata, Pattern } from "../message/message";
import type { Operation, Operations } from "../protocol/protocol";
import type { Parsed, Validator } from "../protocol/validator";
import type { Clock } from "../runtime/clock";
import type { Enter } from "../runtime/contexts";
import type { Dispatcher } from "../runtime/dispatcher";
import type { LogLimit } from "../runtime/log-limit";
import type { Mail, MessageQueue } from "../runtime/mailbox";
import type { Settling } from "../runtime/settling";
import type { TimerWheel } from "../runtime/timer-wheel";
import type { DeadLetter, Events, Logger } from "./events";
import type { Meters } from "./metrics";
import type { Ending, Observers } from "./observers";
import type { ANSWERED, ENDED } from "./reasons";
import type { Policy } from "./supervision";

// The types of messages on their way and of their recipients; no code. Nothing below the cell knows the cell.

/**
 * The recipient of a message: all that envelopes and references know of an actor. An actor of this process is a Cell.
 * An actor elsewhere is a Cell behind a relay.
 */
export interface Recipient {
  readonly address: Address;
  readonly environment: Environment;
  readonly parent: Recipient | null;
  /** The length of its address, in characters; known without the address. */
  readonly addressLength: number;
  /** The reference to it. */
  readonly ref: AnyRef;
  /** Its operations; null when it takes every message, as an actor of a router does. */
  readonly operations: Operations | null;
  /** Its mailbox; null until the first message has come. */
  readonly queue: MessageQueue<Envelope> | null;
  readonly isAlive: boolean;
  readonly isStopped: boolean;
  /** True when its mailbox has a bound, or a relay stands before it. */
  readonly admitsLater: boolean;
  /** True when each payload for it is checked, even one from within. */
  readonly isStrict: boolean;
  /** Stands before its mailbox and hands each message on; null for most. */
  readonly relay: Relay | null;
  /**
   * The handling of an actor that handles one message at a time; null when nothing is recorded. Undefined for an actor
   * with a concurrency, or behind a relay.
   */
  readonly soleHandling: Waiter | null | undefined;
  /** Groups of handlings. It has room for a message once one handling of each group has ended. Empty when it has room. */
  readonly occupants: readonly (readonly Waiter[])[];
  /** True while it handles as many messages as it may. */
  readonly isFull: boolean;
  /** True while it restarts: it handles no message until its handlings and its children have ended. */
  readonly isRestarting: boolean;
  readonly isStoppingChildren: boolean;
  /** Its waits when it restarts or stops: its handlings, and the children that it has told to stop. */
  readonly awaited: readonly (Waiter | Recipient)[];
  /** The reason why it handles nothing, while it waits to restart. */
  readonly pause: Pause | undefined;
  /** The records of the messages that it handles now. */
  readonly handlings: readonly Waiter[];
  /** The operation of a name; undefined when there is none, null when any name will do. */
  operation(type: string): Operation | null | undefined;
  /** The messages that it handles now. */
  envelopes(): readonly Envelope[];
  /** The envelope that the running code handles. */
  readonly present: Envelope | null;
  /** The record of an envelope that it handles; null when nothing is recorded. */
  handlingOf(envelope: Envelope | Wait): Waiter | null;
  /** The operation of a stream that it handles now; undefined when it handles none. */
  readonly stream: string | undefined;
  /** Takes a tell from outside of actors, as it was written: with a payload, with options, or with both. */
  tell(type: string, first: unknown, second: unknown): void;
  /** The fast way in for messages from outside of actors; false when a message needs more checks. */
  takes(envelope: Envelope, operation: Operation | null | undefined): boolean;
  /** Puts an envelope into the mailbox, or refuses it and returns the error. */
  accept(envelope: Envelope, operation: Operation | null | undefined): DeliveryError | null;
  /** The error for an envelope that it does not take. */
  error(kind: "stopped" | "unknown-operation", envelope: Envelope): DeliveryError;
  /** Dead-letters an envelope, and tells its sender why. */
  refuse(envelope: Envelope, error: DeliveryError): DeliveryError;
  /** Takes back an envelope after its sender gave up, or tells the handler that has it (P7). */
  abandon(envelope: Envelope, error: DeliveryError): void;
}

/** One actor's part of an ask that goes to several. */
export interface Part {
  readonly cell: Recipient;
  /** The message sent to it; null until it is sent. */
  readonly wait: Wait | null;
}

/** Several actors that get one ask. */
export interface Recipients {
  readonly parts: Iterable<Part>;
  /** True when one answer is enough; otherwise all must come. */
  readonly isOneEnough: boolean;
}

/**
 * Stands before the mailbox of an actor that handles no messages itself, such as a pool, and hands each one to another
 * actor.
 */
export interface Relay {
  /** Delivers as Recipient.accept does. The next recipient counts the message. */
  accept(envelope: Envelope, operation: Operation | null | undefined): DeliveryError | null;
  /** The one actor that the next message is for; null when it goes to several. */
  pick(type: string, payload: unknown): Recipient | null;
  /** The recipients of an ask that is not sent yet, when there are several. */
  recipients(): Recipients;
  /** The sender of a message gave up. Not needed where each message is moved to one actor, which is told itself. */
  abandon?(envelope: Envelope, error: DeliveryError): void;
  /** The messages that it has handed on and that are not over; undefined when it counts none. */
  readonly load?: number | undefined;
}

/** A message that went to several actors. */
export interface Fan {
  /** The recipients that have not answered it yet. */
  recipients(): Recipients;
  /** Its sender gave up. */
  abandon(error: DeliveryError): void;
}

/** A message on its way: its content and its origin. The message object is made when it is read. */
export interface Envelope extends Mail {
  readonly pattern: Pattern;
  readonly type: string;
  payload: unknown;
  origin: Origin;
  /** The sender's context, when the handler runs in it. */
  context?: Enter;
  /** The time when it entered the mailbox, in milliseconds of the system's clock, where that is measured. */
  sentAt?: number;
  /** Set when the sender gave up before the message was handled: the reason. */
  readonly failure: AskError | null;
  /** True when its sender learns the outcome, so that no log is needed. */
  readonly isTold: boolean;
  /** True when it may wait for room in a full mailbox. */
  readonly canWait: boolean;
  /** The milliseconds that are left to an ask; undefined for all others. */
  readonly left?: number;
  /** True for an ask or a stream by a handler whose message was caused from outside. Set when it is sent. */
  readonly servesOutside?: boolean;
  /** It has its place in the mailbox. */
  admitted(): void;
  /** Another actor has it now. */
  moveTo(cell: Recipient): void;
  /** Tells the sender the result; false when nobody waits any more. */
  complete(result: unknown): boolean;
  /** Tells the sender that the message failed. */
  fail(error: AskError): void;
}

/** The time after which a message is wanted no more. */
export interface Deadline {
  /** In milliseconds of the clock's monotonic time. */
  readonly at: number;
  /** The clock of the system that it was sent to first. */
  readonly clock: Clock;
  /** The milliseconds that it was given, for the error. */
  readonly given: number;
}

/** Hears how far an ask has come. */
export interface ProgressListener {
  hear(done: number, total?: number, note?: string): void;
}

/** The rare things that a message has beside a payload and a sender: the record is made only for a message that has some of it. */
export interface Sent {
  /** The actor that sent it; null when it named none. */
  readonly from: Recipient | null;
  /** The message that was sent; null until it is read. */
  readonly message: Message | null;
  /** The operation whose schema the payload fits; null before it was checked. */
  readonly fits: Operation | null;
  /** True when it came through a door. */
  readonly isFromOutside: boolean;
  /** Frozen; null when it has none of its own, beside those of its message. */
  readonly metadata: Metadata | null;
  /** The deadline that it carries, beside the timeout of an ask; null when there is none. */
  readonly deadline: Deadline | null;
  /** The references that its door gives for the addresses in its payload; null when it gives none. */
  readonly exposure: Exposure | null;
  /** Hears how far it has come; null when nobody does. */
  readonly progress: ProgressListener | null;
}

/** Checks a payload from outside, and puts references in place of the addresses that a door exposes. */
export interface Exposure {
  parse(validator: Validator, payload: unknown): Parsed;
}

/** The origin of an envelope: the message that was sent, the actor that sent it, a record, or null outside of actors. */
export type Origin = Message | Recipient | Sent | null;

/**
 * The reason why a wait ends with its handling or with the ask that it is a part of: the error, or how that has ended.
 */
export type EndReason = DeliveryError | typeof ENDED | typeof ANSWERED;

/** Something that a handler waits for at another actor: an ask, or a stream. */
export interface Wait {
  /** The actor that has the message now. */
  readonly cell: Recipient;
  /** True until it has ended. */
  readonly isOpen: boolean;
  /** True while its handler waits for it. A stream is waited for while a read waits for an item. */
  readonly isWaiting: boolean;
  /** The link in its handling's list, and that handling until the wait has ended. */
  nextWait: Wait | null;
  waiter: Waiter | null;
  /** Ends it: no wait outlives its handling. */
  endWith(reason: EndReason): void;
  /** Ends it, because it would wait for itself. */
  closeCircle(path: readonly Address[]): void;
}

/** A handler that runs, as seen by what it waits for and by the search for deadlocks. */
export interface Waiter {
  /** The actor whose handler it is. */
  readonly cell: Recipient;
  /** The message that it handles. */
  readonly envelope: Envelope;
  /** True for the handling that holds its actor's asks and reads outside of messages. */
  readonly isBackground: boolean;
  /** Set when another handling will end the message. */
  readonly passedOn: "stashed" | "forwarded" | null;
  /** True once it has ended or was abandoned: it can wait for nothing any more. */
  readonly isOver: boolean;
  /** True once it has had several waits at once. When one of them ends, the others may be stuck. */
  readonly isSeveral: boolean;
  /** True while it waits for anything. */
  readonly isWaiting: boolean;
  /** True while a search for a circle is due. */
  isLookDue: boolean;
  /** The reader that its stream waits for, while the stream has no credit left. */
  parkedFor: Waiter | null;
  /** Remembers a wait. */
  add(wait: Wait): void;
  /** The first wait in its list that has not ended. */
  firstOpen(): Wait | null;
  /** The present waits. */
  waits(): Iterable<Wait>;
  /** Learns how it ends, where the system has observers or metrics. */
  readonly observation: Ending | null;
}

/** Opens the addresses that nobody has yet. */
export interface Resolving {
  /** The recipient of messages to an address: the actor there, or a mailbox in which they wait until one is there. */
  find(at: string): Recipient | undefined;
  /** A reference that goes by an address, if somebody opens that address when it is needed. */
  reference(at: Address, operations: Operations): AnyRef | undefined;
  /** Messages that wait for the addresses that are being opened. */
  readonly queued: number;
  /** Opens nothing any more, and dead-letters what waits. */
  close(): void;
}

/** An actor's behaviour: a handler for each operation, or one for every message (an actor of a router). */
export type Behaviour = HandlerTable | ((message: Message) => unknown);
export type HandlerTable = Record<string, (payload: unknown) => unknown>;

/** Makes an actor's behaviour, at its start and at each restart; null when the behaviour never changes. */
export type AnyFactory = ((context: never) => unknown) | null;

/** The outcomes of all messages so far: `accepted` is the sum of the others (P1). */
export interface Audit {
  /**
   * Every message that was sent, and every reply that came too late (a handler that says nothing is not late). A
   * message that a pool sends to several workers counts once for each.
   */
  readonly accepted: number;
  /** Handled: the handler returned, or its promise resolved. */
  readonly handled: number;
  /** Failed: the handler threw, or its promise rejected. */
  readonly failed: number;
  /** Dead-lettered. */
  readonly dead: number;
  /**
   * Handed to a transport, for an actor elsewhere: the audit of its system has the outcome. Absent while there are none.
   */
  readonly sent?: number;
  /** In mailboxes now, counted there. */
  readonly queued: number;
  /** In handlers, or in a router's interceptors, now: counted there. */
  readonly running: number;
}

/** The services that the actors of one system share. */
export interface Environment {
  readonly clock: Clock;
  readonly dispatcher: Dispatcher;
  /** Settles what is refused or taken at once. */
  readonly settling: Settling;
  readonly timers: TimerWheel;
  /** Finds the actor of an address. */
  readonly directory: { get(at: string): Recipient | undefined };
  /** Null while no addresses are opened when they are needed. */
  resolvers: Resolving | null;
  readonly counts: { accepted: number; handled: number; failed: number; dead: number; sent: number; restarts: number };
  readonly logger: Logger;
  /** Bounds what is logged of failures that each message can bring about, such as a schema that throws. */
  readonly logLimit: LogLimit;
  /** Milliseconds. */
  readonly askTimeout: number;
  /** True when messages from within are validated too. */
  readonly validatesAlways: boolean;
  /** Milliseconds. */
  readonly hookTimeout: number;
  /** Milliseconds. */
  readonly slowHandler: number;
  readonly maxHops: number;
  /** The metadata that a handler hands on with what it sends, by name. */
  readonly inheritedMetadata: readonly string[];
  readonly random: () => number;
  /** For actors without a parent, and for those whose parent has no policy. */
  readonly policy: Policy;
  readonly events: Events;
  readonly observers: Observers;
  /** Counts and times the messages; null where that is off. */
  readonly meters: Meters | null;
  /** True when each message is observed on its way to its handler: the fast way is not taken then. Read once a turn. */
  isObserved: boolean;
  /** Runs something in the context in which the system was made (P16). */
  readonly enter: Enter;
  /** True when no mailbox takes a message unseen: each is validated or stamped, or its sender's context is captured. */
  looksAtEach: boolean;
  /** Captures the sender's context, when handlers run in it; null when they run in the system's. */
  readonly captureSender: (() => Enter) | null;
  /** True once the system has shut down: no actor can be spawned any more. */
  isClosed: boolean;
  /** True when dead letters of which a sender was told are heard by somebody. */
  readonly hearsDeadLetters: boolean;
  /** Publishes a dead letter; one that was meant to be dropped is not logged. */
  deadLetter(letter: DeadLetter, isPlanned: boolean): void;
}
