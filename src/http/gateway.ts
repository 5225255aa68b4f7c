import type { WebSocketHandler } from "bun";
import { type Clock, type Logger, option, quote, type Schema, type System } from "../index";
import { actorsPart } from "./actors";
import { inside } from "./around";
import { Access } from "./border/access";
import { headersOf } from "./border/authenticate";
import { Cors } from "./border/cors";
import { entranceOf } from "./border/entrance";
import { Shares } from "./border/shares";
import { GatewayVisit, targetOf } from "./border/visit";
import type { BunServer, Exposure, Limits, MetricFamily, Part, Route, Site, Visit } from "./contract";
import { Disconnects } from "./disconnects";
import { documentParts } from "./documents/documents";
import { endpointsOf, methodsOf, pathOf } from "./documents/reachable";
import { drainParts } from "./drain";
import type { Exposes } from "./exposes";
import { type Checked, type Exposing, exposureOf } from "./exposure";
import { type AnyGatewayOptions, checkGatewayOptions, type GatewayOptions, KEEP_ALIVE } from "./gateway-options";
import { inspectorParts } from "./inspector/part";
import { limitsOf } from "./limits";
import { messagesPart } from "./messages";
import { refuse, SERVICE_FAILED } from "./problem";
import { type Place, RouteTable, withoutBody } from "./route-table";
import { serverIn } from "./server";
import type { OperationName, SessionsOf, SessionsOptions } from "./sessions/options";
import { sessionsPart } from "./sessions/sessions";
import { socketPart } from "./socket/part";
import type { ExposedTopics, NoTopics } from "./socket/relay";
import { EventBodies } from "./streams/event-body";
import { OpenStreams } from "./streams/streams";

/** The door of a system to HTTP. */
export interface Gateway<E = Exposing, Sessions = unknown, Topics = unknown> extends Exposes<E, Sessions, Topics> {
  /**
   * Answers a request. Never rejects. Give it Bun's server, if there is one, or what a router has of it, such as hono's `env`: without it, a
   * WebSocket is answered with 426.
   */
  readonly fetch: (request: Request, server?: unknown) => Promise<Response>;
  /** For `Bun.serve`. */
  readonly routes: { readonly [path: string]: (request: Request, server: BunServer) => Promise<Response> };
  /** For `Bun.serve`, where sockets are wanted. */
  readonly websocket: WebSocketHandler<unknown>;
  readonly limits: Limits;
  /**
   * Takes no new streams, sockets and sessions, and lets those that run end within a time; their clients are then told to come back. Asks are
   * answered meanwhile. Then it takes none either, and waits for those that run, within the same time. Later calls wait for the first one.
   *
   * @param timeout in milliseconds.
   */
  drain(timeout: number): Promise<void>;
  /** Puts away what its parts have open. Call it once the system has shut down. */
  close(): Promise<void>;
}

class SystemGateway implements Site {
  readonly system: System;
  readonly clock: Clock;
  readonly log: Logger;
  readonly exposure: Exposure;
  readonly limits: Limits;
  readonly name: string;
  readonly version: string;
  readonly basePath: string;
  readonly credentials: readonly string[];
  readonly routes: Route[] = [];
  readonly disconnects: Disconnects;
  readonly bodies: EventBodies;
  readonly streams: OpenStreams;
  isDraining = false;
  /** True once no more requests are taken. */
  #isClosed = false;
  #running = 0;
  /** The second argument of the last request, mostly the same each time, and the server in it. */
  #seen: unknown;
  #server: BunServer | undefined;
  #onIdle: (() => void) | null = null;
  #drained: Promise<void> | null = null;
  #closed: Promise<void> | null = null;
  readonly #options: AnyGatewayOptions;
  readonly #cors: Cors | null;
  readonly #parts: Part[] = [];
  /** Those that count answers. */
  readonly #counting: NonNullable<Part["answered"]>[] = [];
  readonly #table = new RouteTable();
  readonly #shares: Shares;
  readonly #access: Access;

