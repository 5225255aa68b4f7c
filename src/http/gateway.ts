import type { WebSocketHandler } from "bun";
import { type Clock, type Metadata, quote, type System } from "../index";
import { actorsPart } from "./actors";
import type { BunServer, Caller, Limits, MetricFamily, Part, PartMaker, Route, Site, Timing, Visit } from "./contract";
import { Disconnects } from "./disconnects";
import { type Checked, type Exposing, exposureOf } from "./exposure";
import { messagesPart } from "./messages";
import { refuse } from "./problem";
import { RouteTable } from "./route-table";

/** Says who sent a request. Undefined refuses it with 401. */
export type Authenticate = (request: Request) => Caller | undefined | Promise<Caller | undefined>;

/**
 * Says whether a caller may use an operation of an exposed actor. For pages of the gateway itself the actor is its path, such as
 * `/inspect` or `/metrics`, and the operation `read`.
 */
export type Authorize = (caller: Caller | undefined, actor: string, operation: string) => boolean | Promise<boolean>;

/** The options of a gateway. */
export interface GatewayOptions<E extends Exposing = Exposing> {
  /** What can be reached: actors by the name that they have outside, each with its operations. Nothing else can. */
  readonly expose: E;
  /** The name and the version of the service, for its documents. Default: `"envoi"` and `"0.0.0"`. */
  readonly name?: string;
  readonly version?: string;
  /** Goes before all paths, such as `/api`. Default: none. */
  readonly basePath?: string;
  /** Default: everybody is let in, and no handler knows who it is. */
  readonly authenticate?: Authenticate;
  /** Default: each caller may use all that is exposed. */
  readonly authorize?: Authorize;
  readonly limits?: Partial<Limits>;
  /** More parts, such as sessions or the inspector. Default: none. */
  readonly parts?: readonly PartMaker[];
}

declare const exposing: unique symbol;

/** The door of a system to HTTP. */
export interface Gateway<E = Exposing> {
  /** For the compiler alone: what is exposed, for the client's types. */
  readonly [exposing]?: E;
  /** Answers a request. Give it Bun's server, if there is one: without it, a WebSocket is answered with 426. Never rejects. */
  readonly fetch: (request: Request, server?: BunServer) => Promise<Response>;
  /** For `Bun.serve`. */
  readonly routes: { readonly [path: string]: (request: Request, server: BunServer) => Promise<Response> };
  /** For `Bun.serve`, where sockets are wanted. */
  readonly websocket: WebSocketHandler<unknown>;
  readonly limits: Limits;
  /**
   * Takes no new streams, sockets and sessions, lets those that run end within a time, and then tells their clients to come back. Asks
   * are answered until the system has shut down.
   */
  drain(timeout: number): Promise<void>;
  /** Puts away what its parts have open. Call it once the system has shut down. */
  close(): Promise<void>;
}

const LIMITS: Limits = {
  body: 1_048_576,
  depth: 64,
  bodyTime: 10_000,
  time: 30_000,
  streams: 100,
  sockets: 100,
};

class GatewayVisit implements Visit {
  readonly timing: Timing | null = null;

  constructor(
    readonly request: Request,
    readonly server: BunServer | undefined,
    readonly path: string,
    readonly query: string,
    readonly params: readonly string[],
    readonly caller: Caller | undefined,
    readonly metadata: Metadata | undefined,
  ) {}

  get owner(): string {
    return this.caller?.id ?? this.server?.requestIP(this.request)?.address ?? "";
  }
}

class SystemGateway implements Site {
  readonly system: System;
  readonly clock: Clock;
  readonly exposure;
  readonly limits: Limits;
  readonly name: string;
  readonly version: string;
  readonly basePath: string;
  readonly routes: Route[] = [];
  readonly disconnects: Disconnects;
  isDraining = false;
  readonly #options: GatewayOptions;
  readonly #parts: Part[] = [];
  readonly #table = new RouteTable();
  readonly #taken = { streams: new Map<string, number>(), sockets: new Map<string, number>() };

  constructor(system: System, options: GatewayOptions) {
    this.system = system;
    this.clock = system.clock;
    this.disconnects = new Disconnects(this.clock);
    this.#options = options;
    this.exposure = exposureOf(options.expose);
    this.limits = { ...LIMITS, ...options.limits };
    this.name = options.name ?? "envoi";
    this.version = options.version ?? "0.0.0";
    this.basePath = options.basePath ?? "";
    for (const make of [actorsPart, messagesPart, ...(options.parts ?? [])]) {
      const part = make(this);
      this.#parts.push(part);
      for (const route of part.routes) {
        this.routes.push(route);
        this.#table.add(route);
      }
    }
  }

