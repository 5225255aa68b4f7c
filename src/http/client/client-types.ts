import type { Result } from "neverthrow";
import type { AnyRef, AnySignatures, AskArgs, Asked, Ref, ReplyOf, Topic } from "../../index";
import type { ExposedSessions, Exposes } from "../exposes";
import type { JsonOf, StreamedArgs, StreamedName, Streaming, WithOptions } from "./call-types";
import type { ClientError } from "./client-error";
import type { ClientSessions } from "./session-types";
import type { CallOptions, StreamCallOptions } from "./settings";
import type { SubscribeOptions } from "./subscription";

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

/** The sessions of a gateway; the sentence that the compiler shows where it has none. */
type SessionsIn<Sessions> = [Sessions] extends [never]
  ? "this gateway has no sessions: give it the option sessions"
  : Sessions extends ExposedSessions<infer Signatures, infer Metadata>
    ? ClientSessions<Signatures, Metadata>
    : ClientSessions;

/** The names of the topics of a gateway; the sentence that the compiler shows where it has none. */
type TopicName<Topics> = unknown extends Topics
  ? string
  : [keyof Topics] extends [never]
    ? "this gateway has no topics: give it the option topics"
    : keyof Topics & string;

/** The items of a topic, before they went through JSON. */
type ItemIn<Topics, Name> = Name extends keyof Topics
  ? Topics[Name] extends Topic<infer Item>
    ? Item
    : unknown
  : unknown;

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
    operation: StreamedName<Signatures, Name>,
    ...args: StreamedArgs<Signatures, NoInfer<Name>, StreamCallOptions>
  ): Streaming<Signatures, Name>;
}

/** The members of a client beside its actors. An actor of such a name is reached by `actor(name)`. */
export interface ClientTools<E, Sessions = unknown, Topics = unknown> {
  /** An exposed actor by its name. */
  actor<Name extends keyof E & string>(name: Name): RemoteActor<ExposedSignatures<E[Name]>>;
  /** The sessions of the gateway, where it has them. */
  readonly sessions: SessionsIn<Sessions>;
  /**
   * Gives the items of a topic from now on, by the client's socket, which is opened for it. It begins with the first read. Where the socket was
   * lost, it subscribes again with the next one: `onGap` says where items may be missing, because a topic keeps none. Leaving the
   * loop ends the subscription. The loop throws a `ClientStreamError`: where the topic is refused, or the service cannot be reached any more.
   *
   * @throws RangeError at once when an option cannot be one.
   * @example
   * for await (const total of client.subscribe("changes", { onGap: () => readAll() })) show(total);
   */
  subscribe<Name extends TopicName<Topics>>(
    topic: Name,
    options?: SubscribeOptions,
  ): AsyncIterableIterator<JsonOf<ItemIn<Topics, Name>>, undefined>;
  /** Closes the socket, if there is one. What is under way there ends as `cancelled`. */
  close(): void;
}

type Taken = keyof ClientTools<unknown> | "then";

/** The client of a gateway that exposes these actors, sessions and topics. */
export type ClientOf<E, Sessions, Topics> = {
  readonly [Name in keyof E as Exclude<Name, Taken>]: RemoteActor<ExposedSignatures<E[Name]>>;
} & ClientTools<E, Sessions, Topics>;

/** The client of a gateway, by its type or by that of a server: `Client<typeof gateway>`. */
export type Client<G> = G extends { readonly gateway: infer Inner }
  ? Client<Inner>
  : G extends Exposes<infer E, infer Sessions, infer Topics>
    ? ClientOf<E, Sessions, Topics>
    : never;

/** A gateway of which the compiler knows nothing: any name and any payload. */
export type AnyGateway = Exposes<{
  readonly [name: string]: { readonly ref: AnyRef; readonly operations: readonly string[] };
}>;