  constructor(system: System, options: AnyGatewayOptions) {
    this.system = system;
    this.clock = system.clock;
    this.log = system.log;
    this.disconnects = new Disconnects(this.clock);
    this.#options = options;
    this.credentials = headersOf(options.authenticate);
    this.#cors = options.cors === undefined ? null : new Cors(options.cors, this.credentials);
    this.exposure = exposureOf(options.expose);
    this.limits = limitsOf(options.limits);
    this.#shares = new Shares(this.limits);
    this.#access = new Access(this, options, entranceOf(this, options, this.#shares));
    this.name = options.name ?? "envoi";
    this.version = options.version ?? "0.0.0";
    this.basePath = options.basePath ?? "";
    const sockets = socketPart(options.topics, options.socket);
    this.bodies = new EventBodies(this.clock, options.keepAlive ?? KEEP_ALIVE);
    this.streams = new OpenStreams(this);
    const own = [
      actorsPart,
      messagesPart,
      () => this.streams.part,
      sockets,
      ...documentParts(options),
      ...inspectorParts(options),
    ];
    if (options.sessions !== undefined) own.push(sessionsPart(options.sessions));
    try {
      for (const make of [...own, ...(options.parts ?? [])]) this.#add(make(this));
    } catch (thrown) {
      void this.close(); // Sessions hold the lock of their file. It logs what fails.
      throw thrown;
    }
    for (const endpoint of endpointsOf(this)) {
      // A stranger must not learn by a 405 or by OPTIONS which operations there are, if callers are authenticated.
      this.#table.keep(pathOf(endpoint), options.authenticate === undefined ? methodsOf(endpoint) : undefined);
    }
  }

  #add(part: Part): void {
    this.#parts.push(part);
    if (part.answered !== undefined) this.#counting.push(part.answered);
    for (const route of part.routes) {
      this.routes.push(route);
      this.#table.add(route);
    }
  }

  get guards(): readonly number[] {
    return this.#access.statuses;
  }

  get authenticate(): Site["authenticate"] {
    return this.#options.authenticate && ((request) => this.#access.callerOf(request));
  }

  allows(origin: string): boolean {
    return this.#cors?.allows(origin) === true;
  }

  metrics(): readonly MetricFamily[] {
    return this.#parts.flatMap((part) => part.metrics?.() ?? []);
  }

  fetch(request: Request, server?: unknown): Promise<Response> {
    const visit = new GatewayVisit(request);
    const { around } = this.#options;
    if (around === undefined) return this.#serve(visit, server);
    return inside(around, visit, () => this.#serve(visit, server)).catch((thrown) => this.#failure(request, thrown));
  }

  async #serve(visit: GatewayVisit, server: unknown): Promise<Response> {
    this.#running++;
    const begun = this.#counting.length === 0 ? 0 : this.clock.monotonicTime();
    let response: Response;
    try {
      if (server !== this.#seen) {
        this.#server = serverIn(server);
        this.#seen = server;
      }
      visit.server = this.#server;
      const answer = this.#answer(visit);
      response = answer instanceof Response ? answer : await answer;
      this.#access.mark(visit, response);
    } catch (thrown) {
      response = this.#failure(visit.request, thrown);
    }
    this.#access.leave(visit);
    this.#running--;
    if (this.#counting.length > 0) this.#count(visit.route, response, begun);
    if (this.#cors !== null || this.isDraining) this.#finish(visit.request, response);
    return response;
  }

  #count(route: Route | undefined, { status }: Response, begun: number): void {
    const duration = this.clock.monotonicTime() - begun;
    for (const answered of this.#counting) answered(route, status, duration);
  }

  #finish(request: Request, response: Response): void {
    try {
      this.#cors?.mark(request, response);
    } catch (thrown) {
      this.#logFailure(request, thrown); // Without the marks, no page can read the answer.
    }
    if (!this.isDraining) return;
    response.headers.set("connection", "close"); // So that the client asks another server next.
    if (this.#running === 0) this.#onIdle?.();
  }

  /** The response of a mistake of a part, or of a function that the owner gave. The client learns nothing of it (P18). */
  #failure(request: Request, thrown: unknown): Response {
    this.#logFailure(request, thrown);
    return refuse("internal-error", SERVICE_FAILED);
  }

  #logFailure({ method, url }: Request, cause: unknown): void {
    const at = url.split("?", 1)[0] ?? "";
    this.log.error(`The gateway failed at ${quote(`${method} ${at}`)}: its cause says where.`, { cause });
  }

  #answer(visit: GatewayVisit): Response | Promise<Response> {
    const { request } = visit;
    const { method } = request;
    const { path: whole, query } = targetOf(request.url);
    const { basePath } = this;
    // A path such as /api-2/metrics is not below /api, and whatever guards /api in front of the service has not seen it.
    if (basePath !== "" && !(whole.startsWith(basePath) && whole.charAt(basePath.length) === "/")) {
      return refuse("not-found", `All paths begin with ${basePath}/.`);
    }
    const path = basePath === "" ? whole : whole.slice(basePath.length);
    const place = this.#table.find(path);
    if (place instanceof Response) return place;
    if (method === "OPTIONS") return this.#optionsOf(request, place);
    const route = place.methods.get(method === "HEAD" ? "GET" : method);
    if (route === undefined) {
      const said = /^[A-Z]{1,20}$/.test(method) ? method : "that method"; // A stranger may send any text.
      const { allow } = place;
      const refusal = refuse("method-not-allowed", `This path takes ${allow}, and not ${said}.`, { allow });
      return method === "HEAD" ? withoutBody(refusal) : refusal;
    }
    visit.path = path;
    visit.query = query;
    visit.params = place.params;
    visit.route = route;
    const answer =
      this.#isClosed && route.isOpen !== true
        ? refuse("unavailable", "The service is stopping: try again later.")
        : this.#access.admit(visit, route);
    return method === "HEAD" ? withoutBody(answer) : answer;
  }

  /** Says which methods a path takes, to a browser that asks for leave too. */
  #optionsOf(request: Request, place: Place): Response {
    const headers = new Headers({ allow: place.allow });
    this.#cors?.preflight(request, place, headers);
    return new Response(null, { status: 204, headers });
  }

  authorize(
    visitor: Pick<Visit, "caller" | "request" | "owner">,
    actor: string,
    operation: string,
  ): Promise<Response | undefined> | Response | undefined {
    return this.#access.authorize(visitor, actor, operation);
  }

  handshake(visitor: Pick<Visit, "caller" | "owner">): Promise<Response | undefined> | Response | undefined {
    return this.#access.handshake(visitor);
  }

  enter(visitor: Pick<Visit, "caller" | "owner">, what: "streams" | "sockets"): (() => void) | Response {
    if (this.isDraining) return refuse("unavailable", "The service is stopping: come back in a while.");
    return this.#shares.take(visitor, what);
  }

  drain(timeout: number): Promise<void> {
    option.wait(timeout, "timeout", "drain");
    if (this.#drained === null) {
      this.isDraining = true;
      this.#drained = drainParts(this.#parts, this, timeout, () => this.#finishAsks());
    }
    return this.#drained;
  }

  /** Takes no more requests, and waits for those that run. */
  #finishAsks(): Promise<void> {
    this.#isClosed = true;
    return new Promise((resolve) => {
      if (this.#running === 0) resolve();
      else this.#onIdle = resolve;
    });
  }

  get websocket(): WebSocketHandler<unknown> {
    return (
      this.#parts.find((part) => part.websocket !== undefined)?.websocket ?? { message: (socket) => socket.close() }
    );
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    for (const part of this.#parts.toReversed()) {
      try {
        await part.close?.();
      } catch (thrown) {
        this.log.error("A part of the gateway could not be closed.", { cause: thrown });
      }
    }
  }
}

