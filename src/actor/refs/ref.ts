import type { Result } from "neverthrow";
import { type Address, type AnyRef, addressUnder, isWritten } from "../../message/address";
import type { DeliveryError } from "../../message/delivery-error";
import type { Metadata } from "../../message/message";
import type { Protocol, SignaturesOf } from "../../protocol/protocol";
import type {
  AskArgs,
  Asked,
  ItemOf,
  ReplyOf,
  ShapeOf,
  SharesWith,
  StreamArgs,
  Streamed,
} from "../../protocol/signatures";
import type { Environment, Recipient } from "../contract";
import type { AskResult } from "../envelopes/ask";
import type { AskOptions, OfferOptions, StreamOptions, TellOptions } from "../envelopes/call-options";
import { inheritedFrom } from "../envelopes/handed-on";
import type { Logger } from "../events";
import { ask, asWritten, offer, stream } from "./sending";
import type { ActorStream } from "./stream-reader";

declare const signatures: unique symbol;
declare const shapes: unique symbol;

/**
 * A light reference to an actor. It can be kept for ever, and keeps nothing of a stopped actor alive (P14). It fits
 * wherever a reference to a part of its protocol is wanted. There an operation may take less and reply more, but must
 * have a payload if this one has one: without a payload, the options of a call stand in its place.
 */
export interface Ref<out Signatures, out Shapes = { [K in keyof Signatures]?: ShapeOf<Signatures[K]> }> extends AnyRef {
  /** For the compiler alone: decides which references fit where another is wanted. */
  readonly [signatures]?: Signatures;
  /** For the compiler alone: the operations that have a payload. Another reference must agree on them. */
  readonly [shapes]?: Shapes;
  /**
   * Sends and forgets. Never throws for what it sends, and never runs the handler on the caller's stack (P4). A message
   * that cannot be delivered becomes a dead letter.
   *
   * @throws RangeError or TypeError at once when an option cannot be one.
   * @example
   * counter.tell("add", 2);
   * counter.tell("add", 2, { metadata: { user: "Ada" } });
   */
  tell<Name extends string>(
    operation: Asked<Signatures, Name>,
    ...args: [...payload: AskArgs<Signatures, NoInfer<Name>>, options?: TellOptions]
  ): void;

  /**
   * Sends and waits for the reply: `Ok(reply)` or `Err(error)`, once, always (P6). Default timeout: the system's, 5 s.
   * Errors: `timeout`, `cancelled`, `stopped`, `mailbox-full`, `unknown-operation`, `invalid-payload`,
   * `handler-failed`, `no-recipient` (it was forwarded more than `maxHops` times), `ask-cycle` (it was forwarded
   * into a circle of actors that wait for each other), `unreachable` (its address could not be opened, or its transport could not
   * send it) and `payload-too-large` (for its transport).
   *
   * Inside of a generic function, an operation whose reply is a bare type parameter cannot be asked: the compiler cannot tell it
   * from a stream. A reply such as `{ value: T }` can.
   *
   * @throws RangeError or TypeError at once when an option cannot be one.
   * @example
   * const total = await counter.ask("total", { timeout: 500 }); // Result<number, AskError>
   */
  ask<Name extends string>(
    operation: Asked<Signatures, Name>,
    ...args: [...payload: AskArgs<Signatures, NoInfer<Name>>, options?: AskOptions]
  ): Promise<AskResult<ReplyOf<Signatures, Name & keyof Signatures>>>;

  /**
   * Streams the items that the operation yields. The producer runs at most `credit` items ahead (P12); leaving the loop
   * ends it. The stream occupies the actor (one of its `concurrency`) until it is read to its end or left. The loop
   * throws a StreamError, whose `kind` is that of an ask's error.
   *
   * @throws RangeError or TypeError at once when an option cannot be one.
   * @example
   * for await (const tick of counter.stream("ticks", 3)) console.log(tick);
   */
  stream<Name extends string>(
    operation: Streamed<Signatures, Name>,
    ...args: [...payload: StreamArgs<Signatures, NoInfer<Name>>, options?: StreamOptions]
  ): ActorStream<ItemOf<Signatures, Name & keyof Signatures>>;

