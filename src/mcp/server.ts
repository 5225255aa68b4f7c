import { type Clock, type Metadata, type Progress, quote, traceContext, traceOf } from "../index";
import type { Calls } from "./calls";
import type { McpCaller, ServeMcpOptions } from "./options";
import type { Prompts } from "./prompts";
import type { Asking, Resources } from "./resources";
import type { ServerSdk } from "./sdk";
import type { Tools } from "./tools";

/** The things that a server offers, made once for all connections. */
export interface Offer {
  readonly tools: Tools;
  readonly calls: Calls;
  /** Null if it serves no files. */
  readonly resources: Resources | null;
  /** Null if it has no prompts. */
  readonly prompts: Prompts | null;
}

type Context = ServerSdk.ServerContext;
type Server = ServerSdk.Server;

/** Milliseconds for which a client may keep the lists. They do not change while the server runs. */
const FRESH = 60_000;
/** Least milliseconds between two messages of progress. */
const PAUSE = 10;

/**
 * Makes the SDK's servers: one for each connection, session, or request of protocol 2026-07-28. It uses the SDK's low level, because the
 * high level validates the arguments with its own validator, and compiles that for each request.
 */
export class ServerFactory {
  readonly #sdk: typeof ServerSdk;
  readonly #offer: Offer;
  readonly #clock: Clock;
  readonly #info: { readonly name: string; readonly version: string; readonly title?: string };
  readonly #options: ServerSdk.ServerOptions;
  /** The options for a known caller, whose lists no cache may give to others. */
  readonly #ownOptions: ServerSdk.ServerOptions;
  readonly #tools: { tools: object[] };

  constructor(sdk: typeof ServerSdk, offer: Offer, clock: Clock, given: ServeMcpOptions) {
    const { name, version, title, instructions } = given;
    this.#sdk = sdk;
    this.#offer = offer;
    this.#clock = clock;
    this.#info = { name, version, ...(title !== undefined && { title }) };
    const options: ServerSdk.ServerOptions = {
      capabilities: {
        ...(offer.tools.size > 0 && { tools: {} }),
        ...(offer.resources !== null && { resources: {} }),
        ...(offer.prompts !== null && { prompts: {} }),
      },
      ...(instructions !== undefined && { instructions }),
      jsonSchemaValidator: UNUSED,
    };
    this.#options = { ...options, cacheHints: hintsOf("public") };
    this.#ownOptions = { ...options, cacheHints: hintsOf("private") };
    this.#tools = { tools: [...offer.tools.values()].map(({ listed }) => listed) };
  }

  /** Makes a server without a connection. */
  readonly make = (of?: Pick<ServerSdk.McpRequestContext, "authInfo">): Server => {
    const { resources, prompts, tools } = this.#offer;
    const server = new this.#sdk.Server(this.#info, of?.authInfo === undefined ? this.#options : this.#ownOptions);
    if (tools.size > 0) this.#serveTools(server);
    if (resources !== null) serveResources(server, resources, this.#counted);
    if (prompts !== null) servePrompts(server, prompts, this.#counted);
    return server;
  };

  /** Does the work of a request as a call, and refuses it while too many calls run. */
  readonly #counted: Counted = (work) => {
    const done = this.#offer.calls.during(work);
    if (done !== undefined) return done;
    throw new this.#sdk.ProtocolError(this.#sdk.INTERNAL_ERROR, "Too many calls run already: try again later.");
  };

  #serveTools(server: Server): void {
    // The casts below: the SDK checks each result of a call by its own schema, and the list was made of JSON Schemas of objects.
    server.setRequestHandler("tools/list", ({ params }) => {
      if (params?.cursor === undefined) return this.#tools as never;
      throw new this.#sdk.ProtocolError(this.#sdk.INVALID_PARAMS, "This list has one page: leave the cursor out.");
    });
    server.setRequestHandler("tools/call", ({ params }, context) => {
      const { signal } = context.mcpReq;
      const onProgress = this.#progressOf(context);
      const metadata = metadataOf(context);
      const result = this.#offer.calls.call(params.name, params.arguments, { signal, metadata, onProgress });
      if (result !== undefined) return result as never;
      throw new this.#sdk.ProtocolError(this.#sdk.INVALID_PARAMS, `There is no tool ${quote(params.name)}.`);
    });
  }

