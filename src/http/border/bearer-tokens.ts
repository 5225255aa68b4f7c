import { type Clock, checkOptions, type OptionChecks, option } from "../../index";
import type { Caller } from "../contract";
import { refuse } from "../problem";
import { type Authenticate, type Border, refuseUnknown } from "./authenticate";
import { type Callers, isCaller, KnownSecrets, SecretHash } from "./known-secrets";

/** The way to verify tokens that no list has, such as JSON Web Tokens. */
export interface VerifyOptions {
  /**
   * Gives the caller of a token, or undefined for a token that is no good: 401. What it throws refuses too, and is logged once a second at most: the
   * libraries throw for a token that is out of date, and for a mistake. The signal is aborted when nobody waits any more.
   */
  readonly verify: (token: string, signal: AbortSignal) => Caller | undefined | Promise<Caller | undefined>;
  /** Milliseconds that it may take; then the request is refused with 503. Default: 2,000. */
  readonly timeout?: number;
  /**
   * Milliseconds for which a caller that was found is kept by its token: so long, a token that was revoked or has ended is still let in. Tokens are kept
   * as hashes. Default: 0, which asks each time.
   */
  readonly cache?: number;
  /** Most callers that are kept. Default: 1,000. */
  readonly cached?: number;
  /** The realm that a client is told. Default: none. */
  readonly realm?: string;
}

/** Finds callers by tokens of a list. */
export interface BearerTokens extends Authenticate {
  /** Lets these tokens in from now on, and no others. Requests under way are answered. */
  replace(tokens: Callers): void;
}

/** The syntax of RFC 6750, section 2.1, and a bound to its length. */
const TOKEN = /^[A-Za-z0-9._~+/-]{1,8192}=*$/;
const LONGEST = 8_192;

const REFUSED = "The token names no caller who is let in: send another one.";
const MISSING = 'The request has no token: send "authorization: Bearer …".';

/**
 * Takes a bearer token (RFC 6750): one of a list, or one that your function verifies. Tokens of a list are compared in constant time, and only their
 * hashes are kept.
 *
 * @throws TypeError or RangeError when an option is invalid.
 * @example
 * const tokens = bearerTokens({ [process.env.ADAS_TOKEN]: "ada" });
 * const signed = bearerTokens({
 *   verify: async (token) => ({ id: (await jwtVerify(token, keys)).payload.sub }),
 *   cache: 5_000,
 * });
 */
export function bearerTokens(options: VerifyOptions): Authenticate;
export function bearerTokens(tokens: Callers): BearerTokens;
export function bearerTokens(given: Callers | VerifyOptions): Authenticate | BearerTokens {
  if (isVerifying(given)) {
    checkOptions(given, CHECKS, "bearer tokens", "{ verify: async (token) => callerOf(token) }");
    const verifier = new Verifier(given);
    return (request, border) => verifier.callerOf(request, border);
  }
  const known = new KnownSecrets("token", TOKEN, given);
  const challenge = challengeOf(undefined);
  const authenticate: Authenticate = (request) => {
    const token = tokenOf(request, challenge);
    if (typeof token !== "string") return token;
    return known.callerOf(token) ?? refuseUnknown(challenge.invalid, REFUSED);
  };
  return Object.assign(authenticate, { replace: (tokens: Callers) => known.replace(tokens) });
}

const isVerifying = (given: Callers | VerifyOptions): given is VerifyOptions =>
  typeof given === "object" && given !== null && "verify" in given && typeof given.verify === "function";

const CHECKS: OptionChecks<VerifyOptions> = {
  verify: option.function(" that gives the caller of a token, or undefined"),
  timeout: option.duration,
  cache: option.wait,
  cached: option.count,
  realm: option.rule(
    "is a text of printable characters",
    (value) => typeof value === "string" && /^[\x20-\x7e]+$/.test(value),
  ),
};

/** The `WWW-Authenticate` of a request without a token, and of one whose token is no good (RFC 6750, section 3). */
interface Challenge {
  readonly missing: string;
  readonly invalid: string;
}

function challengeOf(realm: string | undefined): Challenge {
  if (realm === undefined) return { missing: "Bearer", invalid: 'Bearer error="invalid_token"' };
  const missing = `Bearer realm="${realm.replaceAll(/["\\]/g, "\\$&")}"`;
  return { missing, invalid: `${missing}, error="invalid_token"` };
}

