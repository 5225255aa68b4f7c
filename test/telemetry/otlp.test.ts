import { afterAll, beforeAll, expect, test } from "bun:test";
import { context } from "@opentelemetry/api";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-proto";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { createSystem, defineProtocol, Type } from "envoi";
import { metricProducer, metrics, SCOPE, trace } from "envoi/telemetry";
import { Receiver, treeOf } from "./receiver";
import { installContextManager } from "./traced";

// The real SDK and its exporters, over HTTP, to a receiver that reads their protobuf.

beforeAll(installContextManager);
afterAll(() => context.disable());

const Kitchen = defineProtocol("kitchen", { cook: { payload: Type.Number(), reply: Type.Number() } });
const Waiter = defineProtocol("waiter", {
  order: { payload: Type.Number(), reply: Type.Number() },
  ring: {},
});

/** A system with two actors, one of which asks the other, and the SDK that exports what they do. */
function restaurant(receiver: { url(kind: "traces" | "metrics"): string }, timeoutMillis = 60_000) {
  const lines: string[] = [];
  const note = (line: string): void => void lines.push(line);
  const askTimeout = Number.POSITIVE_INFINITY; // A machine that stands still for seconds is not what is tested.
  const system = createSystem({ metrics: { sample: 1 }, logger: { warn: note, error: note }, askTimeout });
  const resource = resourceFromAttributes({ "service.name": "restaurant" });
  const exporter = new OTLPTraceExporter({ url: receiver.url("traces"), timeoutMillis });
  const tracers = new TracerProvider({
    resource,
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: 5, exportTimeoutMillis: timeoutMillis })],
  });
  const reader = new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter({ url: receiver.url("metrics"), timeoutMillis }),
    exportIntervalMillis: timeoutMillis,
    exportTimeoutMillis: timeoutMillis,
    metricProducers: [metricProducer(system)],
  });
  const meters = new MeterProvider({ resource, readers: [reader] });
  trace(system, { tracer: tracers.getTracer(SCOPE) });
  metrics(system, { meter: meters.getMeter(SCOPE) });
  const kitchen = system.spawn("kitchen", Kitchen, () => ({
    cook(dish) {
      if (dish < 0) throw new RangeError("there is no such dish");
      return dish * 2;
    },
  }));
  const waiter = system.spawn("waiter", Waiter, (ctx) => ({
    async order(dish) {
      const cooked = await ctx.ask(kitchen, "cook", dish);
      ctx.self.tell("ring");
      return cooked.unwrapOr(-1);
    },
    ring() {},
  }));
  const end = async (): Promise<void> => {
    await Promise.allSettled([tracers.shutdown(), meters.shutdown()]);
    await system.shutdown({ drain: true });
  };
  return { system, waiter, kitchen, tracers, meters, lines, end };
}

