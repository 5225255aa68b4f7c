import type { ServerWebSocket, WebSocketHandler } from "bun";
import { type Address, address, type Door } from "../../index";
import { refuseUnknown } from "../border/authenticate";
import type { BunServer, MetricFamily, Part, PartMaker, Site, Visit } from "../contract";
import { familyOf } from "../metric-family";
import { refuse } from "../problem";
import { AGAIN } from "./calls";
import { Connection } from "./connection";
import { callerOf, withToken } from "./credentials";
import { PROTOCOL, type SocketLimits } from "./frames";
import type { Hub, Visitor } from "./hub";
import { FRAMES } from "./intake";
import { checkTopics, type SocketOptions, socketOptionsOf } from "./options";
import { type ExposedTopics, Relay } from "./relay";

/** Bytes beyond the bounds that Bun keeps to, so that the part sees first what is too much, and can say so. */
const BEYOND = 65_536;

/** Serves `GET /socket`: messages, streams and topics over one WebSocket (docs/websocket-protocol.md). */
export const socketPart =
  (topics: ExposedTopics = {}, options: SocketOptions = {}): PartMaker =>
  (site) => {
    checkTopics(topics);
    return new SocketPart(site, topics, socketOptionsOf(options));
  };

class SocketPart implements Part {
  readonly routes: Part["routes"] = [
    { method: "GET", path: "/socket", isOpen: true, handle: (visit) => this.#handshake(visit) },
  ];
  readonly websocket: WebSocketHandler<unknown>;
  readonly #site: Site;
  readonly #hub: Hub;
  readonly #connections = new Set<Connection>();
  readonly #ended = new Map<string, number>();
  #opened = 0;
  #frames = 0;
  #onEmpty: (() => void) | null = null;

  constructor(site: Site, topics: ExposedTopics, options: Required<SocketOptions>) {
    this.#site = site;
    this.#hub = hubOf(site, topics, options, () => void this.#frames++);
    this.websocket = {
      maxPayloadLength: site.limits.body + BEYOND,
      backpressureLimit: options.unsent + BEYOND,
      closeOnBackpressureLimit: true,
      idleTimeout: options.idleTimeout,
      open: (socket) => connectionOf(socket)?.open(socket),
      message: (socket, message) => connectionOf(socket)?.receive(message),
      drain: (socket) => connectionOf(socket)?.drained(),
      close: (socket, code) => connectionOf(socket)?.ended(code),
      error: (thrown, socket) => {
        this.#site.log.error("A socket failed: it is closed.", { cause: thrown });
        connectionOf(socket)?.end(1011, "The service failed. Its log says why.");
      },
    };
  }

  metrics(): readonly MetricFamily[] {
    return [
      familyOf("gauge", "envoi_http_sockets", "Sockets that are open.", this.#connections.size),
      familyOf("counter", "envoi_http_sockets_opened", "Sockets that were opened.", this.#opened),
      familyOf("counter", "envoi_http_socket_frames", "Frames that came from clients.", this.#frames),
      {
        name: "envoi_http_sockets_ended",
        type: "counter",
        help: "Sockets that have ended, by their close code.",
        samples: [...this.#ended].map(([code, value]) => ({ labels: { code }, value })),
      },
    ];
  }

  drain(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onEmpty = resolve;
    for (const connection of this.#connections) connection.drain();
    const endAll = (): void => {
      for (const connection of this.#connections) connection.end(1012, AGAIN);
    };
    if (signal.aborted) endAll();
    else signal.addEventListener("abort", endAll, { once: true });
    if (this.#connections.size === 0) resolve();
    return promise;
  }

  close(): void {
    for (const connection of this.#connections) connection.end(1012, AGAIN);
  }

  async #handshake({ request, server, owner }: Visit): Promise<Response> {
    const { headers } = request;
    if (server === undefined || headers.get("upgrade")?.toLowerCase() !== "websocket") {
      const sentence = `This path speaks WebSocket: open one with the sub-protocol ${PROTOCOL}.`;
      return refuse("upgrade-required", sentence, { upgrade: "websocket" });
    }
    if (this.#site.isDraining) return refuse("unavailable", AGAIN);
    if (!this.#admits(headers)) return refuse("forbidden", "Pages of that origin may not open sockets.");
    const offered = (headers.get("sec-websocket-protocol") ?? "").split(",").map((each) => each.trim());
    if (!offered.includes(PROTOCOL)) {
      return refuse("bad-request", `This service speaks ${PROTOCOL}: offer that as a sub-protocol.`);
    }
    const token = offered.find((each) => each.startsWith(BEARER))?.slice(BEARER.length);
    const caller = await callerOf(this.#site, token === undefined ? request : withToken(request, token));
    if (caller instanceof Response) return caller;
    const isKnown = caller !== undefined || this.#site.authenticate === undefined;
    if (!isKnown && (token !== undefined || headers.has("authorization"))) return refuseUnknown();
    const visitor = { request, caller, owner: caller?.id ?? owner };
    return (await this.#site.handshake(visitor)) ?? this.#upgrade(server, visitor, isKnown);
  }

  /** False for a page of another origin that `cors` does not allow: a browser opens a socket for any page, with the user's cookies. */
  #admits(headers: Headers): boolean {
    const origin = headers.get("origin");
    if (origin === null || this.#site.allows(origin)) return true;
    return origin.slice(origin.indexOf("://") + 3) === headers.get("host");
  }

  #upgrade(server: BunServer, visitor: Visitor, isKnown: boolean): Response {
    const release = this.#site.enter(visitor, "sockets");
    if (release instanceof Response) return release;
    const connection = new Connection(this.#hub, visitor, isKnown, release, (code) => {
      this.#connections.delete(connection);
      const label = OWN_CODES.has(code) ? String(code) : "other";
      this.#ended.set(label, (this.#ended.get(label) ?? 0) + 1);
      if (this.#connections.size === 0) this.#onEmpty?.();
    });
    this.#connections.add(connection);
    this.#opened++;
    if (server.upgrade(visitor.request, { data: connection, headers: { "sec-websocket-protocol": PROTOCOL } })) {
      return new Response(null, { status: 101 }); // Bun has sent it: this one is for the gateway's counts.
    }
    connection.ended(1006);
    return refuse("bad-request", "The handshake of the WebSocket is not whole: use a WebSocket client.");
  }
}

const BEARER = "bearer.";

/** Codes of RFC 6455 that have a series of their own. A client may send any of 1,000 others. */
const OWN_CODES: ReadonlySet<number> = new Set([1000, 1001, 1003, 1005, 1006, 1007, 1008, 1009, 1011, 1012, 1013]);

/** Undefined for a socket that the owner of the server opened for itself. */
const connectionOf = ({ data }: ServerWebSocket<unknown>): Connection | undefined =>
  data instanceof Connection ? data : undefined;

function hubOf(site: Site, topics: ExposedTopics, options: Required<SocketOptions>, onFrame: () => void): Hub {
  const actors = [...site.exposure.values()];
  const addresses = new Map<string, Address>(actors.map(({ name }) => [name, address(name)]));
  const doors = new Map<Address, Door>(actors.map(({ name, door }) => [address(name), door]));
  const relays = Object.entries(topics).map(([name, topic]) => [name, new Relay(site.system, name, topic)] as const);
  const { body: text, depth } = site.limits;
  const { messages, subscriptions, unsent, authenticateWithin } = options;
  const limits: SocketLimits = { text, depth, frames: FRAMES, messages, subscriptions };
  return { site, limits, unsent, authenticateWithin, doors, addresses, relays: new Map(relays), onFrame };
}
