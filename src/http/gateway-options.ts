import type { Caller, Limits, PartMaker } from "./contract";
import type { CorsOptions } from "./cors";
import { DOCUMENT_CHECKS, type DocumentOptions } from "./documents/documents";
import type { Exposing } from "./exposure";
import { aFunction, type Check, type Checks, COUNT, checkOptions, DURATION, group, must, TEXT } from "./options";
import type { SocketOptions } from "./socket/options";
import type { ExposedTopics } from "./socket/relay";

/** Says who sent a request. Undefined refuses it with 401. */
export type Authenticate = (request: Request) => Caller | undefined | Promise<Caller | undefined>;

/**
 * Says whether a caller may use an operation of an exposed actor. For pages of the gateway itself the actor is its path, such as
 * `/inspect` or `/metrics`, and the operation `read`; for a topic it is `/topics/` and its name, and the operation `subscribe`.
 */
export type Authorize = (caller: Caller | undefined, actor: string, operation: string) => boolean | Promise<boolean>;

/** The options of a gateway. */
export interface GatewayOptions<E extends Exposing = Exposing> extends DocumentOptions {
  /** What can be reached: actors by the name that they have outside, each with its operations. Nothing else can. */
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
  /** The pages of other origins that may use the gateway. Default: none. */
  readonly cors?: CorsOptions;
  /** The bounds of what comes from outside. */
  readonly limits?: Partial<Limits>;
  /** The topics that clients may subscribe to over a socket, by the name that they have outside. Default: none. */
  readonly topics?: ExposedTopics;
  /** The bounds of sockets. */
  readonly socket?: SocketOptions;
  /** Longest time, in milliseconds, that an event stream is quiet: then it gets a comment. Default: 15,000. */
  readonly keepAlive?: number;
  /** More parts, such as sessions or the inspector. Default: none. */
  readonly parts?: readonly PartMaker[];
}

/** The limits of a gateway whose owner sets none. */
export const LIMITS: Limits = {
  body: 1_048_576,
  depth: 64,
  bodyTime: 10_000,
  time: 30_000,
  streams: 100,
  sockets: 100,
};

export const KEEP_ALIVE = 15_000;

const LIMIT_CHECKS: Checks<Partial<Limits>> = {
  body: COUNT,
  depth: must(
    "is a whole number from 1 to 512, the deepest that a message may be",
    (value) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 512, // An integer is a number.
    RangeError,
  ),
  bodyTime: DURATION,
  time: DURATION,
  streams: COUNT,
  sockets: COUNT,
};

const ELSEWHERE: Check = () => {}; // Its own part looks at it.

const CHECKS: Checks<GatewayOptions> = {
  expose: ELSEWHERE,
  name: TEXT,
  version: TEXT,
  basePath: must(
    'begins with a slash and has none at its end, such as "/api"',
    (value) => typeof value === "string" && /^(?:\/[\w.~-]+)*$/.test(value),
  ),
  authenticate: aFunction(" that gives the caller of a request, or undefined"),
  authorize: aFunction(" that says true for what a caller may do"),
  cors: ELSEWHERE,
  ...DOCUMENT_CHECKS,
  limits: group(LIMIT_CHECKS, "{ body: 65_536 }"),
  topics: ELSEWHERE,
  socket: ELSEWHERE,
  keepAlive: DURATION,
  parts: must(
    "are an array of functions that make parts",
    (value) => Array.isArray(value) && value.every((each) => typeof each === "function"),
  ),
};

/**
 * Throws on invalid options, and says what to write.
 *
 * @param more the checks of options that stand beside those of the gateway.
 */
export const checkGatewayOptions = <More extends object>(given: GatewayOptions, more: Checks<More>, of: string): void =>
  checkOptions<object>(given, { ...CHECKS, ...more }, of, '{ expose: { counter: { ref, operations: ["add"] } } }');
