import type { Caller, Route, Site, Visit } from "../contract";
import { refuse } from "../problem";
import { type Authenticate, type Authorize, callerIn } from "./authenticate";
import { decided, refuseLate } from "./decided";
import type { Entrance } from "./entrance";
import { markRated } from "./rate-limit";
import { ServerTimings } from "./server-timing";
import { GatewayVisit, metadataOf } from "./visit";

/** The rules of a gateway's owner for its callers. */
export interface AccessOptions {
  readonly authenticate?: Authenticate;
  readonly authorize?: Authorize;
  readonly addressOf?: (request: Request) => string | null | undefined;
  readonly serverTiming?: boolean;
}

/** Stands for a decision that did not come in time. */
const LATE = Symbol("late");

/** Finds out who sent a request, and lets it in or refuses it. */
export class Access {
  /** The statuses of its refusals. */
  readonly statuses: readonly number[];
  readonly #site: Site;
  readonly #options: AccessOptions;
  readonly #entrance: Entrance | null;
  readonly #timings: ServerTimings | null;

  /** @param entrance null where nothing that callers send is counted. */
  constructor(site: Site, options: AccessOptions, entrance: Entrance | null) {
    this.#site = site;
    this.#options = options;
    this.#entrance = entrance;
    this.#timings = options.serverTiming === true ? new ServerTimings(site.system) : null;
    const guards = { 401: options.authenticate, 403: options.authorize, 429: entrance };
    this.statuses = Object.entries(guards).flatMap(([status, guard]) => (guard == null ? [] : [Number(status)]));
  }

  /** Finds the caller of a request, and answers it by its route. `mark` and `leave` follow, whatever comes of it. */
  admit(visit: GatewayVisit, route: Route): Response | Promise<Response> {
    const { addressOf } = this.#options;
    if (addressOf !== undefined) visit.address = addressOf(visit.request);
    if (route.isOpen === true) return route.handle(visit);
    this.#timings?.begin(visit);
    return this.#identify(visit, route);
  }

  /** Says in a response what the request took, of its time and of its rate limits. */
  mark({ rated, timing }: GatewayVisit, response: Response): void {
    if (rated.length === 0 && timing === null) return;
    if (!(response instanceof Response)) return; // A part that upgraded a request has none.
    for (const each of rated) markRated(response, each);
    if (timing !== null && response.status !== 401) response.headers.set("server-timing", `${timing}`); // A stranger learns nothing.
  }

  /** The request is answered. */
  leave({ release, timing }: GatewayVisit): void {
    release?.();
    if (timing !== null) this.#timings?.end();
  }

  #identify(visit: GatewayVisit, route: Route): Response | Promise<Response> {
    if (this.#options.authenticate === undefined) return this.#enter(visit, route);
    const told = this.callerOf(visit.request);
    return told instanceof Promise
      ? told.then((caller) => this.#enterAs(caller, visit, route))
      : this.#enterAs(told, visit, route);
  }

  /** Says who sent a request, as the owner's function has it. */
  callerOf(request: Request): Caller | Response | undefined | Promise<Caller | Response | undefined> {
    const told = this.#options.authenticate?.(request, this.#site);
    return told instanceof Promise ? decided(this.#site, told, "authenticate", refuseLate) : told;
  }

  #enterAs(told: Caller | Response | undefined, visit: GatewayVisit, route: Route): Response | Promise<Response> {
    const { timing } = visit;
    if (timing !== null) timing.add("auth", this.#site.clock.monotonicTime() - timing.begun);
    const caller = callerIn(told);
    if (caller instanceof Response) return caller;
    visit.caller = caller;
    return this.#enter(visit, route);
  }

  #enter(visit: GatewayVisit, route: Route): Response | Promise<Response> {
    visit.metadata = metadataOf(visit.request, visit.caller);
    return this.#entrance === null ? route.handle(visit) : this.#entrance.pass(visit, route);
  }

  handshake(visitor: Pick<Visit, "caller" | "owner">): Promise<Response | undefined> | Response | undefined {
    return this.#entrance?.handshake(visitor);
  }

  /** Undefined when the caller may, and has not done it too often; else the refusal. */
  authorize(
    visitor: Pick<Visit, "caller" | "request" | "owner">,
    actor: string,
    operation: string,
  ): Promise<Response | undefined> | Response | undefined {
    const { authorize } = this.#options;
    const visit = visitor instanceof GatewayVisit ? visitor : null;
    if (authorize === undefined) return this.#entrance?.rate(visitor, actor, operation, visit);
    const { clock } = this.#site;
    const start = visit?.timing == null ? 0 : clock.monotonicTime();
    const decide = (may: boolean): Promise<Response | undefined> | Response | undefined => {
      visit?.timing?.add("auth", clock.monotonicTime() - start);
      if (may !== true) return refuse("forbidden", "This caller may not do that.");
      return this.#entrance?.rate(visitor, actor, operation, visit);
    };
    const told = authorize(visitor.caller, actor, operation);
    if (!(told instanceof Promise)) return decide(told);
    return decided<boolean, typeof LATE>(this.#site, told, "authorize", () => LATE).then((may) =>
      may === LATE ? refuseLate() : decide(may),
    );
  }
}
