import { err, ok, type Result } from "neverthrow";
import { type ClientError, failure } from "./client-error";
import { bodyOf, type Calls, nameOf } from "./http-calls";
import { type CallOptions, Limit, type Settings, type StreamCallOptions, type Timer } from "./settings";
import { type Call, errorIn, type LinkEvents, PROTOCOL, SocketLink } from "./socket-link";
import { readerOf, type SocketSource } from "./socket-reader";
import { type SubscribeOptions, subscriptionTo } from "./subscription";

/** Items that a stream may be ahead of its reader, and those after which the reader grants more. */
const CREDIT = 16;
const GRANT = 8;
/** Most messages that wait for a connection. */
const WAITING = 10_000;

/** Sends messages by one WebSocket, and opens another one where that was lost (docs/websocket-protocol.md). */
export class SocketCalls implements Calls {
  readonly #settings: Settings;
  /** Messages that were not sent yet, by id. */
  readonly #waiting = new Map<string, Call>();
  /** The one that takes messages. */
  #link: SocketLink | null = null;
  /** All that are open: one that the gateway is about to close still answers. */
  readonly #links = new Set<SocketLink>();
  /** The reason why the last one was lost. */
  #reason = "";
  #lastId = 0;
  #failures = 0;
  /** True where the gateway did not let the newest one in, or not yet. */
  #isShut = false;
  #timer: Timer | null = null;
  #isFlushing = false;
  #isClosed = false;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  ask(actor: string, operation: string, payload: unknown, options: CallOptions): Promise<Result<unknown, ClientError>> {
    return this.#call("ask", actor, operation, payload, options);
  }

  async tell(
    actor: string,
    operation: string,
    payload: unknown,
    options: CallOptions,
  ): Promise<Result<void, ClientError>> {
    return (await this.#call("offer", actor, operation, payload, options)).map(() => undefined); // A tell has no answer.
  }

  #call(
    kind: "ask" | "offer",
    actor: string,
    operation: string,
    payload: unknown,
    options: CallOptions,
  ): Promise<Result<unknown, ClientError>> {
    const what = nameOf(actor, operation);
    const { timeout = this.#settings.timeout } = options;
    const body = bodyOf(payload, what);
    if (body.isErr()) return Promise.resolve(err(body.error));
    const limit = new Limit(this.#settings, options, timeout);
    if (limit.signal.aborted) return Promise.resolve(err(limit.cancelled(what)));
    return new Promise((resolve) => {
      const end = (result: Result<unknown, ClientError>): void => {
        limit.end();
        resolve(result);
      };
      const id = this.#send(
        kind,
        what,
        { to: actor, type: operation, ...traceOf(options), ...timeLeftOf(timeout) },
        body.value,
        {
          take(frame) {
            if (frame.kind === "reply") end(ok(frame["payload"]));
            else if (frame.kind === "failure") end(err(errorIn(frame, what)));
            else return false;
            return true;
          },
          fail: (error) => end(err(error)),
        },
      );
      limit.signal.addEventListener("abort", () => {
        const wasWaiting = this.#cancel(id);
        const error = limit.errorOf(undefined, what);
        end(err(wasWaiting && error.kind === "timeout" ? this.#notSent(what, timeout) : error));
      });
    });
  }

  stream(
    actor: string,
    operation: string,
    payload: unknown,
    options: StreamCallOptions,
  ): AsyncIterableIterator<unknown, undefined> {
    const what = nameOf(actor, operation);
    const body = bodyOf(payload, what);
    const head = { to: actor, type: operation, credit: CREDIT, ...traceOf(options) };
    let taken = 0;
    let isShown = false;
    const source: SocketSource = {
      what,
      error: body.isErr() ? body.error : null,
      begin: (call) => this.#send("stream", what, head, body.unwrapOr(undefined), call),
      cancel: (id) => void this.#cancel(id),
      take(frame, waiting) {
        if (frame.kind === "items" && Array.isArray(frame["items"])) waiting.push(...frame["items"]);
        isShown ||= waiting.length > 0;
        return false;
      },
      isRepeatable: ({ kind }) => options.repeatable === true && !isShown && kind === "unknown",
      onItem: (id) => {
        if (++taken % GRANT === 0) for (const link of this.#links) link.say({ kind: "credit", id, count: GRANT });
      },
    };
    return readerOf(source, this.#settings, options);
  }

  subscribe(topic: string, options: SubscribeOptions): AsyncIterableIterator<unknown, undefined> {
    const what = `the topic "${topic}"`;
    const socket: Pick<SocketSource, "begin" | "cancel"> = {
      begin: (call) => this.#send("subscribe", what, { topic }, undefined, call),
      cancel: (id) => void this.#cancel(id),
    };
    return subscriptionTo(what, socket, this.#settings, options);
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    for (const link of this.#links) link.close();
    this.#links.clear();
    this.#failWaiting(failure("cancelled", "The client was closed."));
  }

  #send(
    kind: string,
    what: string,
    fields: object,
    body: string | undefined,
    call: Pick<Call, "take" | "fail">,
  ): string {
    const id = String(++this.#lastId);
    const head = JSON.stringify({ kind, id, ...fields });
    const text = body === undefined ? head : `${head.slice(0, -1)},"payload":${body}}`;
    if (this.#isClosed) call.fail(failure("cancelled", `${what} was not sent: the client was closed.`));
    else if (this.#waiting.size >= WAITING) {
      call.fail(failure("too-many-requests", `${what} was not sent: ${WAITING} messages wait for the socket.`));
    } else {
      this.#waiting.set(id, { id, what, text, isMessage: kind !== "subscribe", ...call });
      this.#flushSoon();
    }
    return id;
  }

  /** True when it was not sent yet. */
  #cancel(id: string): boolean {
    const wasWaiting = this.#waiting.delete(id);
    if (!wasWaiting) for (const link of this.#links) link.cancel(id);
    return wasWaiting;
  }

  /** All that is sent in one turn goes as one text. */
  #flushSoon(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    queueMicrotask(() => {
      this.#isFlushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#waiting.size === 0 || this.#timer !== null || this.#isClosed) return;
    this.#link ??= this.#open();
    this.#link.send(this.#waiting);
  }

  #open(): SocketLink {
    const events: LinkEvents = {
      onReady: () => {
        this.#failures = 0;
        this.#isShut = false;
        this.#flush();
      },
      onRoom: () => this.#flushSoon(),
      onLeave: () => {
        if (this.#link === link) this.#link = null;
        this.#flushSoon();
      },
      onLost: (reason, refusal) => {
        this.#links.delete(link);
        if (this.#link !== link) return;
        this.#link = null;
        this.#reason = reason;
        if (refusal !== null) this.#failWaiting(failure(refusal, `The message was not sent: ${reason}`));
        this.#comeBack();
      },
    };
    const link = new SocketLink(this.#settings, events, this.#isShut);
    this.#isShut = true;
    this.#links.add(link);
    return link;
  }

  /** The socket was lost, or never opened: what waits is sent by the next one. */
  #comeBack(): void {
    if (this.#isClosed || this.#timer !== null) return;
    const { retry } = this.#settings;
    if (++this.#failures > retry.attempts) {
      this.#failures = 0;
      this.#failWaiting(
        failure(
          "unreachable",
          `The message was not sent: ${this.#reason} ${retry.attempts + 1} attempts in a row failed. Does the service speak ${PROTOCOL}, and does each proxy before it let WebSockets through?`,
        ),
      );
    }
    this.#timer = this.#settings.setTimer(
      () => {
        this.#timer = null;
        this.#flush();
      },
      this.#settings.pauseAfter(this.#failures === 0 ? retry.attempts : this.#failures - 1, null, null),
    );
  }

  #notSent(what: string, timeout: number): ClientError {
    const why = this.#reason === "" ? "" : ` The last one failed: ${this.#reason}`;
    return failure("unreachable", `${what} was not sent: the socket had no room for it within ${timeout} ms.${why}`);
  }

  #failWaiting(error: ClientError): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const call of waiting) call.fail(error);
  }
}

/** JSON leaves out what is undefined. */
const traceOf = ({ traceparent, tracestate }: CallOptions): object => ({ traceparent, tracestate });
const timeLeftOf = (timeLeft: number): object => (timeLeft < Number.POSITIVE_INFINITY ? { timeLeft } : {});
