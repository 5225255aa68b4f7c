import type { JsonSchema } from "../../index";
import { mayBeEmpty } from "../actors";
import type { Endpoint, Route, RouteDescription, Site } from "../contract";
import { STATUSES, TITLES } from "../problem";
import { ComponentSchemas } from "./component-schemas";
import { endpointsOf, listedRoutes, methodsOf, pathOf } from "./reachable";

/** A part of the document, as JSON. */
type Json = { readonly [key: string]: unknown };

/** The OpenAPI document (3.1) of a gateway: everything that can be reached, with every status that can come. */
export function openApiOf(site: Site): Json {
  const schemas = new ComponentSchemas({ Problem: PROBLEM });
  const paths = new Map<string, Record<string, Json>>();
  const at = (path: string): Record<string, Json> => {
    const methods = paths.get(path) ?? {};
    paths.set(path, methods);
    return methods;
  };
  for (const endpoint of endpointsOf(site)) {
    const path = at(pathOf(endpoint));
    const parts = partsOf(endpoint, schemas);
    for (const method of methodsOf(endpoint)) path[method.toLowerCase()] = ofEndpoint(site, endpoint, method, parts);
  }
  for (const route of listedRoutes(site)) {
    const path = at(route.path.replaceAll(/:(\w+)/g, "{$1}"));
    path[route.method.toLowerCase()] = ofRoute(site, route, route.description);
  }
  const schemes = site.credentials.map((header) => [header, schemeOf(header)] as const);
  return {
    openapi: "3.1.0",
    info: { title: site.name, version: site.version },
    ...(site.basePath !== "" && { servers: [{ url: site.basePath }] }),
    ...(schemes.length > 0 && { security: schemes.map(([name]) => ({ [name]: [] })) }),
    paths: Object.fromEntries(paths),
    components: {
      schemas: schemas.all,
      responses: problemResponses(paths),
      ...(schemes.length > 0 && { securitySchemes: Object.fromEntries(schemes) }),
    },
  };
}

const schemeOf = (header: string): Json =>
  header === "authorization" ? { type: "http", scheme: "bearer" } : { type: "apiKey", in: "header", name: header };

/** The schemas of an operation, as the document refers to them. */
interface Parts {
  readonly input: Json | undefined;
  readonly output: Json | undefined;
  readonly items: Json | undefined;
}

function partsOf({ actor, operation, json }: Endpoint, schemas: ComponentSchemas): Parts {
  const add = (part: "input" | "output" | "items"): Json | undefined => {
    const schema = json[part];
    return schema && schemas.add(`${actor.name}.${operation.name}.${part}`, schema);
  };
  return { input: add("input"), output: add("output"), items: add("items") };
}

/** The statuses that the reading of a body can give, and that of a query. */
const BODY_STATUSES = [400, 408, 413, 415];
const QUERY_STATUSES = [400, 413];
/** Those that an ask can give, by the kind of its error. */
const ASK_STATUSES = [404, 406, 500, 503, 504];
/** Those that can come before a stream begins; later, an event tells what went wrong. */
const STREAM_STATUSES = [404, 406, 429, 500, 503];

function ofEndpoint(site: Site, endpoint: Endpoint, method: "GET" | "POST", parts: Parts): Json {
  const { actor, operation, json, options } = endpoint;
  const { isStream } = operation;
  const { description, hints, isInputRequired } = json;
  const isGet = method === "GET";
  const statuses = [
    ...(isGet ? QUERY_STATUSES : BODY_STATUSES),
    ...(isStream ? STREAM_STATUSES : ASK_STATUSES),
    ...(options.resume === undefined ? [] : [204, 410]),
    ...site.guards,
  ];
  const input = { "application/json": { schema: parts.input } };
  const parameters = [
    ...(isGet && parts.input !== undefined
      ? [{ name: "input", in: "query", required: isInputRequired, description: "The payload as JSON.", content: input }]
      : []),
    ...(isStream ? [] : [PREFER]),
  ];
  return {
    operationId: `${actor.name}.${operation.name}${isGet ? ".get" : ""}`,
    tags: [actor.name],
    ...(description !== undefined && { description }),
    ...(parameters.length > 0 && { parameters }),
    ...(!isGet && parts.input !== undefined && { requestBody: bodyOf(isInputRequired, input) }),
    responses: responses(statuses, isStream ? eventStream(endpoint, parts) : replies(endpoint, parts)),
    "x-envoi": { pattern: json.pattern, ...(hints && { hints }), ...options },
  };
}

/** A body: what no schema says of it is in its description. */
const bodyOf = (required: boolean | undefined, content: Json): Json => ({
  description: "No object in it, at any depth, has the key `__proto__`.",
  ...(required !== undefined && { required }),
  content,
});

/** The header by which a client waits shorter, or not at all (RFC 7240). */
const PREFER: Json = {
  name: "Prefer",
  in: "header",
  schema: { type: "string" },
  description: "`respond-async` answers as soon as the actor has taken the message; `wait=n` waits n seconds at most.",
};

/** The answers of an ask that went well. */
const replies = (endpoint: Endpoint, { output }: Parts): Json => ({
  ...(output !== undefined && {
    200: { description: "The reply.", content: { "application/json": { schema: output } } },
  }),
  202: { description: "The actor has taken the message. Its reply is dropped." },
  ...(mayBeEmpty(endpoint) && {
    204: { description: "The message was handled, and there is no reply." },
  }),
});

