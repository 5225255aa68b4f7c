import { type Address, onOneLine, quote } from "./address";
import type { Message } from "./message";
import {
  fullBy,
  inMilliseconds,
  isUnread,
  LostConnection,
  lostBy,
  sentenceOf,
  type Unread,
  unreachableBy,
  withinTime,
} from "./sentence-of";

/** One fault of a payload. */
export interface Issue {
  /** The place of the fault, as a JSON Pointer (RFC 6901); empty for the payload itself. */
  readonly path: string;
  readonly message: string;
}

interface Shape<Kind extends string> {
  readonly kind: Kind;
  /** A sentence: what happened, to which address, and what to do. */
  readonly message: string;
  /** True when the same message, sent again unchanged, may succeed. */
  readonly retryable: boolean;
  /** The address to which the message was sent. */
  readonly address: Address;
  /** The operation that the message asked for: its `type`. */
  readonly operation: string;
  /** The message itself, to send again or to keep. */
  readonly undelivered: Message;
}

/** No reply came within `timeout` milliseconds, or the connection was lost while it was awaited: then `cause` says why. */
export interface TimeoutError extends Shape<"timeout"> {
  /** `Infinity` for a message without a limit. */
  readonly timeout: number;
  readonly cause?: unknown;
}
/**
 * The message was given up early: the sender's signal was aborted, the reader left the stream, the message that its sender
 * was handling was given up, the handler that waited for it ended, another worker of the pool answered first, or an interceptor
 * dropped it. `reason` is the signal's reason, the delivery error of the message that its sender was handling, the text that
 * the interceptor gave, or a symbol that describes the reason.
 */
export interface CancelledError extends Shape<"cancelled"> {
  readonly reason: unknown;
}
/**
 * No actor is at the address, the message was forwarded more than `maxHops` times, or a worker forwarded it back to a pool that
 * hands it to several workers, or a pool has itself as a worker by its address.
 */
export interface NoRecipientError extends Shape<"no-recipient"> {}
/** The actor stopped before it handled the message, or was abandoned while it handled it. */
export interface StoppedError extends Shape<"stopped"> {
  /** True when its handler had begun: it may have had its effects. */
  readonly hadBegun: boolean;
}
/** The mailbox holds `capacity` messages already; or another worker has so many that it has not read yet (`mostUnread`). */
export interface MailboxFullError extends Shape<"mailbox-full"> {
  readonly capacity: number;
}
/** The actor has no such operation, or has it in another pattern, such as a stream. `cause` says more, where more is known. */
export interface UnknownOperationError extends Shape<"unknown-operation"> {
  readonly cause?: unknown;
}
/** The payload does not fit the operation's schema. */
export interface InvalidPayloadError extends Shape<"invalid-payload"> {
  /** At most eight. They are found when first read. */
  readonly issues: readonly Issue[];
}
/**
 * The handler or an interceptor threw or rejected; or the reply, or an item of a stream, did not fit its schema.
 * `cause` is the thrown value.
 */
export interface HandlerFailedError extends Shape<"handler-failed"> {
  readonly cause: unknown;
}
/** The ask would have closed a circle of actors that wait for each other. */
export interface AskCycleError extends Shape<"ask-cycle"> {
  /** The circle, from the asker and back to it: the first and the last are the same. */
  readonly path: readonly Address[];
}
/**
 * The message was not handled: the transport to the address is down or could not take it, or the function of `system.resolve`
 * threw, rejected or took too long. `cause` is the reason. A message that may have been handled comes back as `timeout` (P17); where it waited at
 * a worker that died, as `unreachable`, and `mayHaveBegun` of `envoi/workers` tells it.
 */
export interface UnreachableError extends Shape<"unreachable"> {
  readonly cause: unknown;
}
/** The payload is larger than the `limit` of the transport, in bytes. */
export interface PayloadTooLargeError extends Shape<"payload-too-large"> {
  readonly limit: number;
}

/** The reason why a message was not handled or got no reply: a closed union, told apart by `kind`. */
export type DeliveryError =
  | TimeoutError
  | CancelledError
  | NoRecipientError
  | StoppedError
  | MailboxFullError
  | UnknownOperationError
  | InvalidPayloadError
  | HandlerFailedError
  | AskCycleError
  | UnreachableError
  | PayloadTooLargeError;

/** The errors that an ask can give instead of its reply. */
export type AskError = DeliveryError;

/**
 * The place of a message on its way: in the interceptors of a router, waiting for room, waiting for its address to be
 * opened, or in the mailbox.
 */
export type Stage = "intercepted" | "offered" | "opening" | "queued";

/** The reason why an actor handles nothing for a while: it is held back, it restarts, or its address is being opened. */
export type Pause = "held" | "restarting" | "opening";

/** The message of an error, as far as the error needs it. */
export interface MessageSource {
  readonly to: Address;
  readonly type: string;
  /** Set when the message had not reached its handler. */
  readonly stage?: Stage;
  /** The operation of the stream that kept the actor busy until the message timed out. */
  readonly behind?: string | undefined;
  /** Set when the actor was handling nothing: the reason. */
  readonly pause?: Pause | undefined;
  toMessage(): Message;
}

