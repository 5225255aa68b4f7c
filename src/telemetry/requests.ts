import { context, type Span, SpanKind, SpanStatusCode, type Tracer, trace } from "@opentelemetry/api";
import { checkOptions, type OptionChecks } from "../index";
import { withMethods } from "./checks";
import { contextIn, Scope } from "./tracing/scope";

/** A request on its way, as the option `around` of a gateway has it. */
export interface TracedExchange {
  readonly request: Request;
  /** The path of its route; undefined until its answer is there, and for a path that no route has. */
  readonly route: string | undefined;
}

/** The options of spans of requests. */
export interface TraceRequestsOptions {
  /** The source of spans: `provider.getTracer(SCOPE)`. */
  readonly tracer: Tracer;
}

const CHECKS: OptionChecks<TraceRequestsOptions> = {
  tracer: withMethods("is one of OpenTelemetry: provider.getTracer(SCOPE)", "startSpan"),
};

/** The methods of the conventions; another text is anyone's. */
const METHODS = new Set(["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "QUERY", "TRACE"]);

/**
 * Makes a span of each HTTP request, for the option `around` of a gateway: below the span of the client (`traceparent`), by OpenTelemetry's
 * conventions for HTTP servers, with the route, and neither query nor headers. `url.path` is the path as it was sent: where paths hold secrets,
 * let a span processor change it in `onStart`. With `trace`, the messages that the request sends are below it. The span of a stream ends when its response begins. A request whose `traceparent` says that it is not sampled gets none.
 *
 * @throws TypeError when the tracer is none.
 * @example
 * serve(system, { expose, around: traceRequests({ tracer: provider.getTracer(SCOPE) }) });
 */
export function traceRequests(
  options: TraceRequestsOptions,
): (exchange: TracedExchange, answer: () => Promise<Response>) => Promise<Response> {
  const { tracer } = options ?? {};
  checkOptions(options, CHECKS, "traceRequests", "{ tracer: provider.getTracer(SCOPE) }");
  if (tracer === undefined) CHECKS.tracer(tracer, "tracer", "traceRequests");
  return async (exchange, answer) => {
    const { headers, method, url } = exchange.request;
    const of = (name: string): string | undefined => headers.get(name) ?? undefined;
    const parent = contextIn({
      traceparent: of("traceparent"),
      tracestate: of("tracestate"),
      baggage: of("baggage"),
    });
    if (parent instanceof Scope && parent.isUnsampled) return context.with(parent, answer);
    const verb = METHODS.has(method) ? method : "_OTHER";
    const { pathname, protocol, hostname, port } = new URL(url);
    const span = tracer.startSpan(
      verb === "_OTHER" ? "HTTP" : verb,
      {
        kind: SpanKind.SERVER,
        attributes: {
          "http.request.method": verb,
          "url.path": pathname,
          "url.scheme": protocol.slice(0, -1),
          "server.address": hostname,
          ...(port !== "" && { "server.port": Number(port) }),
        },
      },
      parent,
    );
    try {
      const response = await context.with(trace.setSpan(parent, span), answer);
      tellResponse(span, verb, exchange.route, response.status);
      return response;
    } finally {
      span.end();
    }
  };
}

function tellResponse(span: Span, method: string, route: string | undefined, status: number): void {
  span.setAttribute("http.response.status_code", status);
  if (route !== undefined) {
    span.setAttribute("http.route", route);
    span.updateName(`${method === "_OTHER" ? "HTTP" : method} ${route}`);
  }
  if (status < 500) return; // Of a server, the faults of a client are no errors.
  span.setAttribute("error.type", String(status));
  span.setStatus({ code: SpanStatusCode.ERROR });
}
