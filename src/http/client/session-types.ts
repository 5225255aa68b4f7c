import type { Result } from "neverthrow";
import type { AnySignatures, AskArgs, Asked, CallArgs, ReplyOf } from "../../index";
import type { JsonOf, StreamedArgs, StreamedName, Streaming, WithOptions } from "./call-types";
import type { ClientError } from "./client-error";
import type { CallOptions } from "./settings";

/** A session as the gateway shows it. */
export interface Session<Metadata = unknown> {
  readonly id: string;
  /** As it was given to `create`. */
  readonly metadata: JsonOf<Metadata>;
  /** Texts as in `2026-01-31T12:00:00.000Z`. */
  readonly createdAt: string;
  readonly usedAt: string;
  /** The ids of the oldest event that is kept, and of the newest one. */
  readonly firstEvent: number;
  readonly lastEvent: number;
  /** The number of its messages, which count from 1, and of those that are being answered. */
  readonly messages: number;
  readonly running: number;
}

/** A page of a list of sessions. */
export interface SessionPage<Metadata = unknown> {
  /** The newest first. */
  readonly sessions: readonly Session<Metadata>[];
  /** The option `after` of the next page; undefined on the last one. */
  readonly next?: string;
}

/** An event of a session's log. */
export interface SessionEvent {
  readonly id: string;
  /** The number of its message. */
  readonly message: number;
  /** `message` for an item; else `request`, `reply`, `end` or `error`. */
  readonly event: string;
  readonly data: unknown;
}

/** Names a message or a session, so that it can be sent again. */
export interface KeyOptions {
  /** A request that is sent again with the same key is not done again: it gets the same answer. Default: a new key each time. */
  readonly key?: string;
}

/** The options of a stream of a session. */
export interface SessionStreamOptions extends KeyOptions, Omit<CallOptions, "timeout"> {
  /** Called with the number of the message once it is stored, for `events` and `stop`. Default: none. */
  readonly onMessage?: (message: number) => void;
}

/** The options of a reader of a session's events. */
export interface SessionEventsOptions extends Omit<CallOptions, "timeout"> {
  /** The id of the last event that the reader has. Default: none; it begins with the oldest event that is kept. */
  readonly after?: string | number;
  /** The number of the message whose events are wanted. Default: those of all messages. */
  readonly message?: number;
}

/** The options of a list of sessions. */
export interface SessionListOptions extends CallOptions {
  /** Most sessions of the page, from 1 to 200. Default: 50. */
  readonly limit?: number;
  /** The `next` of the page before. Default: none; it begins with the newest session. */
  readonly after?: string;
}

/** The arguments of `create`: the metadata may be left out where an empty object fits. */
type CreateArgs<Metadata> =
  Record<never, never> extends Metadata
    ? [metadata?: Metadata, options?: CallOptions & KeyOptions]
    : [metadata: Metadata, options?: CallOptions & KeyOptions];

/**
 * The sessions of a gateway.
 *
 * @throws ClientStreamError in a loop over a stream that ends before its end. Nothing else throws: it gives a `Result`.
 * @example
 * const made = await client.sessions.create({ title: "A trip" });
 * if (made.isErr()) throw new Error(made.error.message);
 * for await (const word of made.value.stream("say", "good morning")) console.log(word);
 */
export interface ClientSessions<Signatures = AnySignatures, Metadata = unknown> {
  /**
   * Makes a session.
   *
   * @example
   * const session = (await client.sessions.create({ title: "A trip" }))._unsafeUnwrap();
   */
  create(...args: CreateArgs<Metadata>): Promise<Result<RemoteSession<Signatures, Metadata>, ClientError>>;
  /** The session with an id that is known. Nothing is sent: `show` says whether it is there. */
  at(id: string): RemoteSession<Signatures, Metadata>;
  /** Lists the caller's sessions, a page at a time, the newest first. */
  list(options?: SessionListOptions): Promise<Result<SessionPage<Metadata>, ClientError>>;
}

/** A session behind a gateway, with the operations that clients may call. */
export interface RemoteSession<Signatures = AnySignatures, Metadata = unknown> {
  readonly id: string;

  /**
   * Sends a message and waits for its reply: `Ok(reply)` or `Err(error)`. Never rejects. It is sent once. To send it again, where nobody knows
   * whether it was handled, give it a `key`.
   *
   * @throws RangeError at once when an option cannot be one.
   */
  ask<Name extends string>(
    operation: Asked<Signatures, Name>,
    ...args: WithOptions<AskArgs<Signatures, NoInfer<Name>>, CallOptions & KeyOptions>
  ): Promise<Result<JsonOf<ReplyOf<Signatures, Name & keyof Signatures>>, ClientError>>;

  /**
   * Sends a message, an ask's or a stream's, and waits until it is stored, and not for its answer, which `events` gives.
   *
   * @returns the number of the message.
   * @throws RangeError at once when an option cannot be one.
   */
  tell<Name extends keyof Signatures & string>(
    operation: Name,
    ...args: WithOptions<CallArgs<Signatures, NoInfer<Name>>, CallOptions & KeyOptions>
  ): Promise<Result<number, ClientError>>;

  /**
   * Sends a message, and gives the items of its stream, each once. It begins with the first read. Where the connection is lost it comes back: the
   * message is handled once. Leaving the loop does not end the message: `stop` does. The loop throws a `ClientStreamError`.
   *
   * @example
   * for await (const word of session.stream("say", "good morning")) console.log(word);
   */
  stream<Name extends string>(
    operation: StreamedName<Signatures, Name>,
    ...args: StreamedArgs<Signatures, NoInfer<Name>, SessionStreamOptions>
  ): Streaming<Signatures, Name>;

  /**
   * Gives the stored events, and those that come: until the reader leaves, or until the message's end where one was named. Where the connection is
   * lost it comes back. The loop throws a `ClientStreamError`: `gone` where the events after `after` are not kept any more.
   */
  events(options?: SessionEventsOptions): AsyncIterableIterator<SessionEvent, undefined>;

  /** Shows the session as the gateway knows it. */
  show(options?: CallOptions): Promise<Result<Session<Metadata>, ClientError>>;

  /** Ends a message that is being answered, by its number. */
  stop(message: number, options?: CallOptions): Promise<Result<void, ClientError>>;

  /** Deletes the session with all of its events, and stops its actor. */
  delete(options?: CallOptions): Promise<Result<void, ClientError>>;
}
