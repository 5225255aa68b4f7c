import { type AskOptions, type DeliveryError, logOf } from "../index";
import { parseJson, readBody } from "./body";
import type { Endpoint, Part, Site, Visit } from "./contract";
import { refuse, refuseError } from "./problem";
import { openStream } from "./streams";

/** `POST /actors/:name/:operation`, and `GET` for operations that change nothing. */
export const actorsPart = (site: Site): Part => ({
  routes: [
    { method: "POST", path: "/actors/:name/:operation", handle: (visit) => post(site, visit) },
    { method: "GET", path: "/actors/:name/:operation", handle: (visit) => get(site, visit) },
  ],
});

async function post(site: Site, visit: Visit): Promise<Response> {
  const endpoint = await endpointOf(site, visit);
  if (endpoint instanceof Response) return endpoint;
  const body = await readBody(visit.request, site.limits, site.clock);
  return body instanceof Response ? body : call(site, visit, endpoint, body.value);
}

async function get(site: Site, visit: Visit): Promise<Response> {
  const endpoint = await endpointOf(site, visit);
  if (endpoint instanceof Response) return endpoint;
  const { operation } = endpoint;
  if (operation.hints?.readOnly !== true) {
    return refuse("method-not-allowed", `${operation.name} may change something: send it with POST.`, {
      allow: "POST",
    });
  }
  const input = new URLSearchParams(visit.query).get("input") ?? "";
  const payload =
    input.length > site.limits.body
      ? refuse("payload-too-large", "The input is too long.")
      : parseJson(input, site.limits);
  return payload instanceof Response ? payload : call(site, visit, endpoint, payload.value);
}

/** The operation that a path names, if it is exposed and its caller may use it. */
async function endpointOf(site: Site, visit: Visit): Promise<Endpoint | Response> {
  const [name = "", operation = ""] = visit.params;
  const endpoint = site.exposure.get(name)?.endpoints.get(operation);
  if (endpoint === undefined) return refuse("not-found", "There is no such operation: /openapi.json lists them.");
  return (await site.authorize(visit, name, operation)) ?? endpoint;
}

/** Sends a message that came in a request, and answers it. */
export async function call(site: Site, visit: Visit, endpoint: Endpoint, payload: unknown): Promise<Response> {
  if (endpoint.operation.isStream) return openStream(site, visit, endpoint, payload);
  const prefer = visit.request.headers.get("prefer");
  const { actor, operation } = endpoint;
  const watched = site.disconnects.watch(visit.request);
  const options: AskOptions = {
    timeout: prefer === null ? site.limits.time : Math.min(waitOf(prefer), site.limits.time),
    signal: watched.signal,
    ...(visit.metadata !== undefined && { metadata: visit.metadata }),
  };
  if (prefer !== null && /(?:^|,)\s*respond-async\s*(?:[,;]|$)/i.test(prefer)) {
    const taken = await actor.door.offer(operation.name, payload, options);
    watched.end();
    return taken.isOk() ? new Response(null, ACCEPTED) : failed(endpoint, taken.error);
  }
  const reply = await actor.door.ask(operation.name, payload, options);
  watched.end();
  return reply.isOk() ? respond(reply.value) : failed(endpoint, reply.error);
}

const ACCEPTED: ResponseInit = { status: 202, headers: { "preference-applied": "respond-async" } };
const JSON_HEADERS: ResponseInit = { headers: { "content-type": "application/json" } };

/** The response that has a reply. */
function respond(reply: unknown): Response {
  // Throws for a bigint or a circle: the gateway logs that, and answers 500.
  return reply === undefined ? new Response(null, { status: 204 }) : new Response(JSON.stringify(reply), JSON_HEADERS);
}

/** The response of a failure. What went wrong inside is logged, as the client is not told (P18). */
export function failed({ actor, operation }: Endpoint, error: DeliveryError): Response {
  if (error.kind === "handler-failed") {
    logOf(actor.ref).error(`${operation.name} of "${actor.name}" failed for a request: ${error.message}`, {
      cause: error.cause,
    });
  }
  return refuseError(error);
}

/** The milliseconds of `Prefer: wait=n` (RFC 7240), whose unit is seconds. */
function waitOf(prefer: string): number {
  const [, seconds] = /(?:^|,)\s*wait\s*=\s*"?(\d{1,9})"?/i.exec(prefer) ?? [];
  return seconds === undefined ? Number.POSITIVE_INFINITY : Math.max(Number(seconds) * 1000, 1);
}