/**
 * Makes a gateway: it answers HTTP requests with the exposed operations of actors, and with nothing else.
 *
 * @throws TypeError or RangeError when an option is invalid.
 * @example
 * const gateway = createGateway(system, { expose: { counter: { ref: counter, operations: ["add", "total"] } } });
 * Bun.serve({ port: 3000, fetch: gateway.fetch });
 */
export function createGateway<
  const E extends Exposing,
  Signatures = never,
  Metadata extends Schema = Schema,
  const Name extends OperationName<Signatures> = never,
  const Topics extends ExposedTopics = NoTopics,
>(
  system: System,
  options: GatewayOptions<E, SessionsOptions<Signatures, Metadata, Name>, Topics> & { readonly expose: Checked<E> },
): Gateway<E, SessionsOf<Signatures, Metadata, Name>, Topics> {
  checkGatewayOptions(options, {}, "a gateway");
  return gatewayOf(system, options);
}

/** Makes a gateway of options that were checked. What it exposes, the compiler alone knows. */
export function gatewayOf<E, Sessions, Topics>(
  system: System,
  options: AnyGatewayOptions,
): Gateway<E, Sessions, Topics> {
  if (typeof system?.inspect !== "function") {
    throw new TypeError(`A gateway belongs to a system: createGateway(system, options); got ${quote(system)}.`);
  }
  const gateway = new SystemGateway(system, options);
  const fetch = (request: Request, server?: unknown): Promise<Response> => gateway.fetch(request, server);
  return {
    fetch,
    routes: { [`${gateway.basePath}/*`]: fetch },
    websocket: gateway.websocket,
    limits: gateway.limits,
    drain: (timeout) => gateway.drain(timeout),
    close: () => gateway.close(),
  };
}
