import { checkOptions, type OptionChecks, option } from "../../index";
import type { Place } from "../route-table";

/** The pages of other origins that may use the gateway (the fetch standard's CORS). */
export interface CorsOptions {
  /**
   * The origins, such as `https://shop.example`; `"*"` for all; or a function that knows them. A page of another origin sends its request,
   * if the browser lets it, and cannot read the answer.
   */
  readonly origins: "*" | readonly string[] | ((origin: string) => boolean);
  /** True to let a browser send cookies. It goes with named origins only. Default: false. */
  readonly credentials?: boolean;
  /** Seconds that a browser need not ask again. Default: 600. */
  readonly maxAge?: number;
  /** The headers that a page may send beside the plain ones. Default: those that the gateway reads. */
  readonly headers?: readonly string[];
}

const SENT =
  "authorization, content-type, last-event-id, prefer, traceparent, tracestate, x-api-key, accept, cache-control, " +
  "idempotency-key, if-none-match";
const READ =
  "allow, content-location, etag, location, preference-applied, ratelimit, ratelimit-policy, retry-after, server-timing, www-authenticate, " +
  "stream-next-offset, stream-up-to-date, stream-cursor, stream-closed, stream-error, stream-sse-data-encoding, " +
  "x-vercel-ai-ui-message-stream";
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]+$/;

const isName = (value: unknown): boolean => typeof value === "string" && /^[\w!#$%&'*+.^`|~-]+$/.test(value);

const CHECKS: OptionChecks<CorsOptions> = {
  origins(value, name, of) {
    if (value === "*" || typeof value === "function") return;
    const what = `The ${name} of ${of} are`;
    if (!Array.isArray(value)) {
      throw new TypeError(`${what} "*", a function, or an array such as ["https://shop.example"].`);
    }
    for (const each of value) {
      if (typeof each === "string" && ORIGIN.test(each)) continue;
      throw new TypeError(
        `${what} written as a browser sends them, such as "https://shop.example", without a path; got ${JSON.stringify(each)}.`,
      );
    }
  },
  credentials: option.flag,
  maxAge: option.rule(
    "is a whole number of seconds from 0",
    (value) => Number.isSafeInteger(value) && (value as number) >= 0,
    RangeError,
  ),
  headers: option.rule("is an array of names", (value) => Array.isArray(value) && value.every(isName)),
};

/** Says who may read the answers, and answers the browsers' questions about it. */
export class Cors {
  readonly #isAllowed: (origin: string) => boolean;
  readonly #isForAll: boolean;
  readonly #credentials: boolean;
  readonly #maxAge: string;
  readonly #sent: string;

  /** @param identifying the headers in which callers send who they are. */
  constructor(options: CorsOptions, identifying: readonly string[]) {
    checkOptions(options, CHECKS, "the cors of a gateway", '{ origins: ["https://shop.example"] }');
    const { origins, credentials = false, maxAge = 600, headers = [] } = options;
    if (origins === undefined) throw new TypeError('cors needs origins, such as ["https://shop.example"], or "*".');
    if (origins === "*" && credentials) {
      throw new TypeError("Browsers refuse credentials where all origins are allowed: name the origins.");
    }
    this.#isForAll = origins === "*";
    const named = new Set(Array.isArray(origins) ? origins : []);
    this.#isAllowed = typeof origins === "function" ? origins : (origin) => named.has(origin);
    this.#credentials = credentials;
    this.#maxAge = String(maxAge);
    this.#sent = [...new Set([...SENT.split(", "), ...identifying, ...headers])].join(", ");
  }

  /** True if the pages of an origin may use the gateway. */
  allows(origin: string): boolean {
    return this.#isForAll || this.#isAllowed(origin) === true;
  }

  /** Says in a response whether the page that sent the request may read it. */
  mark(request: Request, { headers }: Response): void {
    if (!this.#isForAll) headers.append("vary", "Origin");
    const origin = request.headers.get("origin");
    if (origin === null || !this.allows(origin)) return;
    headers.set("access-control-allow-origin", this.#isForAll ? "*" : origin);
    if (this.#credentials) headers.set("access-control-allow-credentials", "true");
    if (request.method !== "OPTIONS") headers.set("access-control-expose-headers", READ);
  }

  /** Answers a browser that asks before it sends a request. The marks are set like those of any response. */
  preflight({ headers }: Request, { methods }: Place, answer: Headers): void {
    if (!headers.has("access-control-request-method")) return;
    const origin = headers.get("origin");
    answer.set("vary", "Access-Control-Request-Method, Access-Control-Request-Headers");
    if (origin === null || !this.allows(origin)) return;
    answer.set("access-control-allow-methods", [...methods.keys()].join(", "));
    answer.set("access-control-allow-headers", this.#sent);
    answer.set("access-control-max-age", this.#maxAge);
  }
}
