import { afterEach, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { createGateway, serve } from "../../../src/http/index";
import { createTestSystem } from "../../../src/testing/index";
import { dataOf, eventsOf, post, take } from "./event-reader";
import { spawnFeed } from "./feeds";

const URL_OF = "http://service/actors/feed";

/** A gateway on a clock that stands still. */
function still(limits: { streams?: number } = {}) {
  const { system, clock, takeLog } = createTestSystem();
  const feed = spawnFeed(system);
  const gateway = createGateway(system, {
    limits,
    expose: { feed: { ref: feed.ref, operations: ["ticks", "pushed", "fails", "odd", "texts"] } },
  });
  /** Sends a request, and lets run what is ready. */
  const open = async (operation: string, payload?: unknown): Promise<Response> => {
    const response = gateway.fetch(post(`${URL_OF}/${operation}`, payload));
    await clock.settle();
    return response;
  };
  return { gateway, clock, open, takeLog, ...feed };
}

describe("A stream as server-sent events", () => {
  test("has each item as JSON, and an end; its headers keep proxies from holding it back", async () => {
    const { open } = still();
    const response = await open("ticks", 20);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("x-accel-buffering")).toBe("no");
    expect(response.headers.get("cache-control")).toContain("no-store");
    const text = await response.text();
    expect(text).toStartWith(": open\n\ndata: 1\n\ndata: 2\n\n");
    expect(text).toEndWith("data: 20\n\nevent: end\ndata: {}\n\n");
  });

  test("P18: ends with the problem where its handler fails, without the text of what was thrown", async () => {
    const { open, takeLog } = still();
    const events = await Array.fromAsync(eventsOf(await open("fails", 2)));
    expect(events.map(({ event }) => event)).toEqual(["message", "message", "error"]);
    expect(JSON.parse(events[2]?.data ?? "")).toMatchObject({ kind: "handler-failed", status: 500 });
    expect(events[2]?.data).not.toContain("swordfish");
    expect(takeLog()[0]?.details).toMatchObject({ address: "@(feed)", operation: "fails", kind: "handler-failed" });
  });

  test("is refused with a status where it fails before its first item", async () => {
    const { open } = still();
    const wrong = await open("ticks", "three");
    expect(wrong.status).toBe(400);
    expect(await wrong.json()).toMatchObject({ kind: "invalid-payload", issues: [{ path: "" }] });
    const failed = await open("fails", 0);
    expect(failed.status).toBe(500);
    expect(await failed.text()).not.toContain("swordfish");
  });

  test("P18: ends with a problem where an item is no JSON", async () => {
    const { open } = still();
    const events = await Array.fromAsync(eventsOf(await open("odd")));
    expect(events.map(({ event }) => event)).toEqual(["message", "error"]);
    expect(events[1]?.data).toContain("internal-error");
  });

  test("P15: is kept alive by comments while it is quiet, never more than 15 seconds apart", async () => {
    const { open, clock, pushed } = still();
    const reader = (await open("pushed", "quiet")).body?.pipeThrough(new TextDecoderStream()).getReader();
    const comments: number[] = [];
    const read = (async () => {
      for (;;) {
        const step = await reader?.read();
        if (step === undefined || step.done) return;
        comments.push(clock.monotonicTime());
      }
    })();
    for (let second = 0; second < 60; second++) await clock.advance(1_000);
    pushed("quiet").end();
    await clock.settle();
    await read;
    const pauses = comments.slice(1).map((time, index) => time - (comments[index] ?? 0));
    expect(comments.length).toBeGreaterThan(4);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(15_000);
  });

  test.each([
    [1, 512 + 1 + 64],
    [1_000, 66 + 1 + 64],
    [65_536, 1 + 1 + 64],
  ])(
    "P12: an answer that nobody reads takes a bounded number of items: of %p characters, at most %p",
    async (length, most) => {
      const { open, state, clock } = still();
      const response = await open("texts", length);
      for (let turn = 0; turn < 20; turn++) await clock.settle();
      expect(state.made).toBeLessThanOrEqual(most);
      await response.body?.cancel();
    },
  );

  test("gives its place back at its end, when it fails, when it is refused, and when its reader leaves", async () => {
    const { open, pushed, clock } = still({ streams: 1 });
    for (let turn = 0; turn < 3; turn++) {
      await (await open("ticks", 3)).text();
      await (await open("fails", 1)).text();
      await (await open("odd")).text();
      expect((await open("ticks", "wrong")).status).toBe(400);
      const held = await open("pushed", `left ${turn}`);
      expect((await open("ticks", 1)).status).toBe(429);
      await held.body?.cancel();
      await clock.settle();
      await pushed(`left ${turn}`).ended;
    }
    expect((await open("ticks", 1)).status).toBe(200);
  });
});

