import { type Clock, checkOptions, type Logger, type OptionChecks, option, quote } from "../../index";
import type { Visit } from "../contract";
import { refuse } from "../problem";
import { LocalRateStore, type RateLeft, type RateLimitStore, type RateTaken } from "./rate-store";
import { type RateWindow, rateWindowsOf } from "./rate-windows";

/** The number of requests that a caller may send. */
export interface RateLimitOptions {
  /** Windows that each caller has, all of which must have room, such as `"10/s;100/min"`. Default: none. */
  readonly all?: string;
  /**
   * More windows for single operations, by `actor.operation` as `authorize` gets them, such as `{ "counter.add": "1/s" }`. A name that is not exposed
   * throws. Default: none.
   */
  readonly operations?: Readonly<Record<string, string>>;
  /** Keeps what is left, such as for several processes. Default: this process does. */
  readonly store?: RateLimitStore;
  /** Most callers that this process keeps, if no store is given. Beyond them, the callers that have used least are forgotten. Default: 10,000. */
  readonly callers?: number;
  /** The fate of requests while the store fails: `"open"` lets them in, `"closed"` refuses them with 503. Default: `"open"`. */
  readonly whenStoreFails?: "open" | "closed";
  /** Milliseconds after which the store counts as failing. Default: 200. */
  readonly timeout?: number;
}

/** The answer of a limit to one request: the refusal, or what its response tells. */
export interface Rated {
  readonly refusal: Response | undefined;
  /** The items of the header `RateLimit`; empty if nobody knows them. */
  readonly limit: string;
  /** The items of the header `RateLimit-Policy`. */
  readonly policy: string;
}

/** The key of a limit: a caller by its id, anybody else by the address. */
export type Visitor = Pick<Visit, "caller" | "owner">;

/** The windows of one limit, and what is told of them. */
interface Policy {
  /** Goes before the caller in the keys of the store. */
  readonly scope: string;
  readonly windows: readonly RateWindow[];
  /** The names of the windows, as strings of structured fields (RFC 8941). */
  readonly names: readonly string[];
  readonly policy: string;
}

const CHECKS: OptionChecks<RateLimitOptions> = {
  all: option.any, // rateWindowsOf looks at them.
  operations: (value, name, of) => {
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return;
    throw new TypeError(`The ${name} of ${of} are an object, such as { "counter.add": "1/s" }; got ${quote(value)}.`);
  },
  store: (value, name, of) => {
    if (typeof value === "object" && value !== null && "take" in value && typeof value.take === "function") return;
    throw new TypeError(`The ${name} of ${of} has a method take(key, cost, windows); got ${quote(value)}.`);
  },
  callers: option.count,
  whenStoreFails: option.oneOf("open", "closed"),
  timeout: option.duration,
};

/** Limits how often each caller may ask, and tells how much is left (draft-ietf-httpapi-ratelimit-headers-11). */
export class RateLimiter {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #store: RateLimitStore;
  readonly #isOwn: boolean;
  readonly #isOpen: boolean;
  readonly #timeout: number;
  readonly #all: Policy | undefined;
  readonly #operations: ReadonlyMap<string, Policy>;
  #quietUntil = Number.NEGATIVE_INFINITY;

  /** @throws TypeError or RangeError when an option is invalid. */
  constructor(given: RateLimitOptions | string, clock: Clock, log: Logger, of: string) {
    const options = typeof given === "string" ? { all: given } : given;
    checkOptions(options, CHECKS, `the rate limit of ${of}`, '{ all: "10/s;100/min" }');
    const { all, operations = {}, store, callers = 10_000, whenStoreFails = "open", timeout = 200 } = options;
    this.#clock = clock;
    this.#log = log;
    this.#isOwn = store === undefined;
    this.#store = store ?? new LocalRateStore(clock, callers);
    this.#isOpen = whenStoreFails === "open";
    this.#timeout = timeout;
    this.#all = all === undefined ? undefined : policyOf("", all, of);
    this.#operations = new Map(
      Object.entries(operations).map(([name, text]) => [name, policyOf(name, text, `${name} in ${of}`)]),
    );
  }

  /** Takes from the windows that each caller has. Undefined if there are none. */
  take(visitor: Visitor): Rated | Promise<Rated> | undefined {
    return this.#all === undefined ? undefined : this.#take(this.#all, visitor);
  }

  /** Takes from the windows of an operation. Undefined if it has none of its own. */
  takeFor(actor: string, operation: string, visitor: Visitor): Rated | Promise<Rated> | undefined {
    if (this.#operations.size === 0) return undefined;
    const policy = this.#operations.get(`${actor}.${operation}`);
    return policy === undefined ? undefined : this.#take(policy, visitor);
  }

  #take(policy: Policy, visitor: Visitor): Rated | Promise<Rated> {
    const key = `${policy.scope} ${countedAs(visitor)}`;
    if (this.#isOwn) return ratedOf(policy, this.#store.take(key, 1, policy.windows) as RateTaken); // Ours answers at once.
    return this.#takeElsewhere(policy, key);
  }

  async #takeElsewhere(policy: Policy, key: string): Promise<Rated> {
    const late = Promise.withResolvers<undefined>();
    const timer = this.#clock.setTimer(() => late.resolve(undefined), this.#timeout);
    try {
      const taken = await Promise.race([this.#store.take(key, 1, policy.windows), late.promise]);
      if (isTaken(taken, policy)) return ratedOf(policy, taken);
      const what = taken === undefined ? `did not answer within ${this.#timeout} ms` : "gave no { isAllowed, windows }";
      return this.#failed(policy, `The store of the rate limit ${what}`);
    } catch (cause) {
      return this.#failed(policy, "The store of the rate limit failed", cause);
    } finally {
      timer.cancel();
    }
  }

  #failed({ policy }: Policy, sentence: string, cause?: unknown): Rated {
    const now = this.#clock.monotonicTime();
    if (now >= this.#quietUntil) {
      this.#quietUntil = now + 1_000;
      const what = this.#isOpen ? "requests are let in" : "requests are refused";
      this.#log.error(`${sentence}: ${what} meanwhile.`, cause === undefined ? undefined : { cause });
    }
    const refusal = this.#isOpen
      ? undefined
      : refuse("unavailable", "The rate of requests cannot be looked up: try again later.");
    return { refusal, limit: "", policy };
  }
}

