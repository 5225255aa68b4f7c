import { err, ok, type Result } from "neverthrow";
import { type ClientError, errorOfResponse, failure, jsonIn } from "./client-error";
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
  close(): void;
}

/** The headers of a request. */
export function headersOf({ headers, traceparent }: CallOptions, more: Record<string, string>): Record<string, string> {
  return { ...headers, ...(traceparent !== undefined && { traceparent }), ...more };
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

const pathOf = (actor: string, operation: string): string =>
  `/actors/${encodeURIComponent(actor)}/${encodeURIComponent(operation)}`;

const JSON_BODY = { "content-type": "application/json" };

/** Sends a request of JSON, and gives the value of its response; undefined for one without a body. */
export async function request(
  settings: Settings,
  what: string,
  method: string,
  path: string,
  payload: unknown,
  options: CallOptions,
  prefer = "",
): Promise<Result<{ readonly value: unknown; readonly response: Response }, ClientError>> {
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
    return answerOf(response, await response.text(), what);
  } catch (thrown) {
    return err(limit.errorOf(thrown, what));
  } finally {
    limit.end();
  }
}

function answerOf(
  response: Response,
  text: string,
  what: string,
): Result<{ readonly value: unknown; readonly response: Response }, ClientError> {
  const { status, ok: isOk, headers } = response;
  if (!isOk) return err(errorOfResponse(response, text, what));
  if (status === 202 || status === 204) return ok({ value: undefined, response });
  const json = headers.get("content-type")?.startsWith("application/json") === true ? jsonIn(text) : undefined;
  if (json !== undefined) return ok({ value: json.value, response });
  return err(
    failure("invalid-response", `The answer to ${what} is no JSON: is the url that of a gateway?`, { status }),
  );
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
    const path = pathOf(actor, operation);
    const answer = await request(this.#settings, nameOf(actor, operation), "POST", path, payload, options, prefer);
    return answer.map(({ value }) => value);
  }

  async tell(
    actor: string,
    operation: string,
    payload: unknown,
    options: CallOptions,
  ): Promise<Result<void, ClientError>> {
    return (await this.ask(actor, operation, payload, options, "respond-async, ")).map(() => undefined);
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

  close(): void {}

  /** Stops a stream that would else wait for its reader to come back. */
  #stop(id: string, options: CallOptions): void {
    const init = { method: "DELETE", headers: headersOf(options, {}), keepalive: true };
    this.#settings.fetch(`/streams/${encodeURIComponent(id)}`, init).then(
      (response) => response.body?.cancel(),
      () => {}, // It ends by itself then, a little later.
    );
  }
}

/** The id of a stream that can be resumed. */
const idIn = (headers: Headers): string | undefined =>
  /\/streams\/([\w-]{1,64})$/.exec(headers.get("content-location") ?? "")?.[1];
