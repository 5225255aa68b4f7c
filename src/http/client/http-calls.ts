import { err, ok, type Result } from "neverthrow";
import { type ClientError, errorOfResponse, failure, jsonIn, strange } from "./client-error";
import { EventFollower } from "./event-follower";
import { itemsOf } from "./items";
import { type CallOptions, Limit, type Settings, type StreamCallOptions } from "./settings";

/** Sends messages to actors. `what` names the operation in sentences. */
export interface Calls {
  ask(actor: string, operation: string, payload: unknown, options: CallOptions): Promise<Result<unknown, ClientError>>;
  tell(actor: string, operation: string, payload: unknown, options: CallOptions): Promise<Result<void, ClientError>>;
  stream(
    actor: string,
    operation: string,
    payload: unknown,
    options: StreamCallOptions,
  ): AsyncIterableIterator<unknown, undefined>;
}

/** The headers of a request. */
export function headersOf(
  { headers, traceparent, tracestate }: CallOptions,
  more: Record<string, string>,
): Record<string, string> {
  return { ...headers, ...(traceparent && { traceparent }), ...(tracestate && { tracestate }), ...more };
}

/** A payload as JSON; undefined for none. */
export function bodyOf(payload: unknown, what: string): Result<string | undefined, ClientError> {
  try {
    return ok(JSON.stringify(payload));
  } catch (cause) {
    return err(failure("invalid-payload", `The payload of ${what} cannot be written as JSON.`, { cause }));
  }
}

export const nameOf = (actor: string, operation: string): string => `${operation} of "${actor}"`;

/**
 * A part of a path. What no path can have is replaced, so that nothing is found by it: a half of a surrogate pair has no encoding, and a
 * name of one or two dots leads to another path, however it is encoded.
 */
export const partOf = (name: string): string => encodeURIComponent(name.replace(/\p{Surrogate}|^\.{1,2}$/gu, "\ufffd"));

const pathOf = (actor: string, operation: string): string => `/actors/${partOf(actor)}/${partOf(operation)}`;

export const JSON_BODY = { "content-type": "application/json" };

/** The beginning of the header `prefer` of a tell: the gateway answers once the mailbox has the message. */
export const ASYNC = "respond-async, ";

/** A request of JSON. */
export interface JsonRequest {
  /** Names it in sentences. */
  readonly what: string;
  readonly method: string;
  readonly path: string;
  readonly payload?: unknown;
  /** `ASYNC`, or nothing. */
  readonly prefer?: string | undefined;
}

/** The value of an answer, undefined for one without a body, and the response that it came with. */
export interface Answer {
  readonly value: unknown;
  readonly response: Response;
}

/** Sends a request of JSON, and gives its answer. */
export async function request(
  settings: Settings,
  { what, method, path, payload, prefer = "" }: JsonRequest,
  options: CallOptions,
): Promise<Result<Answer, ClientError>> {
  const { timeout = settings.timeout } = options;
  const body = bodyOf(payload, what);
  if (body.isErr()) return err(body.error);
  const limit = new Limit(settings, options, timeout);
  if (limit.signal.aborted) return err(limit.cancelled(what));
  // The unit is seconds. Without the whole of it, the gateway could give up before the client does.
  const wait = `wait=${Math.min(Math.ceil(timeout / 1000), 999_999_999)}`;
  try {
    const response = await settings.fetch(path, {
      method,
      signal: limit.signal,
      headers: headersOf(options, {
        accept: "application/json",
        prefer: prefer + wait,
        ...(body.value !== undefined && JSON_BODY),
      }),
      ...(body.value !== undefined && { body: body.value }),
    });
    return answerOf(response, await response.text(), what, prefer);
  } catch (thrown) {
    return err(limit.errorOf(thrown, what));
  } finally {
    limit.end();
  }
}

function answerOf(response: Response, text: string, what: string, prefer: string): Result<Answer, ClientError> {
  const { status, ok: isOk, headers } = response;
  if (!isOk) return err(errorOfResponse(response, text, what));
  if (status === 204 || (status === 202 && prefer === ASYNC)) return ok({ value: undefined, response });
  const json = headers.get("content-type")?.startsWith("application/json") === true ? jsonIn(text) : undefined;
  return json === undefined ? err(strange(what, status)) : ok({ value: json.value, response });
}

/** Sends messages by HTTP: a request for each. */
export class HttpCalls implements Calls {
  readonly #settings: Settings;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  async ask(
    actor: string,
    operation: string,
    payload: unknown,
    options: CallOptions,
    prefer?: string,
  ): Promise<Result<unknown, ClientError>> {
    const message = { what: nameOf(actor, operation), method: "POST", path: pathOf(actor, operation), payload, prefer };
    return (await request(this.#settings, message, options)).map(({ value }) => value);
  }

  async tell(
    actor: string,
    operation: string,
    payload: unknown,
    options: CallOptions,
  ): Promise<Result<void, ClientError>> {
    return (await this.ask(actor, operation, payload, options, ASYNC)).map(() => undefined);
  }

  stream(
    actor: string,
    operation: string,
    payload: unknown,
    options: StreamCallOptions,
  ): AsyncIterableIterator<unknown, undefined> {
    const what = nameOf(actor, operation);
    const body = bodyOf(payload, what);
    const headers = headersOf(options, body.isOk() && body.value !== undefined ? JSON_BODY : {});
    const first = { method: "POST", path: pathOf(actor, operation), headers };
    return itemsOf(
      new EventFollower(this.#settings, options, {
        what,
        error: body.isErr() ? body.error : null,
        isRepeatable: options.repeatable === true,
        // Without the payload: a gateway that cannot resume must not begin anew.
        requestAfter: (id) =>
          id === null && body.isOk() && body.value !== undefined ? { ...first, body: body.value } : first,
        idIn: ({ headers }) => {
          const id = idIn(headers);
          return id === undefined ? null : `${id}:0`;
        },
        leave: (id) => this.#stop(id.replace(/:\d+$/, ""), options),
      }),
      what,
    );
  }

  /** Stops a stream that would else wait for its reader to come back. */
  #stop(id: string, options: CallOptions): void {
    const init = { method: "DELETE", headers: headersOf(options, {}), keepalive: true };
    const stopped = this.#settings.fetch(`/streams/${encodeURIComponent(id)}`, init);
    stopped.then((response) => response.body?.cancel()).catch(() => {}); // It ends by itself then, a little later.
  }
}

/** The id of a stream that can be resumed. */
const idIn = (headers: Headers): string | undefined =>
  /\/streams\/([\w-]{1,64})$/.exec(headers.get("content-location") ?? "")?.[1];