/** The token of a request, or the refusal of one that has none. */
function tokenOf({ headers }: Request, { missing, invalid }: Challenge): string | Response {
  const header = headers.get("authorization");
  if (header === null || !(header.startsWith("Bearer ") || header.slice(0, 7).toLowerCase() === "bearer ")) {
    return refuseUnknown(missing, MISSING);
  }
  const token = header.slice(7).trimStart();
  // Two headers come as one, with a comma, which no token has.
  return token.length <= LONGEST && TOKEN.test(token) ? token : refuseUnknown(invalid, REFUSED);
}

/** The outcome of a token: its caller, null for one that is no good, or that nobody knows yet. */
type Verdict = Caller | null | typeof LATE;

const LATE = Symbol("late");

/** Asks the owner's function, within a time, and keeps what it found for a while. */
class Verifier {
  readonly #verify: VerifyOptions["verify"];
  readonly #timeout: number;
  readonly #cache: number;
  readonly #cached: number;
  readonly #challenge: Challenge;
  readonly #hash = new SecretHash();
  /** By hash, in the order in which they end. */
  readonly #kept = new Map<string, { readonly caller: Caller; readonly until: number }>();
  /** The questions under way: a crowd with one token asks once. */
  readonly #asked = new Map<string, Promise<Verdict>>();
  #quietUntil = Number.NEGATIVE_INFINITY;

  constructor({ verify, timeout = 2_000, cache = 0, cached = 1_000, realm }: VerifyOptions) {
    this.#verify = verify;
    this.#timeout = timeout;
    this.#cache = cache;
    this.#cached = cached;
    this.#challenge = challengeOf(realm);
  }

  callerOf(request: Request, border: Border): Caller | Response | Promise<Caller | Response> {
    const token = tokenOf(request, this.#challenge);
    if (typeof token !== "string") return token;
    if (this.#cache === 0) return this.#ask(token, border).then((verdict) => this.#answer(verdict));
    const hash = this.#hash.of(token);
    const kept = this.#kept.get(hash);
    if (kept !== undefined && kept.until > border.clock.monotonicTime()) return kept.caller;
    let asked = this.#asked.get(hash);
    if (asked === undefined) {
      asked = this.#askAndKeep(token, hash, border);
      this.#asked.set(hash, asked);
    }
    return asked.then((verdict) => this.#answer(verdict));
  }

  #answer(verdict: Verdict): Caller | Response {
    if (verdict === null) return refuseUnknown(this.#challenge.invalid, REFUSED);
    if (verdict === LATE) return refuse("unavailable", "The token could not be verified in time: try again later.");
    return verdict;
  }

  async #askAndKeep(token: string, hash: string, border: Border): Promise<Verdict> {
    try {
      const verdict = await this.#ask(token, border);
      if (verdict !== null && verdict !== LATE) this.#keep(hash, verdict, border.clock.monotonicTime());
      return verdict;
    } finally {
      this.#asked.delete(hash);
    }
  }

  #keep(hash: string, caller: Caller, now: number): void {
    this.#kept.delete(hash);
    for (const [oldest, { until }] of this.#kept) {
      if (until > now && this.#kept.size < this.#cached) break;
      this.#kept.delete(oldest);
    }
    this.#kept.set(hash, { caller, until: now + this.#cache });
  }

  async #ask(token: string, border: Border): Promise<Verdict> {
    const waiting = new AbortController();
    let told: Verdict | undefined;
    try {
      told = await within(border.clock, this.#timeout, this.#verify(token, waiting.signal));
    } catch (cause) {
      this.#log(border, "A token could not be verified: its request was refused.", { cause });
      return null;
    }
    if (told === LATE) {
      waiting.abort();
      this.#log(border, `A token was not verified within ${this.#timeout} ms: its request was refused.`);
    } else if (told !== undefined && told !== null && !isCaller(told)) {
      throw new TypeError('verify gives a caller such as { id: "ada" }, or undefined; it gave something else.');
    }
    return told ?? null;
  }

  /** Once a second at most: a stranger can make it as often as he likes. */
  #log({ clock, log }: Border, sentence: string, details?: object): void {
    const now = clock.monotonicTime();
    if (now < this.#quietUntil) return;
    this.#quietUntil = now + 1_000;
    log.warn(sentence, details);
  }
}

/** Waits for a value, but not for longer than a time. */
async function within<Value>(clock: Clock, time: number, value: Value | Promise<Value>): Promise<Value | typeof LATE> {
  if (!(value instanceof Promise)) return value;
  const late = Promise.withResolvers<typeof LATE>();
  const timer = clock.setTimer(() => late.resolve(LATE), time);
  try {
    return await Promise.race([value, late.promise]);
  } finally {
    timer.cancel();
  }
}
