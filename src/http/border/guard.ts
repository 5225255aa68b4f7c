import { type Clock, checkOptions, type OptionChecks, option, quote, type System, systemClock } from "../../index";
import { isJson, parseJson, tooLarge } from "../body";
import type { BunServer, Caller, Limits } from "../contract";
import { LIMIT_CHECKS, limitsOf } from "../limits";
import { refuse, SERVICE_FAILED } from "../problem";
import { serverIn } from "../server";
import { type Authenticate, type Border, callerIn } from "./authenticate";
import { refuseLate } from "./decided";
import { markRated, type Rated, RateLimiter, type RateLimitOptions } from "./rate-limit";
import { Shares } from "./shares";

/** The bounds of what a guarded handler gets, as those of a gateway. */
export type GuardLimits = Pick<Limits, "body" | "depth" | "bodyTime" | "time" | "requests">;

/** The part of a request that a guard lets through to its handler. */
export interface GuardOptions {
  /** Default: everybody is let in. */
  readonly authenticate?: Authenticate;
  /** Says whether a caller may send this request. Its body has not been read. Default: each caller may. */
  readonly authorize?: (caller: Caller | undefined, request: Request) => boolean | Promise<boolean>;
  /** The address of a request's sender behind a proxy that you trust. Default: the address of the network peer. */
  readonly addressOf?: (request: Request) => string | null | undefined;
  /** The most requests of each caller, such as `"10/s;100/min"`. Default: no limit. */
  readonly rateLimit?: string | Omit<RateLimitOptions, "operations">;
  /** The bounds of a request. Default: those of a gateway, which `Limits` says. */
  readonly limits?: Partial<GuardLimits>;
  /** A system whose clock and log it uses. Default: the machine's clock, and the console. */
  readonly system?: Pick<System, "clock" | "log">;
}

/** The things that a guard knows of a request beside it. */
export interface Guarded {
  /** Undefined if the guard does not authenticate. */
  readonly caller: Caller | undefined;
  /** The caller's id, or the address of the sender. */
  readonly owner: string;
  /** The second argument of the handler: Bun's server, or the environment of a router. */
  readonly server: unknown;
}

const { streams: _, sockets: __, ...REQUEST_CHECKS } = LIMIT_CHECKS;

const CHECKS: OptionChecks<GuardOptions> = {
  authenticate: option.function(" that gives the caller of a request, or undefined"),
  authorize: option.function(" that says true for a request that a caller may send"),
  addressOf: option.function(" that gives the address of a request's sender"),
  rateLimit: option.any,
  limits: option.group<Partial<GuardLimits>>(REQUEST_CHECKS, "{ body: 65_536 }"),
  system: (value, name, of) => {
    if (typeof value === "object" && value !== null && "clock" in value && "log" in value) return;
    throw new TypeError(`The ${name} of ${of} is a system, with a clock and a log; got ${quote(value)}.`);
  },
};

/**
 * Puts the border of a gateway around another handler: who may call it, how often, and how large, deep and slow a request may be. What does not
 * fit is refused with the same problems (RFC 9457), before the handler knows of it. The handler gets a request whose body has come whole. If it throws,
 * the answer is 500, and the log has the error.
 *
 * @throws TypeError or RangeError when an option is invalid.
 * @example
 * const upload = guard(async (request, { caller }) => Response.json(await store(caller.id, await request.bytes())), {
 *   authenticate: bearerTokens(tokens),
 *   rateLimit: "5/s",
 *   limits: { body: 10_000_000 },
 * });
 * Bun.serve({ routes: { "/upload": upload } });
 */
export function guard(
  handler: (request: Request, guarded: Guarded) => Response | Promise<Response>,
  options: GuardOptions = {},
): (request: Request, server?: unknown) => Promise<Response> {
  if (typeof handler !== "function") {
    throw new TypeError(`A guard stands before a handler: guard((request) => new Response(…)); got ${quote(handler)}.`);
  }
  checkOptions(options, CHECKS, "a guard", '{ rateLimit: "10/s" }');
  const guarding = new RequestGuard(handler, options);
  return (request, server) => guarding.fetch(request, server);
}

class RequestGuard {
  readonly #handler: (request: Request, guarded: Guarded) => Response | Promise<Response>;
  readonly #options: GuardOptions;
  readonly #border: Border;
  readonly #limits: GuardLimits;
  readonly #rates: RateLimiter | null;
  readonly #shares: Shares;

  constructor(handler: (request: Request, guarded: Guarded) => Response | Promise<Response>, options: GuardOptions) {
    const { rateLimit, system = { clock: systemClock, log: console } } = options;
    this.#handler = handler;
    this.#options = options;
    this.#border = { clock: system.clock, log: system.log };
    const limits = limitsOf(options.limits);
    this.#limits = limits;
    this.#rates = rateLimit === undefined ? null : new RateLimiter(rateLimit, system.clock, system.log, "a guard");
    this.#shares = new Shares(limits);
  }