const CAUSED: ReadonlySet<DeliveryError["kind"]> = new Set(["handler-failed", "unreachable", "unknown-operation"]);
const RETRYABLE: ReadonlySet<DeliveryError["kind"]> = new Set(["timeout", "mailbox-full", "unreachable"]);

// One class for all kinds; its public type is the union above. Errors come in storms (10,000 timeouts at once), so the
// sentence, the issues and the message are made when read.
class Delivery {
  readonly kind: DeliveryError["kind"];
  readonly #source: MessageSource;
  readonly #detail: unknown;

  constructor(kind: DeliveryError["kind"], source: MessageSource, detail: unknown) {
    this.kind = kind;
    this.#source = source;
    this.#detail = detail;
  }

  /** Looks for the private field. Unlike `instanceof`, this runs no code of a hostile value. */
  static is(value: unknown): value is Delivery {
    return typeof value === "object" && value !== null && #source in value;
  }

  /** The capacity, or the bound of what is unread, as an error of a further sender needs it. */
  static fullness(error: MailboxFullError): number | Unread {
    return Delivery.is(error) ? (error.#detail as number | Unread) : error.capacity; // Its kind has such a detail.
  }

  get retryable(): boolean {
    return RETRYABLE.has(this.kind);
  }
  get address(): Address {
    return this.#source.to;
  }
  get operation(): string {
    return this.#source.type;
  }
  get undelivered(): Message {
    return this.#source.toMessage();
  }
  get timeout(): unknown {
    if (this.kind !== "timeout") return undefined;
    return LostConnection.is(this.#detail) ? this.#detail.timeout : this.#detail;
  }
  get reason(): unknown {
    return this.kind === "cancelled" ? this.#detail : undefined;
  }
  get cause(): unknown {
    if (LostConnection.is(this.#detail)) return this.#detail.cause;
    return CAUSED.has(this.kind) ? this.#detail : undefined;
  }
  get hadBegun(): boolean | undefined {
    return this.kind === "stopped" ? this.#detail !== undefined : undefined;
  }
  get capacity(): unknown {
    if (this.kind !== "mailbox-full") return undefined;
    return isUnread(this.#detail) ? this.#detail.unread : this.#detail;
  }
  get limit(): unknown {
    return this.kind === "payload-too-large" ? this.#detail : undefined;
  }
  get path(): unknown {
    return this.kind === "ask-cycle" ? this.#detail : undefined;
  }
  get issues(): readonly Issue[] | undefined {
    // deliveryError() takes a function for this kind.
    return this.kind === "invalid-payload" ? (this.#detail as () => readonly Issue[])() : undefined;
  }

  get message(): string {
    try {
      return `${quote(String(this.operation))} to ${String(this.address)} ${this.#sentence()}`;
    } catch {
      return `A message met ${this.kind}, and what it says cannot be shown.`;
    }
  }

  #sentence(): string {
    const { stage, behind, pause } = this.#source;
    if (LostConnection.is(this.#detail)) return lostBy(this.#detail.cause);
    if (behind !== undefined && this.kind === "timeout") return waitedBehind(behind, this.#detail);
    if (pause !== undefined && this.kind === "timeout")
      return `got no reply${withinTime(this.#detail)}: ${PAUSED[pause]}`;
    const other = stage === undefined ? undefined : OTHERWISE[stage][this.kind];
    return (other ?? SENTENCES[this.kind])(this.#detail);
  }

  toString(): string {
    return `${this.kind}: ${this.message}`;
  }

  toJSON(): object {
    const { kind, message, retryable, address, operation } = this;
    return { kind, message, retryable, address, operation };
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }
}

type Sentences = Partial<Record<DeliveryError["kind"], (detail: unknown) => string>>;

/** The sentences that differ for a message on its way to the mailbox. */
const OTHERWISE: Readonly<Record<Stage, Sentences>> = {
  intercepted: {
    timeout: (delay) =>
      `was still in an interceptor after ${inMilliseconds(delay)}, and is not sent; look why that one is slow.`,
    cancelled: (why) => `was dropped by an interceptor: ${sentenceOf(why)}`,
    stopped: () => "was still in an interceptor when the system shut down, and is not sent.",
    "handler-failed": (cause) => `failed in an interceptor: ${sentenceOf(cause)}`,
  },
  offered: {
    timeout: (delay) => `found no room in the mailbox${withinTime(delay)}; offer with a longer timeout, or send less.`,
  },
  queued: {
    timeout: (delay) =>
      `still waited when its deadline of ${inMilliseconds(delay)} was over, and is not handled; give it more time, or look why the actor is slow.`,
  },
  opening: {
    stopped: () => "still waited for its address to be opened when the system shut down, and is not sent.",
    unreachable: (cause) =>
      `was not sent: its address could not be opened (${sentenceOf(cause)}); send it again later.`,
  },
};

/** The sentences of all kinds. Each is given the detail of its kind (DetailOf). */
const SENTENCES: Required<Sentences> = {
  timeout: (limit) =>
    limit === Number.POSITIVE_INFINITY
      ? "got no reply, and nobody knows whether it was handled; send it again only if it may be handled twice."
      : `got no reply${withinTime(limit)}; ask with a longer timeout, or look why the handler is slow.`,
  cancelled(reason) {
    if (typeof reason === "symbol") return `was given up: ${reason.description}.`;
    if (isDeliveryError(reason)) return `was given up with the message that it served (${reason.kind}).`;
    return `was cancelled by its signal: ${sentenceOf(reason)}`;
  },
  "no-recipient"(route) {
    if (Array.isArray(route)) return wentInCircles(route);
    if (route === undefined) return "reached nobody; spawn or register an actor there first, or check the address.";
    return ASTRAY[route as keyof typeof ASTRAY];
  },
  stopped(how) {
    if (how === "streamed") return "was cut off: its actor stopped, or restarts, while it streamed.";
    return how === "abandoned"
      ? "was being handled when its actor was abandoned: it may have had its effects, and its reply is lost."
      : "was not handled: the actor has stopped, and this reference stays dead; spawn it again, and send by the new reference.";
  },
  "mailbox-full": fullBy,
  "unknown-operation": (cause) =>
    `asks for an operation that the actor does not have in this pattern${cause === undefined ? "" : ` (${sentenceOf(cause)})`}; check the name against its protocol.`,
  "invalid-payload": (issues) =>
    `has a payload that its schema refuses: ${listIssues((issues as () => readonly Issue[])())}`,
  "handler-failed": (cause) => `failed in its handler: ${sentenceOf(cause)}`,
  "ask-cycle": (path) =>
    `would wait for itself: ${(path as readonly Address[]).join(" → ")}; use tell for one of these.`,
  unreachable: unreachableBy,
  "payload-too-large": (limit) => `has a payload over ${limit} bytes; send it in parts, or as a stream.`,
};

const waitedBehind = (stream: string, delay: unknown): string =>
  `got no reply${withinTime(delay)}: it waited behind the stream ${quote(stream)}, which occupies the actor until it ends; ` +
  `read that stream to its end or leave it, or spawn the actor with a concurrency above 1.`;

const PAUSED: Readonly<Record<Pause, string>> = {
  held: "the actor failed beyond its limit and is held back before it restarts; look in the log why it fails, or ask again later.",
  opening:
    "its address was still being opened; ask with a longer timeout, or look why the function of resolve is slow.",
  restarting: "the actor restarts, and has not begun again; ask again later, or look in the log why it fails.",
};

const wentInCircles = (route: readonly Address[]): string =>
  `was forwarded ${route.length} times, which is too often (last by ${route.slice(-3).join(", ")}); end the circle, or raise maxHops.`;

/** The sentences of a message that reached nobody, though its address has an actor. */
const ASTRAY = {
  multiplied:
    "was forwarded back by a worker of this pool, which hands each message to several workers: every round would multiply it; " +
    "end the circle.",
  circle:
    "came back to this reference by address again and again without reaching an actor that handles it: a pool has itself " +
    "as a worker, by its address; remove that worker.",
  "no-worker": "found no worker in this pool; add one, and send it again then.",
};

type DetailOf = {
  timeout: number | LostConnection;
  cancelled: unknown;
  /**
   * The route of a message forwarded too often; "multiplied" when a pool would hand it to all its workers again;
   * "no-worker" when a pool of references is empty; "circle" when a reference by address leads back to itself.
   */
  "no-recipient": readonly Address[] | keyof typeof ASTRAY | undefined;
  /** Set when the handler had begun: what happened to it. */
  stopped: "abandoned" | "streamed" | undefined;
  "mailbox-full": number | Unread;
  "unknown-operation": Error | undefined;
  "invalid-payload": () => readonly Issue[];
  "handler-failed": unknown;
  "ask-cycle": readonly Address[];
  unreachable: unknown;
  "payload-too-large": number;
};

/** Makes the error of one kind about one message. */
export function deliveryError<Kind extends DeliveryError["kind"]>(
  kind: Kind,
  source: MessageSource,
  ...detail: undefined extends DetailOf[Kind] ? [detail?: DetailOf[Kind]] : [detail: DetailOf[Kind]]
): Extract<DeliveryError, { kind: Kind }> {
  // The class has the members of every kind, and DetailOf gives each kind the right detail.
  return new Delivery(kind, source, detail[0]) as unknown as Extract<DeliveryError, { kind: Kind }>;
}

/**
 * Tells whether a value, caught anywhere, is one of envoi's delivery errors.
 *
 * @example
 * if (isDeliveryError(cause)) console.log(cause.kind);
 */
export const isDeliveryError = (value: unknown): value is DeliveryError => Delivery.is(value);

/** The detail of an error, as the sender on the other side of a transport needs it. */
export const fullnessOf = (error: MailboxFullError): number | Unread => Delivery.fullness(error);

/** Issues as the end of a sentence. */
export const listIssues = (issues: readonly Issue[]): string =>
  onOneLine(issues.map(({ path, message }) => `${path === "" ? "the payload" : path} ${message}`).join("; "));
