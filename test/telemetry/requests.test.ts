import { afterAll, beforeAll, expect, test } from "bun:test";
import { context } from "@opentelemetry/api";
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type SpanProcessor,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { createSystem, defineProtocol, Type, traceOf } from "envoi";
import { createGateway } from "envoi/http";
import { SCOPE, trace, traceRequests } from "envoi/telemetry";
import { installContextManager, traced } from "./traced";

beforeAll(installContextManager);
afterAll(() => context.disable());

const Counter = defineProtocol("counter", { add: { payload: Type.Number(), reply: Type.Number() } });

async function service() {
  const traces = traced();
  const { tracer } = traces;
  const system = createSystem({ logger: { warn() {}, error() {} } });
  trace(system, { tracer });
  const counter = system.spawn("counter", Counter, () => ({
    add: (n) => {
      if (n < 0) throw new Error("below none");
      return n + 1;
    },
  }));
  const { fetch } = createGateway(system, {
    around: traceRequests({ tracer }),
    expose: { counter: { ref: counter, operations: ["add"] } },
  });
  const post = (body: string, headers: Record<string, string> = {}, path = "/actors/counter/add?secret=1") =>
    fetch(
      new Request(`http://shop.test:8080${path}`, {
        method: "POST",
        body,
        headers: { "content-type": "application/json", ...headers },
      }),
    );
  return { ...traces, post, system };
}

const TRACE = "0af7651916cd43dd8448eb211c80319c";

test("a request has a span by its route, below that of its client, and its messages are below it", async () => {
  const { post, tree, spans } = await service();
  await post("1", { traceparent: `00-${TRACE}-b7ad6b7169203331-01`, baggage: "a=1" });
  const route = spans().find(({ name }) => name.startsWith("POST"))?.attributes["http.route"];
  expect(tree()).toEqual([`POST ${route} (below b7ad6b7169203331)`, "  process counter.add"]);
  expect(spans().every((span) => span.spanContext().traceId === TRACE)).toBe(true);
  const request = spans().find(({ name }) => name.startsWith("POST"));
  expect(request?.kind).toBe(1); // SERVER
  expect(request?.attributes).toEqual({
    "http.request.method": "POST",
    "http.response.status_code": 200,
    "http.route": route,
    "url.path": "/actors/counter/add",
    "url.scheme": "http",
    "server.address": "shop.test",
    "server.port": 8080,
  });
  expect(route).toStartWith("/actors/");
});

test("without a traceparent, or with one that is not well formed, it begins a trace", async () => {
  const { post, tree } = await service();
  await post("1");
  await post("1", { traceparent: `00-${"0".repeat(32)}-b7ad6b7169203331-01` });
  await post("1", { traceparent: `00-${TRACE}-b7ad6b7169203331-01, 00-${TRACE}-b7ad6b7169203331-01` });
  expect(tree().filter((line) => line.startsWith("POST") && line.includes("below"))).toEqual([]);
  expect(tree().length).toBe(6);
});

test("one that is not sampled gets no span, and neither do its messages", async () => {
  const { post, spans } = await service();
  expect((await post("1", { traceparent: `00-${TRACE}-b7ad6b7169203331-00` })).status).toBe(200);
  expect(spans()).toEqual([]);
});

test("a failure of the service is an error of the span, and a mistake of the client is none", async () => {
  const { post, spans } = await service();
  await post("-1");
  await post("nonsense");
  await post("1", {}, "/nowhere");
  const requests = spans().filter(({ kind }) => kind === 1);
  expect(requests.map(({ attributes, status }) => [attributes["http.response.status_code"], status.code])).toEqual([
    [expect.any(Number), 2],
    [400, 0],
    [404, 0],
  ]);
  expect(requests[2]?.name).toBe("POST"); // No text of a stranger's path.
});

test("a tracer is asked for", () => {
  expect(() => traceRequests({} as never)).toThrow("The tracer of traceRequests is one of OpenTelemetry");
});

test("a span processor changes the path of a request before an exporter has it", async () => {
  const exporter = new InMemorySpanExporter();
  const withoutTokens: SpanProcessor = {
    onStart(span) {
      const path = span.attributes["url.path"];
      if (typeof path === "string") span.setAttribute("url.path", path.replace(/^\/invite\/[^/]+/, "/invite/:token"));
    },
    onEnd() {},
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
  };
  const provider = new TracerProvider({ spanProcessors: [withoutTokens, new SimpleSpanProcessor({ exporter })] });
  const gateway = createGateway(createSystem(), {
    expose: {},
    around: traceRequests({ tracer: provider.getTracer(SCOPE) }),
  });
  await gateway.fetch(new Request("http://shop.test/invite/s3cret/accept"));
  const [span, ...others] = exporter.getFinishedSpans();
  expect(others).toEqual([]);
  expect(span?.attributes["url.path"]).toBe("/invite/:token/accept");
  expect(JSON.stringify([span?.name, span?.attributes])).not.toContain("s3cret");
});

test("a handler that calls another service by fetch hands on its own span", async () => {
  const { tracer, spans } = traced();
  const seen: (string | null)[] = [];
  using server = Bun.serve({
    port: 0,
    fetch({ headers }) {
      seen.push(headers.get("traceparent"));
      return new Response("42");
    },
  });
  const system = createSystem();
  trace(system, { tracer });
  const counter = system.spawn("counter", Counter, (ctx) => ({
    add: async () => Number(await (await fetch(server.url, { headers: { ...traceOf(ctx.handsOn) } })).text()),
  }));
  expect((await counter.ask("add", 1)).unwrapOr(0)).toBe(42);
  await counter.ask("add", 1, { metadata: { traceparent: `00-${TRACE}-b7ad6b7169203331-01` } });
  await system.shutdown();
  expect(seen).toEqual(spans().map((span) => `00-${span.spanContext().traceId}-${span.spanContext().spanId}-01`));
  expect(seen[1]).toStartWith(`00-${TRACE}-`);
});
