import { type ClientError, ClientStreamError, errorOfNetwork, errorOfResponse, failure, strange } from "./client-error";
import { EventParser, type ServerEvent } from "./event-parser";
import { Limit, type Settings, type Timer } from "./settings";

/** The source of an event stream. */
export interface EventSourceOf {
  /** Names it in sentences. */
  readonly what: string;
  /** The reason why it cannot be asked for; null if it can. */
  readonly error: ClientError | null;
  /** True when it may be begun twice. */
  readonly isRepeatable: boolean;
  /** The id of the event after which it begins. Default: none; it begins with the first one. */
  readonly after?: string | null;
  /** The request that begins it, for null, or goes on after an event. */
  requestAfter(id: string | null): {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
  };
  /** The id after which to resume when no event has come yet; null for a stream that cannot be resumed. */
  idIn(response: Response): string | null;
  /** Called when the reader leaves a stream that can be resumed. */
  leave?(id: string): void;
}

type Reader = Pick<ReadableStreamDefaultReader<Uint8Array>, "read">;

/** Reads the events of a stream, and comes back where its connection is lost. */
export class EventFollower {
  readonly #settings: Settings;
  readonly #source: EventSourceOf;
  readonly #options: { readonly signal?: AbortSignal };
  /** Null before the first read. */
  #made: Limit | null = null;
  readonly #decoders = { text: new TextDecoder(), parser: new EventParser() };
  #reader: Reader | null = null;
  /** The connection that is open, to be aborted. */
  #connection: AbortController | null = null;
  #timer: Timer | null = null;
  /** True since the last look, if no byte has come; a connection that nobody reads from is never quiet. */
  #isQuiet = false;
  #isReading = false;
  /** Events that have come and were not read. */
  #events: readonly ServerEvent[] = [];
  #at = 0;
  #lastId: string | null = null;
  #hasShown = false;
  #failures = 0;
  #retry: number | null = null;
  #isLeft = false;
  #isEnded = false;

  constructor(settings: Settings, options: { readonly signal?: AbortSignal }, source: EventSourceOf) {
    this.#settings = settings;
    this.#source = source;
    this.#lastId = source.after ?? null;
    this.#options = options;
  }

