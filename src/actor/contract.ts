import type { Address, AnyRef } from "../message/address";
import type { AskError, DeliveryError, Pause } from "../message/delivery-error";
import type { Message, Pattern } from "../message/message";
import type { Operation } from "../protocol/protocol";
import type { Clock } from "../runtime/clock";
import type { Enter } from "../runtime/contexts";
import type { Dispatcher } from "../runtime/dispatcher";
import type { LogLimit } from "../runtime/log-limit";
import type { Mail, MessageQueue } from "../runtime/mailbox";
import type { Settling } from "../runtime/settling";
import type { TimerWheel } from "../runtime/timer-wheel";
import type { DeadLetter, Events, Logger } from "./events";
import type { ANSWERED, ENDED } from "./reasons";
import type { Policy } from "./supervision";

// What travels between actors, and who gets it: types alone. Nothing below the cell knows the cell.

/**
 * Who gets a message: all that envelopes and references know of an actor. The actor of this process is a Cell. One that is
 * elsewhere is a Cell, too, behind a relay.
 */
export interface Recipient {
  readonly address: Address;
  readonly environment: Environment;
  readonly parent: Recipient | null;
  /** How many characters its address has; known without the address. */
  readonly addressLength: number;
  /** The reference to it. */
  readonly ref: AnyRef;
  /** What it can be asked for; null where it takes every message, as an actor of a router does. */
  readonly operations: Operations | null;
  /** Where its messages wait; null until the first one has come. */
  readonly queue: MessageQueue<Envelope> | null;
  readonly isAlive: boolean;
  /** Whether its mailbox has a bound, or something stands before it. */
  readonly isGuarded: boolean;
  /** Whether each payload for it is checked, also one from within. */
  readonly isStrict: boolean;
  /** What stands before its mailbox and hands each message on; null for most. */
  readonly relay: Relay | null;
  /**
   * The handling of an actor that handles one message at a time, null where nothing is known of one; undefined of an actor with
   * a concurrency, or behind a relay.
   */
  readonly soleHandling: Waiter | null | undefined;
  /** What has to end before it has room for a message: one handling of each group. Empty where it has room. */
  readonly occupants: readonly (readonly Waiter[])[];
  /** Whether it handles as many messages as it may. */
  readonly isFull: boolean;
  /** Whether it takes no message before its handlings and its children have ended. */
  readonly isRestarting: boolean;
  readonly isStoppingChildren: boolean;
  /** What it waits for when it restarts or stops: its handlings, and the children that it has told to stop. */
  readonly awaited: readonly (Waiter | Recipient)[];
  /** Why it handles nothing, where it waits to begin anew. */
  readonly pause: Pause | undefined;
  /** What is known of the messages that it handles now. */
  readonly handlings: readonly Waiter[];
  /** The operation of a name; undefined where there is none, null where any name will do. */
  operation(type: string): Operation | null | undefined;
  /** The messages that it handles now. */
  envelopes(): readonly Envelope[];
  /** What is known of an envelope that it handles; null where nothing is, beyond itself. */
  handlingOf(envelope: Envelope): Waiter | null;
  /** Takes a tell from outside of actors. */
  tell(type: string, payload: unknown): void;
  /** Takes what most messages from outside of actors are; false where more than this has to be looked at. */
  takes(envelope: Envelope, operation: Operation | null | undefined): boolean;
  /** Puts an envelope into the mailbox, or refuses it and says why. */
  accept(envelope: Envelope, operation: Operation | null | undefined): DeliveryError | null;
  /** The error of an envelope that it does not take. */
  error(kind: "stopped" | "unknown-operation", envelope: Envelope): DeliveryError;
  /** Makes a dead letter of an envelope, and tells its sender why. */
  refuse(envelope: Envelope, error: DeliveryError): DeliveryError;
  /** Takes back an envelope whose sender gave up, or tells the handler that has it (P7). */
  abandon(envelope: Envelope, error: DeliveryError): void;
}

/** What one of several actors gets of an ask. */
export interface Part {
  readonly cell: Recipient;
  /** What was sent to it; null where nothing has been yet. */
  readonly wait: Wait | null;
}

/** Several actors that get one ask. */
export interface Recipients {
  readonly parts: Iterable<Part>;
  /** Whether one answer is enough; otherwise all have to come. */
  readonly isOneEnough: boolean;
}

/** Stands before the mailbox of an actor that handles no message itself, such as a pool, and hands each to another one. */
export interface Relay {
  /** Delivers as Recipient.accept does: what it hands on is counted by who gets it. */
  accept(envelope: Envelope, operation: Operation | null | undefined): DeliveryError | null;
  /** The one actor that the next message is for; null where it goes to several. */
  pick(type: string, payload: unknown): Recipient | null;
  /** Whom an ask that is not sent yet goes to, where that is several. */
  recipients(): Recipients;
}

/** A message that went to several actors. */
export interface Fan {
  /** Those that have not answered it yet. */
  recipients(): Recipients;
  /** Its sender gave up. */
  abandon(error: DeliveryError): void;
}