  /** Reports progress to a client that listens. The numbers grow, as the protocol requires, and are not sent too often. */
  #progressOf({ mcpReq }: Context): ((progress: Progress) => void) | undefined {
    const progressToken = mcpReq._meta?.progressToken;
    if (progressToken === undefined) return undefined;
    let last = Number.NEGATIVE_INFINITY;
    let next = Number.NEGATIVE_INFINITY;
    return ({ done: progress, total, note: message }) => {
      const now = this.#clock.monotonicTime();
      if (progress <= last || (now < next && progress !== total)) return;
      last = progress;
      next = now + PAUSE;
      const params = {
        progressToken,
        progress,
        ...(total !== undefined && { total }),
        ...(message !== undefined && { message }),
      };
      mcpReq.notify({ method: "notifications/progress", params }).catch(() => {}); // Its client has gone.
    };
  }
}

/** Says for how long a client may keep each list, and whether others may be given it. */
function hintsOf(cacheScope: "public" | "private"): NonNullable<ServerSdk.ServerOptions["cacheHints"]> {
  const hint = { ttlMs: FRESH, cacheScope };
  return {
    "tools/list": hint,
    "prompts/list": hint,
    "resources/templates/list": hint,
    "server/discover": hint,
  };
}

/** The SDK's validator of forms that users fill in. No tool here has such forms, and making a real one took 50 µs of each request. */
const UNUSED: ServerSdk.jsonSchemaValidator = {
  getValidator: () => () => ({ valid: false, data: undefined, errorMessage: "nothing is asked of users here" }),
};

type Counted = <Value>(work: () => Promise<Value>) => Promise<Value>;

function serveResources(server: Server, resources: Resources, counted: Counted): void {
  server.setRequestHandler("resources/list", ({ params }, context) =>
    counted(() => resources.list(params?.cursor, askingOf(context))),
  );
  server.setRequestHandler("resources/templates/list", () => resources.templates() as never); // Made of names and texts.
  server.setRequestHandler("resources/read", ({ params }, context) =>
    // Each content has a uri, and a text or a blob.
    counted(() => resources.read(params.uri, askingOf(context))).then((read) => read as never),
  );
}

function servePrompts(server: Server, prompts: Prompts, counted: Counted): void {
  server.setRequestHandler("prompts/list", () => prompts.list() as never); // Made of names and texts.
  server.setRequestHandler("prompts/get", ({ params }, context) =>
    counted(() => prompts.get(params.name, params.arguments, context.mcpReq.signal, metadataOf(context)))
      // The prompt fits the schema, or is a message made of a text.
      .then((prompt) => prompt as never),
  );
}

/** The caller in the form that the SDK passes from the door to a handler. */
export const authInfoOf = (caller: McpCaller): ServerSdk.AuthInfo => ({
  token: "", // It stays at the door.
  clientId: caller.id,
  scopes: [],
  extra: { caller },
});

const askingOf = (context: Context): Asking => ({ signal: context.mcpReq.signal, metadata: metadataOf(context) });

/** The metadata for an actor's handler, as from a gateway: the sender of the message, and the trace that it belongs to. */
function metadataOf({ http, mcpReq }: Context): Metadata | undefined {
  const caller = http?.authInfo?.extra?.["caller"] as McpCaller | undefined; // authInfoOf put it there.
  const trace = traceOf(mcpReq._meta) ?? traceOfRequest(http?.req);
  return caller === undefined ? trace : { ...caller.metadata, caller: caller.id, ...trace };
}

/** The trace of the request that carries a message, for clients that know no `_meta`. */
const traceOfRequest = (request: Request | undefined): Metadata | undefined =>
  request && traceContext(request.headers.get("traceparent"), request.headers.get("tracestate"));
