import type { Address } from "../message/address";
import type { DeliveryError } from "../message/delivery-error";
import type { Message } from "../message/message";
import type { Clock } from "../runtime/clock";
import type { Enter } from "../runtime/contexts";
import type { Dispatcher } from "../runtime/dispatcher";
import type { LogLimit } from "../runtime/log-limit";
import type { Settling } from "../runtime/settling";
import type { TimerWheel } from "../runtime/timer-wheel";
import type { Behaviour, Cell } from "./cell/cell";
import type { Directory } from "./cell/directory";
import type { Events } from "./events";
import type { Policy } from "./supervision";

/**
 * Where envoi writes what nobody handled. It has the shape of `console`: the sentence first, details behind it. (A
 * logger that takes the details first, such as pino, keeps the sentence alone unless it is wrapped.)
 */
export interface Logger {
  warn(message: string, details?: object): void;
  error(message: string, details?: object): void;
}

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

/**
 * A message that no handler took (`dropped`: an interceptor took it out), or a reply that nobody waits for any more.
 */
export interface DeadLetter {
  readonly reason: DeliveryError["kind"] | "late-reply" | "dropped";
  readonly address: Address;
  readonly operation: string;
  /** A sentence: what happened, and what to do. */
  readonly description: string;
  /** Whether somebody asked, and so was told; what nobody was told is logged. */
  readonly asked: boolean;
  /** The message; for a late reply, the one that it answers. */
  readonly message: Message;
  /** What a late reply said. */
  readonly reply?: unknown;
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
  readonly directory: Directory;
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
  /** Runs the factory of an actor. */
  makeBehaviour(cell: Cell): Behaviour;
  /** Whether the system has shut down: nobody can be spawned any more. */
  isClosed: boolean;
  /** Publishes a dead letter; one that was meant to be dropped is not logged. */
  bury(letter: DeadLetter, isPlanned: boolean): void;
}

/** Counts what waits and runs where it does, so that the sum is a proof and not an identity. */
export function audit(environment: Environment): Audit {
  let queued = 0;
  let running = 0;
  for (const cell of environment.directory.all()) {
    cell.queue?.settle();
    queued += cell.queued;
    running += cell.running;
  }
  return { ...environment.counts, queued, running };
}