  /** Made with the first read: a stream that is never read must keep nothing of its signal. */
  get #limit(): Limit {
    if (this.#made === null) {
      this.#made = new Limit(this.#settings, this.#options);
      this.#made.signal.addEventListener("abort", () => this.leave(), { once: true });
    }
    return this.#made;
  }

  /**
   * Gives the next event; undefined at the end.
   *
   * @throws ClientStreamError when the stream failed, or cannot be resumed.
   */
  async next(): Promise<ServerEvent | undefined> {
    try {
      for (;;) {
        if (this.#isEnded && !this.#isLeft) return undefined;
        const event = this.#events[this.#at];
        if (event !== undefined) return this.#show(event);
        if (this.#limit.signal.aborted) throw new ClientStreamError(this.#limit.cancelled(this.#source.what));
        if (this.#reader === null) await this.#connect();
        else await this.#read(this.#reader);
      }
    } catch (thrown) {
      if (this.#limit.signal.aborted) this.leave();
      else this.end();
      throw thrown;
    }
  }

  /** The stream came to its end. */
  end(): void {
    this.#isEnded = true;
    this.#drop();
    this.#made?.end();
  }

  /** The reader wants no more, or its signal was aborted: then it may not read again. */
  leave(): void {
    if (this.#isEnded) return;
    this.#isLeft = true;
    this.end();
    this.#made?.abort();
    this.#tellLeft();
  }

  #tellLeft(): void {
    if (this.#lastId !== null) this.#source.leave?.(this.#lastId);
  }

  #show(event: ServerEvent): ServerEvent {
    this.#at++;
    this.#hasShown ||= event.event === "message";
    if (event.id === "" || event.id === this.#lastId) return event;
    this.#lastId = event.id;
    this.#failures = 0; // The attempt has brought something.
    return event;
  }

  async #connect(): Promise<void> {
    const { what, error } = this.#source;
    if (error !== null) throw new ClientStreamError(error);
    const { path, ...init } = this.#source.requestAfter(this.#lastId);
    const connection = new AbortController();
    this.#connection = connection;
    this.#watch(connection);
    let response: Response;
    let refusal: string | null = null;
    try {
      response = await this.#settings.fetch(path, {
        ...init,
        signal: connection.signal,
        headers: {
          ...init.headers,
          accept: "text/event-stream",
          ...(this.#lastId !== null && { "last-event-id": this.#lastId }),
        },
      });
      if (!response.ok) refusal = await response.text();
    } catch (thrown) {
      return this.#comeBack(connection.signal.aborted ? this.#quiet() : errorOfNetwork(thrown, what));
    }
    if (refusal !== null) return this.#comeBack(errorOfResponse(response, refusal, what));
    if (response.status === 204 && this.#lastId !== null) return this.end(); // All of it has been read.
    const type = response.headers.get("content-type") ?? "";
    if (!type.startsWith("text/event-stream") || response.body === null) {
      this.#drop();
      throw new ClientStreamError(strange(what, response.status));
    }
    if (this.#lastId === null) {
      this.#lastId = this.#source.idIn(response);
      if (this.#isLeft) this.#tellLeft(); // While the head of the response was on its way.
    }
    this.#decoders.text = new TextDecoder();
    this.#decoders.parser = new EventParser();
    this.#reader = response.body.getReader();
    this.#isReading = false;
  }

  /** The error of an answer that never came: none of its bytes did. */
  #quiet(): ClientError {
    const sentence =
      `No answer to ${this.#source.what} came within ${this.#settings.idle} ms: nobody knows whether it was handled. ` +
      "By HTTP/1.1 a browser has six connections, and further streams wait: use a socket for many.";
    return failure("timeout", sentence);
  }

  async #read(reader: Reader): Promise<void> {
    const { text, parser } = this.#decoders;
    let thrown: unknown;
    this.#isReading = true;
    this.#isQuiet = false;
    try {
      const { done, value } = await reader.read();
      this.#isReading = false;
      if (!done) {
        this.#events = parser.push(text.decode(value, { stream: true }));
        this.#at = 0;
        this.#retry = parser.retry ?? this.#retry;
        return;
      }
    } catch (error) {
      if (error instanceof RangeError) {
        throw new ClientStreamError(failure("invalid-response", `An event of ${this.#source.what} is too long.`));
      }
      thrown = error;
    }
    const isFresh = !this.#hasShown && this.#lastId === null;
    const more = this.#lastId === null && !isFresh ? ", and it cannot be resumed: expose it with resume" : "";
    const sentence = `The connection of ${this.#source.what} was lost before its end${more}.`;
    await this.#comeBack(failure("unknown", sentence, { cause: thrown }));
  }

  /** Waits before the next attempt, unless there is none. */
  async #comeBack(error: ClientError): Promise<void> {
    const { what, isRepeatable } = this.#source;
    this.#drop();
    if (this.#limit.signal.aborted) throw new ClientStreamError(this.#limit.cancelled(what));
    const isResumable = this.#lastId !== null || (isRepeatable && !this.#hasShown);
    if (!isResumable || !error.retryable) throw new ClientStreamError(error);
    if (++this.#failures > this.#settings.retry.attempts) {
      const message = `${error.message} ${this.#failures} attempts in a row brought nothing: it was given up.`;
      throw new ClientStreamError({ ...error, message });
    }
    await this.#pause(this.#settings.pauseAfter(this.#failures - 1, this.#retry, error.retryAfter));
  }

  #pause(delay: number): Promise<void> {
    const { signal } = this.#limit;
    return new Promise((resolve) => {
      const end = (): void => {
        timer.cancel();
        signal.removeEventListener("abort", end);
        resolve();
      };
      const timer = this.#settings.setTimer(end, delay);
      signal.addEventListener("abort", end);
      if (signal.aborted) end();
    });
  }

  /** Gives up a connection that has been quiet for too long. One timer for all that comes. */
  #watch(connection: AbortController): void {
    this.#isQuiet = false;
    this.#isReading = true; // The head of the response.
    const look = (): void => {
      if (this.#isQuiet && this.#isReading) connection.abort();
      else this.#timer = this.#settings.setTimer(look, this.#settings.idle / 2);
      this.#isQuiet = true;
    };
    this.#timer = this.#settings.setTimer(look, this.#settings.idle / 2);
  }

  #drop(): void {
    this.#timer?.cancel();
    this.#reader = null;
    this.#connection?.abort();
    this.#connection = null;
  }
}
