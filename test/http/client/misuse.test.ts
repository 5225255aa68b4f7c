import { afterAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { createServer, type Server } from "node:net";
import { ok } from "neverthrow";
import { type ClientOptions, createClient } from "../../../src/http/client/index";
import { serve } from "../../../src/http/index";
import { createSystem } from "../../../src/index";
import { createManualClock } from "../../../src/testing/index";
import { Counter, createCounter } from "../counter";
import { errorOf } from "./stream-error";

const system = createSystem({ logger: { error() {}, warn() {} } });
const counter = system.spawn("counter", Counter, createCounter, { concurrency: 100 });
const service = serve(system, {
  port: 0,
  hostname: "127.0.0.1",
  signals: [],
  expose: { counter: { ref: counter, operations: ["add", "total", "never", "ticks"] } },
});
afterAll(() => service.stop({ streams: 0, timeout: 1 }));
const { url } = service;
const clientOf = (at: URL | string, more: Partial<ClientOptions> = {}) =>
  createClient<typeof service>({ url: at, retry: { first: 1, longest: 2, attempts: 2 }, ...more });

/** A server of something else, for each request. */
function other(answer: (request: Request) => Response | Promise<Response>) {
  const requests: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      requests.push(`${request.method} ${new URL(request.url).pathname}`);
      return answer(request);
    },
  });
  return { url: server.url, requests, [Symbol.asyncDispose]: () => server.stop(true) };
}

function portOf(server: Server): number {
  const at = server.address();
  if (typeof at !== "object" || at === null) throw new Error("It has no port.");
  return at.port;
}

describe("a client that is made in a wrong way", () => {
  const refused: readonly (readonly [options: object | null | undefined, sentence: string])[] = [
    [{}, "A client needs the url of a gateway"],
    [undefined, "A client needs the url of a gateway"],
    [null, "A client needs the url of a gateway"],
    [{ url, socket: "true" }, "socket is true or false; got true"],
    [{ url, retry: { attempt: 3 } }, "The retry of a client has no option attempt; it has first longest attempts"],
    [{ url: 7 }, "A client needs the url of a gateway"],
    [{ url: "localhost:3000" }, "got localhost:3000"],
    [{ url: "/api" }, "a page may give a path"],
    [{ url: "ws://service.example" }, "got ws://service.example"],
    [{ url: "https://service.example/api?key=1" }, "without user, query or hash"],
    [{ url: "https://service.example/#home" }, "without user, query or hash"],
    [{ url: "https://ada:secret@service.example" }, "got https://…@service.example"],
    [{ url, sokcet: true }, "A client has no option sokcet; it has url token headers fetch socket"],
    [{ url, constructor: 1 }, "A client has no option constructor"],
    [{ url, timeout: "5" }, "timeout is a number above 0; got 5"],
    [{ url, timeout: 0 }, "timeout is a number above 0; got 0"],
    [{ url, retry: { attempts: 0 } }, "retry.attempts is a number above 0"],
  ];
  test.each(refused)("%p is refused at once", (options, sentence) => {
    const make = () => createClient(options as ClientOptions);
    expect(make).toThrow(sentence);
    expect(make).not.toThrow("secret");
  });
});

describe("an operation that is not there", () => {
  for (const socket of [false, true]) {
    test(`is told with what to check, ${socket ? "over a socket" : "by HTTP"}`, async () => {
      const client = clientOf(url, { socket });
      // @ts-expect-error — no such operation
      const asked = (await client.counter.ask("ad", 2))._unsafeUnwrapErr();
      expect(asked).toMatchObject({ kind: "not-found", status: 404, retryable: false });
      expect(asked.message).toContain("check the name");
      const unknown = createClient({ url, socket });
      expect(await errorOf(unknown.actor("countr").stream("ticks", 2))).toMatchObject({ kind: "not-found" });
      unknown.close();
      client.close();
    });
  }

  test("such as one of sessions or of a topic that the gateway does not have", async () => {
    const client = createClient({ url });
    expect((await client.sessions.create())._unsafeUnwrapErr()).toMatchObject({ kind: "not-found", status: 404 });
    expect(await errorOf(client.subscribe("changes"))).toMatchObject({ kind: "not-found", status: 404 });
    client.close();
  });
});

