import { describe, expect, test } from "bun:test";
import type { MetricFamily } from "../../../src/http/contract";
import { createGateway } from "../../../src/http/index";
import { createSystem } from "../../../src/index";
import { createManualClock } from "../../../src/testing/index";
import { type ParsedFamily, parseOpenMetrics } from "./parse-open-metrics";
import { notesService } from "./service";

const post = (path: string, body: string): Request =>
  new Request(`http://x${path}`, { method: "POST", headers: { "content-type": "application/json" }, body });

const read = async (get: (path: string) => Promise<Response>): Promise<ReadonlyMap<string, ParsedFamily>> =>
  parseOpenMetrics(await (await get("/metrics")).text());

const sampleOf = (family: ParsedFamily | undefined, labels: Record<string, string>, suffix = ""): number | undefined =>
  family?.samples.find((sample) => {
    const { le: _, ...own } = sample.labels;
    return sample.name.endsWith(suffix) && Bun.deepEquals(own, labels);
  })?.value;

describe("GET /metrics", () => {
  test("is OpenMetrics text, in its media type", async () => {
    const { get } = notesService({ metrics: true });
    const response = await get("/metrics");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/openmetrics-text; version=1.0.0; charset=utf-8");
    expect([...parseOpenMetrics(await response.text()).keys()]).toEqual(
      expect.arrayContaining([
        "envoi_service_info",
        "envoi_messages",
        "envoi_message_queue_seconds",
        "envoi_message_handler_seconds",
        "envoi_mailbox_messages",
        "envoi_running_messages",
        "envoi_dead_letters",
        "envoi_http_requests",
        "envoi_http_request_seconds",
        "process_cpu_seconds",
        "process_resident_memory_bytes",
        "envoi_heap_bytes",
        "envoi_event_loop_delay_seconds",
      ]),
    );
  });

  test("counts messages by operation and outcome, and requests by route and status", async () => {
    const { gateway, get } = notesService({ metrics: true });
    for (let id = 1; id <= 3; id++) await gateway.fetch(post("/actors/notes/write", JSON.stringify({ id, text: "a" })));
    await gateway.fetch(post("/actors/notes/write", "{}"));
    await get("/actors/notes/count");
    const families = await read(get);
    const messages = families.get("envoi_messages");
    expect(sampleOf(messages, { protocol: "notes", operation: "write", outcome: "handled" })).toBe(3);
    expect(sampleOf(messages, { protocol: "notes", operation: "write", outcome: "dead" })).toBe(1);
    expect(sampleOf(families.get("envoi_dead_letters"), {})).toBe(1);
    expect(sampleOf(families.get("envoi_mailbox_messages"), {})).toBe(0);
    const handler = families.get("envoi_message_handler_seconds");
    expect(sampleOf(handler, { protocol: "notes", operation: "write" }, "_count")).toBe(3);
    const requests = families.get("envoi_http_requests");
    const route = "/actors/:name/:operation";
    expect(sampleOf(requests, { method: "POST", route, status: "200" })).toBe(3);
    expect(sampleOf(requests, { method: "POST", route, status: "400" })).toBe(1);
    expect(sampleOf(requests, { method: "GET", route, status: "200" })).toBe(1);
    expect(sampleOf(families.get("envoi_http_request_seconds"), { method: "POST", route }, "_count")).toBe(4);
  });

  test("P18: whatever strangers send, they make no row", async () => {
    const { gateway, get } = notesService({ metrics: true });
    const all = async (round: number): Promise<void> => {
      for (let index = 0; index < 50; index++) {
        const name = `${round}-${index}`;
        await get(`/${name}`);
        await get(`/actors/${name}/${name}`);
        await get(`/actors/notes/count?${name}`);
        await gateway.fetch(post(`/actors/notes/${name}`, "1"));
        await gateway.fetch(post("/messages", JSON.stringify({ id: name, from: `@(${name})`, to: `@(${name})` })));
        await gateway.fetch(new Request("http://x/actors/notes/count", { method: `M${index}` }));
        await gateway.fetch(new Request(`http://x/${name}`, { headers: { traceparent: name, "x-request-id": name } }));
      }
    };
    const rows = async (): Promise<number> =>
      [...(await read(get)).values()].reduce((sum, { samples }) => sum + samples.length, 0);
    await all(1);
    await rows(); // The page has a row itself.
    const before = await rows();
    await all(2);
    expect(await rows()).toBe(before);
    expect(await (await get("/metrics")).text()).not.toMatch(/[12]-\d/);
  });

  test("has what other parts tell, and is right in whole", async () => {
    const own: MetricFamily = {
      name: "sessions_open",
      type: "gauge",
      help: 'Sessions, "open".',
      samples: [{ labels: { kind: 'a"b\n' }, value: 2 }],
    };
    const { get } = notesService({ metrics: true, parts: [() => ({ routes: [], metrics: () => [own] })] });
    const family = (await read(get)).get("sessions_open");
    expect(family?.help).toBe(own.help);
    expect(family?.samples).toEqual([{ name: "sessions_open", labels: { kind: 'a"b\n' }, value: 2 }]);
  });

  test("has no rows of operations where the system does not count them", async () => {
    const { get } = notesService({ metrics: true }, {});
    const families = await read(get);
    expect(families.has("envoi_messages")).toBe(false);
    expect(families.has("envoi_http_requests")).toBe(true);
  });

  test("tells a service's name as its owner wrote it", async () => {
    const { get } = notesService({ metrics: true, name: 'a "name"\\', version: "1\n2" });
    expect((await read(get)).get("envoi_service_info")?.samples[0]?.labels).toEqual({
      name: 'a "name"\\',
      version: "1\n2",
    });
  });

  test("can be open to everybody, though callers are asked who they are", async () => {
    const authenticate = () => undefined;
    expect((await notesService({ metrics: true, authenticate }).get("/metrics")).status).toBe(401);
    expect((await notesService({ metrics: { isOpen: true }, authenticate }).get("/metrics")).status).toBe(200);
  });

  test("P15: measures on the system's clock how late the event loop is, and ends with the gateway", async () => {
    const clock = createManualClock();
    const system = createSystem({ clock });
    const gateway = createGateway(system, { expose: {}, metrics: true });
    await clock.advance(5_250);
    const families = await read((path) => gateway.fetch(new Request(`http://x${path}`)));
    expect(sampleOf(families.get("envoi_event_loop_delay_seconds"), {}, "_count")).toBe(10);
    expect(clock.heldTimers).toBe(0);
    await gateway.close();
    expect(clock.timers).toBe(0);
    await system.shutdown();
  });
});
