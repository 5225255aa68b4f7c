import type { Caller, Route, Site, Visit } from "../contract";
import { refuse } from "../problem";
import { type Authenticate, type Authorize, callerIn } from "./authenticate";
import type { Entrance } from "./entrance";
import { ServerTimings } from "./server-timing";
import { GatewayVisit, metadataOf } from "./visit";

/** The rules of a gateway's owner for its callers. */
export interface AccessOptions {
  readonly authenticate?: Authenticate;
  readonly authorize?: Authorize;
  readonly addressOf?: (request: Request) => string | null | undefined;
  readonly serverTiming?: boolean;
}

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

  /** Finds the caller of a request, and answers it by its route. */
  admit(visit: GatewayVisit, route: Route): Response | Promise<Response> {
    const { addressOf } = this.#options;
    if (addressOf !== undefined) visit.address = addressOf(visit.request);
    if (route.isOpen === true) return route.handle(visit);
    return this.#timings?.time(visit, () => this.#identify(visit, route)) ?? this.#identify(visit, route);
  }

  #identify(visit: GatewayVisit, route: Route): Response | Promise<Response> {
    const { authenticate } = this.#options;
    if (authenticate === undefined) return this.#enter(visit, route);
    const { clock } = this.#site;
    const start = visit.timing === null ? 0 : clock.monotonicTime();
    const told = authenticate(visit.request, this.#site);
    if (told instanceof Promise) return told.then((caller) => this.#enterAs(caller, visit, route, start));
    return this.#enterAs(told, visit, route, start);
  }

  #enterAs(
    told: Caller | Response | undefined,
    visit: GatewayVisit,
    route: Route,
    start: number,
  ): Response | Promise<Response> {
    visit.timing?.add("auth", this.#site.clock.monotonicTime() - start);
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
    if (authorize === undefined) return this.#entrance?.rate(visitor, `${actor}.${operation}`, visit);
    const { clock } = this.#site;
    const start = visit?.timing == null ? 0 : clock.monotonicTime();
    const decide = (may: boolean): Promise<Response | undefined> | Response | undefined => {
      visit?.timing?.add("auth", clock.monotonicTime() - start);
      if (may !== true) return refuse("forbidden", "This caller may not do that.");
      return this.#entrance?.rate(visitor, `${actor}.${operation}`, visit);
    };
    const told = authorize(visitor.caller, actor, operation);
    return told instanceof Promise ? told.then(decide) : decide(told);
  }
}
