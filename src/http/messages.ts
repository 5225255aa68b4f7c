import {
  type AskError,
  type AskResult,
  createErrorResponse,
  createResponse,
  type Message,
  type Metadata,
  parseMessage,
  traceOf,
} from "../index";
import { askOptions, logFailure, offer, unwritable } from "./actors";
import { readBody } from "./body";
import type { Endpoint, Part, Site, Visit } from "./contract";
import { refuseBytes } from "./json-of";
import { refuse, STATUSES } from "./problem";

/** `POST /messages`: takes a message in its wire form, and answers with its response in the wire form. */
export function messagesPart(site: Site): Part {
  const byAddress = Map.groupBy(site.exposure.values(), ({ address }) => address as string);

  /** The operation that a message asks for: an actor may be exposed by several names, each with other operations. */
  async function endpointOf(visit: Visit, { to, type }: Message): Promise<Endpoint | Response> {
    let refusal: Response | undefined;
    for (const { name, endpoints } of byAddress.get(to) ?? []) {
      const endpoint = endpoints.get(type);
      if (endpoint === undefined) continue;
      const refused = await site.authorize(visit, name, type);
      if (refused === undefined) return endpoint;
      refusal = refused;
    }
    return refusal ?? refuse("not-found", "No such actor or operation takes messages here: check to and type.");
  }

  async function post(visit: Visit): Promise<Response> {
    const body = await readBody(site, visit.request);
    if (body instanceof Response) return body;
    const parsed = parseMessage(body.value);
    if (parsed.isErr()) return refuse("bad-request", parsed.error.message);
    const message = parsed.value;
    const endpoint = await endpointOf(visit, message);
    if (endpoint instanceof Response) return endpoint;
    const { actor, operation } = endpoint;
    if (operation.isStream || message.pattern === "stream") {
      return refuse("bad-request", `A message opens no stream: POST /actors/${actor.name}/${operation.name} does.`);
    }
    const metadata = withTrace(visit.metadata, message.metadata);
    if (message.pattern === "tell") {
      const error = await offer(site, visit, endpoint, message.payload, metadata);
      return error === undefined ? new Response(null, { status: 202 }) : failed(endpoint, message, error);
    }
    const { wait } = visit.preferences;
    const timeout = Math.min(wait, site.limits.time);
    const watched = site.disconnects.watch(visit.request, visit.server, timeout);
    const { timing } = visit;
    const options = askOptions(watched, timeout, timing === null ? metadata : timing.mark(metadata));
    const ask = (): Promise<AskResult> => actor.door.ask(operation.name, message.payload, options);
    const reply = await (timing === null ? ask() : timing.send(ask));
    watched.end();
    if (reply.isErr()) return failed(endpoint, message, reply.error);
    try {
      refuseBytes(reply.value);
      return Response.json(createResponse(message, reply.value));
    } catch (thrown) {
      return unwritable(endpoint, thrown);
    }
  }

  return {
    routes: [
      {
        method: "POST",
        path: "/messages",
        handle: post,
        description: {
          summary: "Takes a message in envoi's wire form, and answers with its response",
          body: MESSAGE,
          isBodyRequired: true,
          statuses: [202, 404, 504],
          answer: { type: "application/json", schema: RESPONSE },
          failure: { type: "application/json", schema: RESPONSE },
        },
      },
    ],
  };
}

const TEXT = { type: "string", minLength: 1 };
/** As most are. Letters of other alphabets may be in it, too. */
const ADDRESS = { type: "string", pattern: "^@\\([!-'*-.0-~]+(/[!-'*-.0-~]+)*\\)$", maxLength: 500 };

/** A message in the wire form. */
const MESSAGE = {
  type: "object",
  required: ["id", "pattern", "to", "type", "timestamp"],
  properties: {
    id: TEXT,
    pattern: { type: "string", enum: ["tell", "ask"] },
    to: ADDRESS,
    from: ADDRESS,
    type: TEXT,
    payload: {},
    correlationId: TEXT,
    timestamp: { type: "number", description: "Milliseconds since 1970." },
    metadata: { type: "object" },
  },
};

/** A response in the wire form: with a payload, or with an error. */
const RESPONSE = {
  type: "object",
  required: ["id", "pattern", "from", "type", "timestamp", "ok"],
  properties: {
    id: TEXT,
    pattern: { type: "string", const: "reply" },
    from: TEXT,
    type: TEXT,
    correlationId: TEXT,
    timestamp: { type: "number" },
    ok: { type: "boolean" },
    payload: {},
    error: {
      type: "object",
      required: ["kind", "message", "retryable"],
      properties: { kind: TEXT, message: TEXT, retryable: { type: "boolean" } },
    },
  },
};

/** The response in the wire form to a message that failed, with the status that any request with this failure has. */
function failed(endpoint: Endpoint, message: Message, error: AskError): Response {
  logFailure(endpoint, error);
  const status = STATUSES[error.kind];
  const headers: Record<string, string> = status === 503 ? { "retry-after": "1" } : {};
  return Response.json(createErrorResponse(message, error), { status, headers });
}

/** The metadata of a message from outside: that of its request, with the trace context that the message itself has. The rest is dropped. */
function withTrace(metadata: Metadata | undefined, given: Metadata | undefined): Metadata | undefined {
  const trace = traceOf(given);
  return trace === undefined ? metadata : { ...metadata, tracestate: undefined, ...trace };
}
