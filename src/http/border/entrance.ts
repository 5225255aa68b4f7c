import { quote } from "../../index";
import type { Route, Site } from "../contract";
import { markRated, type Rated, RateLimiter, type RateLimitOptions, type Visitor } from "./rate-limit";
import type { Shares } from "./shares";
import type { GatewayVisit } from "./visit";

/** Counts what each caller sends, where its owner set limits: requests in a time, and at one time. */
export class Entrance {
  readonly #rates: RateLimiter | null;
  readonly #shares: Shares | null;

  /** @param shares null if a caller may have any number of requests at one time. */
  constructor(rates: RateLimiter | null, shares: Shares | null) {
    this.#rates = rates;
    this.#shares = shares;
  }

  /** Answers a request if its caller has not sent too many. */
  pass(visit: GatewayVisit, route: Route): Response | Promise<Response> {
    const rated = this.#rates?.take(visit);
    return rated instanceof Promise
      ? rated.then((told) => this.#passAs(told, visit, route))
      : this.#passAs(rated, visit, route);
  }

  #passAs(rated: Rated | undefined, visit: GatewayVisit, route: Route): Response | Promise<Response> {
    const refusal = this.#note(visit, rated);
    if (refusal !== undefined) return refusal;
    const release = this.#shares?.take(visit, "requests");
    if (release instanceof Response) return release;
    if (release !== undefined) visit.release = release;
    return route.handle(visit);
  }

  /** Takes from the limits of a request that is not passed on as one: the handshake of a socket. */
  handshake(visitor: Visitor): Response | undefined | Promise<Response | undefined> {
    const rated = this.#rates?.take(visitor);
    return rated instanceof Promise ? rated.then(refusalIn) : rated && refusalIn(rated);
  }

  /** Takes from the limits of a message: those of its operation, and of one that came over a socket those of a request too. */
  rate(
    visitor: Visitor,
    actor: string,
    operation: string,
    visit: GatewayVisit | null,
  ): Response | undefined | Promise<Response | undefined> {
    if (visit === null) {
      const rated = this.#rates?.take(visitor);
      if (rated instanceof Promise)
        return rated.then(({ refusal }) => refusal ?? this.#rateFor(actor, operation, visitor, visit));
      if (rated?.refusal !== undefined) return rated.refusal;
    }
    return this.#rateFor(actor, operation, visitor, visit);
  }

  #rateFor(
    actor: string,
    operation: string,
    visitor: Visitor,
    visit: GatewayVisit | null,
  ): Response | undefined | Promise<Response | undefined> {
    const rated = this.#rates?.takeFor(actor, operation, visitor);
    return rated instanceof Promise ? rated.then((each) => this.#note(visit, each)) : this.#note(visit, rated);
  }

  #note(visit: GatewayVisit | null, rated: Rated | undefined): Response | undefined {
    if (rated === undefined) return undefined;
    if (visit !== null) visit.rated = visit.rated.length === 0 ? [rated] : [...visit.rated, rated];
    return rated.refusal;
  }
}

/** The options that say how often callers may ask, and what for. */
interface EntranceOptions {
  readonly rateLimit?: string | RateLimitOptions;
  readonly sessions?: unknown;
  readonly parts?: readonly unknown[];
}

/**
 * Null where the owner of a gateway limits no requests.
 *
 * @throws TypeError or RangeError when the rate limit is invalid.
 */
export function entranceOf(site: Site, options: EntranceOptions, shares: Shares): Entrance | null {
  const { limits, clock, log } = site;
  const { rateLimit } = options;
  const rates = rateLimit === undefined ? null : new RateLimiter(rateLimit, clock, log, "a gateway");
  if (typeof rateLimit === "object") checkOperations(Object.keys(rateLimit.operations ?? {}), site, options);
  const isBounded = limits.requests < Number.POSITIVE_INFINITY;
  return rates === null && !isBounded ? null : new Entrance(rates, isBounded ? shares : null);
}

/** Windows for a name that is misspelt would hold nobody. Pages, sessions and the parts of others have names that are not exposed. */
function checkOperations(limited: readonly string[], { exposure }: Site, { sessions, parts }: EntranceOptions): void {
  const exposed = [...exposure.values()].flatMap(({ name, endpoints }) =>
    [...endpoints.keys()].map((operation) => `${name}.${operation}`),
  );
  const isExposedAlone = sessions === undefined && parts === undefined;
  for (const name of limited) {
    if (exposed.includes(name) || name.startsWith("/")) continue;
    if (!isExposedAlone && ![...exposure.keys()].some((actor) => name.startsWith(`${actor}.`))) continue;
    throw new TypeError(
      `The rate limit of a gateway has windows for ${quote(name)}, which is not exposed; write some of ${exposed.join(", ")}.`,
    );
  }
}

function refusalIn(rated: Rated): Response | undefined {
  if (rated.refusal !== undefined) markRated(rated.refusal, rated);
  return rated.refusal;
}
