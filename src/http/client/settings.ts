import type { Clock } from "../../index";
import { type ClientError, errorOfNetwork, failure, NotSent } from "./client-error";

/** Headers, or what makes them for each request. */
export type ClientHeaders = Readonly<Record<string, string>>;

/** The pauses before a client comes back. They double each time, up to `longest`; some of each is left to chance. */
export interface RetryOptions {
  /** Milliseconds before the first attempt, unless the service asks for others. Default: 1,000. */
  readonly first?: number;
  /** Most milliseconds before an attempt. Default: 30,000. */
  readonly longest?: number;
  /** Most attempts in a row that bring nothing; then it gives up. Default: 10. */
  readonly attempts?: number;
}

/** The options of a client. */
export interface ClientOptions {
  /** The URL of the gateway, with its base path, such as `https://service.example/api`. In a page it may be a path, such as `/api`. */
  readonly url: string | URL;
  /** Goes with each request as a bearer token. A function is called for each, so that it can renew the token. Default: none. */
  readonly token?: string | (() => string | Promise<string>);
  /** Go with each request, but not with a socket. Default: none. */
  readonly headers?: ClientHeaders | (() => ClientHeaders | Promise<ClientHeaders>);
  /** Default: the runtime's. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** True to use one WebSocket for all asks, tells and streams of actors. Topics come by it in any case. Default: false. */
  readonly socket?: boolean;
  /** The `name` of the gateway's sessions. Default: `"sessions"`. */
  readonly sessions?: string;
  /** Milliseconds that an ask waits for its reply. Default: 30,000. */
  readonly timeout?: number;
  /** Milliseconds without a byte after which the connection of a stream, or the socket, counts as lost. Default: 60,000. */
  readonly idle?: number;
  /** The pauses before streams and the socket connect again. Default: after a second, and then ever later, ten times. */
  readonly retry?: RetryOptions;
  /** For tests. Default: the runtime's timers. */
  readonly clock?: Pick<Clock, "setTimer">;
}

/** The options of an ask. */
export interface CallOptions {
  /** Gives up when it is aborted. Default: none. */
  readonly signal?: AbortSignal;
  /** Milliseconds to wait; the gateway is told (`Prefer: wait`). Default: that of the client. */
  readonly timeout?: number;
  /** Go with this request alone; not with a socket. Default: none. */
  readonly headers?: ClientHeaders;
  /**
   * The trace that it belongs to (W3C Trace Context). In a handler, write `...traceOf(ctx.handsOn)` for it and its state: a client knows
   * nothing of the message that is handled. Default: none.
   */
  readonly traceparent?: string;
  /** The state of that trace. Default: none. */
  readonly tracestate?: string;
}

/** The options of a stream. */
export interface StreamCallOptions extends Omit<CallOptions, "timeout"> {
  /**
   * True when the operation may be begun twice: a stream is then begun again as long as it has not shown an item, also where nobody
   * knows whether it was begun. Default: false.
   */
  readonly repeatable?: boolean;
}

export interface Timer {
  cancel(): void;
}

const LONGEST_DELAY = 2 ** 31 - 1; // setTimeout fires at once beyond this.

/** The timers of the runtime, as browsers have them. */
const timers: NonNullable<ClientOptions["clock"]> = {
  setTimer(callback, delay) {
    const timer = setTimeout(callback, Math.min(delay, LONGEST_DELAY));
    return { cancel: () => clearTimeout(timer), unref: () => {} };
  },
};

/** The names of a client's options. */
const NAMES = "url token headers fetch socket sessions timeout idle retry clock";

/** @throws TypeError for a misspelt option. */
function checkNames(given: object, names: string, what: string): void {
  const unknown = Object.keys(given).find((name) => !names.split(" ").includes(name));
  if (unknown !== undefined) throw new TypeError(`${what} has no option ${unknown}; it has ${names}.`);
}

/** The URL of a gateway, without a slash at its end. */
function urlOf(given: string | URL | undefined): string {
  try {
    const base: unknown = Reflect.get(globalThis, "location")?.href; // Pages and their workers have one.
    const url = new URL(String(given), typeof base === "string" ? base : undefined);
    const isPlain = /^https?:$/.test(url.protocol) && url.username + url.password + url.search + url.hash === "";
    if (isPlain) return url.href.replace(/\/+$/, "");
  } catch {
    // It is told below.
  }
  const said = String(given).replace(/\/\/[^/]*@/, "//…@");
  throw new TypeError(
    `A client needs the url of a gateway, such as "https://service.example/api", without user, query or hash; a page may give a path; got ${said}.`,
  );
}

type Sending = RequestInit & { readonly headers: ClientHeaders };

/** The options of a client, complete. */
export class Settings {
  /** Without a slash at the end. */
  readonly url: string;
  readonly timeout: number;
  readonly idle: number;
  readonly sessions: string;
  readonly retry: Required<RetryOptions>;
  readonly #options: ClientOptions;

