import { err, type Result } from "neverthrow";
import { type ActorEnvironment, Cell } from "../actor/cell/cell";
import type { Audit } from "../actor/contract";
import type { AskResult } from "../actor/envelopes/ask";
import {
  type AskOptions,
  checkAskOptions,
  checkOfferOptions,
  checkStreamOptions,
  type OfferOptions,
  type StreamOptions,
} from "../actor/envelopes/call-options";
import { deadLetterOf } from "../actor/envelopes/envelope";
import { originWith } from "../actor/envelopes/origin";
import { PendingStream } from "../actor/envelopes/stream";
import { StreamError } from "../actor/envelopes/stream-step";
import type { DeadLetter } from "../actor/events";
import { CellContext } from "../actor/face/cell-context";
import type { Context } from "../actor/face/context";
import { audit } from "../actor/face/inspect";
import { begin, claim, equip } from "../actor/face/spawn";
import { stop } from "../actor/life/lifecycle";
import { type ActorOptions, checkActorOptions, NO_OPTIONS } from "../actor/options";
import { type AnySignatures, type Ref, refTo } from "../actor/refs/ref";
import { ask, offer, openStream, recipientAt, tell } from "../actor/refs/sending";
import { type ActorStream, StreamReader } from "../actor/refs/stream-reader";
import { type Address, isAddress, quote } from "../message/address";
import { type DeliveryError, deliveryError } from "../message/delivery-error";
import type { Message } from "../message/message";
import { sentenceOf } from "../message/sentence-of";
import type { Feed } from "../runtime/feed";
import { deadLetterOfNobody } from "./dead-letters";
import { createEnvironment, type SystemOptions } from "./environment";
import type { Interceptor } from "./interceptor";
import { Interceptors } from "./interceptors";
import { sourceOf } from "./transit";

/** A function that handles each message to an address. Its result, or that of its promise, is the reply. */
export type MessageHandler = (message: Message, ctx: Context<AnySignatures>) => unknown;

/** Delivers messages to addresses: for plumbing, gateways, and recipients known only at run time. */
export interface Router {
  /**
   * Registers a handler at an address, as an actor that takes any operation, one message at a time (P3).
   *
   * @throws TypeError when the address is invalid; Error when it is in use.
   * @example
   * const echo = router.register(address("echo"), (message) => message.payload);
   */
  register(at: Address, handler: MessageHandler, options?: ActorOptions): Ref<AnySignatures>;
  /**
   * Stops the actor or handler at an address, with its children, after its running message. Waiting messages are
   * dead-lettered. Resolves to true if there was one.
   */
  unregister(at: Address): Promise<boolean>;
  /** Tells whether an actor or a handler is at the address. */
  has(at: Address): boolean;
  /** Sends and forgets; never throws (P4). An undeliverable message becomes a dead letter; a value that is no message is logged. */
  tell(message: Message): void;
  /**
   * Sends and waits for the reply: `Ok(reply)` or `Err(error)`, once, always (P6). Errors: `no-recipient`, and those of
   * `ref.ask`.
   *
   * @throws TypeError or RangeError at once when the message or an option is invalid.
   * @example
   * const reply = await router.ask(createMessage(address("echo"), "say", "hi"), { timeout: 500 });
   */
  ask(message: Message, options?: AskOptions): Promise<AskResult>;
  /**
   * Streams the items of the handler's iterable. The loop throws a StreamError, whose `kind` is that of an ask's error.
   * Nothing is sent before the first read.
   *
   * @throws TypeError or RangeError at once when the message or an option is invalid.
   *
   * @example
   * for await (const chunk of router.stream(createMessage(address("llm"), "tokens", prompt))) show(chunk);
   */
  stream(message: Message, options?: StreamOptions): ActorStream<unknown>;
  /**
   * Sends, and tells whether the mailbox took the message. Errors: `no-recipient`, and those of `ref.offer`.
   *
   * @throws TypeError or RangeError at once when the message or an option is invalid.
   */
  offer(message: Message, options?: OfferOptions): Promise<Result<void, DeliveryError>>;
  /**
   * Installs an interceptor, after those installed before. It sees each message sent through this router from now on, and
   * passes it on, changes it, answers it or drops it (see `Interceptor`, with examples). Messages to one address keep their
   * order: they wait while an earlier one is in an interceptor. Messages to other addresses do not wait. The time in
   * interceptors counts for an ask's `timeout`; a tell or an offer is given up after the system's `askTimeout` in them.
   * Messages sent through a reference (`ref.tell`, `ctx.ask`) are neither seen nor queued behind the others. An interceptor
   * must ask by reference, or it may wait for itself.
   *
   * @returns a function that removes the interceptor.
   * @throws TypeError when the interceptor is not a function.
   * @example
   * const remove = router.use((message, next) => (isKnown(message.from) ? next() : drop("nobody knows its sender")));
   */
  use(interceptor: Interceptor): () => void;
  /** Each message that no handler took, and each reply that came too late. */
  readonly deadLetters: Feed<DeadLetter>;
  /** The counts of all messages so far: `accepted` is the sum of the others, with `sent` where there is one (P1). A message in an interceptor is running. */
  audit(): Audit;
}

/** The router of one environment. */
export class AddressRouter implements Router {
  readonly #environment: ActorEnvironment;
  readonly deadLetters: Feed<DeadLetter>;
  /** Null while there are none: they cost one comparison then. */
  #interceptors: Interceptors | null = null;

