import { type Clock, type Logger, quote } from "../../index";
import type { Caller } from "../contract";
import { refuse } from "../problem";
import { isCaller } from "./known-secrets";

/** The means of a function that finds callers. */
export interface Border {
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Says who sent a request. Undefined refuses it with 401; a response is the refusal itself, such as one with another `WWW-Authenticate`. What it
 * throws is logged, and answered with 500.
 */
export type Authenticate = (
  request: Request,
  border: Border,
) => Caller | Response | undefined | Promise<Caller | Response | undefined>;

/**
 * Says whether a caller may use an operation of an exposed actor. For pages of the gateway itself the actor is its path, such as
 * `/inspect` or `/metrics`, and the operation `read`; for a topic it is `/topics/` and its name, and the operation `subscribe`.
 */
export type Authorize = (caller: Caller | undefined, actor: string, operation: string) => boolean | Promise<boolean>;

const headers = new WeakMap<Authenticate, readonly string[]>();

/** Says which headers of its own a function reads credentials from, for OpenAPI. Others read `authorization`. */
export function readsFrom<Way extends Authenticate>(way: Way, names: readonly string[]): Way {
  headers.set(way, names);
  return way;
}

/** The headers from which a function reads credentials. */
export const headersOf = (way: Authenticate | undefined): readonly string[] =>
  way === undefined ? [] : (headers.get(way) ?? ["authorization"]);

/** The refusal of a request whose caller is not known. */
export const refuseUnknown = (
  challenge = "Bearer",
  detail = "The request names no caller who is let in: send credentials.",
): Response => refuse("unauthenticated", detail, { "www-authenticate": challenge });

/**
 * The caller that the owner's function found, or the refusal.
 *
 * @throws TypeError when it gave something else.
 */
export function callerIn(told: Caller | Response | undefined): Caller | Response {
  if (told === undefined) return refuseUnknown();
  if (told instanceof Response) {
    if (!told.bodyUsed) return told;
    throw new TypeError("authenticate gave a response that was sent before: make a new one for each request.");
  }
  if (isCaller(told)) return told;
  throw new TypeError(`authenticate gives a caller such as { id: "ada" }, or undefined; it gave ${quote(told)}.`);
}

/**
 * Takes any of several kinds of credentials: the first that knows the caller decides. A request that none of them knows is refused with the
 * challenges of all.
 *
 * @throws TypeError when one of them is no function.
 * @example
 * authenticate: anyOf(bearerTokens({ "s3cr3t": "ada" }), apiKeys({ keys: { "k3y": "robot" } }))
 */
export function anyOf(...ways: readonly [Authenticate, ...Authenticate[]]): Authenticate {
  if (ways.length === 0 || ways.some((way) => typeof way !== "function")) {
    throw new TypeError("anyOf takes functions that give the caller of a request: anyOf(bearerTokens(…), apiKeys(…)).");
  }
  const authenticate: Authenticate = async (request, border) => {
    const challenges: string[] = [];
    for (const way of ways) {
      const told = await way(request, border);
      if (told === undefined) challenges.push("Bearer");
      else if (!(told instanceof Response) || told.status !== 401)
        return told; // Such as 503: another way might let in whom this one bars.
      else challenges.push(told.headers.get("www-authenticate") ?? "Bearer");
    }
    return refuseUnknown([...new Set(challenges)].join(", "));
  };
  return readsFrom(authenticate, [...new Set(ways.flatMap(headersOf))]);
}