  /** @throws TypeError or RangeError when an option cannot be one. */
  constructor(options: ClientOptions) {
    checkNames(options ?? {}, NAMES, "A client");
    this.url = urlOf(options?.url);
    const { retry = {}, socket = false } = options;
    checkNames(retry, "first longest attempts", "The retry of a client");
    if (typeof socket !== "boolean") throw new TypeError(`socket is true or false; got ${String(socket)}.`);
    const { first = 1_000, longest = 30_000, attempts = 10 } = retry;
    this.#options = options;
    this.timeout = positive(options.timeout ?? 30_000, "timeout");
    this.idle = positive(options.idle ?? 60_000, "idle");
    this.sessions = options.sessions ?? "sessions";
    this.retry = {
      first: positive(first, "retry.first"),
      longest: positive(longest, "retry.longest"),
      attempts: positive(attempts, "retry.attempts"),
    };
  }

  /** The token of this moment; undefined if there is none. */
  async token(): Promise<string | undefined> {
    const { token } = this.#options;
    return typeof token === "function" ? token() : token;
  }

  setTimer(callback: () => void, delay: number): Timer {
    return (this.#options.clock ?? timers).setTimer(callback, delay);
  }

  /** Sends a request. It rejects as the runtime's fetch does, and once its signal is aborted: a function of its owner may never settle. */
  fetch(path: string, init: Sending): Promise<Response> {
    const { signal } = init;
    return new Promise((resolve, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
      this.#send(path, init).then(resolve, reject);
    });
  }

  async #send(path: string, init: Sending): Promise<Response> {
    const { headers: given } = this.#options;
    let headers: Headers;
    try {
      headers = new Headers(typeof given === "function" ? await given() : given);
      const token = await this.token();
      if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
      for (const [name, value] of Object.entries(init.headers)) headers.set(name, value);
    } catch (thrown) {
      throw new NotSent("", { cause: thrown });
    }
    return (this.#options.fetch ?? fetch)(this.url + path, {
      ...init,
      headers,
      redirect: "manual", // Followed, a POST would become a GET.
    });
  }

  /** The milliseconds before an attempt, after so many that brought nothing. */
  pauseAfter(failures: number, asked: number | null, retryAfter: number | null): number {
    const { first, longest } = this.retry;
    const pause = Math.min((asked || first) * 2 ** Math.min(failures, 30), longest);
    // Half of it at random ("equal jitter"), so that clients that were cut off together come back one by one.
    return Math.max(pause / 2 + (Math.random() * pause) / 2, Math.min(retryAfter ?? 0, longest));
  }
}

export function positive(value: number, name: string): number {
  if (typeof value === "number" && value > 0) return value;
  throw new RangeError(`${name} is a number above 0; got ${String(value)}.`);
}

/** @throws RangeError for a timeout that cannot be one. */
export function checkTimeout({ timeout }: CallOptions): void {
  if (timeout !== undefined) positive(timeout, "timeout");
}

/** The end of a wait: its time is up, its caller has aborted it, or it was left. */
export class Limit {
  readonly signal: AbortSignal;
  readonly #ending = new AbortController();
  readonly #given: AbortSignal | undefined;
  readonly #timer: Timer | undefined;
  readonly #timeout: number | undefined;
  readonly #wasAborted: boolean;
  #isLate = false;
  readonly #abort = (): void => this.#ending.abort(this.#given?.reason);

  constructor(settings: Settings, { signal }: Pick<CallOptions, "signal">, timeout?: number) {
    this.signal = this.#ending.signal;
    this.#given = signal;
    this.#timeout = timeout;
    this.#wasAborted = signal?.aborted === true;
    if (this.#wasAborted) {
      this.#abort();
      return; // Nothing is sent, so nothing will call `end`.
    }
    signal?.addEventListener("abort", this.#abort, { once: true });
    if (timeout !== undefined) {
      this.#timer = settings.setTimer(() => {
        this.#isLate = true;
        this.#ending.abort();
      }, timeout);
    }
  }

  /** Gives up. */
  abort(): void {
    this.#ending.abort();
  }

  end(): void {
    this.#timer?.cancel();
    this.#given?.removeEventListener("abort", this.#abort);
  }

  /** The error of what was sent, and did not come to its end. */
  errorOf(thrown: unknown, what: string): ClientError {
    if (this.#isLate) {
      const sentence = `No answer to ${what} came within ${this.#timeout} ms: nobody knows whether it was handled.`;
      return failure("timeout", sentence);
    }
    return this.signal.aborted ? this.cancelled(what) : errorOfNetwork(thrown, what);
  }

  /** The error of what its caller has aborted. */
  cancelled(what: string): ClientError {
    const sentence = this.#wasAborted
      ? `${what} was not sent: its signal had been aborted before.`
      : `${what} was cancelled by its caller.`;
    return failure("cancelled", sentence, { cause: this.signal.reason });
  }
}