describe("an answer that no gateway gives", () => {
  const html = () => new Response("<p>Log in</p>", { headers: { "content-type": "text/html" } });
  const answers: Readonly<Record<string, () => Response>> = {
    "HTML of a proxy": html,
    "text that is no JSON": () => new Response("{", { headers: { "content-type": "application/json" } }),
    "202 to an ask": () => new Response(null, { status: 202 }),
  };
  for (const [name, answer] of Object.entries(answers)) {
    test(`${name} is invalid-response, for asks, sessions and streams`, async () => {
      await using proxy = other(answer);
      const client = createClient({ url: proxy.url });
      const sentence = expect.stringContaining("is the url that of");
      const error = { kind: "invalid-response", retryable: false, message: sentence };
      expect((await client.actor("counter").ask("total"))._unsafeUnwrapErr()).toMatchObject(error);
      expect((await client.sessions.create())._unsafeUnwrapErr()).toMatchObject(error);
      expect((await client.sessions.list())._unsafeUnwrapErr()).toMatchObject(error);
      expect(await errorOf(client.actor("counter").stream("ticks", 2))).toMatchObject(error);
    });
  }

  test("204 to an ask is a reply without a value; to a stream that begins it is no stream", async () => {
    await using proxy = other(() => new Response(null, { status: 204 }));
    const client = clientOf(proxy.url);
    expect((await client.counter.ask("total"))._unsafeUnwrap()).toBeUndefined();
    expect(await errorOf(client.counter.stream("ticks", 2))).toMatchObject({ kind: "invalid-response", status: 204 });
  });

  test("JSON of another service is no session and no list of sessions", async () => {
    await using proxy = other(() => Response.json({ ok: true, sessions: [{}] }));
    const { sessions } = createClient({ url: proxy.url });
    for (const answer of [await sessions.create(), await sessions.list(), await sessions.at("a").show()]) {
      expect(answer._unsafeUnwrapErr()).toMatchObject({ kind: "invalid-response" });
    }
  });

  test("a redirect is not followed: an ask would become a GET", async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      await using target = other(() => Response.json(7));
      await using proxy = other(() => new Response(null, { status, headers: { location: target.url.href } }));
      const client = clientOf(proxy.url, { token: "secret" });
      const error = (await client.counter.ask("add", 2))._unsafeUnwrapErr();
      expect({ status, error }).toMatchObject({ error: { kind: "invalid-response", status, retryable: false } });
      expect(error.message).toBe(
        `add of "counter" was redirected to ${target.url.href}: write the url of the gateway itself.`,
      );
      expect(await errorOf(client.counter.stream("ticks", 2))).toMatchObject({ kind: "invalid-response", status });
      expect(target.requests).toEqual([]);
      expect(proxy.requests.length).toBe(2);
    }
  });

  test("a later version that has other kinds of error is told by its status", async () => {
    const problem = { kind: "quantum-state", detail: "It is both.", status: 409, retryable: true, more: {} };
    await using later = other(() =>
      Response.json(problem, { status: 409, headers: { "content-type": "application/problem+json" } }),
    );
    const error = (await clientOf(later.url).counter.ask("total"))._unsafeUnwrapErr();
    expect(error).toMatchObject({ kind: "conflict", status: 409, retryable: true, message: "It is both." });
  });
});

describe("a socket of another service", () => {
  test("that selects another version is given up, and the error names ours", async () => {
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", (data) => {
        const key = /sec-websocket-key: (\S+)/i.exec(String(data))?.[1] ?? "";
        const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
        const head = "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade";
        socket.write(`${head}\r\nsec-websocket-accept: ${accept}\r\nsec-websocket-protocol: envoi.v2\r\n\r\n`);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const client = clientOf(`http://127.0.0.1:${portOf(server)}`, { socket: true });
    const asked = client.counter.ask("total");
    const errors = [await errorOf(client.counter.stream("ticks", 2)), (await asked)._unsafeUnwrapErr()];
    for (const { kind, message } of errors) {
      expect(kind).toBe("unreachable");
      expect(message).toContain("Does the service speak envoi.v1");
    }
    client.close();
    server.close();
  });

  test("that sends no frames is not tried again", async () => {
    for (const text of ["hello", '{"kind":"welcome"}', "7"]) {
      const server = Bun.serve({
        port: 0,
        hostname: "127.0.0.1",
        fetch: (request, it) =>
          it.upgrade(request, { headers: { "sec-websocket-protocol": "envoi.v1" } })
            ? undefined
            : new Response(null, { status: 400 }),
        websocket: { message() {}, open: (socket) => void socket.send(text) },
      });
      const client = clientOf(server.url, { socket: true });
      const error = (await client.counter.ask("total"))._unsafeUnwrapErr();
      expect({ text, error }).toMatchObject({ error: { kind: "invalid-response" } });
      client.close();
      await server.stop(true);
    }
  });

  test("that tells no bounds gets messages of any depth", async () => {
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: (request, it) =>
        it.upgrade(request, { headers: { "sec-websocket-protocol": "envoi.v1" } })
          ? undefined
          : new Response(null, { status: 400 }),
      websocket: {
        open: (socket) => void socket.send('[{"kind":"welcome"}]'),
        message(socket, text) {
          for (const { id, payload } of JSON.parse(String(text))) {
            socket.send(JSON.stringify([{ kind: "reply", id, payload }]));
          }
        },
      },
    });
    const client = createClient({ url: server.url, socket: true });
    const payload = [[[["deep"]]]];
    expect(await client.actor("any").ask("echo", payload, { timeout: 5_000 })).toEqual(ok(payload));
    client.close();
    await server.stop(true);
  });

  test("that does not let WebSockets through is given up, and the error says what to look at", async () => {
    await using proxy = other(() => new Response("no", { status: 502 }));
    const client = clientOf(proxy.url, { socket: true });
    const error = (await client.counter.ask("total"))._unsafeUnwrapErr();
    expect(error).toMatchObject({ kind: "unreachable", retryable: true });
    expect(error.message).toContain("3 attempts in a row failed");
    expect(error.message).toContain("let WebSockets through");
    expect(proxy.requests).toEqual(["GET /socket", "GET /socket", "GET /socket"]);
    client.close();
  });
});

