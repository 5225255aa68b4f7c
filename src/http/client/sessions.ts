import { err, ok, type Result } from "neverthrow";
import { type ClientError, ClientStreamError, isObject, jsonIn, strange } from "./client-error";
import { EventFollower } from "./event-follower";
import { type Answer, ASYNC, bodyOf, headersOf, JSON_BODY, partOf, request } from "./http-calls";
import { inOrder, itemsOf } from "./items";
import type {
  ClientSessions,
  KeyOptions,
  RemoteSession,
  Session,
  SessionEvent,
  SessionEventsOptions,
  SessionPage,
  SessionStreamOptions,
} from "./session-types";
import { type CallOptions, checkTimeout, type Settings } from "./settings";

const nameOf = (operation: string): string => `${operation} of a session`;

/** The members of a query that are there. */
const queryOf = (members: Readonly<Record<string, unknown>>): string => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(members)) if (value !== undefined) query.set(name, String(value));
  return `${query}` === "" ? "" : `?${query}`;
};

/** The options of a request that is done once, however often it is sent. */
const keyed = <Options extends KeyOptions & CallOptions>(options: Options): Options => ({
  ...options,
  headers: { ...options.headers, "idempotency-key": options.key ?? newKey() },
});

/** Random letters and digits. Pages by http have no `crypto.randomUUID`. */
const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(20)), (byte) => (byte % 36).toString(36)).join("");

/** The number of the message that a response is about. */
const messageIn = ({ headers }: Response): number | undefined => {
  const [, number] = /[?&]message=(\d+)$/.exec(headers.get("location") ?? "") ?? [];
  return number === undefined ? undefined : Number(number);
};

/** A session behind a gateway. What it takes, the compiler knows. */
class SessionCalls {
  readonly id: string;
  readonly #settings: Settings;
  readonly #path: string;

  constructor(settings: Settings, id: string) {
    this.id = id;
    this.#settings = settings;
    this.#path = `/${settings.sessions}/${partOf(id)}`;
  }

  ask(operation: string, payload?: unknown, options: CallOptions & KeyOptions = {}) {
    return this.#send(operation, payload, options).then((answer) => answer.map(({ value }) => value));
  }

  tell(operation: string, payload?: unknown, options: CallOptions & KeyOptions = {}) {
    const told = this.#send(operation, payload, options, ASYNC);
    return told.then((answer) =>
      answer.andThen(({ response }) => {
        const message = messageIn(response);
        return message === undefined ? err(strange(nameOf(operation))) : ok(message);
      }),
    );
  }

  #send(operation: string, payload: unknown, options: CallOptions & KeyOptions, prefer?: string) {
    return this.#request(nameOf(operation), "POST", "/messages", keyed(options), { operation, payload }, prefer);
  }

  stream(operation: string, payload?: unknown, options: SessionStreamOptions = {}) {
    const what = nameOf(operation);
    const body = bodyOf({ operation, payload }, what);
    const sent = {
      method: "POST",
      path: `${this.#path}/messages`,
      headers: headersOf(keyed(options), JSON_BODY),
      ...(body.isOk() && { body: body.value ?? "" }),
    };
    const source = {
      what,
      error: body.isErr() ? body.error : null,
      isRepeatable: true,
      requestAfter: () => sent, // The key says that it is the same message.
      idIn(response: Response) {
        const message = messageIn(response);
        if (message !== undefined) options.onMessage?.(message);
        return null;
      },
    };
    return itemsOf(new EventFollower(this.#settings, options, source), what);
  }

  events(options: SessionEventsOptions = {}): AsyncIterableIterator<SessionEvent, undefined> {
    const { after, message } = options;
    const path = `${this.#path}/events${queryOf({ message })}`;
    const what = "the events of a session";
    const follower = new EventFollower(this.#settings, options, {
      what,
      error: null,
      isRepeatable: true, // It reads.
      after: after === undefined ? null : String(after),
      requestAfter: () => ({ method: "GET", path, headers: headersOf(options, {}) }),
      idIn: () => null,
    });
    const read = async (): Promise<IteratorResult<SessionEvent, undefined>> => {
      const event = await follower.next();
      if (event === undefined) return { done: true, value: undefined };
      if (event.event === "reconnect") return read();
      const data = jsonIn(event.data);
      if (data === undefined) throw new ClientStreamError(strange(what));
      const value = { id: event.id, message: event.message ?? message ?? 0, event: event.event, data: data.value };
      return { done: false, value };
    };
    return inOrder(read, () => follower.leave());
  }

  show(options: CallOptions = {}) {
    return this.#request(SESSION, "GET", "", options).then(valueIn(isSession, SESSION));
  }

  stop(message: number, options: CallOptions = {}) {
    return this.#request("a message", "DELETE", `/messages/${message}`, options).then(withoutValue);
  }

  delete(options: CallOptions = {}) {
    return this.#request(SESSION, "DELETE", "", options).then(withoutValue);
  }

  #request(what: string, method: string, path: string, options: CallOptions, payload?: unknown, prefer?: string) {
    checkTimeout(options);
    return request(this.#settings, { what, method, path: this.#path + path, payload, prefer }, options);
  }
}

/** The sessions of a gateway, whatever they take. */
export function sessionsOf(settings: Settings): ClientSessions {
  const path = `/${settings.sessions}`;
  // The compiler alone knows the operations and payloads: each is sent as it is.
  const at = (id: string) => new SessionCalls(settings, id) as unknown as RemoteSession;
  return {
    at,
    create(metadata = {}, options = {}) {
      checkTimeout(options);
      const made = request(settings, { what: SESSION, method: "POST", path, payload: { metadata } }, keyed(options));
      return made.then(valueIn(isSession, SESSION)).then((session) => session.map(({ id }) => at(id)));
    },
    list(options = {}) {
      checkTimeout(options);
      const { limit, after } = options;
      const what = "a list of sessions";
      const listed = request(settings, { what, method: "GET", path: path + queryOf({ limit, after }) }, options);
      return listed.then(valueIn(isPage, what));
    },
  };
}

const SESSION = "a session";

const withoutValue = (answer: Result<unknown, ClientError>): Result<void, ClientError> => answer.map(() => undefined);

const isSession = (value: unknown): value is Session => isObject(value) && typeof value["id"] === "string";

const isPage = (value: unknown): value is SessionPage =>
  isObject(value) && Array.isArray(value["sessions"]) && value["sessions"].every(isSession);

/** The value of an answer, if it is what it should be. */
const valueIn =
  <Value>(is: (value: unknown) => value is Value, what: string) =>
  (answer: Result<Answer, ClientError>): Result<Value, ClientError> =>
    answer.andThen(({ value }) => (is(value) ? ok(value) : err(strange(what))));
