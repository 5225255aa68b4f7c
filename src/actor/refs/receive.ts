import type { Result } from "neverthrow";
import { type AnyRef, quote } from "../../message/address";
import type { DeliveryError } from "../../message/delivery-error";
import type { Metadata } from "../../message/message";
import type { Clock } from "../../runtime/clock";
import type { Envelope, Origin, Recipient } from "../contract";
import { type AskResult, PendingAsk } from "../envelopes/ask";
import {
  type AskOptions,
  checkAskOptions,
  checkMetadata,
  checkOfferOptions,
  checkStreamOptions,
  checkTellOptions,
  type OfferOptions,
  type StreamOptions,
  type TellOptions,
} from "../envelopes/call-options";
import { ends } from "../envelopes/ends";
import { Tell } from "../envelopes/envelope";
import { PendingOffer } from "../envelopes/offer";
import { metadataOf, OUTSIDE, sentAs, withMetadata } from "../envelopes/origin";
import { PendingStream } from "../envelopes/stream";
import { type Expose, exposureBy } from "./exposure";
import { recipientOf } from "./ref";
import { ask, askInto, offer, stream, tell } from "./sending";
import { type ActorStream, StreamReader } from "./stream-reader";

/** The options of a door: what comes through it. */
export interface DoorOptions {
  /** Data for each message, beside its payload: the handler's `ctx.metadata`. That of a call goes before it. Default: none. */
  readonly metadata?: Metadata;
  /**
   * Says which addresses in a payload become references, where its schema has `refSchema`: called with each address, it
   * gives a reference, or `true` for the actor at that address in this system. Anything else refuses the payload as
   * `invalid-payload`. Default: nothing is exposed. Expose only what the sender may send to by itself: the handler will.
   */
  readonly expose?: Expose;
}

/**
 * A way to an actor for messages that the compiler has not typed. Any operation and any payload may be given: neither
 * makes a method throw, or its promise reject. Each payload is validated once, whatever the system's `validate` says;
 * an actor of a router has no schema and takes it unchecked. An operation that the actor lacks, or has in the other
 * pattern, comes back as `unknown-operation`. A bad option is the caller's mistake and throws at once. An operation
 * without a payload gets `undefined`, as in `door.ask("total", undefined)`. `publicError` reduces an error to what its
 * sender may know.
 */
export interface Door {
  /**
   * True once its actor has stopped for good, and nothing that comes is handled any more. Never true for a reference by address
   * (`system.ref`), which outlives each actor that is there.
   */
  readonly isStopped: boolean;
  /** The data that it gives each message (`DoorOptions`). A responder lets the other side replace none of it. */
  readonly metadata?: Metadata | undefined;
  /**
   * Sends and forgets. A message that cannot be delivered becomes a dead letter.
   *
   * @throws RangeError or TypeError at once when an option cannot be one.
   */
  tell(operation: string, payload: unknown, options?: TellOptions): void;
  /**
   * Sends and waits for the reply, which is not typed. Default timeout: the system's `askTimeout`, 5 s. Errors: those
   * of `ref.ask`.
   *
   * @throws RangeError or TypeError at once when an option cannot be one.
   */
  ask(operation: string, payload: unknown, options?: AskOptions): Promise<AskResult>;
  /**
   * Sends, and tells whether the mailbox took the message. Default timeout: the system's `askTimeout`, 5 s. Errors: those of
   * `ref.offer`.
   *
   * @throws RangeError or TypeError at once when an option cannot be one.
   */
  offer(operation: string, payload: unknown, options?: OfferOptions): Promise<Result<void, DeliveryError>>;
  /**
   * Streams what the operation yields. Nothing is sent before the first read. The loop throws a StreamError, whose `kind` is
   * that of an ask's error.
   *
   * @throws RangeError or TypeError at once when an option cannot be one.
   */
  stream(operation: string, payload: unknown, options?: StreamOptions): ActorStream<unknown>;
}

/** A door that `receive` opened. */
export interface OpenDoor extends Door {
  /**
   * True for an actor elsewhere that is gone with its side: for good where its attachment has ended as `unreachable`, and until `restore` where it was
   * interrupted. A transport tells its other side by it which end it was (`Terminated.reason`).
   */
  readonly isUnreachable: boolean;
  /**
   * Asks as `ask` does, and hands the result to a function in place of a promise: for a transport, to which the promise and its options
   * cost a quarter of each ask. The function is called once, maybe before this returns, and maybe within the actor's turn: it notes the
   * result, does the rest in a microtask of the system's clock, and must not throw.
   *
   * @param timeout in milliseconds, above 0, or `Infinity`. It is not checked, and neither is `metadata`.
   * @param metadata data beside the payload, as in `AskOptions`.
   * @returns what gives the ask up, for a reason; that does nothing once the ask has settled.
   * @example
   * const asked = door.askInto("add", payload, 5_000, undefined, (result) => answers.push(result));
   */
  askInto(
    operation: string,
    payload: unknown,
    timeout: number,
    metadata: Metadata | undefined,
    resolve: (result: AskResult) => void,
  ): { cancel(reason: unknown): void };
}