const eventStream = ({ options }: Endpoint, { items }: Parts): Json => ({
  200: {
    description:
      options.format === "ai-sdk"
        ? "The UI message stream of the AI SDK (v1), as server-sent events. The schema is that of one event."
        : "Server-sent events: an item each; an event `error` or `end` is the last one. The schema is that of one event.",
    content: { "text/event-stream": { schema: options.format === "ai-sdk" ? EVENT : eventOf(items) } },
  },
});

const EVENT = { type: "object", required: ["data"], properties: { data: { type: "string" } } };

/** An event of a stream. `message` is the name of one that has none. */
const eventOf = (items: Json | undefined): Json => ({
  type: "object",
  required: ["data"],
  properties: { id: { type: "string" } },
  oneOf: [
    { properties: { event: { const: "message" }, data: dataOf(items ?? {}) } },
    {
      properties: { event: { const: "error" }, data: dataOf({ $ref: "#/components/schemas/Problem" }) },
      required: ["event"],
    },
    { properties: { event: { const: "end" }, data: dataOf({}) }, required: ["event"] },
  ],
});

const dataOf = (contentSchema: Json): Json => ({ type: "string", contentMediaType: "application/json", contentSchema });

function ofRoute({ guards }: Site, { method, path, isOpen }: Route, description: RouteDescription): Json {
  const { summary, body, isBodyRequired = false, query = {}, statuses = [], answer, failure } = description;
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => name);
  const parameters = [
    ...names.map((name) => ({ name, in: "path", required: true, schema: { type: "string" } })),
    ...Object.entries(query).map(([name, schema]) => ({ name, in: "query", schema })),
  ];
  const all = [
    ...(names.length + Object.keys(query).length > 0 ? [400] : []),
    ...(body === undefined ? [] : BODY_STATUSES),
    ...(isOpen === true ? [] : [...guards, 500, 503]),
    ...statuses,
  ];
  return {
    operationId: `${method.toLowerCase()}${path.replaceAll(/\W+/g, "-")}`,
    summary,
    ...(isOpen === true && guards.includes(401) && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: bodyOf(isBodyRequired, { "application/json": { schema: body } }) }),
    responses: responses(all, {
      ...(answer && { 200: { description: "OK", content: { [answer.type]: { schema: answer.schema } } } }),
      ...(failure && failures(all, failure)),
    }),
  };
}

/** The responses of a route that fails in a form of its own, too. */
const failures = (statuses: readonly number[], { type, schema }: NonNullable<RouteDescription["failure"]>): Json =>
  Object.fromEntries(
    statuses
      .filter((status) => status >= 400)
      .map((status) => {
        const { content, ...problem } = problemResponse(status);
        return [status, { ...problem, content: { ...content, [type]: { schema } } }];
      }),
  );

/** The responses of an operation: those given, and one for each other status. */
function responses(statuses: readonly number[], given: Json): Json {
  const others = statuses.filter((status) => !(status in given));
  return {
    ...given,
    ...Object.fromEntries(
      others.map((status) => [
        status,
        status < 400 ? { description: TITLES[status] ?? "" } : { $ref: `#/components/responses/${status}` },
      ]),
    ),
  };
}

/** The responses of refusals that the document refers to. */
function problemResponses(paths: ReadonlyMap<string, Readonly<Record<string, Json>>>): Json {
  const used = [...paths.values()].flatMap((methods) =>
    Object.values(methods).flatMap((operation) => Object.keys(operation["responses"] as Json)),
  );
  const statuses = [...new Set(used)].map(Number).filter((status) => status >= 400);
  return Object.fromEntries(statuses.sort((a, b) => a - b).map((status) => [status, problemResponse(status)]));
}

function problemResponse(status: number): Json & { readonly content: Json } {
  const kinds = Object.entries(STATUSES).flatMap(([kind, its]) => (its === status ? [kind] : []));
  return {
    description: `${TITLES[status]}: ${kinds.join(", ")}.`,
    ...(RETRIED.has(status) && {
      headers: { "Retry-After": { description: "Seconds until a new try is worth it.", schema: { type: "string" } } },
    }),
    content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
  };
}

const RETRIED: ReadonlySet<number> = new Set([429, 503]);

/** A refusal (`Problem` in problem.ts). */
const PROBLEM: JsonSchema = {
  type: "object",
  description: "A refusal, as problem details (RFC 9457).",
  required: ["title", "status", "detail", "kind", "retryable"],
  properties: {
    title: { type: "string", description: "The reason phrase of the status." },
    status: { type: "integer" },
    detail: { type: "string", description: "What was wrong, and what to do." },
    kind: { type: "string", enum: Object.keys(STATUSES) },
    retryable: { type: "boolean", description: "True when the same request, sent again, may succeed." },
    issues: {
      type: "array",
      maxItems: 8,
      description: "The faults of a payload.",
      items: {
        type: "object",
        required: ["path", "message"],
        properties: {
          path: { type: "string", description: "A JSON Pointer; empty for the payload itself." },
          message: { type: "string" },
        },
      },
    },
  },
};
