import type { Result } from "neverthrow";
import type { AnyRef, AnySignatures, AskArgs, Asked, ItemOf, Ref, ReplyOf, StreamArgs, Streamed } from "../../index";
import type { Exposes } from "../exposes";
import type { ClientError } from "./client-error";
import type { ClientSessions } from "./sessions";
import type { CallOptions, StreamCallOptions } from "./settings";

/** What a gateway exposes, from its type, or from that of a server. */
type ExposedBy<G> = G extends { readonly gateway: infer Inner }
  ? ExposedBy<Inner>
  : G extends Exposes<infer E>
    ? E
    : never;

/** The names that are listed, as an array or as a record. */
type Listed<Operations> = Operations extends readonly (infer Name)[] ? Name : keyof Operations;

/** The signatures of the exposed operations of an actor. */
type ExposedSignatures<Entry> = Entry extends {
  readonly ref: Ref<infer Signatures, infer _Shapes>;
  readonly operations: infer Operations;
}
  ? [keyof Signatures] extends [never]
    ? AnySignatures
    : Pick<Signatures, Listed<Operations> & keyof Signatures>
  : AnySignatures;

/** A value after it went through JSON: a Date has become a text, and what has `toJSON` what that gives. */
export type JsonOf<T> = unknown extends T
  ? T
  : T extends string | number | boolean | null | undefined
    ? T
    : T extends { toJSON(): infer J }
      ? JsonOf<J>
      : T extends object
        ? { [K in keyof T]: JsonOf<T[K]> }
        : T;

/** The payload, and the options after it. An operation without a payload has undefined in its place. */
type WithOptions<Payload extends unknown[], Options> = Payload extends []
  ? [payload?: undefined, options?: Options]
  : [...payload: Payload, options?: Options];

/** An actor behind a gateway, with its exposed operations. */
export interface RemoteActor<Signatures> {
  /**
   * Sends and waits for the reply: `Ok(reply)` or `Err(error)`. Never rejects. It is sent once: after `unknown` or `timeout` nobody knows
   * whether it was handled.
   *
   * @throws RangeError at once when an option cannot be one.
   * @example
   * const total = await client.counter.ask("add", 2, { timeout: 500 }); // Result<number, ClientError>
   */
  ask<Name extends string>(
    operation: Asked<Signatures, Name>,
    ...args: WithOptions<AskArgs<Signatures, NoInfer<Name>>, CallOptions>
  ): Promise<Result<JsonOf<ReplyOf<Signatures, Name & keyof Signatures>>, ClientError>>;

  /**
   * Sends, and waits until the mailbox has taken the message, and not for its handler.
   *
   * @throws RangeError at once when an option cannot be one.
   * @example
   * if ((await client.counter.tell("add", 2)).isErr()) giveUp();
   */
  tell<Name extends string>(
    operation: Asked<Signatures, Name>,
    ...args: WithOptions<AskArgs<Signatures, NoInfer<Name>>, CallOptions>
  ): Promise<Result<void, ClientError>>;

  /**
   * Streams items. It begins with the first read. One that is exposed with `resume` goes on by itself where its connection was lost, and shows
   * each item once; leaving the loop stops it at the gateway. The loop throws a `ClientStreamError`.
   *
   * @example
   * for await (const tick of client.counter.stream("ticks", 3)) console.log(tick);
   */
  stream<Name extends string>(
    operation: Streamed<Signatures, Name>,
    ...args: WithOptions<StreamArgs<Signatures, NoInfer<Name>>, StreamCallOptions>
  ): AsyncIterableIterator<JsonOf<ItemOf<Signatures, Name & keyof Signatures>>, undefined>;
}

/** What a client has beside its actors. An actor of such a name is reached by `actor(name)`. */
export interface ClientTools<E> {
  /** An exposed actor by its name. */
  actor<Name extends keyof E & string>(name: Name): RemoteActor<ExposedSignatures<E[Name]>>;
  /** The sessions of the gateway, where it has them. */
  readonly sessions: ClientSessions;
  /** Closes the socket, if there is one. Messages under way end as `cancelled`. */
  close(): void;
}

type Taken = keyof ClientTools<unknown> | "then";

/** The client of a gateway that exposes `E`. */
export type ClientOf<E> = {
  readonly [Name in keyof E as Exclude<Name, Taken>]: RemoteActor<ExposedSignatures<E[Name]>>;
} & ClientTools<E>;

/** The client of a gateway, by its type: `Client<typeof gateway>`. */
export type Client<G> = ClientOf<ExposedBy<G>>;

/** A gateway of which the compiler knows nothing: any name and any payload. */
export type AnyGateway = Exposes<{
  readonly [name: string]: { readonly ref: AnyRef; readonly operations: readonly string[] };
}>;
