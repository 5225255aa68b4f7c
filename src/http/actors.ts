import { type AskOptions, type DeliveryError, logOf, publicIssues } from "../index";
import { parseJson, readBody } from "./body";
import type { Endpoint, Part, Site, Timing, Visit } from "./contract";
import type { Watched } from "./disconnects";
import { accepts, preferencesOf } from "./preferences";
import { refuse, refuseError } from "./problem";

/** `POST /actors/:name/:operation`, and `GET` for operations that change nothing. */
export const actorsPart = (site: Site): Part => ({
  routes: [
    { method: "POST", path: "/actors/:name/:operation", handle: (visit) => post(site, visit) },
    { method: "GET", path: "/actors/:name/:operation", handle: (visit) => get(site, visit) },
  ],
});

async function post(site: Site, visit: Visit): Promise<Response> {
  const found = endpointOf(site, visit);
  const endpoint = found instanceof Promise ? await found : found;
  if (endpoint instanceof Response) return endpoint;
  const body = await readBody(site, visit.request);
  return body instanceof Response ? body : await call(site, visit, endpoint, body.value);
}

async function get(site: Site, visit: Visit): Promise<Response> {
  const endpoint = await endpointOf(site, visit);
  if (endpoint instanceof Response) return endpoint;
  const { operation } = endpoint;
  if (operation.hints?.readOnly !== true) {
    return refuse("method-not-allowed", `${operation.name} may change something: send it with POST.`, {
      allow: "POST, OPTIONS",
    });
  }
  const input = inputIn(visit.query, site);
  if (input instanceof Response) return input;
  if (visit.request.method === "HEAD" && operation.isStream) return new Response(null, HEAD_OF_STREAM);
  return call(site, visit, endpoint, input.value);
}

const HEAD_OF_STREAM: ResponseInit = { headers: { "content-type": "text/event-stream", "cache-control": "no-store" } };

/** The payload in the query of a GET. */
function inputIn(query: string, { limits }: Site): ReturnType<typeof parseJson> {
  if (query.length > limits.body) {
    return refuse("payload-too-large", `The query has more than ${limits.body} bytes, the most that is taken.`);
  }
  const inputs: string[] = [];
  for (const pair of query === "" ? [] : query.split("&")) {
    const [name = "", ...value] = pair.split("=");
    if (name === "input") inputs.push(value.join("="));
  }
  const [input, another] = inputs;
  if (another !== undefined) return refuse("bad-request", "The query has more than one input: send one.");
  if (input === undefined) return { value: undefined };
  try {
    return parseJson(decodeURIComponent(input.replaceAll("+", "%20")), limits);
  } catch {
    return refuse("bad-request", "The input is not well encoded: write JSON by encodeURIComponent().");
  }
}

/** The operation that a path names, if it is exposed and its caller may use it. */
function endpointOf(site: Site, visit: Visit): Promise<Endpoint | Response> | Endpoint | Response {
  const [name = "", operation = ""] = visit.params;
  const endpoint = site.exposure.get(name)?.endpoints.get(operation);
  if (endpoint === undefined) {
    return refuse(
      "not-found",
      "There is no such operation here: check the name of the actor and that of the operation.",
    );
  }
  const refusal = site.authorize(visit, name, operation);
  if (refusal instanceof Promise) return refusal.then((refused) => refused ?? endpoint);
  return refusal ?? endpoint;
}

/** Sends a message that came in a request, and answers it. */
export function call(site: Site, visit: Visit, endpoint: Endpoint, payload: unknown): Promise<Response> | Response {
  const { headers } = visit.request;
  const { isStream } = endpoint.operation;
  const type = isStream ? "text/event-stream" : "application/json";
  if (!accepts(headers.get("accept"), type)) {
    return refuse("not-acceptable", `The answer is ${type}, which the header accept leaves out: add it there.`);
  }
  if (isStream) return site.streams.open(visit, endpoint, payload);
  const prefer = headers.get("prefer");
  if (prefer === null) return answer(site, visit, endpoint, payload, site.limits.time);
  const { isAsync, wait } = preferencesOf(prefer);
  return isAsync ? tell(site, visit, endpoint, payload) : answerSoon(site, visit, endpoint, payload, wait);
}

