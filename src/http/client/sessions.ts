import { err, ok, type Result } from "neverthrow";
import { type ClientError, ClientStreamError, failure, isObject, jsonIn } from "./client-error";
import { EventFollower } from "./event-follower";
import { bodyOf, headersOf, request } from "./http-calls";
import { inOrder, itemsOf } from "./items";
import type { CallOptions, Settings } from "./settings";

/** A session as the gateway shows it. */
export interface Session {
  readonly id: string;
  readonly metadata: unknown;
  /** Texts as in `2026-01-31T12:00:00.000Z`. */
  readonly createdAt: string;
  readonly usedAt: string;
  readonly [field: string]: unknown;
}

/** An event of a session's log. */
export interface SessionEvent {
  readonly id: string;
  /** `message` for an item. */
  readonly event: string;
  readonly data: unknown;
}

/** The options of a message to a session. */
export interface SessionCallOptions extends Omit<CallOptions, "timeout"> {
  /** Names the message: sent again with the same key, it is not handled again. Default: a new one for each message. */
  readonly key?: string;
}

/** The options of a reader of a session's events. */
export interface SessionEventsOptions extends Omit<CallOptions, "timeout"> {
  /** The id of the last event that the reader has. Default: none; it begins with the oldest event that is kept. */
  readonly after?: string | number;
  /** The number of the message whose events are wanted. Default: those of all messages. */
  readonly message?: number;
}

/**
 * The sessions of a gateway.
 *
 * @throws ClientStreamError in a loop over a stream that ends before its end. Nothing else throws: it gives a `Result`.
 * @example
 * const made = await client.sessions.create({ title: "A trip" });
 * if (made.isErr()) throw new Error(made.error.message);
 * for await (const word of client.sessions.send(made.value.id, "say", "good morning")) console.log(word);
 */
export class ClientSessions {
  readonly #settings: Settings;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** Begins a session. */
  async create(
    metadata: object = {},
    options: CallOptions & { readonly key?: string } = {},
  ): Promise<Result<Session, ClientError>> {
    const made = await request(this.#settings, "a session", "POST", "/sessions", { metadata }, keyed(options));
    return made.andThen(({ value }) =>
      isSession(value) ? ok(value) : err(failure("invalid-response", "That is no session.")),
    );
  }

  /** Asks an operation of a session that gives one reply. */
  async ask(
    id: string,
    operation: string,
    payload?: unknown,
    options: SessionCallOptions & CallOptions = {},
  ): Promise<Result<unknown, ClientError>> {
    const what = `${operation} of a session`;
    const body = { operation, payload };
    const answer = await request(this.#settings, what, "POST", `${pathOf(id)}/messages`, body, keyed(options));
    return answer.map(({ value }) => value);
  }

  /**
   * Sends a message to a streamed operation of a session, and reads its items. Where the connection is lost it comes back: the message has a key, so that
   * it is handled once. Leaving the loop does not end the message.
   */
  send(
    id: string,
    operation: string,
    payload?: unknown,
    options: SessionCallOptions = {},
  ): AsyncIterableIterator<unknown, undefined> {
    const what = `${operation} of a session`;
    const body = bodyOf({ operation, payload }, what);
    const headers = headersOf(keyed(options), { "content-type": "application/json" });
    const sent = {
      method: "POST",
      path: `${pathOf(id)}/messages`,
      headers,
      ...(body.isOk() && { body: body.value ?? "" }),
    };
    const source = {
      what,
      error: body.isErr() ? body.error : null,
      isRepeatable: true,
      requestAfter: () => sent, // The key says that it is the same message.
      idIn: () => null,
    };
    return itemsOf(new EventFollower(this.#settings, options, source), what);
  }

  /** Reads the events of a session, and waits for more: until the reader leaves, or the messages's end where one was named. */
  events(id: string, options: SessionEventsOptions = {}): AsyncIterableIterator<SessionEvent, undefined> {
    const { after, message } = options;
    const query = new URLSearchParams({
      ...(message !== undefined && { message: String(message) }),
      ...(after !== undefined && { after: String(after) }),
    });
    const path = `${pathOf(id)}/events?${query}`;
    const what = "the events of a session";
    const follower = new EventFollower(this.#settings, options, {
      what,
      error: null,
      isRepeatable: true, // It reads.
      requestAfter: () => ({ method: "GET", path, headers: headersOf(options, {}) }),
      idIn: () => null,
    });
    const read = async (): Promise<IteratorResult<SessionEvent, undefined>> => {
      const event = await follower.next();
      if (event === undefined) return { done: true, value: undefined };
      if (event.event === "reconnect") return read();
      const data = jsonIn(event.data);
      if (data === undefined)
        throw new ClientStreamError(failure("invalid-response", `An event of ${what} is no JSON.`));
      return { done: false, value: { id: event.id, event: event.event, data: data.value } };
    };
    return inOrder(read, () => follower.leave());
  }

  /** Ends a session, and deletes all of it. */
  async delete(id: string, options: CallOptions = {}): Promise<Result<void, ClientError>> {
    const gone = await request(this.#settings, "a session", "DELETE", pathOf(id), undefined, options);
    return gone.map(() => undefined);
  }
}

/** The options of a request that is handled once, however often it is sent. */
const keyed = <Options extends SessionCallOptions>(options: Options): Options => ({
  ...options,
  headers: { ...options.headers, "idempotency-key": options.key ?? crypto.randomUUID() },
});

const pathOf = (id: string): string => `/sessions/${encodeURIComponent(id)}`;

const isSession = (value: unknown): value is Session => isObject(value) && typeof value["id"] === "string";
