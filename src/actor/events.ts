import { type Address, isAddress, quote } from "../message/address";
import type { DeliveryError } from "../message/delivery-error";
import type { Message } from "../message/message";
import type { Clock } from "../runtime/clock";
import type { Enter } from "../runtime/contexts";
import { type Feed, FeedSource } from "../runtime/feed";
import type { Settling } from "../runtime/settling";
import type { Overflow } from "./options";
import type { Directive } from "./supervision";

/**
 * The log for failures that nobody handled. It has the shape of `console`: the sentence first, then the details. (A
 * logger that takes the details first, such as pino, keeps only the sentence unless it is wrapped.)
 */
export interface Logger {
  warn(message: string, details?: object): void;
  error(message: string, details?: object): void;
  /**
   * Called before each line in the context (`AsyncLocalStorage`) of the code that logs; its properties become details of the line. `warn`
   * and `error` are called in the context in which the system was made (P16). Default: none.
   */
  context?(): object;
}

/** A message that no handler took (`dropped`: an interceptor removed it), or a reply that nobody waits for any more. */
export interface DeadLetter {
  readonly reason: DeliveryError["kind"] | "late-reply" | "dropped";
  readonly address: Address;
  readonly operation: string;
  /** A sentence: what happened, and what to do. */
  readonly description: string;
  /** True when the sender was told. A dead letter that nobody was told of is logged. */
  readonly asked: boolean;
  /** The message; for a late reply, the message that it answers. */
  readonly message: Message;
  /** The value of a late reply. */
  readonly reply?: unknown;
}

interface Shape<Kind extends string> {
  readonly kind: Kind;
  readonly address: Address;
}

/** An actor was spawned, and begins. */
export interface StartedEvent extends Shape<"started"> {}
/** An actor has ended; `error` is set if its supervisor stopped it for a failure. */
export interface StoppedEvent extends Shape<"stopped"> {
  readonly error?: unknown;
}
/** An actor has restarted, for the `restarts`th time. */
export interface RestartedEvent extends Shape<"restarted"> {
  readonly error: unknown;
  readonly restarts: number;
}
/** An actor failed beyond its limit, and restarts after a pause of `delay` milliseconds. */
export interface HeldEvent extends Shape<"held"> {
  readonly error: unknown;
  readonly delay: number;
}
/** A handler, a hook or a factory threw; `directive` is the supervisor's decision. */
export interface FailedEvent extends Shape<"failed"> {
  /** The operation, or the hook. */
  readonly operation: string;
  readonly error: unknown;
  readonly directive: Directive;
  /**
   * True when no supervisor was left to decide, so the actor is stopped. False for an actor that is held beyond its
   * limit: to learn of an actor that keeps failing, listen for `held` too.
   */
  readonly isUnhandled: boolean;
}
/** A message reached nobody, or was dropped. */
export interface DeadLetterEvent extends Shape<"dead-letter"> {
  readonly letter: DeadLetter;
}
/** A mailbox was full; published again only after there has been room. */
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

/** An event that code beside the system publishes (`system.publish`), such as a transport. */
export interface PublishedEvent extends Shape<`${string}:${string}`> {
  readonly detail?: unknown;
}

/** The events of a system, told apart by `kind`. */
export type SystemEvent =
  | StartedEvent
  | StoppedEvent
  | RestartedEvent
  | FailedEvent
  | HeldEvent
  | DeadLetterEvent
  | OverflowEvent
  | SlowHandlerEvent
  | PublishedEvent;

/**
 * The events of a system, published in order, in a macrotask of their own: no subscriber runs inside an actor's turn.
 */
export class Events {
  readonly #source: FeedSource<SystemEvent>;
  readonly #clock: Clock;
  /** Each event with its subscribers at that moment: nobody hears of an event from before the subscription. */
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

  /** Checked before an event is made: most systems have no subscribers. */
  get hasSubscribers(): boolean {
    return this.#source.hasSubscribers;
  }

  publish(event: SystemEvent): void {
    this.#pending.push({ event, to: this.#source.subscribers });
    if (this.#pending.length === 1) this.#clock.macrotask(() => this.flush());
  }

  /** Publishes an event of code beside the system. */
  publishOwn(event: PublishedEvent): void {
    const kind: unknown = event?.kind;
    if (typeof kind !== "string" || !kind.includes(":")) {
      throw new TypeError(
        `The kind of a published event has a colon behind its owner, as "nats:connected" has; got ${quote(kind)}.`,
      );
    }
    if (!isAddress(event.address)) {
      throw new TypeError(`The event ${quote(kind)} has the address that it is about; got ${quote(event.address)}.`);
    }
    if (this.hasSubscribers) this.publish(event);
  }

  /** Publishes the pending events. */
  flush(): void {
    const pending = this.#pending;
    this.#pending = [];
    for (const { event, to } of pending) this.#source.publish(event, to);
  }
}