describe("A stream over a socket", () => {
  const stops: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
  });

  function serving(authenticate?: () => Promise<{ id: string }>) {
    const feed = spawnFeed();
    const { server, stop, gateway } = serve(feed.system, {
      port: 0,
      signals: [],
      limits: { streams: 1 },
      ...(authenticate !== undefined && { authenticate }),
      expose: {
        feed: { ref: feed.ref, operations: ["ticks", "pushed", "texts"] },
        kept: { ref: feed.ref, operations: { texts: { resume: { bytes: 1_000_000 } } } },
      },
    });
    stops.push(() => stop({ streams: 0 }));
    return { ...feed, gateway, url: `http://127.0.0.1:${server.port}/actors/feed`, port: server.port ?? 0 };
  }

  const rawRequest = (operation: string, body: string): string =>
    `POST /actors/${operation} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

  const turns = async (count: number): Promise<void> => {
    for (let turn = 0; turn < count; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
  };

  test.each(["feed", "kept"])(
    "P12: stops when the socket of a client that never reads takes nothing, so that memory stays flat (%p)",
    async (name) => {
      const { port, state } = serving();
      const socket = connect(port, "127.0.0.1").pause();
      socket.write(rawRequest(`${name}/texts`, "65536"));
      let before = -1;
      while (state.made === 0 || state.made !== before) {
        before = state.made;
        await turns(2_000);
      }
      const memory = process.memoryUsage.rss();
      await turns(10_000);
      expect(state.made).toBe(before);
      expect(state.made).toBeLessThan(400); // 25 MB: what both ends of the connection hold.
      expect(process.memoryUsage.rss() - memory).toBeLessThan(16_000_000);
      socket.destroy();
    },
  );

  test("P7: is cancelled once its client has gone", async () => {
    const { url, pushed } = serving();
    for (const name of ["one", "two"]) {
      const leaving = new AbortController();
      pushed(name).push(1);
      const response = await fetch(post(`${url}/pushed`, name), { signal: leaving.signal });
      expect(dataOf(await take(eventsOf(response), 1))).toEqual([1]);
      leaving.abort();
      await pushed(name).ended;
    }
  });

  test("P7: is cancelled when its client has gone before the answer", async () => {
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<{ id: string }>();
    let calls = 0;
    const { port, pushed, url } = serving(() => {
      asked.resolve();
      return calls++ === 0 ? answer.promise : Promise.resolve({ id: "Ada" });
    });
    const socket = connect(port, "127.0.0.1");
    socket.write(rawRequest("feed/pushed", '"early"'));
    await asked.promise;
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.destroy();
    await closed;
    await turns(50);
    answer.resolve({ id: "Ada" });
    await pushed("early").ended;
    expect((await fetch(post(`${url}/ticks`, 1))).status).toBe(200);
  });

  test("tells its client to come back when the gateway drains, and takes no new one", async () => {
    const { url, gateway, pushed } = serving();
    pushed("last").push(1);
    const events = eventsOf(await fetch(post(`${url}/pushed`, "last")));
    expect(dataOf(await take(events, 1))).toEqual([1]);
    const drained = gateway.drain(0);
    const [end] = await take(events, 1);
    expect(end).toMatchObject({ event: "reconnect", data: '{"after":1000}' });
    expect((await events.next()).done).toBe(true);
    await drained;
    await pushed("last").ended;
    const refused = await fetch(post(`${url}/ticks`, 1));
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
  });

  test("may end by itself while the gateway drains", async () => {
    const { url, gateway, pushed } = serving();
    pushed("whole").push(1);
    const events = eventsOf(await fetch(post(`${url}/pushed`, "whole")));
    await take(events, 1);
    const drained = gateway.drain(60_000);
    pushed("whole").push(2);
    pushed("whole").end();
    const rest = await Array.fromAsync(events);
    expect(rest.map(({ event }) => event)).toEqual(["message", "end"]);
    await drained;
  });
});