function policyOf(scope: string, text: string, of: string): Policy {
  const windows = rateWindowsOf(text, of);
  const names = windows.map(({ name }) => `"${scope === "" ? name : `${scope} ${name}`}"`);
  return {
    scope,
    windows,
    names,
    policy: windows.map(({ quota, seconds }, index) => `${names[index]};q=${quota};w=${seconds}`).join(", "),
  };
}

/**
 * Gives the headers about a request. A refusal tells the windows that refused alone: its `Retry-After` must not come before
 * the end of a window that is told (section 6 of the draft).
 */
function ratedOf({ policy, windows, names }: Policy, { isAllowed, windows: left }: RateTaken): Rated {
  let limit = "";
  let longest = 0;
  let by: RateWindow | undefined;
  let index = 0;
  for (const { remaining, wait } of left) {
    const at = index++;
    if (!isAllowed && remaining > 0) continue;
    const seconds = secondsOf(wait);
    const told = `${names[at]};r=${remaining};t=${seconds}`;
    limit = limit === "" ? told : `${limit}, ${told}`;
    if (seconds > longest) {
      longest = seconds;
      by = windows[at];
    }
  }
  if (isAllowed) return { refusal: undefined, limit, policy };
  const often = by === undefined ? "" : ` ${by.quota} are taken in ${by.seconds} s.`;
  const detail = `This caller has sent too many requests:${often} Try again in ${longest} s.`;
  return {
    refusal: refuse("too-many-requests", detail, { "retry-after": String(Math.max(longest, 1)) }),
    limit,
    policy,
  };
}

const secondsOf = (wait: number): number => Math.max(Math.ceil(wait / 1000), 0);

/** True for what a store may say. */
function isTaken(taken: unknown, { windows }: Policy): taken is RateTaken {
  if (typeof taken !== "object" || taken === null) return false;
  const { isAllowed, windows: left } = taken as Partial<RateTaken>; // Any object has such properties, or not.
  if (typeof isAllowed !== "boolean" || !Array.isArray(left) || left.length !== windows.length) return false;
  return left.every((each: Partial<RateLeft> | null) => isCount(each?.remaining) && isCount(each?.wait));
}

const isCount = (value: unknown): boolean => typeof value === "number" && value >= 0 && Number.isFinite(value);

/** The tokens of RateLimit-Policy and of RateLimit go on each answer to a request that was rated. */
export function markRated({ headers }: Response, { limit, policy }: Rated): void {
  headers.append("ratelimit-policy", policy);
  if (limit !== "") headers.append("ratelimit", limit);
}

/** The text by which a caller is counted: its id, or the network of an address that nobody has authenticated. */
export const countedAs = ({ caller, owner }: Visitor): string => (caller === undefined ? networkOf(owner) : owner);

/** An address, but of IPv6 its first half: whoever has one address there has all that begin like it, and could change it with each request. */
export function networkOf(address: string): string {
  if (!address.includes(":") || /^::ffff:[\d.]+$/i.test(address)) return address;
  const [head = "", tail] = address.split("::", 2);
  const groups = head === "" ? [] : head.split(":");
  const last = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : Math.max(8 - groups.length - last.length, 0);
  return `${[...groups, ...Array.from({ length: zeros }, () => "0"), ...last].slice(0, 4).join(":")}::/64`;
}
