import type { Address } from "../message/address";
import type { DeliveryError } from "../message/delivery-error";
import type { Message } from "../message/message";
import type { Clock } from "../runtime/clock";
import type { Enter } from "../runtime/contexts";
import { type Feed, FeedSource } from "../runtime/feed";
import type { Settling } from "../runtime/settling";
import type { Overflow } from "./options";
import type { Directive } from "./supervision";

/**
 * Where envoi writes what nobody handled. It has the shape of `console`: the sentence first, details behind it. (A
 * logger that takes the details first, such as pino, keeps the sentence alone unless it is wrapped.)
 */
export interface Logger {
  warn(message: string, details?: object): void;
  error(message: string, details?: object): void;
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

interface Shape<Kind extends string> {
  readonly kind: Kind;
  readonly address: Address;
}

/** An actor was spawned, and begins. */
export interface StartedEvent extends Shape<"started"> {}
/** An actor has ended; `error` is there where its supervisor stopped it for that. */
export interface StoppedEvent extends Shape<"stopped"> {
  readonly error?: unknown;
}
/** An actor has begun anew, for the `restarts`th time. */
export interface RestartedEvent extends Shape<"restarted"> {
  readonly error: unknown;
  readonly restarts: number;
}
/** An actor failed beyond its limit, and restarts after a pause of `delay` milliseconds. */
export interface HeldEvent extends Shape<"held"> {
  readonly error: unknown;
  readonly delay: number;
}
/** A handler, a hook or a factory threw, and `directive` is what was decided. */
export interface FailedEvent extends Shape<"failed"> {
  /** The operation, or the hook. */
  readonly operation: string;
  readonly error: unknown;
  readonly directive: Directive;
  /**
   * Whether no supervisor was left to decide, so that the actor is stopped. False of an actor that is held back beyond its limit:
   * to hear of one that keeps failing, listen for `held` as well.
   */
  readonly isUnhandled: boolean;
}
/** A message reached nobody, or was dropped. */
export interface DeadLetterEvent extends Shape<"dead-letter"> {
  readonly letter: DeadLetter;
}
/** A mailbox was full; told again once there has been room. */
export interface OverflowEvent extends Shape<"overflow"> {
  readonly operation: string;
  readonly capacity: number;
  readonly overflow: Overflow;
}
/** A handler has taken longer than the system's `slowHandler`; it may still run. */
export interface SlowHandlerEvent extends Shape<"slow-handler"> {
  readonly operation: string;
  /** In milliseconds, so far. */
  readonly elapsed: number;
}

/** What happens in a system, told apart by `kind`. */
export type SystemEvent =
  | StartedEvent
  | StoppedEvent
  | RestartedEvent
  | FailedEvent
  | HeldEvent
  | DeadLetterEvent
  | OverflowEvent
  | SlowHandlerEvent;

/** The events of a system: told in order, in a macrotask of their own, so that no subscriber runs inside of an actor's turn. */
export class Events {
  readonly #source: FeedSource<SystemEvent>;
  readonly #clock: Clock;
  /** With those who subscribed when it happened: nobody is told of what was before. */
  #pending: { readonly event: SystemEvent; readonly to: FeedSource<SystemEvent>["subscribers"] }[] = [];

  constructor(clock: Clock, logger: Logger, settling: Settling, enter: Enter) {
    this.#clock = clock;
    this.#source = new FeedSource(settling, enter, (thrown) =>
      logger.error("a subscriber to events threw", { cause: thrown }),
    );
  }

  get feed(): Feed<SystemEvent> {
    return this.#source;
  }

  /** Asked before an event is made: nobody listens in most systems. */
  get hasSubscribers(): boolean {
    return this.#source.hasSubscribers;
  }

  publish(event: SystemEvent): void {
    this.#pending.push({ event, to: this.#source.subscribers });
    if (this.#pending.length === 1) this.#clock.macrotask(() => this.flush());
  }

  /** Tells what is not told yet. */
  flush(): void {
    const pending = this.#pending;
    this.#pending = [];
    for (const { event, to } of pending) this.#source.publish(event, to);
  }
}
