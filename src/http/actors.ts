import {
  type AskOptions,
  type AskResult,
  type DeliveryError,
  type Door,
  type OfferOptions,
  publicIssues,
} from "../index";
import { parseJson, type Settle, takePosted } from "./body";
import type { Endpoint, Part, Site, Visit } from "./contract";
import type { Watched } from "./disconnects";
import { responseOf } from "./json-of";
import { logOperation } from "./operation-log";
import { accepts } from "./preferences";
import { refuse, refuseError } from "./problem";

/** `POST /actors/:name/:operation`, and `GET` for operations that change nothing. */
export const actorsPart = (site: Site): Part => ({
  routes: [
    { method: "POST", path: "/actors/:name/:operation", handle: (visit) => post(site, visit) },
    { method: "GET", path: "/actors/:name/:operation", handle: (visit) => get(site, visit) },
  ],
});

function post(site: Site, visit: Visit): Promise<Response> | Response {
  const found = endpointOf(site, visit);
  return found instanceof Promise
    ? found.then((endpoint) => postTo(site, visit, endpoint))
    : postTo(site, visit, found);
}

/** Reads the body, and calls. */
function postTo(site: Site, visit: Visit, endpoint: Endpoint | Response): Promise<Response> | Response {
  if (endpoint instanceof Response) return endpoint;
  return takePosted(site, visit.request, (value, settle) => call(site, visit, endpoint, value, settle));
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
  const { value } = input;
  return new Promise((resolve, reject) => call(site, visit, endpoint, value, { resolve, reject }));
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

/** Sends a message that came in a request. */
function call(site: Site, visit: Visit, endpoint: Endpoint, payload: unknown, settle: Settle): void {
  const { headers } = visit.request;
  const { operation } = endpoint;
  const type = operation.isStream ? "text/event-stream" : "application/json";
  if (!accepts(headers.get("accept"), type)) {
    settle.resolve(
      refuse("not-acceptable", `The answer is ${type}, which the header accept leaves out: add it there.`),
    );
    return;
  }
  if (operation.isStream) {
    settle.resolve(site.streams.open(visit, endpoint, payload));
    return;
  }
  const { isAsync, wait } = visit.preferences;
  if (isAsync) settle.resolve(tell(site, visit, endpoint, payload));
  else if (wait < Number.POSITIVE_INFINITY) settle.resolve(answerSoon(site, visit, endpoint, payload, wait));
  else answer(site, visit, endpoint, payload, site.limits.time, settle);
}

/** Answers a client that said how long it would wait. */
async function answerSoon(
  site: Site,
  visit: Visit,
  endpoint: Endpoint,
  payload: unknown,
  wait: number,
): Promise<Response> {
  const timeout = Math.min(wait, site.limits.time);
  const response = await new Promise<Response>((resolve, reject) =>
    answer(site, visit, endpoint, payload, timeout, { resolve, reject }),
  );
  response.headers.set("preference-applied", `wait=${Math.ceil(wait / 1000)}`);
  return response;
}

/** Asks, and answers with the reply. */
function answer(
  site: Site,
  visit: Visit,
  endpoint: Endpoint,
  payload: unknown,
  timeout: number,
  settle: Settle<Response>,
): void {
  const { timing } = visit;
  const { actor, operation } = endpoint;
  const encode =
    timing === null
      ? (reply: AskResult) => answerOf(endpoint, reply)
      : (reply: AskResult) => timing.measure("encode", () => answerOf(endpoint, reply));
  askFor(site, visit, actor.door, operation.name, payload, timeout, encode, settle);
}

/** Asks for a request: the ask ends when its client leaves. */
export function askFor(
  site: Site,
  { request, server, timing, metadata }: Visit,
  door: Door,
  operation: string,
  payload: unknown,
  timeout: number,
  encode: (reply: AskResult) => Response,
  settle: Settle<Response>,
): void {
  const watched = site.disconnects.watch(request, server, timeout);
  const options = askOptions(watched, timeout, timing === null ? metadata : timing.mark(metadata));
  const asked =
    timing === null ? door.ask(operation, payload, options) : timing.send(() => door.ask(operation, payload, options));
  asked.then((reply) => {
    watched.end();
    try {
      settle.resolve(encode(reply));
    } catch (thrown) {
      settle.reject(thrown);
    }
  }, settle.reject);
}

const answerOf = (endpoint: Endpoint, reply: AskResult): Response =>
  reply.isOk() ? respond(endpoint, reply.value) : failed(endpoint, reply.error);

/** The options of an ask or an offer for a request: it ends when the client leaves. */
export function askOptions(watched: Watched, timeout: number, metadata: Visit["metadata"]): AskOptions & OfferOptions {
  const canceller = (cancel: (reason: unknown) => void): void => watched.whenGone(cancel);
  return metadata === undefined ? { timeout, canceller } : { timeout, canceller, metadata };
}

/** Hands a message on, and says that it was taken. */
async function tell(site: Site, visit: Visit, endpoint: Endpoint, payload: unknown): Promise<Response> {
  const error = await offer(site, visit, endpoint, payload, visit.metadata);
  return error === undefined ? new Response(null, ACCEPTED) : failed(endpoint, error);
}

/**
 * Waits for room in the mailbox, while the client waits too, and gives the error of a message that it did not take. Those of clients that have
 * left would be held as long as the mailbox is full.
 */
export async function offer(
  { limits, disconnects }: Site,
  { request, server }: Visit,
  { actor, operation }: Endpoint,
  payload: unknown,
  metadata: Visit["metadata"],
): Promise<DeliveryError | undefined> {
  const watched = disconnects.watch(request, server, limits.time);
  const taken = await actor.door.offer(operation.name, payload, askOptions(watched, limits.time, metadata));
  watched.end();
  return taken.isOk() ? undefined : taken.error;
}

const ACCEPTED: ResponseInit = { status: 202, headers: { "preference-applied": "respond-async" } };

/** True for an operation that may be handled without a reply. */
export const mayBeEmpty = ({ operation, json }: Pick<Endpoint, "operation" | "json">): boolean =>
  json.output === undefined || operation.reply.parse(undefined).isOk();

/** The response that has a reply. */
function respond(endpoint: Endpoint, reply: unknown): Response {
  if (reply === undefined) return mayBeEmpty(endpoint) ? new Response(null, { status: 204 }) : missing(endpoint);
  try {
    return responseOf(reply);
  } catch (thrown) {
    return unwritable(endpoint, thrown);
  }
}

/** The response where a handler gave undefined though its protocol has a reply: a mistake, which is logged. */
function missing({ actor, operation }: Endpoint): Response {
  const sentence = `The handler of ${operation.name} gave no reply`;
  const what = `${sentence}, which its protocol wants; its actor is exposed as "${actor.name}".`;
  logOperation(actor.ref, operation.name, what);
  return refuse("handler-failed", `${sentence}.`);
}

/** The response to a reply that JSON cannot carry, such as a bigint or a circle: a mistake of the handler, which is logged. */
export function unwritable({ actor, operation }: Endpoint, cause: unknown): Response {
  const sentence = `The reply of ${operation.name} of "${actor.name}" cannot be written as JSON: mend its handler.`;
  logOperation(actor.ref, operation.name, sentence, { cause });
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
    const { kind, message, cause } = error;
    const sentence = `${operation.name} of "${actor.name}" failed for a request: ${message}`;
    logOperation(actor.ref, operation.name, sentence, { kind, cause });
  }
  if (error.kind !== "invalid-payload") return;
  const told = publicIssues(error.issues);
  const issues = error.issues.filter((issue, index) => issue !== told[index]);
  if (issues.length === 0) return;
  const sentence = `The schema of ${operation.name} of "${actor.name}" failed for a request: mend it.`;
  logOperation(actor.ref, operation.name, sentence, { issues });
}
