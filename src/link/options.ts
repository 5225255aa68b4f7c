import type { Address, AnyRef, AskError, Metadata, ResponderOptions, System } from "../index";
import type { Send } from "./outbox";
import type { Versions } from "./versions";

/** The options of a link. */
export interface LinkOptions extends Pick<ResponderOptions, "most" | "longest" | "streams"> {
  readonly system: System;
  /** The beginning of the addresses that the other side's actors have here, with a slash at its end: `node-7/`. */
  readonly prefix: string;
  /**
   * Sends a text: all that left in one turn. False, or a throw, when the connection is closed: the messages in it come back as
   * `unreachable`. `"held"` when it cannot leave yet: the link keeps it, and hands it over again at `release`. The bytes that belong to a
   * text come with it (`carriesBytes`).
   */
  readonly send: Send;
  /**
   * True where `send` carries bytes beside a text, and hands them to `take` over there: payloads, replies and items may then have what `transfer` marked.
   * Their size does not count for `maxBytes`. Default: false, and binary data is refused.
   */
  readonly carriesBytes?: boolean;
  /**
   * Gives the actor of this side that the other side may reach by an address; undefined for none (`no-recipient`). Called for each
   * message to an address that it gave nothing for.
   */
  readonly exposed: (at: Address) => AnyRef | undefined;
  /**
   * Most bytes of a text. A message that is larger by itself fails as `payload-too-large`, and a reply as `handler-failed`. Longer
   * texts from the other side are no frames. Default: `Infinity`.
   */
  readonly maxBytes?: number;
  /**
   * Most messages that the other side has not read yet, a whole number from 1. A further tell becomes a dead letter, and all else comes back, as `mailbox-full`. Up to a quarter of them may
   * have been read meanwhile. A message counts as read when it goes to the mailbox of its actor. Default: `Infinity`.
   */
  readonly mostUnread?: number;
  /** Most references that each side has of the other's, and most that went there in payloads. Default: 10,000. */
  readonly mostRefs?: number;
  /** Data for each message that comes in: the handler's `ctx.metadata`. Those of the message replace none of it. Default: none. */
  readonly metadata?: Metadata;
  /** True to tell the other side the text and the stack of what a handler threw: for a side that is trusted (P18). Default: false. */
  readonly tellsErrors?: boolean;
  /**
   * Gives the detail by which the other side is told of an error that its message met here, in place of the usual one; undefined for that one. It becomes known there
   * (P18). Not called for what a handler threw where `tellsErrors` tells it. Default: none.
   */
  readonly detailOf?: (error: AskError, metadata: Metadata | undefined) => unknown;
  /**
   * Gives a reason for which messages do not leave now, such as that the other side is not ready: they come back as `unreachable`. Answers
   * leave nevertheless. Called for each message. Default: none.
   */
  readonly withheldBy?: () => unknown;
  /** Compares the versions of protocols, where the other side may have others. Default: none, both sides have the same. */
  readonly versions?: Versions;
}