  constructor(environment: ActorEnvironment, deadLetters: Feed<DeadLetter>) {
    this.#environment = environment;
    this.deadLetters = deadLetters;
  }

  register(at: Address, handler: MessageHandler, options: ActorOptions = NO_OPTIONS): Ref<AnySignatures> {
    if (!isAddress(at)) throw new TypeError(`${quote(at)} is not an address; make one with address("echo").`);
    if (typeof handler !== "function") {
      throw new TypeError(`The handler of ${at} is a function of a message, such as (message) => message.payload.`);
    }
    checkActorOptions(options, at);
    claim(this.#environment, null, at, false);
    const cell = new Cell(this.#environment, at, null, null, null);
    this.#environment.directory.add(cell, false);
    equip(cell, options);
    const ctx = new CellContext(cell);
    begin(cell, (message) => handler(message, ctx));
    return refTo(cell);
  }

  unregister(at: Address): Promise<boolean> {
    const cell = this.#environment.directory.get(at);
    if (cell === undefined) return this.#environment.settling.resolved(false);
    return new Promise((resolve) => stop(cell, false, () => this.#environment.settling.settle(resolve, true)));
  }

  has(at: Address): boolean {
    return this.#environment.directory.get(at) !== undefined;
  }

  tell(message: Message): void {
    try {
      if (!isMessage(message)) throw new TypeError(notMessage(message));
      if (this.#interceptors !== null) {
        this.#interceptors.tell(message);
        return;
      }
      this.put(message);
    } catch (thrown) {
      this.#environment.logger.error(`a message that cannot be read was dropped: ${sentenceOf(thrown)}`); // P4
    }
  }

  ask(message: Message, options?: AskOptions): Promise<AskResult> {
    if (!isMessage(message)) throw new TypeError(notMessage(message));
    if (this.#interceptors !== null) return this.#interceptors.ask(message, options);
    const cell = recipientAt(this.#environment, message.to);
    if (cell === undefined) {
      if (options !== undefined) checkAskOptions(options);
      return this.#environment.settling.resolved(err(this.#returnToSender(message, true)));
    }
    return ask(cell, message, message.type, cell.operation(message.type), message.payload, options);
  }

  stream(message: Message, options: StreamOptions = {}): ActorStream<unknown> {
    if (!isMessage(message)) throw new TypeError(notMessage(message));
    checkStreamOptions(options);
    if (this.#interceptors !== null) return this.#interceptors.stream(message, options);
    return new StreamReader(this.#environment.settling, () => {
      const opened = this.open(message, options);
      if (opened instanceof PendingStream) return opened;
      throw new StreamError(opened);
    });
  }

  /** Sends the message of a stream now. */
  open(message: Message, options: StreamOptions): PendingStream | DeliveryError {
    const cell = recipientAt(this.#environment, message.to);
    if (cell === undefined) return this.#returnToSender(message, true);
    const origin = originWith(message, options, this.#environment.clock);
    return openStream(cell, origin, message.type, message.payload, options);
  }

  offer(message: Message, options: OfferOptions = {}): Promise<Result<void, DeliveryError>> {
    if (!isMessage(message)) throw new TypeError(notMessage(message));
    if (this.#interceptors !== null) return this.#interceptors.offer(message, options);
    const cell = recipientAt(this.#environment, message.to);
    if (cell === undefined) {
      checkOfferOptions(options);
      return this.#environment.settling.resolved(err(this.#returnToSender(message, true)));
    }
    return offer(cell, message, message.type, message.payload, options);
  }

  /** Tells a message. Returns the error if the mailbox did not take it. */
  put(message: Message): DeliveryError | null {
    const cell = recipientAt(this.#environment, message.to);
    if (cell === undefined) return this.#returnToSender(message, false);
    return tell(cell, message, message.type, message.payload);
  }

  use(interceptor: Interceptor): () => void {
    // Messages are handed on to a router of the same addresses without interceptors.
    this.#interceptors ??= new Interceptors(
      this.#environment,
      new AddressRouter(this.#environment, this.deadLetters),
      () => {
        this.#interceptors = null;
      },
    );
    return this.#interceptors.use(interceptor);
  }

  /** Gives up the messages that are still in an interceptor, after the shutdown. */
  close(): void {
    this.#interceptors?.close();
  }

  #returnToSender(message: Message, isTold: boolean): DeliveryError {
    const error = deliveryError("no-recipient", sourceOf(message, false)); // Comes before the counts: it may throw.
    deadLetterOfNobody(this.#environment, deadLetterOf(error, isTold));
    return error;
  }

  audit(): Audit {
    const counted = audit(this.#environment);
    return this.#interceptors === null ? counted : this.#interceptors.audit(counted);
  }
}

const isMessage = (value: unknown): boolean => typeof value === "object" && value !== null;

const notMessage = (value: unknown): string =>
  `${quote(value)} is no message; make one with createMessage(address("echo"), "say", "hi").`;

/**
 * Makes a router without a system. A system has one already.
 *
 * @throws TypeError or RangeError when an option is invalid.
 * @example
 * const router = createRouter();
 * router.register(address("echo"), (message) => message.payload);
 * const reply = await router.ask(createMessage(address("echo"), "say", "hi"), { timeout: 500 });
 */
export function createRouter(options: SystemOptions = {}): Router {
  const { environment, deadLetters } = createEnvironment(options);
  return new AddressRouter(environment, deadLetters.feed);
}
