import { type Clock, type Logger, quote, type System } from "../index";
import { readMessage } from "./body";
import { Hosts } from "./hosts";
import type { McpAuthenticate, McpCaller, McpLimits, ServeMcpOptions } from "./options";
import { refusals } from "./refusals";
import type { ServerSdk } from "./sdk";
import { authInfoOf, type ServerFactory } from "./server";
import { Sessions } from "./sessions";

/** Most streams of notifications that clients of protocol 2026-07-28 may have open. The server sends no notifications yet. */
const LISTENERS = 100;
/** Longest silence of a connection that is set, in milliseconds. Bun's limit is 255 seconds. */
const LONGEST_SILENCE = 240_000;
/** The key by which a message names its protocol, in 2026-07-28 and later ones. */
const VERSION = "io.modelcontextprotocol/protocolVersion";

/** The way in over HTTP. Checks each request before the SDK gets it. */
export class HttpDoor {
  readonly #sdk: typeof ServerSdk;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #limits: McpLimits;
  /** Seconds for which a connection may be silent: longer than a call may take. 0 for no limit. */
  readonly #patience: number;
  readonly #hosts: Hosts;
  readonly #authenticate: McpAuthenticate | undefined;
  readonly #modern: ServerSdk.McpHttpHandler;
  readonly #sessions: Sessions;
  #isClosed = false;

  constructor(
    system: Pick<System, "clock" | "log">,
    sdk: typeof ServerSdk,
    factory: ServerFactory,
    limits: McpLimits,
    { hosts, authenticate }: ServeMcpOptions,
  ) {
    this.#sdk = sdk;
    this.#clock = system.clock;
    this.#log = system.log;
    this.#limits = limits;
    this.#patience = limits.time > LONGEST_SILENCE ? 0 : Math.ceil(limits.time / 1_000) + 10;
    this.#hosts = new Hosts(hosts);
    this.#authenticate = authenticate;
    this.#modern = sdk.createMcpHandler(factory.make, { legacy: "reject", maxSubscriptions: LISTENERS });
    this.#sessions = new Sessions(sdk, factory.make, limits, system.clock);
  }

  readonly fetch = async (request: Request, beside?: unknown): Promise<Response> => {
    try {
      const { server, caller } = isGuarded(beside) ? beside : { server: beside };
      if (isBun(server)) server.timeout(request, this.#patience);
      return await this.#answer(request, caller);
    } catch (cause) {
      this.#log.error(`The MCP server failed at ${quote(request.method)}: its cause says where.`, { cause });
      return refusals.failed();
    }
  };

  /** @param known the caller that a guard has found. */
  async #answer(request: Request, known: McpCaller | undefined): Promise<Response> {
    const { method } = request;
    if (this.#isClosed) return refusals.closed();
    if (!this.#hosts.allows(request)) return refusals.host();
    if (method !== "POST" && method !== "DELETE") return refusals.method();
    const caller = this.#authenticate === undefined ? known : await this.#callerOf(request, this.#authenticate);
    if (caller instanceof Response) return caller;
    if (method === "DELETE") return this.#sessions.serve(request, undefined, caller);
    const message = await readMessage(request, this.#limits, this.#clock);
    if (message instanceof Response) return message;
    const { value: parsedBody } = message;
    // Asking the SDK takes 10 µs, for it parses the message. A request with a session is of 2025-11-25: later protocols have none.
    const isInSession = request.headers.has("mcp-session-id");
    if (isModern(parsedBody) || !(isInSession || (await this.#sdk.isLegacyRequest(request, parsedBody)))) {
      return this.#modern.fetch(request, { parsedBody, ...(caller !== undefined && { authInfo: authInfoOf(caller) }) });
    }
    return this.#sessions.serve(request, parsedBody, caller);
  }

  async #callerOf(request: Request, authenticate: McpAuthenticate): Promise<McpCaller | Response> {
    const told = await authenticate(request, { clock: this.#clock, log: this.#log });
    if (told === undefined) return refusals.unknown();
    if (told instanceof Response || (typeof told === "object" && typeof told?.id === "string")) return told;
    throw new TypeError(`authenticate gives a caller such as { id: "ada" }, or undefined; it gave ${quote(told)}.`);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#sessions.close();
    await this.#modern.close();
  }
}

/** The part of Bun's server that sets how long a connection may be silent. */
const isBun = (server: unknown): server is { timeout(request: Request, seconds: number): void } =>
  typeof server === "object" && server !== null && "timeout" in server && typeof server.timeout === "function";

/** True for the second argument that a guard of `envoi/http` passes: the caller that it has found, and its own second argument. */
const isGuarded = (beside: unknown): beside is { readonly server: unknown; readonly caller: McpCaller | undefined } =>
  typeof beside === "object" && beside !== null && "server" in beside && "caller" in beside && "owner" in beside;

/** True for a message whose envelope names a modern protocol. The SDK checks all others. */
function isModern(body: unknown): boolean {
  if (typeof body !== "object" || body === null || !("params" in body)) return false;
  const { params } = body;
  if (typeof params !== "object" || params === null || !("_meta" in params)) return false;
  const { _meta: meta } = params;
  return typeof meta === "object" && meta !== null && VERSION in meta;
}