/** A message on its way: what was said, and where it comes from. The message itself is made when it is read. */
export interface Envelope extends Mail<Envelope> {
  readonly pattern: Pattern;
  readonly type: string;
  payload: unknown;
  origin: Origin;
  /** That of who sent it, where its handler runs in that. */
  context?: Enter;
  /** Why its sender waits no more, though it was not handled. */
  readonly failure: AskError | null;
  /** Whether its sender learns what becomes of it, so that nothing needs to be logged. */
  readonly isTold: boolean;
  /** Whether it may wait for room in a full mailbox. */
  readonly canWait: boolean;
  /** It has its place in the mailbox. */
  admitted(): void;
  /** Another actor has it now. */
  moveTo(cell: Recipient): void;
  /** Tells the sender what came of it; false when nobody waits any more. */
  complete(result: unknown): boolean;
  /** Tells the sender why nothing comes of it. */
  fail(error: AskError): void;
}

/** The origin of an envelope that came through a door, where it has no message yet or its payload is checked already. */
export interface FromDoor {
  /** The message that was sent; null until it is read. */
  readonly message: Message | null;
  /** The operation whose schema the payload fits; null before it was checked. */
  readonly fits: Operation | null;
}

/** Where an envelope comes from: the message that was sent, the actor that sent it, a door, or null outside of actors. */
export type Origin = Message | Recipient | FromDoor | null;

/** Why a wait ends with its handling, or with what it is a part of: what that was given up for, or how it has ended. */
export type EndReason = DeliveryError | typeof ENDED | typeof ANSWERED;

/** Something that a handler waits for at another actor: an ask, or a stream. */
export interface Wait {
  /** Who has the message now. */
  readonly cell: Recipient;
  /** Whether it has not come to its end. */
  readonly isOpen: boolean;
  /** Whether its handler waits for it now. A stream is waited for while a read waits for its item. */
  readonly isWaiting: boolean;
  /** The link of the list of its handling, and that handling until the wait has ended. */
  nextWait: Wait | null;
  waiter: Waiter | null;
  /** Whether a message from outside has caused that handling. */
  servesOutside: boolean;
  /** Ends it: nothing that a handler waits for outlives the handling. */
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
  /** Whether it stands for what its actor asks and reads beside its messages. */
  readonly isBackground: boolean;
  /** The message comes to its end elsewhere. */
  readonly passedOn: "stashed" | "forwarded" | null;
  /** Whether it has ended, or was abandoned: nothing can be waited for any more. */
  readonly isOver: boolean;
  /** Whether it has had several waits at once, so that one that ends may leave it with those that cannot end. */
  readonly isSeveral: boolean;
  /** Whether it waits for anything. */
  readonly isWaiting: boolean;
  /** Whether a look for a circle is due. */
  isLookDue: boolean;
  /** The reader that its stream waits for, while it is as far ahead as its credit goes. */
  parkedFor: Waiter | null;
  /** The first of the list of its waits that has not ended. */
  firstOpen(): Wait | null;
  /** What it waits for now. */
  waits(): Iterable<Wait>;
}

/** What an actor can be asked for, by name. */
export type Operations = Readonly<Record<string, Operation>>;

/** What an actor does: a handler for each operation, or one for every message (an actor of a router). */
export type Behaviour = HandlerTable | ((message: Message) => unknown);
export type HandlerTable = Record<string, (payload: unknown) => unknown>;

/** Makes an actor's behaviour, at its start and at each restart; null where it has one for good. */
export type AnyFactory = ((context: never) => unknown) | null;

/** What became of all messages so far: `accepted` is the sum of the others (promise P1). */
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
  /** In mailboxes now, counted there. */
  readonly queued: number;
  /** In handlers, or in a router's interceptors, now: counted there. */
  readonly running: number;
}

/** A message that a handler is about to get. */
export interface Handled {
  readonly address: Address;
  readonly operation: string;
  readonly payload: unknown;
}

/** What the actors of one system share. */
export interface Environment {
  readonly clock: Clock;
  readonly dispatcher: Dispatcher;
  /** Settles what is refused or taken at once. */
  readonly settling: Settling;
  readonly timers: TimerWheel;
  /** Finds the actor of an address. */
  readonly directory: { get(at: string): Recipient | undefined };
  readonly counts: { accepted: number; handled: number; failed: number; dead: number };
  readonly logger: Logger;
  /** Bounds what is logged of failures that each message can bring about, such as a schema that throws. */
  readonly logLimit: LogLimit;
  /** Milliseconds. */
  readonly askTimeout: number;
  /** Whether messages from within are validated too. */
  readonly validatesAlways: boolean;
  /** Milliseconds. */
  readonly hookTimeout: number;
  /** Milliseconds. */
  readonly slowHandler: number;
  readonly maxHops: number;
  readonly random: () => number;
  /** For actors whose parent has none, and those without a parent. */
  readonly policy: Policy;
  readonly events: Events;
  readonly beforeHandle: ((handled: Handled) => void) | null;
  /** Whether each message is looked at on its way to its handler, so that the short way is not taken. */
  readonly isObserved: boolean;
  /** Runs something in the context in which the system was made (P16). */
  readonly enter: Enter;
  /** Whether no mailbox takes a message unseen: each is validated, or the context of its sender is captured. */
  readonly looksAtEach: boolean;
  /** Captures the context of who sends, where handlers run in that; null where they run in the system's. */
  readonly captureSender: (() => Enter) | null;
  /** Whether the system has shut down: nobody can be spawned any more. */
  isClosed: boolean;
  /** Publishes a dead letter; one that was meant to be dropped is not logged. */
  deadLetter(letter: DeadLetter, isPlanned: boolean): void;
}
