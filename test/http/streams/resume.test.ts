import { describe, expect, test } from "bun:test";
import { connect, createServer, type Socket } from "node:net";
import { createGateway, type ResumeOptions, serve } from "../../../src/http/index";
import { createTestSystem } from "../../../src/testing/index";
import { isLong } from "../../property/runs";
import { createEventParser, dataOf, eventsOf, post, type ShownEvent, take, takeAndLeave } from "./event-reader";
import { settlingBy, spawnFeed } from "./feeds";

const SERVICE = "http://service";

/** A gateway on a clock that stands still; the caller is who the header names. */
function resuming(resume: ResumeOptions = {}, limits: { streams?: number } = {}) {
  const { system, clock } = createTestSystem();
  const feed = spawnFeed(system);
  const gateway = createGateway(system, {
    limits,
    authenticate: ({ headers }) => ({ id: headers.get("authorization") ?? "Ada" }),
    expose: {
      feed: {
        ref: feed.ref,
        operations: { pushed: { resume }, ticks: { resume }, fails: { resume }, texts: { resume } },
      },
    },
  });
  const send = async (request: Request): Promise<Response> => {
    const response = gateway.fetch(request);
    await clock.settle();
    return response;
  };
  const open = (operation: string, payload: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    send(post(`${SERVICE}/actors/feed/${operation}`, payload, headers));
  const get = (path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Response> =>
    send(new Request(`${SERVICE}${path}`, { headers, method }));
  const resumed = (path: string, id: number, headers: Record<string, string> = {}): Promise<Response> =>
    get(path, { "last-event-id": String(id), ...headers });
  const settled = settlingBy(clock);
  return { gateway, clock, open, get, resumed, settled, ...feed };
}

const pathOf = (response: Response): string => response.headers.get("content-location") ?? "";
const numberOf = ({ id }: ShownEvent): number => Number(id.split(":")[1]);

describe("A stream that can be resumed", () => {
  test("numbers its events, and tells where it is", async () => {
    const { open } = resuming();
    const response = await open("ticks", 3);
    const id = pathOf(response).replace("/streams/", "");
    const events = await Array.fromAsync(eventsOf(response));
    expect(events.map((event) => event.id)).toEqual([1, 2, 3, 4].map((number) => `${id}:${number}`));
    expect(events.map(({ data }) => data)).toEqual(["1", "2", "3", "{}"]);
  });

  test("goes on while its reader is away, and shows each event once", async () => {
    const { open, pushed, resumed, clock } = resuming();
    const stream = pushed("log");
    stream.push("a", "b");
    const first = await open("pushed", "log");
    const path = pathOf(first);
    const [, last] = await takeAndLeave(first, 2);
    stream.push("c");
    await clock.settle();
    expect(stream.taken).toBe(3);
    stream.push("d");
    stream.end();
    const rest = await Array.fromAsync(eventsOf(await resumed(path, numberOf(last as ShownEvent))));
    expect(rest.map(({ data }) => data)).toEqual(['"c"', '"d"', "{}"]);
    expect((await resumed(path, 5)).status).toBe(204);
  });

  test("is resumed by its own URL, as an EventSource does", async () => {
    const { open, pushed, get } = resuming();
    pushed("log").push("a", "b");
    const first = await get("/actors/feed/pushed?input=%22log%22");
    const [one] = await takeAndLeave(first, 1);
    pushed("log").end();
    const again = await get("/actors/feed/pushed?input=%22log%22", { "last-event-id": one?.id ?? "" });
    expect(pathOf(again)).toBe(pathOf(first));
    expect((await Array.fromAsync(eventsOf(again))).map(({ data }) => data)).toEqual(['"b"', "{}"]);
    expect((await open("ticks", 1, { "last-event-id": one?.id ?? "" })).status).toBe(404); // Another operation.
    expect((await open("ticks", 1, { "last-event-id": "nonsense" })).status).toBe(400);
  });

  test("has several readers", async () => {
    const { open, pushed, resumed } = resuming();
    pushed("log").push("a");
    const first = await open("pushed", "log");
    const second = await resumed(pathOf(first), 0);
    pushed("log").push("b");
    pushed("log").end();
    const texts = await Promise.all([first, second].map(async (each) => Array.fromAsync(eventsOf(each))));
    for (const events of texts) expect(events.map(({ data }) => data)).toEqual(['"a"', '"b"', "{}"]);
  });

  test("P12: a full log pauses the stream until its reader has read on; what the reader may not have got is kept", async () => {
    const { open, pushed, resumed, clock, settled } = resuming({ items: 10 });
    const stream = pushed("log");
    stream.push(...Array.from({ length: 100 }, (_, index) => index + 1));
    stream.end();
    const first = await open("pushed", "log");
    const path = pathOf(first);
    await first.body?.cancel();
    await clock.settle();
    const away = stream.taken;
    expect(away).toBeLessThanOrEqual(10 + 16 + 2); // Beside the log, the stream's own credit.
    let shown: ShownEvent[] = [];
    while (shown.at(-1)?.event !== "end") {
      const last = shown.at(-1);
      const response = await resumed(path, last === undefined ? 0 : numberOf(last));
      expect(response.status).toBe(200);
      shown = shown.concat(await settled(takeAndLeave(response, 7))); // Most of what was sent is lost.
      await clock.settle();
    }
    expect(dataOf(shown.slice(0, -1))).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
  });

  test("P12: a log is full by its bytes, too", async () => {
    const { open, clock, state } = resuming({ bytes: 10_000 });
    const response = await open("texts", 1_000);
    await response.body?.cancel();
    await clock.settle();
    expect(state.made).toBeLessThan(10 + 16 + 10);
    expect(state.made).toBeGreaterThan(9);
  });

  test("P7: is cancelled when its reader stays away, and answers 410 from then on", async () => {
    const { open, pushed, resumed, get, clock } = resuming({ for: 5_000 });
    const response = await open("pushed", "log");
    const path = pathOf(response);
    await response.body?.cancel();
    await clock.advance(4_000);
    const back = await resumed(path, 0); // A reader that is there holds it.
    await clock.advance(60_000);
    await back.body?.cancel();
    await clock.advance(5_000);
    await pushed("log").ended;
    expect((await resumed(path, 0)).status).toBe(410);
    expect((await get(path)).status).toBe(410);
    expect((await get(path, {}, "DELETE")).status).toBe(410);
    expect((await open("pushed", "log", { "last-event-id": `${path.slice(9)}:1` })).status).toBe(410);
  });

  test("is stopped by DELETE", async () => {
    const { open, pushed, get } = resuming();
    const response = await open("pushed", "log");
    expect((await get(pathOf(response), {}, "DELETE")).status).toBe(204);
    await pushed("log").ended;
    const [last] = await Array.fromAsync(eventsOf(response));
    expect(last?.event).toBe("error");
    expect(JSON.parse(last?.data ?? "")).toMatchObject({ kind: "cancelled" });
  });

  test("P18: is there for its owner alone", async () => {
    const { open, pushed, get, resumed } = resuming();
    pushed("log").push(1);
    const response = await open("pushed", "log");
    const path = pathOf(response);
    const mallory = { authorization: "Mallory" };
    expect((await resumed(path, 0, mallory)).status).toBe(404);
    expect((await get(path, mallory)).status).toBe(404);
    expect((await get(path, mallory, "DELETE")).status).toBe(404);
    expect((await open("pushed", "log", { ...mallory, "last-event-id": `${path.slice(9)}:0` })).status).toBe(404);
    expect((await get("/streams/constructor")).status).toBe(404);
    expect(dataOf(await take(eventsOf(response), 1))).toEqual([1]);
  });

  test("keeps one place of its owner until it has ended; a second reader takes one of its own", async () => {
    const { open, pushed, resumed, clock } = resuming({ for: 5_000 }, { streams: 2 });
    const first = await open("pushed", "a");
    const second = await resumed(pathOf(first), 0);
    expect((await open("ticks", 1)).status).toBe(429);
    await second.body?.cancel();
    await first.body?.cancel();
    await clock.settle();
    const third = await open("pushed", "b");
    expect(third.status).toBe(200);
    expect((await open("ticks", 1)).status).toBe(429);
    pushed("b").end();
    await third.text();
    await clock.advance(5_000); // The first one expires.
    for (let turn = 0; turn < 5; turn++) await (await open("ticks", 1)).text();
    const both = [await open("pushed", "c"), await open("pushed", "d")];
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    for (const each of both) await each.body?.cancel();
  });

  test("P18: of streams that have ended, a caller has a bounded number", async () => {
    const { open, resumed } = resuming({}, { streams: 3 });
    const paths: string[] = [];
    for (let turn = 0; turn < 5; turn++) {
      const response = await open("ticks", 1);
      paths.push(pathOf(response));
      await response.text();
    }
    const statuses: number[] = [];
    for (const path of paths) {
      const response = await resumed(path, 0);
      statuses.push(response.status);
      await response.text();
    }
    expect(statuses).toEqual([410, 410, 200, 200, 200]);
  });
});

test("there are no paths of streams where none can be resumed, and none of chats without the AI SDK's form", () => {
  const { system } = createTestSystem();
  const { ref } = spawnFeed(system);
  const pathsOf = (ticks: true | { resume: ResumeOptions; format?: "ai-sdk" }): string[] => {
    const paths: string[] = [];
    createGateway(system, {
      expose: { feed: { ref, operations: { ticks } } },
      parts: [(site) => ({ routes: [], close: () => void paths.push(...site.routes.map(({ path }) => path)) })],
    }).close();
    return paths.filter((path) => path.includes("stream"));
  };
  expect(pathsOf(true)).toEqual([]);
  expect(pathsOf({ resume: {} })).toEqual(["/streams/:id", "/streams/:id"]);
  const chats = "/actors/:name/:operation/:chat/stream";
  expect(pathsOf({ resume: {}, format: "ai-sdk" })).toEqual(["/streams/:id", "/streams/:id", chats]);
});

describe("A proxy that cuts each connection after N bytes", () => {
  /** Passes on so many bytes of each answer. `null`: all. */
  async function cutting(port: number) {
    const state: { after: (connection: number) => number; connections: number; whole: number } = {
      after: () => Number.POSITIVE_INFINITY,
      connections: 0,
      whole: 0,
    };
    const sockets = new Set<Socket>();
    const proxy = createServer((client) => {
      const limit = state.after(state.connections++);
      const server = connect(port, "127.0.0.1");
      let passed = 0;
      for (const socket of [client, server]) {
        sockets.add(socket);
        socket.on("error", () => {});
        socket.on("close", () => sockets.delete(socket));
      }
      client.on("data", (chunk) => server.write(chunk));
      client.on("close", () => server.destroy());
      server.on("data", (chunk: Buffer) => {
        const part = chunk.subarray(0, limit - passed);
        passed += part.length;
        state.whole = Math.max(state.whole, passed);
        if (passed < limit) client.write(part);
        else client.end(part, () => server.destroy());
      });
      server.on("close", () => client.end());
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    const address = proxy.address();
    const proxyPort = typeof address === "object" && address !== null ? address.port : 0;
    const close = (): void => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
    };
    return { state, url: `http://127.0.0.1:${proxyPort}`, close };
  }

  /**
   * Gets a page, and shows its events as they come. It is no `fetch`, which drops what it has got of a body that is cut. Gives the status;
   * 0 if the connection was cut before it.
   */
  function getEvents(url: URL, id: string, show: (event: ShownEvent) => void): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<number>();
    const parse = createEventParser(show, id);
    const socket = connect(Number(url.port), url.hostname).setEncoding("latin1");
    const resuming = id === "" ? "" : `last-event-id: ${id}\r\n`;
    socket.write(`GET ${url.pathname}${url.search} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${resuming}\r\n`);
    let status = 0;
    let rest = "";
    let left = 0;
    let isWhole = false;
    socket.on("data", (text: string) => {
      rest += text;
      if (status === 0) {
        const end = rest.indexOf("\r\n\r\n");
        if (end < 0) return;
        status = Number(rest.slice(9, 12));
        isWhole = !/transfer-encoding: chunked/i.test(rest.slice(0, end)); // Bun knows the length of a stream that has ended already.
        rest = rest.slice(end + 4);
      }
      if (isWhole) {
        parse(rest);
        rest = "";
      }
      for (;;) {
        if (left === 0) {
          const [line, size] = /^(?:\r\n)?([0-9a-f]+)\r\n/.exec(rest) ?? [];
          if (line === undefined) break;
          left = Number.parseInt(size ?? "", 16);
          rest = rest.slice(line.length);
        }
        parse(rest.slice(0, left)); // Also a part of a chunk.
        const taken = Math.min(left, rest.length);
        rest = rest.slice(taken);
        left -= taken;
        if (left > 0 || rest === "") break;
      }
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(status));
    return promise;
  }

  /** Reads as an EventSource does: it comes back with the last id, until the stream has ended. */
  async function readAll(url: URL): Promise<ShownEvent[]> {
    const shown: ShownEvent[] = [];
    for (let tries = 0; shown.at(-1)?.event !== "end" && tries < 100; tries++) {
      const status = await getEvents(url, shown.at(-1)?.id ?? "", (event) => void shown.push(event));
      if (status === 204) break;
    }
    return shown;
  }

  test.each(["ticks", "later"])(
    "loses no event, and shows none twice, for each N (%p)",
    async (operation) => {
      const { system, ref } = spawnFeed();
      const { server, stop } = serve(system, {
        port: 0,
        signals: [],
        limits: { streams: 100_000 },
        expose: { feed: { ref, operations: { ticks: { resume: {} }, later: { resume: {} } } } },
      });
      const proxy = await cutting(server.port ?? 0);
      const url = new URL(`${proxy.url}/actors/feed/${operation}?input=5`);
      const expected = ["1", "2", "3", "4", "5", "{}"];
      expect((await readAll(url)).map(({ data }) => data)).toEqual(expected);
      const { whole } = proxy.state;
      expect(whole).toBeGreaterThan(400);
      for (let cut = 1; cut <= whole; cut += isLong ? 1 : 5) {
        proxy.state.connections = 0;
        // Where not even one event fits, no reader can come to an end: then only the first connections are cut.
        proxy.state.after = (connection) => (connection < 3 || cut > whole / 1.3 ? cut : Number.POSITIVE_INFINITY);
        const events = await readAll(url);
        expect([cut, ...events.map(({ data }) => data)]).toEqual([cut, ...expected]);
      }
      proxy.close();
      await stop({ streams: 0 });
    },
    60_000,
  );
});