describe("a signal that was aborted before the call", () => {
  for (const socket of [false, true]) {
    test(`means that nothing is sent ${socket ? "over a socket" : "by HTTP"}, and no timer is left`, async () => {
      await using nobody = other(() => Response.json(7));
      const clock = createManualClock();
      const client = clientOf(nobody.url, { socket, clock });
      const reason = new Error("too late");
      const options = { signal: AbortSignal.abort(reason) };
      const error = {
        kind: "cancelled",
        status: null,
        cause: reason,
        message: expect.stringContaining("was not sent"),
      };
      expect((await client.counter.ask("add", 2, options))._unsafeUnwrapErr()).toMatchObject(error);
      expect((await client.counter.tell("add", 2, options))._unsafeUnwrapErr()).toMatchObject(error);
      expect(await errorOf(client.counter.stream("ticks", 2, options))).toMatchObject(error);
      expect({ requests: nobody.requests, timers: clock.timers }).toEqual({ requests: [], timers: 0 });
      client.close();
    });
  }
});

describe("a name that no path can hold", () => {
  test("is not found, and does not throw", async () => {
    const half = "\ud83d";
    const client = createClient({ url });
    expect((await client.actor(half).ask(half))._unsafeUnwrapErr()).toMatchObject({ kind: "not-found" });
    expect(await errorOf(client.actor(half).stream(half))).toMatchObject({ kind: "not-found" });
    expect((await client.sessions.at(half).show())._unsafeUnwrapErr()).toMatchObject({ kind: "not-found" });
  });

  test("names of dots alone lead to no other path", async () => {
    await using server = other(() => new Response("{}", { status: 404 }));
    const client = createClient({ url: server.url });
    for (const dots of [".", ".."]) {
      expect((await client.actor("counter").ask(dots)).isErr()).toBe(true);
      expect((await client.actor(dots).ask("total")).isErr()).toBe(true);
      expect((await client.sessions.at(dots).show()).isErr()).toBe(true);
    }
    expect(
      server.requests.every((request) => request.split("/").length === (request.includes("/sessions") ? 3 : 4)),
    ).toBe(true);
  });
});

describe("a stream", () => {
  test("that is left in the middle ends its connection at once", async () => {
    const closed = Promise.withResolvers<void>();
    const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.on("close", () => closed.resolve());
      socket.once("data", () => void socket.write(`${head}9\r\ndata: 1\n\n\r\n`));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    for await (const tick of clientOf(`http://127.0.0.1:${portOf(server)}`).counter.stream("ticks", 9)) {
      expect(tick).toBe(1);
      break;
    }
    await closed.promise; // The server says nothing more, and its clock has nothing to do with it.
    server.close();
  });

  test("that gets no answer, such as the seventh of a page by HTTP/1.1, says what to do", async () => {
    const clock = createManualClock();
    const waiting = Promise.withResolvers<void>();
    const client = clientOf("http://service.example", {
      clock,
      idle: 5_000,
      fetch: (_, { signal }) =>
        new Promise((_, reject) => {
          signal?.addEventListener("abort", () => reject(signal.reason));
          waiting.resolve();
        }),
    });
    const error = errorOf(client.counter.stream("ticks", 2));
    await waiting.promise;
    await clock.advance(5_000);
    expect(await error).toMatchObject({
      kind: "timeout",
      retryable: true,
      message: expect.stringContaining("use a socket"),
    });
    expect(clock.timers).toBe(0);
  });

  test("beside a hundred others has its items, over one socket", async () => {
    const client = clientOf(url, { socket: true });
    const streams = Array.from({ length: 100 }, () => client.counter.stream("ticks", 3));
    for (const stream of streams) expect((await stream.next()).value).toBe(0); // All of them are open at once.
    for (const stream of streams) expect(await Array.fromAsync(stream)).toEqual([1, 2]);
    client.close();
  });
});