  /**
   * Sends, and tells whether the mailbox took the message. Where it is full and its overflow is `"wait"`, this waits
   * for room, in order (P11); default timeout: the system's `askTimeout`, 5 s. Errors: `mailbox-full`, `timeout`,
   * `cancelled`, `stopped`, `unknown-operation` and (with `validate: "always"`) `invalid-payload`.
   *
   * @throws RangeError or TypeError at once when an option cannot be one.
   * @example
   * if ((await counter.offer("add", 2)).isErr()) giveUp();
   */
  offer<Name extends string>(
    operation: Asked<Signatures, Name>,
    ...args: [...payload: AskArgs<Signatures, NoInfer<Name>>, options?: OfferOptions]
  ): Promise<Result<void, DeliveryError>>;
}

/** The reference to an actor of a protocol: `RefTo<typeof Counter>`. */
export type RefTo<P extends Protocol> = Ref<SignaturesOf<P>>;

/**
 * A reference that a message can be forwarded to: its actor shares an operation with the one that forwards. A union
 * must share with each of its actors. Otherwise, the sentence that the compiler shows.
 */
export type Forwardable<Signatures, To extends AnyRef> = string extends keyof Signatures
  ? To
  : To extends Ref<infer Theirs, infer _Shapes>
    ? SharesWith<Signatures, Theirs> extends true
      ? To
      : "it takes none of the operations of the actor that forwards"
    : "it takes none of the operations of the actor that forwards";

/** The operations that the forwarding actor shares with the other one; of several others, with any one of them. */
export type Forwarded<Signatures, To extends AnyRef> =
  To extends Ref<infer Theirs, infer _Shapes> ? { [K in keyof Signatures & keyof Theirs]: Theirs[K] } : unknown;

/**
 * The signatures of an actor that takes any operation, such as one that is registered with a router. A typed reference
 * does not fit it, because its actor does not take any payload; a list of all kinds of actors is one of `AnyRef`.
 */
export type AnySignatures = Record<string, (payload?: unknown) => unknown>;

