import { checkOptions, type OptionChecks, option } from "../index";
import type { AroundRequest } from "./around";
import type { Authenticate, Authorize } from "./border/authenticate";
import type { CorsOptions } from "./border/cors";
import type { RateLimitOptions } from "./border/rate-limit";
import type { Limits, PartMaker } from "./contract";
import { DOCUMENT_CHECKS, type DocumentOptions } from "./documents/documents";
import type { Exposing } from "./exposure";
import { checkInspector, type InspectorOptions } from "./inspector/options";
import { LIMIT_CHECKS } from "./limits";
import type { SocketOptions } from "./socket/options";
import type { ExposedTopics } from "./socket/relay";

/** The options of a gateway. `Sessions` is a `SessionsOptions`; never for a gateway without sessions. */
export interface GatewayOptions<
  E extends Exposing = Exposing,
  Sessions = never,
  Topics extends ExposedTopics = ExposedTopics,
> extends DocumentOptions {
  /** The actors that can be reached, by the name that they have outside, each with its operations. Nothing else can. */
  readonly expose: E;
  /** The name of the service, for its documents. Default: `"envoi"`. */
  readonly name?: string;
  /** The version of the service, for its documents. Default: `"0.0.0"`. */
  readonly version?: string;
  /** Goes before all paths, such as `/api`. Default: none. */
  readonly basePath?: string;
  /** Default: everybody is let in, and no handler knows who it is. */
  readonly authenticate?: Authenticate;
  /** Default: each caller may use all that is exposed. */
  readonly authorize?: Authorize;
  /**
   * The address of a request's sender behind a proxy that you trust, such as `({ headers }) => headers.get("x-real-ip")`: the owner of what is not
   * authenticated. Default: the address of the network peer.
   */
  readonly addressOf?: (request: Request) => string | null | undefined;
  /** The most requests of each caller, such as `"10/s;100/min"`. Default: no limit. */
  readonly rateLimit?: string | RateLimitOptions;
  /** True to tell clients that prefer it (`Prefer: server-timing`) how long the parts of their request took. Default: false. */
  readonly serverTiming?: boolean;
  /** The pages of other origins that may use the gateway. Default: none. */
  readonly cors?: CorsOptions;
  /** The bounds of what comes from outside. Default: each has its own, which `Limits` says. */
  readonly limits?: Partial<Limits>;
  /** The topics that clients may subscribe to over a socket, by the name that they have outside. Default: none. */
  readonly topics?: Topics;
  /** The bounds of sockets. Default: each has its own, which `SocketOptions` says. */
  readonly socket?: SocketOptions;
  /** Longest time, in milliseconds, that an event stream is quiet: then it gets a comment. Default: 15,000. */
  readonly keepAlive?: number;
  /**
   * `GET /inspect`, a page for browsers that shows the actors live, for callers who may (`/inspect`, `read`). It needs `authenticate`, or
   * `{ isOpen: true }`. Default: false.
   */
  readonly inspector?: boolean | InspectorOptions;
  /** Sessions, each an actor of its own that belongs to one caller and outlives the process. Default: none. */
  readonly sessions?: Sessions;
  /** Wraps each request, such as to trace it: see `AroundRequest`. Default: nothing. */
  readonly around?: AroundRequest;
  /** More parts. Default: none. */
  readonly parts?: readonly PartMaker[];
}

export const KEEP_ALIVE = 15_000;

/** The options of a gateway, whatever its sessions are: their part looks at those. */
export type AnyGatewayOptions = GatewayOptions<Exposing, unknown>;

const CHECKS: OptionChecks<AnyGatewayOptions> = {
  expose: option.any,
  name: option.text,
  version: option.text,
  basePath: option.rule(
    'begins with a slash and has none at its end, such as "/api"',
    (value) => typeof value === "string" && /^(?:\/[\w.~-]+)*$/.test(value),
  ),
  authenticate: option.function(" that gives the caller of a request, or undefined"),
  authorize: option.function(" that says true for what a caller may do"),
  addressOf: option.function(" that gives the address of a request's sender"),
  rateLimit: option.any,
  serverTiming: option.flag,
  cors: option.any,
  ...DOCUMENT_CHECKS,
  limits: option.group(LIMIT_CHECKS, "{ body: 65_536 }"),
  topics: option.any,
  socket: option.any,
  keepAlive: option.duration,
  inspector: checkInspector,
  sessions: option.any,
  around: option.function(" that calls answer() and gives its response"),
  parts: option.rule(
    "are an array of functions that make parts",
    (value) => Array.isArray(value) && value.every((each) => typeof each === "function"),
  ),
};

/**
 * Throws on invalid options, and says what to write.
 *
 * @param more the checks of options that stand beside those of the gateway.
 */
export const checkGatewayOptions = <More extends object>(
  given: AnyGatewayOptions,
  more: OptionChecks<More>,
  of: string,
): void =>
  checkOptions<object>(given, { ...CHECKS, ...more }, of, '{ expose: { counter: { ref, operations: ["add"] } } }');