test("spans arrive with their ids, parents, kinds, attributes and status", async () => {
  using receiver = new Receiver();
  const { system, waiter, tracers, end } = restaurant(receiver);
  expect((await waiter.ask("order", 21)).unwrapOr(0)).toBe(42);
  expect((await waiter.ask("order", -1)).unwrapOr(0)).toBe(-1);
  await system.stop(waiter, { drain: true });
  await tracers.forceFlush();
  await receiver.hasSpans(6); // An export that had begun before is not awaited by forceFlush.
  expect(treeOf(receiver.spans)).toEqual([
    "process waiter.order",
    "  process kitchen.cook",
    "  process waiter.ring",
    "process waiter.order",
    "  process kitchen.cook: RangeError",
    "  process waiter.ring",
  ]);
  const [first] = receiver.spans.filter(({ name }) => name === "process waiter.order");
  const [cook] = receiver.spans.filter(({ name }) => name === "process kitchen.cook");
  expect(cook).toMatchObject({
    traceId: first?.traceId,
    parentSpanId: first?.spanId,
    kind: "CONSUMER",
    status: "UNSET",
  });
  expect(first?.traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(cook?.attributes).toMatchObject({
    "messaging.system": "envoi",
    "messaging.operation.type": "process",
    "messaging.destination.name": "@(kitchen)",
    "messaging.destination.template": "kitchen",
    "messaging.envoi.operation": "cook",
  });
  const failed = receiver.spans.find(({ status }) => status === "ERROR");
  expect(failed).toMatchObject({ message: "RangeError", attributes: { "error.type": "RangeError" } });
  expect(new Set(receiver.spans.map(({ traceId }) => traceId)).size).toBe(2);
  expect(receiver.spans.every(({ start, end: ended }) => ended >= start)).toBe(true);
  expect(receiver.resources[0]).toMatchObject({ "service.name": "restaurant" });
  await end();
});

test("metrics arrive: counters, gauges, and the histograms of the producer", async () => {
  using receiver = new Receiver();
  const { waiter, meters, end } = restaurant(receiver);
  for (let dish = 1; dish <= 10; dish++) await waiter.ask("order", dish);
  await meters.forceFlush();
  const metric = (name: string) => receiver.metrics.find((each) => each.name === name);
  const cook = { "messaging.destination.template": "kitchen", "messaging.envoi.operation": "cook" };
  const consumed = metric("messaging.client.consumed.messages");
  expect(consumed).toMatchObject({ type: "sum", unit: "{message}", isMonotonic: true, temporality: "CUMULATIVE" });
  expect(consumed?.points).toContainEqual(expect.objectContaining({ ...cook, value: 10 }));
  expect(metric("envoi.actors")).toMatchObject({ type: "sum", unit: "{actor}", isMonotonic: false });
  expect(metric("process.cpu.time")?.points.map((point) => point["cpu.mode"])).toEqual(["user", "system"]);
  const duration = metric("messaging.process.duration");
  expect(duration).toMatchObject({ type: "histogram", unit: "s", temporality: "CUMULATIVE" });
  const point = duration?.points.find((each) => each["messaging.envoi.operation"] === "cook");
  const { count, bucketCounts, explicitBounds } = (point?.value ?? {}) as Record<string, unknown>; // See above.
  expect(count).toBe("10");
  expect(explicitBounds).toHaveLength(27);
  expect((bucketCounts as string[]).reduce((sum, each) => sum + Number(each), 0)).toBe(10);
  await end();
});

test.each([
  ["is down", "down"],
  ["never answers", () => new Promise<Response>(() => {})],
  ["is busy (429)", () => new Response(null, { status: 429, headers: { "retry-after": "1" } })],
  ["fails (500)", () => new Response(null, { status: 500 })],
  ["answers with nonsense", () => new Response("\xff\xff\xff\xff")],
] as const)(
  "a receiver that %s: the system does not notice",
  async (_, refuse) => {
    using receiver = new Receiver();
    if (refuse === "down") receiver[Symbol.dispose]();
    else receiver.refuse = refuse;
    const { system, waiter, tracers, meters, lines, end } = restaurant(receiver, 100);
    const flushed = Promise.allSettled([tracers.forceFlush(), meters.forceFlush()]);
    const answers: number[] = [];
    for (let round = 0; round < 20; round++) {
      const asked = Array.from({ length: 250 }, (_each, dish) => waiter.ask("order", dish)); // 15,000 spans: more than wait for export.
      answers.push(...(await Promise.all(asked)).map((reply) => reply.unwrapOr(-1)));
    }
    await flushed;
    expect(answers).toEqual(Array.from({ length: 5_000 }, (_each, index) => (index % 250) * 2));
    expect(lines).toEqual([]);
    await end();
    expect(system.router.audit()).toMatchObject({ queued: 0, running: 0, failed: 0, dead: 0 });
    if (refuse !== "down") expect(receiver.requests).toBeGreaterThan(0);
  },
  120_000,
);
