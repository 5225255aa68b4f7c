import type { Address } from "../message/address";
import type { AskError } from "../message/delivery-error";
import type { Metadata, Pattern } from "../message/message";

/**
 * Carries the messages of an attached reference to where its actor is. The system calls it in its own `AsyncLocalStorage`
 * context (P16), and once for each thing that happens. Its methods must not throw and need not wait: a throw is logged.
 */
export interface Transport {
  /**
   * Takes a message. It answers by the methods of `out`, now or later. A throw, or a promise that rejects, is `unreachable` for that
   * message, and its sender may send it again. Answer a payload that can never be sent, such as one that JSON cannot write, by
   * `out.fail("invalid-payload", [{ path: "", message: "has a bigint, which JSON cannot write" }])`.
   */
  send(out: Outgoing): void;
  /** The asker gave up, the reader left, or the reader refused an item. Nobody waits for `out` any more. */
  cancel(out: Outgoing): void;
  /** The reader of a stream has room for `count` more items. */
  credit(out: Outgoing, count: number): void;
  /** The attachment has ended, and all that waited has been told. Called once. */
  close(): void;
}

/**
 * One message on its way out. Each method but `produce` and `progress` ends it; a method that comes later does nothing. A
 * reply that comes after its asker gave up becomes a `late-reply` dead letter, as that of an actor of this system does. It is not
 * logged: it may have left before `cancel` arrived there.
 */
export interface Outgoing {
  readonly pattern: Pattern;
  /** The id of this sending. A message that is sent again gets another one. */
  readonly id: string;
  /** The address of the attached reference. */
  readonly to: Address;
  /** The address of the actor that sent it, if the system knows one. */
  readonly from: Address | undefined;
  /** The operation. */
  readonly type: string;
  /** The payload as it was sent: what a schema here made of it is not what the schema there takes. */
  readonly payload: unknown;
  readonly metadata: Metadata | undefined;
  /** Milliseconds until its sender gives up, read at this moment: 0 once nobody waits any more, `Infinity` without a limit. */
  readonly timeLeft: number;
  /** Items that the reader of a stream has room for at its start; 0 for other patterns. */
  readonly credit: number;
  /** True when its sender waits for what becomes of it: of an ask, an offer and a stream. False for a tell. */
  readonly isAwaited: boolean;
  /** True when the asker listens to progress. */
  readonly wantsProgress: boolean;
  /**
   * Ask: the reply. Offer: it was taken. Stream: its end. A tell needs none. The reply is checked by the protocol, because it comes
   * from outside (P18): one that does not fit comes back as `handler-failed`.
   */
  complete(reply?: unknown): void;
  /**
   * The message failed. `unreachable` states that it was not handled there, and `timeout` that nobody knows (P17). If the other side is known to have died with the
   * message, an error that has `hadLeft: true` as the detail of `unreachable` says that it may have begun. A message that fails
   * as `unreachable` or `payload-too-large`, and a tell that fails at all, counts as a dead letter of this system instead of as `sent`.
   *
   * @param detail the limit of a `timeout` in milliseconds (default: the sender's), or the error by which the connection was lost; the cause of `handler-failed` and `unreachable`, an error that says more of `unknown-operation`, the reason of
   * `cancelled`, the capacity of `mailbox-full` (or `{ unread: 100 }`, the most messages that the other side may not have read), the issues of `invalid-payload`, the limit of `payload-too-large` in bytes, the
   * path of `ask-cycle`.
   */
  fail(kind: AskError["kind"], detail?: unknown): void;
  /**
   * Hands items of a stream to its reader, each checked by the protocol. An item beyond the credit, or one that does not fit, ends
   * the stream as `handler-failed` and is told to the transport by `cancel`.
   */
  produce(items: readonly unknown[]): void;
  /** The end of a stream. */
  end(): void;
  /**
   * Tells an asker that listens how far its ask has come, as `ctx.progress` does. A number that is not finite, or a note that is no
   * text, is ignored.
   */
  progress(done: number, total?: number, note?: string): void;
}
