import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createGateway, serve } from "../../../src/http/index";
import { createSystem } from "../../../src/index";
import { createTestSystem } from "../../../src/testing/index";
import { durableShim } from "./durable-shim";
import { eventsOf, post, take } from "./event-reader";
import { spawnFeed } from "./feeds";

describe("The log of a stream by the Durable Streams protocol", () => {
  function gatewayOf(items?: number) {
    const { system, clock } = createTestSystem();
    const feed = spawnFeed(system);
    const gateway = createGateway(system, {
      expose: {
        feed: { ref: feed.ref, operations: { pushed: { resume: { ...(items !== undefined && { items }) } } } },
      },
    });
    const send = async (request: Request): Promise<Response> => {
      const response = gateway.fetch(request);
      await clock.settle();
      return response;
    };
    const open = async (name: string): Promise<string> => {
      const response = await send(post("http://service/actors/feed/pushed", name));
      await response.body?.cancel();
      await clock.settle();
      return response.headers.get("content-location") ?? "";
    };
    const read = (path: string, query = ""): Promise<Response> => send(new Request(`http://service${path}${query}`));
    return { ...feed, gateway, clock, open, read, send };
  }

  test("is not closed for a reader who waits where the server goes away", async () => {
    const { gateway, pushed, open, read, clock } = gatewayOf();
    pushed("log").push(1);
    const path = await open("log");
    const next = (await read(path)).headers.get("stream-next-offset");
    const waiting = read(path, `?live=long-poll&offset=${next}`);
    await clock.settle();
    const draining = gateway.drain(1_000);
    await clock.advance(1_000);
    const response = await waiting;
    expect([response.status, response.headers.get("stream-closed")]).toEqual([410, null]);
    await draining;
  });

  test("is an array of its items, and closed at its end", async () => {
    const { pushed, open, read, clock } = gatewayOf();
    pushed("log").push({ a: 1 }, { b: 2 });
    const path = await open("log");
    const first = await read(path);
    expect(await first.json()).toEqual([{ a: 1 }, { b: 2 }]);
    expect(first.headers.get("stream-closed")).toBeNull();
    pushed("log").push("end");
    pushed("log").end();
    await clock.settle();
    const next = await read(path, `?offset=${first.headers.get("stream-next-offset")}`);
    expect(await next.json()).toEqual(["end"]);
    expect(next.headers.get("stream-closed")).toBe("true");
    expect(next.headers.get("stream-error")).toBeNull();
    const live = await read(path, `?live=sse&offset=${first.headers.get("stream-next-offset")}`);
    expect((await Array.fromAsync(eventsOf(live))).map(({ event }) => event)).toEqual(["data", "control"]);
  });

  test("P12: reads make room in a full log, also by long poll", async () => {
    const { pushed, open, read, clock } = gatewayOf(10);
    pushed("log").push(...Array.from({ length: 60 }, (_, index) => index + 1));
    pushed("log").end();
    const path = await open("log");
    const items: unknown[] = [];
    let offset = "-1";
    for (let polls = 0; polls < 60; polls++) {
      const response = await read(path, `?live=long-poll&offset=${offset}`);
      if (response.status === 200) items.push(...((await response.json()) as unknown[]));
      offset = response.headers.get("stream-next-offset") ?? "";
      if (response.headers.get("stream-closed") === "true") break;
      await clock.settle();
    }
    expect(items).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));
    expect((await read(path, "?offset=-1")).status).toBe(410);
  });

  test("a long poll waits for 20 seconds, and is told of what comes at once", async () => {
    const { pushed, open, read, clock, send } = gatewayOf();
    const path = await open("log");
    const waiting = send(new Request(`http://service${path}?live=long-poll&offset=now`));
    pushed("log").push(1);
    await clock.settle();
    expect(await (await waiting).json()).toEqual([1]);
    const idle = read(path, "?live=long-poll&offset=now");
    await clock.advance(20_000);
    expect((await idle).status).toBe(204);
  });

  test("tells of the failure that ended it", async () => {
    const { pushed, open, read, send } = gatewayOf();
    pushed("log").push(1);
    const path = await open("log");
    const live = await read(path, "?live=sse&offset=-1");
    const events = eventsOf(live);
    expect((await take(events, 2)).map(({ event }) => event)).toEqual(["data", "control"]);
    await send(new Request(`http://service${path}`, { method: "DELETE" }));
    const [control] = await take(events, 1);
    expect(JSON.parse(control?.data ?? "")).toMatchObject({ streamClosed: true, error: { kind: "cancelled" } });
  });
});

describe("The published tests of the Durable Streams protocol", async () => {
  // They are written for vitest, whose place `chosen-tests.ts` takes.
  Bun.plugin({
    name: "vitest",
    setup(build) {
      build.onLoad({ filter: /server-conformance-tests\/dist\/src-[^/]*\.js$/ }, async ({ path }) => ({
        contents: (await Bun.file(path).text()).replace(
          '"vitest"',
          JSON.stringify(`${import.meta.dir}/chosen-tests.ts`),
        ),
        loader: "js",
      }));
    },
  });
  const { runConformanceTests } = await import("@durable-streams/server-conformance-tests");
  const options = { baseUrl: "" };
  let stop = async (): Promise<unknown> => undefined;
  beforeAll(() => {
    const serving = serve(createSystem(), { port: 0, signals: [], expose: {}, parts: [durableShim] });
    options.baseUrl = serving.url.origin;
    stop = () => serving.stop({ streams: 0 });
  });
  afterAll(() => stop());
  runConformanceTests(options);
});
