import { type Expose, type Metadata, type OptionChecks, option } from "../../index";

/**
 * The faults that a durable message outlives once its sender is told, at least:
 *
 * | level        | stored by                        | is lost by                                                        |
 * | ------------ | -------------------------------- | ----------------------------------------------------------------- |
 * | `stored`     | one server                       | the loss of that server's disk, or a loss of power within its `sync_interval` (2 minutes, unless it is told otherwise) |
 * | `replicated` | most of three or five servers    | a loss of power of most of them at the same time                  |
 * | `synced`     | the disks of those servers       | the loss of those disks                                           |
 *
 * NATS acknowledges a message before it is synced to the disk, unless the servers have `sync_interval: always`. A client cannot see that
 * setting: the owner states it by `serversSync`.
 */
export type DurableLevel = "stored" | "replicated" | "synced";

/** The options of durable sends to a receiver. */
export interface DurableOptions {
  /** The least level. A cluster that has less refuses each message as `unreachable`. Default: `stored`. */
  readonly level?: DurableLevel;
  /** States that all servers run with `sync_interval: always`, so that the level is `synced`. Default: false. */
  readonly serversSync?: boolean;
  /** Messages that may wait here until JetStream has them; more are refused as `mailbox-full`. Default: 10,000. */
  readonly capacity?: number;
}

/** The options of one durable send. */
export interface DurableTellOptions {
  /** Milliseconds until the sender is told the outcome, from 1 to 60,000. Default: 5,000. */
  readonly timeout?: number;
  /**
   * The name of the message. A second message of the same name to the same receiver within two minutes is not stored, whoever sends it:
   * for a sender that sends again after a restart. It has 1 to 256 characters and no line break; a long one leaves less room for the payload.
   * Default: a name for this sending alone.
   */
  readonly id?: string;
  /** Data beside the payload, which must be JSON: the handler's `ctx.metadata`. Default: none. */
  readonly metadata?: Metadata;
  /**
   * Milliseconds after which the message is handed to its receiver, from 1 to a year. It is stored now, and is not in the order of its sender's other messages.
   * This machine's clock says when that is, and those of the servers when it has come. Needs servers of NATS 2.12 or later: others refuse it as `unreachable`.
   * An `id` is known among delayed messages alone. Default: none, at once.
   */
  readonly delay?: number;
}

/** The options of a receiver of durable messages. */
export interface DurableReceiverOptions {
  /** Calls of the handler for one message, until it becomes a dead letter. Default: 5. */
  readonly attempts?: number;
  /** Milliseconds between two attempts: at first, then twice as long each time, up to 5,000. Default: 100. */
  readonly backoff?: number;
  /** Milliseconds that a handler may take; a longer one has failed. Default: 60,000. */
  readonly handlerTimeout?: number;
  /**
   * Milliseconds after which the messages of a node that says nothing are delivered again, from 500: by another node, or by the same
   * one after its restart. A node that lives says so three times in that time. Once it is over, a handler that still runs has its `ctx.signal` aborted.
   * While nodes differ, the servers keep to the longest one. Default: 5,000.
   */
  readonly ackWait?: number;
  /** Says which addresses in a payload become references, as for `receive`. Default: none. */
  readonly expose?: Expose;
}

/** The options of durable messages to the actors of ids: those of `DurableReceiverOptions`. */
export interface DurableActorOptions {
  /** Calls of the handler for one message, until it becomes a dead letter. Default: 5. */
  readonly attempts?: number;
  /** Milliseconds between two attempts: at first, then twice as long each time, up to 5,000. Default: 100. */
  readonly backoff?: number;
  /** Milliseconds that a handler may take; a longer one has failed. Default: 60,000. */
  readonly handlerTimeout?: number;
  /**
   * Milliseconds after which the messages that a silent node has taken are handed in by another one, from twice the lease of the cluster: by then, nothing
   * that the silent node still sends is taken. Default: 5,000, or twice the lease if that is more.
   */
  readonly ackWait?: number;
}

export const DURABLE: OptionChecks<DurableOptions> = {
  level: option.oneOf("stored", "replicated", "synced"),
  serversSync: option.flag,
  capacity: option.count,
};

/** The most characters of the name of a message, which travels in a header. */
const LONGEST_ID = 256;

export const DURABLE_TELL: OptionChecks<DurableTellOptions> = {
  timeout: option.whole(1, 60_000),
  id: option.rule(
    `is a text of 1 to ${LONGEST_ID} characters without line breaks`,
    (value) =>
      typeof value === "string" &&
      value.trim() !== "" &&
      value.length <= LONGEST_ID &&
      value.isWellFormed() &&
      !/[\r\n\0]/.test(value),
  ),
  delay: option.whole(1, 366 * 24 * 3_600_000),
  metadata: option.rule(
    "is a plain object",
    (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  ),
};

export const DURABLE_ACTOR: OptionChecks<DurableActorOptions> = {
  attempts: option.count,
  backoff: option.duration,
  handlerTimeout: option.duration,
  ackWait: option.whole(500, 3_600_000),
};

export const DURABLE_RECEIVER: OptionChecks<DurableReceiverOptions> = { ...DURABLE_ACTOR, expose: option.function() };