  async fetch(request: Request, server: unknown): Promise<Response> {
    try {
      return await this.#answer(request, server);
    } catch (cause) {
      this.#border.log.error(
        `A guarded handler failed at ${quote(`${request.method} ${new URL(request.url).pathname}`)}.`,
        {
          cause,
        },
      );
      return refuse("internal-error", SERVICE_FAILED);
    }
  }

  async #answer(request: Request, server: unknown): Promise<Response> {
    const { authenticate, authorize, addressOf } = this.#options;
    const caller = authenticate && callerIn(await this.#inTime(authenticate(request, this.#border)));
    if (caller instanceof Response) return caller;
    const owner = caller?.id ?? (addressOf?.(request) || addressIn(serverIn(server), request));
    const guarded: Guarded = { caller, owner, server };
    const rated = await this.#rates?.take(guarded);
    if (rated?.refusal !== undefined) return told(rated.refusal, rated);
    const may = authorize === undefined || (await this.#inTime(authorize(caller, request)));
    if (may !== true) {
      return told(may instanceof Response ? may : refuse("forbidden", "This caller may not do that."), rated);
    }
    return told(await this.#share(request, guarded), rated);
  }

  /** Waits for what a function of the owner decides, for as long as the handler may take. */
  #inTime<Value>(told: Value | Promise<Value>): Value | Promise<Value | Response> {
    return told instanceof Promise
      ? within<Value | Response>(this.#border.clock, this.#limits.time, told, refuseLate)
      : told;
  }

  async #share(request: Request, guarded: Guarded): Promise<Response> {
    const isBounded = this.#limits.requests < Number.POSITIVE_INFINITY;
    const release = isBounded ? this.#shares.take(guarded, "requests") : null;
    if (release instanceof Response) return release;
    try {
      const whole = await this.#wholeOf(request);
      return whole instanceof Response ? whole : await this.#handle(whole, guarded);
    } finally {
      release?.();
    }
  }

  /** A request whose body has come, within the limits, or the refusal. */
  async #wholeOf(request: Request): Promise<Request | Response> {
    const { headers } = request;
    const length = headers.get("content-length");
    if (length === "0" || (length === null && !headers.has("transfer-encoding") && request.body === null))
      return request;
    if (length !== null && !(Number(length) <= this.#limits.body)) return tooLarge(this.#limits, Number(length));
    const bytes = await this.#bytesOf(request);
    if (bytes instanceof Response) return bytes;
    const type = headers.get("content-type");
    if (type !== null && isJson(type)) {
      const encoding = headers.get("content-encoding");
      if (encoding !== null && encoding !== "identity") {
        return refuse("unsupported-media-type", "The body must not be compressed: leave content-encoding out.");
      }
      const parsed = parseJson(new TextDecoder().decode(bytes), this.#limits);
      if (parsed instanceof Response) return parsed;
    }
    const { url, method, signal } = request;
    return new Request(url, { method, headers, body: bytes, signal });
  }

  async #bytesOf(request: Request): Promise<Uint8Array<ArrayBuffer> | Response> {
    const { body, bodyTime } = this.#limits;
    const reader = request.body?.getReader();
    if (reader === undefined) return new Uint8Array();
    const chunks: Uint8Array[] = [];
    let size = 0;
    const read = async (): Promise<Response | undefined> => {
      for (let step = await reader.read(); !step.done; step = await reader.read()) {
        size += step.value.byteLength;
        if (size > body) return tooLarge(this.#limits, Number.POSITIVE_INFINITY);
        chunks.push(step.value);
      }
      return undefined;
    };
    try {
      const refusal = await within(this.#border.clock, bodyTime, read(), () =>
        refuse("slow-request", `The body did not come within ${bodyTime} ms: send it faster.`, { connection: "close" }),
      );
      if (refusal === undefined) return joined(chunks, size);
      reader.cancel().catch(() => {}); // It has failed, and nobody waits for it.
      return refusal;
    } catch {
      return refuse("bad-request", "The body was cut short: send the whole of it.");
    }
  }

  async #handle(request: Request, guarded: Guarded): Promise<Response> {
    const { time } = this.#limits;
    const answer = Promise.try(() => this.#handler(request, guarded));
    let isLate = false;
    const response = await within(this.#border.clock, time, answer, () => {
      isLate = true;
      return refuse("timeout", `There was no answer within ${time} ms.`);
    });
    if (isLate) answer.then((late) => late.body?.cancel()).catch((cause: unknown) => this.#logLate(cause));
    return response;
  }

  #logLate(cause: unknown): void {
    this.#border.log.error("A guarded handler failed after its time was over.", { cause });
  }
}

const addressIn = (server: BunServer | undefined, request: Request): string =>
  server?.requestIP(request)?.address ?? "";

/** Waits for a value, and after a time for another one. */
async function within<Value>(clock: Clock, time: number, value: Promise<Value>, late: () => Value): Promise<Value> {
  if (time === Number.POSITIVE_INFINITY) return value;
  const { promise, resolve } = Promise.withResolvers<Value>();
  const timer = clock.setTimer(() => resolve(late()), time);
  try {
    return await Promise.race([value, promise]);
  } finally {
    timer.cancel();
  }
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}

/** A response with what its limits say. One that came from elsewhere (`fetch`) may have headers that cannot be changed. */
function told(response: Response, rated: Rated | undefined): Response {
  if (rated === undefined) return response;
  try {
    markRated(response, rated);
    return response;
  } catch {
    const copy = new Response(response.body, response);
    markRated(copy, rated);
    return copy;
  }
}
