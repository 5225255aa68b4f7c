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
  async pass(visit: GatewayVisit, route: Route): Promise<Response> {
    const rated = this.#rates?.take(visit);
    const refusal = this.#note(visit, rated instanceof Promise ? await rated : rated);
    if (refusal !== undefined) return marked(visit, refusal);
    const release = this.#shares?.take(visit.owner, "requests");
    if (release instanceof Response) return marked(visit, release);
    try {
      return marked(visit, await route.handle(visit));
    } finally {
      release?.();
    }
  }

  /** Takes from the limits of a request that is not passed on as one: the handshake of a socket. */
  handshake(visitor: Visitor): Response | undefined | Promise<Response | undefined> {
    const rated = this.#rates?.take(visitor);
    return rated instanceof Promise ? rated.then(refusalIn) : rated && refusalIn(rated);
  }

  /** Takes from the limits of a message: those of its operation, and of one that came over a socket those of a request too. */
  rate(
    visitor: Visitor,
    operation: string,
    visit: GatewayVisit | null,
  ): Response | undefined | Promise<Response | undefined> {
    if (visit === null) {
      const rated = this.#rates?.take(visitor);
      if (rated instanceof Promise)
        return rated.then(({ refusal }) => refusal ?? this.#rateFor(operation, visitor, visit));
      if (rated?.refusal !== undefined) return rated.refusal;
    }
    return this.#rateFor(operation, visitor, visit);
  }

  #rateFor(
    operation: string,
    visitor: Visitor,
    visit: GatewayVisit | null,
  ): Response | undefined | Promise<Response | undefined> {
    const rated = this.#rates?.takeFor(operation, visitor);
    return rated instanceof Promise ? rated.then((each) => this.#note(visit, each)) : this.#note(visit, rated);
  }

  #note(visit: GatewayVisit | null, rated: Rated | undefined): Response | undefined {
    if (rated !== undefined && visit !== null) visit.rated = [...(visit.rated ?? []), rated];
    return rated?.refusal;
  }
}

/** Null where the owner of a gateway limits no requests. */
export function entranceOf(
  { limits, clock, log }: Site,
  rateLimit: string | RateLimitOptions | undefined,
  shares: Shares,
): Entrance | null {
  const rates = rateLimit === undefined ? null : new RateLimiter(rateLimit, clock, log, "a gateway");
  const isBounded = limits.requests < Number.POSITIVE_INFINITY;
  return rates === null && !isBounded ? null : new Entrance(rates, isBounded ? shares : null);
}

function refusalIn(rated: Rated): Response | undefined {
  if (rated.refusal !== undefined) markRated(rated.refusal, rated);
  return rated.refusal;
}

function marked(visit: GatewayVisit, response: Response): Response {
  // A part that upgraded a request has none.
  if (visit.rated !== null && response instanceof Response) for (const rated of visit.rated) markRated(response, rated);
  return response;
}