/** The door of an actor, as `receive` opens it. */
export class ActorDoor implements OpenDoor {
  readonly metadata: Metadata | undefined;
  readonly #cell: Recipient;
  readonly #origin: Origin;

  constructor(cell: Recipient, { metadata, expose }: DoorOptions) {
    this.#cell = cell;
    if (metadata !== undefined) checkMetadata(metadata, "a door");
    const exposure = exposureBy(cell.environment, expose);
    const exposed = exposure === null ? OUTSIDE : sentAs(OUTSIDE, { exposure });
    this.#origin = metadata === undefined ? exposed : withMetadata(exposed, metadata);
    this.metadata = metadataOf({ origin: this.#origin }) ?? undefined;
  }

  get isStopped(): boolean {
    return this.#cell.isStopped;
  }

  get isUnreachable(): boolean {
    return ends.get(this.#cell)?.reason === "unreachable";
  }

  /** That of its actor's system. */
  get clock(): Clock {
    return this.#cell.environment.clock;
  }

  tell(operation: string, payload: unknown, options?: TellOptions): void {
    const cell = this.#cell;
    if (isName(operation)) {
      tell(cell, this.#origin, operation, payload, options);
      return;
    }
    if (options !== undefined) checkTellOptions(options);
    refuse(cell, new Tell(quote(operation), payload, this.#origin));
  }

  ask(operation: string, payload: unknown, options?: AskOptions): Promise<AskResult> {
    const cell = this.#cell;
    if (isName(operation)) return ask(cell, this.#origin, operation, cell.operation(operation), payload, options);
    if (options !== undefined) checkAskOptions(options);
    return new Promise((resolve) =>
      refuse(cell, new PendingAsk(cell, quote(operation), payload, this.#origin, Number.POSITIVE_INFINITY, resolve)),
    );
  }

  askInto(
    operation: string,
    payload: unknown,
    timeout: number,
    metadata: Metadata | undefined,
    resolve: (result: AskResult) => void,
  ): PendingAsk {
    const cell = this.#cell;
    const origin = metadata === undefined ? this.#origin : withMetadata(this.#origin, metadata);
    if (isName(operation)) return askInto(cell, origin, operation, payload, timeout, resolve);
    const pending = new PendingAsk(cell, quote(operation), payload, origin, Number.POSITIVE_INFINITY, resolve);
    refuse(cell, pending);
    return pending;
  }

  offer(operation: string, payload: unknown, options: OfferOptions = {}): Promise<Result<void, DeliveryError>> {
    const cell = this.#cell;
    if (isName(operation)) return offer(cell, this.#origin, operation, payload, options);
    checkOfferOptions(options);
    return new Promise((resolve) =>
      refuse(cell, new PendingOffer(cell, quote(operation), payload, this.#origin, {}, resolve)),
    );
  }

  stream(operation: string, payload: unknown, options: StreamOptions = {}): ActorStream<unknown> {
    const cell = this.#cell;
    if (isName(operation)) return stream(cell, this.#origin, operation, payload, options);
    checkStreamOptions(options);
    return new StreamReader(cell.environment.settling, () => {
      const pending = new PendingStream(cell, quote(operation), payload, {}, this.#origin);
      refuse(cell, pending);
      return pending;
    });
  }
}

/** True for a value that can name an operation: a caller from outside may send any value. */
const isName = (operation: unknown): operation is string => typeof operation === "string" && operation !== "";

/** Refuses a message without a valid operation name. An actor of a router would take any name. */
function refuse(cell: Recipient, envelope: Envelope): void {
  cell.environment.counts.accepted++;
  cell.refuse(envelope, cell.error("unknown-operation", envelope));
}

/**
 * Opens a door to an actor: the way in for messages from outside, such as the body of a request.
 *
 * The protocol of the reference says what is valid, because a payload is validated once. A reference by address
 * (`system.ref(address, protocol)`) should have the protocol of the actor that is there: with a wider one, such as
 * `Type.Unknown()`, the actor's own schema checks nothing, unless that actor validates always.
 *
 * @throws TypeError when `ref` is no reference, the metadata is no plain object, or `expose` is no function.
 * @example
 * const reply = await receive(counter).ask("add", await request.json()); // Err: invalid-payload, where it is no number
 */
export const receive = (ref: AnyRef, options: DoorOptions = {}): OpenDoor => new ActorDoor(recipientOf(ref), options);