/** Holds the address. A separate class: with a getter of its own, a reference would take 48 bytes instead of 32. */
class Addressed implements AnyRef {
  /** The address; for a child, its name below its parent until the address is read. */
  #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  get address(): Address {
    if (isWritten(this.#name)) return this.#name;
    const { parent } = recipientOf(this);
    if (parent === null) throw new Error(`"${this.#name}" is below nobody.`);
    const address = addressUnder(parent.address, this.#name);
    this.#name = address;
    return address;
  }

  /** True once its address was read. */
  static isWritten(ref: Addressed): boolean {
    return isWritten(ref.#name);
  }

  /** The length of its address, in characters. */
  static lengthOf(ref: Addressed): number {
    const { parent } = recipientOf(ref);
    return isWritten(ref.#name) || parent === null ? ref.#name.length : parent.addressLength + 1 + ref.#name.length;
  }

  /** The name below a parent whose address has `length` characters. */
  static nameBelow(ref: Addressed, length: number): string {
    return isWritten(ref.#name) ? ref.#name.slice(length, -1) : ref.#name;
  }

  /** True when the reference has this name. Allocates no string. */
  static isNamed(ref: Addressed, name: string, length: number): boolean {
    const own = ref.#name;
    return own === name || (own.length === length + name.length + 1 && own.startsWith(name, length) && isWritten(own));
  }
}

/** The one class behind every reference; its face is Ref, which knows the protocol. */
export class ActorRef extends Addressed {
  readonly #recipient: Recipient;

  constructor(recipient: Recipient, name: string) {
    super(name);
    this.#recipient = recipient;
  }

  tell(operation: string, first?: unknown, second?: unknown): void {
    const to = this.#recipient;
    const { queue } = to;
    if (queue === null || second !== undefined || !queue.add(operation, first)) to.tell(operation, first, second);
  }

  ask(operation: string, first?: unknown, second?: unknown): Promise<AskResult> {
    const to = this.#recipient;
    const known = to.operation(operation);
    // Typed by Ref.ask: an argument is the payload or the options. This is asWritten, without its object.
    return known === null || known === undefined || known.hasPayload || second !== undefined
      ? ask(to, null, operation, known, first, second as AskOptions | undefined)
      : ask(to, null, operation, known, undefined, (first ?? undefined) as AskOptions | undefined);
  }

  stream(operation: string, first?: unknown, second?: unknown): ActorStream<unknown> {
    const { payload, options } = asWritten<StreamOptions>(this.#recipient.operation(operation), first, second);
    return stream(this.#recipient, null, operation, payload, options ?? {});
  }

  offer(operation: string, first?: unknown, second?: unknown): Promise<Result<void, DeliveryError>> {
    const { payload, options } = asWritten<OfferOptions>(this.#recipient.operation(operation), first, second);
    return offer(this.#recipient, null, operation, payload, options ?? {});
  }

  override toString(): string {
    return this.address;
  }

  toJSON(): string {
    return this.address;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `Ref ${this.address}`;
  }

  static is(value: unknown): value is ActorRef {
    return typeof value === "object" && value !== null && #recipient in value;
  }

  static recipientOf(ref: AnyRef): Recipient {
    if (ActorRef.is(ref)) return ref.#recipient;
    throw new TypeError("This is no reference to an actor: use what spawn() returned, ctx.self or ctx.sender.");
  }
}

/**
 * The operations of a reference's actor, by name, each with the validators of its schemas: for code that passes on messages which
 * the compiler did not type. Null where the actor takes any message, as the handlers of a router do.
 *
 * @throws TypeError when it is no reference.
 * @example
 * const valid = operationsOf(counter)?.["add"]?.payload.parse(2); // Ok(2)
 */
export const operationsOf = (ref: AnyRef): Protocol["operations"] | null => recipientOf(ref).operations;

/**
 * True for a reference to an actor: for code that passes on values which the compiler did not type.
 *
 * @example
 * isRef(counter) // true
 */
export const isRef = (value: unknown): value is AnyRef => ActorRef.is(value);

/** The actor behind a reference. */
export const recipientOf = (ref: AnyRef): Recipient => ActorRef.recipientOf(ref);

/** The one reference to an actor. */
export function refTo<Signatures>(recipient: Recipient): Ref<Signatures> {
  // Ref declares the methods of ActorRef with the types of a protocol. Its caller knows that protocol: spawn, or a
  // context that was typed by it. Each recipient of such a caller has an ActorRef.
  return recipient.ref as unknown as Ref<Signatures>;
}

/**
 * The log of an actor's system, for failures that an untrusted caller can cause at will and must not be told. At most
 * ten lines a second, then the count of the others.
 *
 * @throws TypeError when it is no reference.
 * @example
 * logOf(counter).error("The door of the counter failed.", { cause });
 */
export const logOf = (ref: AnyRef): Logger => logIn(recipientOf(ref).environment);

/**
 * The part of metadata that the handlers of an actor's system hand on (`inheritedMetadata`), frozen; undefined where there is none of it. For
 * an observer that gives a handling something else to hand on. A handler reads `ctx.handsOn`.
 *
 * @throws TypeError when it is no reference.
 * @example
 * system.around((handling, run) => {
 *   handling.handsOn = { metadata: { ...inheritedBy(handling.ref, handling.metadata), traceparent: spanOf(handling) } };
 *   run();
 * });
 */
export const inheritedBy = (ref: AnyRef, metadata: Metadata): Metadata | undefined =>
  inheritedFrom(metadata, recipientOf(ref).environment.inheritedMetadata) ?? undefined;

/** The log of an environment, limited in number. */
export const logIn = ({ logger, logLimit }: Environment): Logger => ({
  warn(message, details) {
    if (logLimit.admit()) logger.warn(message, details);
  },
  error(message, details) {
    if (logLimit.admit()) logger.error(message, details);
  },
});