/** Asks, and answers with the reply. */
async function answer(
  site: Site,
  visit: Visit,
  endpoint: Endpoint,
  payload: unknown,
  timeout: number,
): Promise<Response> {
  const { actor, operation } = endpoint;
  const watched = site.disconnects.watch(visit.request, visit.server, timeout);
  const reply = await actor.door.ask(operation.name, payload, askOptions(watched, timeout, visit.metadata));
  watched.end();
  return reply.isOk() ? respond(endpoint, reply.value) : failed(endpoint, reply.error);
}

/** Answers a client that said how long it would wait. */
async function answerSoon(
  site: Site,
  visit: Visit,
  endpoint: Endpoint,
  payload: unknown,
  wait: number,
): Promise<Response> {
  const { timing } = visit;
  const timeout = Math.min(wait, site.limits.time);
  const response = await (timing === null
    ? answer(site, visit, endpoint, payload, timeout)
    : answerTimed(site, visit, endpoint, payload, timeout, timing));
  if (wait < Number.POSITIVE_INFINITY) response.headers.set("preference-applied", `wait=${Math.ceil(wait / 1000)}`);
  return response;
}

/** Answers, and measures how long the parts of that take. */
async function answerTimed(
  site: Site,
  visit: Visit,
  endpoint: Endpoint,
  payload: unknown,
  timeout: number,
  timing: Timing,
): Promise<Response> {
  const { actor, operation } = endpoint;
  const watched = site.disconnects.watch(visit.request, visit.server, timeout);
  const options = askOptions(watched, timeout, timing.mark(visit.metadata));
  const reply = await timing.send(() => actor.door.ask(operation.name, payload, options));
  watched.end();
  return timing.measure("encode", () =>
    reply.isOk() ? respond(endpoint, reply.value) : failed(endpoint, reply.error),
  );
}

/** The options of an ask for a request: it ends when the client leaves. */
export function askOptions(watched: Watched, timeout: number, metadata: Visit["metadata"]): AskOptions {
  const canceller = (cancel: (reason: unknown) => void): void => watched.whenGone(cancel);
  return metadata === undefined ? { timeout, canceller } : { timeout, canceller, metadata };
}

/** Hands a message on, and says that it was taken. */
async function tell(site: Site, visit: Visit, endpoint: Endpoint, payload: unknown): Promise<Response> {
  const error = await offer(site, endpoint, payload, visit.metadata);
  return error === undefined ? new Response(null, ACCEPTED) : failed(endpoint, error);
}

/** Waits for room in the mailbox, and gives the error of a message that it did not take. */
export async function offer(
  { limits }: Site,
  { actor, operation }: Endpoint,
  payload: unknown,
  metadata: Visit["metadata"],
): Promise<DeliveryError | undefined> {
  const options = { timeout: limits.time, ...(metadata !== undefined && { metadata }) };
  const taken = await actor.door.offer(operation.name, payload, options);
  return taken.isOk() ? undefined : taken.error;
}

const ACCEPTED: ResponseInit = { status: 202, headers: { "preference-applied": "respond-async" } };

/** The response that has a reply. */
function respond(endpoint: Endpoint, reply: unknown): Response {
  if (reply === undefined) return new Response(null, { status: 204 });
  try {
    return Response.json(reply);
  } catch (thrown) {
    return unwritable(endpoint, thrown);
  }
}

/** The response to a reply that JSON cannot carry, such as a bigint or a circle: a mistake of the handler, which is logged. */
export function unwritable({ actor, operation }: Endpoint, cause: unknown): Response {
  logOf(actor.ref).error(
    `The reply of ${operation.name} of "${actor.name}" cannot be written as JSON: mend its handler.`,
    {
      cause,
    },
  );
  return refuse("handler-failed", `The reply of ${operation.name} cannot be written as JSON.`);
}

/** The response of a failure. */
export function failed(endpoint: Endpoint, error: DeliveryError): Response {
  logFailure(endpoint, error);
  return refuseError(error);
}

/** Logs what went wrong inside, as the client is not told (P18). */
export function logFailure({ actor, operation }: Endpoint, error: DeliveryError): void {
  if (error.kind === "handler-failed" || error.kind === "unreachable") {
    const { message, cause } = error;
    logOf(actor.ref).error(`${operation.name} of "${actor.name}" failed for a request: ${message}`, { cause });
  }
  if (error.kind !== "invalid-payload") return;
  const told = publicIssues(error.issues);
  const issues = error.issues.filter((issue, index) => issue !== told[index]);
  if (issues.length === 0) return;
  logOf(actor.ref).error(`The schema of ${operation.name} of "${actor.name}" failed for a request: mend it.`, {
    issues,
  });
}