  metrics(): readonly MetricFamily[] {
    return this.#parts.flatMap((part) => part.metrics?.() ?? []);
  }

  async fetch(request: Request, server?: BunServer): Promise<Response> {
    try {
      return await this.#answer(request, server);
    } catch (thrown) {
      // A mistake of a part, or of a function that the owner gave. The client learns nothing of it (P18).
      console.error("The gateway failed for a request.", thrown);
      return refuse("internal-error", "The service failed. Its log says why.");
    }
  }

  async #answer(request: Request, server: BunServer | undefined): Promise<Response> {
    const { url } = request;
    const start = url.indexOf("/", url.indexOf("://") + 3);
    const mark = url.indexOf("?", start);
    const whole = mark < 0 ? url.slice(start) : url.slice(start, mark);
    if (!whole.startsWith(this.basePath)) return refuse("not-found", `All paths begin with ${this.basePath}.`);
    const path = whole.slice(this.basePath.length);
    const found = this.#table.find(request.method, path);
    if (found instanceof Response) return found;
    const { route, params } = found;
    const { authenticate } = this.#options;
    let caller: Caller | undefined;
    if (authenticate !== undefined && route.isOpen !== true) {
      const told = authenticate(request);
      caller = told instanceof Promise ? await told : told;
      if (caller === undefined) {
        return refuse("unauthenticated", "The request names no caller who is let in: send credentials.", {
          "www-authenticate": "Bearer",
        });
      }
    }
    const query = mark < 0 ? "" : url.slice(mark + 1);
    const metadata = metadataOf(request, caller);
    const visit = new GatewayVisit(request, server, path, query, params, caller, metadata);
    return route.handle(visit);
  }

  authorize(
    { caller }: Pick<Visit, "caller">,
    actor: string,
    operation: string,
  ): Promise<Response | undefined> | Response | undefined {
    const { authorize } = this.#options;
    if (authorize === undefined) return undefined;
    const told = authorize(caller, actor, operation);
    return told instanceof Promise ? told.then(refusalOf) : refusalOf(told);
  }

  enter(owner: string, what: "streams" | "sockets"): (() => void) | Response {
    const taken = this.#taken[what];
    const count = taken.get(owner) ?? 0;
    if (count >= this.limits[what]) {
      return refuse("too-many-requests", `There are ${count} ${what} of this caller: end one of them first.`);
    }
    taken.set(owner, count + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const left = (taken.get(owner) ?? 1) - 1;
      if (left > 0) taken.set(owner, left);
      else taken.delete(owner);
    };
  }

  async drain(timeout: number): Promise<void> {
    this.isDraining = true;
    const end = new AbortController();
    const timer = this.clock.setTimer(() => end.abort(), timeout);
    await Promise.all(this.#parts.map((part) => part.drain?.(end.signal)));
    timer.cancel();
  }

  get websocket(): WebSocketHandler<unknown> {
    return (
      this.#parts.find((part) => part.websocket !== undefined)?.websocket ?? { message: (socket) => socket.close() }
    );
  }

  async close(): Promise<void> {
    for (const part of this.#parts) await part.close?.();
  }
}

const refusalOf = (may: boolean): Response | undefined =>
  may ? undefined : refuse("forbidden", "This caller may not do that.");

/** The metadata of what a request sends: who its caller is, and the trace that it belongs to. */
function metadataOf({ headers }: Request, caller: Caller | undefined): Metadata | undefined {
  const traceparent = headers.get("traceparent");
  if (traceparent === null && caller === undefined) return undefined;
  return {
    ...caller?.metadata,
    ...(caller !== undefined && { caller: caller.id }),
    ...(traceparent !== null && { traceparent }),
  };
}

/**
 * Makes a gateway: it answers HTTP requests with the exposed operations of actors, and with nothing else.
 *
 * @throws TypeError when an option is invalid.
 * @example
 * const gateway = createGateway(system, { expose: { counter: { ref: counter, operations: ["add", "total"] } } });
 * Bun.serve({ port: 3000, fetch: gateway.fetch });
 */
export function createGateway<const E extends Exposing>(
  system: System,
  options: GatewayOptions<E> & { readonly expose: Checked<E> },
): Gateway<E> {
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`The options of a gateway are an object with expose; got ${quote(options)}.`);
  }
  const gateway = new SystemGateway(system, options);
  const fetch = (request: Request, server?: BunServer): Promise<Response> => gateway.fetch(request, server);
  return {
    fetch,
    routes: { [`${gateway.basePath}/*`]: fetch },
    websocket: gateway.websocket,
    limits: gateway.limits,
    drain: (timeout) => gateway.drain(timeout),
    close: () => gateway.close(),
  };
}
