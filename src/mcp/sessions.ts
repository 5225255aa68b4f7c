import type { Clock, ClockTimer } from "../index";
import type { McpCaller, McpLimits } from "./options";
import { refusals } from "./refusals";
import type { ServerSdk } from "./sdk";
import { authInfoOf } from "./server";

type Transport = ServerSdk.WebStandardStreamableHTTPServerTransport;

interface Session {
  readonly transport: Transport;
  /** The caller that began it. Nobody else may use it. */
  readonly owner: string | undefined;
  usedAt: number;
  /** True once its client has sent several messages at once: their answers share a stream. */
  hasBatches: boolean;
}

/** Least milliseconds for which a session is not ended to make room for another. */
const RECENT = 60_000;

/**
 * The sessions of protocol 2025-11-25 over HTTP. They are kept in memory: after a restart, clients are told to begin anew, as the protocol
 * asks. A session holds nothing but the calls under way, so nothing else is lost with it.
 */
export class Sessions {
  /** Ordered by last use: the session that was used least recently comes first. */
  readonly #sessions = new Map<string, Session>();
  readonly #sdk: typeof ServerSdk;
  readonly #make: () => ServerSdk.Server;
  readonly #limits: McpLimits;
  readonly #clock: Clock;
  /** Milliseconds after its last request during which a session counts as in use: a call of it may still be under way. */
  readonly #recent: number;
  #timer: ClockTimer | null = null;
  /** Sessions that are being started. */
  #beginning = 0;

  constructor(sdk: typeof ServerSdk, make: () => ServerSdk.Server, limits: McpLimits, clock: Clock) {
    this.#sdk = sdk;
    this.#make = make;
    this.#limits = limits;
    this.#clock = clock;
    this.#recent = Math.min(limits.idle, Math.max(limits.time, RECENT));
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** @param parsedBody undefined for a DELETE, which ends a session. */
  async serve(request: Request, parsedBody: unknown, caller: McpCaller | undefined): Promise<Response> {
    const id = request.headers.get("mcp-session-id");
    const beside = {
      ...(parsedBody !== undefined && { parsedBody }),
      ...(caller !== undefined && { authInfo: authInfoOf(caller) }),
    };
    if (id === null) return this.#begin(request, parsedBody, caller?.id, beside);
    const session = this.#sessions.get(id);
    if (session === undefined || session.owner !== caller?.id) return refusals.session();
    session.usedAt = this.#clock.monotonicTime();
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    session.hasBatches ||= Array.isArray(parsedBody);
    const response = await session.transport.handleRequest(request, beside);
    for (const cancelled of cancelledIn(parsedBody)) endStream(session, cancelled);
    return response;
  }

  async #begin(
    request: Request,
    body: unknown,
    owner: string | undefined,
    beside: ServerSdk.HandleRequestOptions,
  ): Promise<Response> {
    if (!isInitialize(body)) return refusals.noSession();
    if (this.#sessions.size + this.#beginning >= this.#limits.sessions && !this.#makeRoom()) return refusals.full();
    this.#beginning++;
    try {
      return await this.#start(request, owner, beside);
    } finally {
      this.#beginning--;
    }
  }

  async #start(request: Request, owner: string | undefined, beside: ServerSdk.HandleRequestOptions): Promise<Response> {
    let isOpen = false;
    const transport: Transport = new this.#sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => {
        isOpen = true;
        this.#sessions.set(id, { transport, owner, usedAt: this.#clock.monotonicTime(), hasBatches: false });
        this.#look();
      },
      onsessionclosed: (id) => void this.#sessions.delete(id),
    });
    const server = this.#make();
    await server.connect(transport);
    const response = await transport.handleRequest(request, beside);
    if (!isOpen) await server.close();
    return response;
  }

  /** Ends the session that was used least recently, unless it may be in use. */
  #makeRoom(): boolean {
    const [oldest] = this.#sessions;
    if (oldest === undefined) return false;
    const [id, session] = oldest;
    if (this.#clock.monotonicTime() - session.usedAt < this.#recent) return false;
    this.#end(id, session);
    return true;
  }

  #end(id: string, { transport }: Session): void {
    this.#sessions.delete(id);
    transport.close().catch(() => {}); // Its calls are given up, and nobody waits for it.
  }

  /** Ends the sessions that have idled too long, and looks again when the next one may be due. */
  #look(): void {
    const { idle } = this.#limits;
    if (this.#timer !== null || idle === Number.POSITIVE_INFINITY) return;
    const now = this.#clock.monotonicTime();
    for (const [id, session] of this.#sessions) {
      const wait = session.usedAt + idle - now;
      if (wait > 0) {
        this.#timer = this.#clock.setTimer(() => {
          this.#timer = null;
          this.#look();
        }, wait);
        this.#timer.unref();
        return;
      }
      this.#end(id, session);
    }
  }

  /** Ends all of them. */
  close(): void {
    this.#timer?.cancel();
    this.#timer = null;
    for (const [id, session] of this.#sessions) this.#end(id, session);
  }
}

/** True for the message that begins a session. The SDK checks its parameters. */
const isInitialize = (body: unknown): boolean =>
  typeof body === "object" && body !== null && "method" in body && body.method === "initialize";

/** The requests that a message gives up. */
function cancelledIn(body: unknown): readonly (string | number)[] {
  if (Array.isArray(body)) return body.flatMap(cancelledIn);
  if (typeof body !== "object" || body === null || !("method" in body) || !("params" in body)) return [];
  const { method, params } = body;
  if (method !== "notifications/cancelled" || typeof params !== "object" || params === null) return [];
  const id = "requestId" in params ? params.requestId : undefined;
  return typeof id === "string" || typeof id === "number" ? [id] : [];
}

/** A request that was given up gets no answer, and the SDK would keep its stream, and the connection, as long as the session lasts. */
function endStream({ transport, hasBatches }: Session, id: string | number): void {
  if (!hasBatches) transport.closeSSEStream(id);
  const error = { code: -32_800, message: "The request was given up." };
  // Of a stream that is closed it reaches nobody. The transport forgets the request by it, unless it was answered before.
  transport.send({ jsonrpc: "2.0", id, error }).catch(() => {});
}
