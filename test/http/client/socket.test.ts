import { afterAll, describe, expect, test } from "bun:test";
import { type ClientOptions, ClientStreamError, createClient } from "../../../src/http/client/index";
import { serve } from "../../../src/http/index";
import { createSystem, defineProtocol, Type } from "../../../src/index";
import { createManualClock } from "../../../src/testing/index";
import { cuttingProxy } from "./cutting-proxy";

const Desk = defineProtocol("desk", {
  add: { payload: Type.Number(), reply: Type.Number() },
  total: { reply: Type.Number() },
  echo: { payload: Type.Unknown(), reply: Type.Unknown() },
  told: { reply: Type.Unknown() },
  never: { reply: Type.Number() },
  ticks: { payload: Type.Number(), stream: Type.Number() },
  endless: { stream: Type.Number() },
  state: { reply: Type.Object({ made: Type.Number(), left: Type.Number() }) },
});

function start(token = "of-ada", protocols: (string | null)[] = []) {
  const system = createSystem({ logger: { error() {}, warn() {} } });
  let total = 0;
  let made = 0;
  let left = 0;
  const desk = system.spawn(
    "desk",
    Desk,
    (ctx) => ({
      add: (n) => (total += n),
      total: () => total,
      echo: (value) => value,
      told: () => ctx.metadata,
      never: () => new Promise<number>(() => {}),
      async *ticks(most) {
        for (let n = 1; n <= most; n++) yield n;
      },
      async *endless() {
        try {
          for (let n = 1; ; n++) {
            made = n;
            yield n;
          }
        } finally {
          left++;
        }
      },
      state: () => ({ made, left }),
    }),
    { concurrency: 2_000 },
  );
  const operations = ["add", "total", "echo", "told", "never", "ticks", "endless", "state"] as const;
  return serve(system, {
    port: 0,
    hostname: "127.0.0.1",
    signals: [],
    expose: { desk: { ref: desk, operations } },
    limits: { body: 20_000, depth: 10 },
    authenticate({ headers }) {
      protocols.push(headers.get("sec-websocket-protocol"));
      return headers.get("authorization") === `Bearer ${token}` ? { id: "ada" } : undefined;
    },
  });
}
const service = start();
const clientOf = (url: URL | string, more: Partial<ClientOptions> = {}) =>
  createClient<typeof service>({
    url,
    token: "of-ada",
    socket: true,
    retry: { first: 1, longest: 2, attempts: 3 },
    ...more,
  });
const client = clientOf(service.url);
afterAll(async () => {
  client.close();
  await service.stop({ streams: 0, timeout: 1 });
});

describe("a client with a socket", () => {
  test("asks, tells and streams by one connection", async () => {
    const proxy = await cuttingProxy(service.url, () => Number.POSITIVE_INFINITY);
    const other = clientOf(proxy.url);
    expect((await other.desk.tell("add", 2)).isOk()).toBe(true);
    const replies = await Promise.all([1, 2, 3].map((n) => other.desk.ask("add", n)));
    expect(replies.map((reply) => reply._unsafeUnwrap())).toEqual([3, 5, 8]);
    expect((await other.desk.ask("total"))._unsafeUnwrap()).toBe(8);
    expect(await Array.fromAsync(other.desk.stream("ticks", 100))).toEqual(
      Array.from({ length: 100 }, (_, n) => n + 1),
    );
    expect(await Array.fromAsync(other.desk.stream("ticks", 0))).toEqual([]);
    expect(proxy.connections).toBe(1);
    other.close();
    proxy.close();
  });

  test("says who it is, by a token of any characters, and gives its trace along", async () => {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    expect((await client.desk.ask("told", undefined, { traceparent }))._unsafeUnwrap()).toMatchObject({
      caller: "ada",
      traceparent,
    });
    const odd = start("a:b/c@d");
    const other = clientOf(odd.url, { token: async () => "a:b/c@d" });
    expect((await other.desk.ask("told"))._unsafeUnwrap()).toMatchObject({ caller: "ada" });
    other.close();
    const stranger = clientOf(odd.url, { token: "x:y" });
    expect((await stranger.desk.ask("told"))._unsafeUnwrapErr()).toMatchObject({
      kind: "unauthenticated",
      status: null,
    });
    stranger.close();
    await odd.stop({ streams: 0, timeout: 1 });
  });

  test("tells errors as by HTTP", async () => {
    // @ts-expect-error — no number
    expect((await client.desk.ask("add", "two"))._unsafeUnwrapErr()).toMatchObject({
      kind: "invalid-payload",
      status: 400,
      issues: [{ path: "" }],
    });
    // @ts-expect-error — not exposed
    expect((await client.desk.ask("nothing"))._unsafeUnwrapErr()).toMatchObject({ kind: "not-found", status: 404 });
    // @ts-expect-error — no number
    expect(await Array.fromAsync(client.desk.stream("ticks", "many")).catch((error) => error.kind)).toBe(
      "invalid-payload",
    );
    expect((await client.desk.ask("echo", 1n))._unsafeUnwrapErr().kind).toBe("invalid-payload");
  });

  test("does not send what would end the socket for all", async () => {
    const running = client.desk.ask("never", undefined, { timeout: 60_000 });
    expect((await client.desk.ask("echo", "ä".repeat(10_000)))._unsafeUnwrapErr()).toMatchObject({
      kind: "payload-too-large",
      status: null,
    });
    const deep = (levels: number): unknown => (levels === 0 ? "[[[[[[[[[[[[" : [deep(levels - 1)]);
    expect((await client.desk.ask("echo", deep(9)))._unsafeUnwrapErr()).toMatchObject({
      kind: "payload-too-large",
      status: null,
    });
    expect((await client.desk.ask("echo", deep(8))).isOk()).toBe(true);
    expect(await Promise.race([running, "still open"])).toBe("still open");
  });

  test("sends thousands at once, within what the gateway takes", async () => {
    const texts = Array.from({ length: 3_000 }, (_, n) => `${n} ${"x".repeat(n % 50 === 0 ? 5_000 : 10)}`);
    const replies = await Promise.all(texts.map((text) => client.desk.ask("echo", text)));
    expect(replies.map((reply) => reply.isOk() && reply.value)).toEqual(texts);
  });

  test("P12: a stream is ahead of its reader by its credit, at most, and ends when it is left", async () => {
    const { left } = (await client.desk.ask("state"))._unsafeUnwrap();
    const stream = client.desk.stream("endless");
    for (let n = 1; n <= 20; n++) expect(await stream.next()).toEqual({ done: false, value: n });
    const { made } = (await client.desk.ask("state"))._unsafeUnwrap();
    expect(made).toBeLessThanOrEqual(20 + 16 + 16 + 1); // The gateway reads as far ahead again.
    await stream.return?.();
    expect(await stream.next()).toEqual({ done: true, value: undefined });
    for (let now = left; now === left; ) now = (await client.desk.ask("state"))._unsafeUnwrap().left;
  });

  test("an ask ends when its signal is aborted, or its time is up", async () => {
    const abort = new AbortController();
    const asked = client.desk.ask("never", undefined, { signal: abort.signal });
    const stream = client.desk.stream("endless", undefined, { signal: abort.signal });
    await stream.next();
    abort.abort(new Error("no more"));
    expect((await asked)._unsafeUnwrapErr()).toMatchObject({ kind: "cancelled", cause: abort.signal.reason });
    expect(await Array.fromAsync(stream).catch((error) => error instanceof ClientStreamError && error.kind)).toBe(
      "cancelled",
    );
    expect((await client.desk.ask("total", undefined, { signal: AbortSignal.abort() }))._unsafeUnwrapErr().kind).toBe(
      "cancelled",
    );
    expect((await client.desk.ask("never", undefined, { timeout: 20 }))._unsafeUnwrapErr()).toMatchObject({
      kind: "timeout",
    });
  });
});

test("a token that is refused is told at the second attempt, with the gateway's sentence", async () => {
  const eve = clientOf(service.url, { token: "of-eve", retry: { first: 1, longest: 2, attempts: 10_000 } });
  const refused = await eve.desk.ask("total");
  expect(refused._unsafeUnwrapErr()).toMatchObject({ kind: "unauthenticated", retryable: false });
  expect(refused._unsafeUnwrapErr().message).toContain("The token names no caller who is let in.");
  eve.close();
});

describe("a socket that is lost", () => {
  test("P17: what was sent and not answered is unknown, and is not sent again; later messages take a new socket", async () => {
    const proxy = await cuttingProxy(service.url, (connection) =>
      connection === 0 ? 2_000 : Number.POSITIVE_INFINITY,
    );
    const other = clientOf(proxy.url);
    const before = (await client.desk.ask("total"))._unsafeUnwrap();
    expect((await other.desk.ask("add", 1))._unsafeUnwrap()).toBe(before + 1);
    const never = other.desk.ask("never");
    const stream = Array.fromAsync(other.desk.stream("endless")).catch((error) => error.kind);
    const lost = await other.desk.ask("echo", "x".repeat(3_000));
    expect([lost._unsafeUnwrapErr().kind, (await never)._unsafeUnwrapErr().kind, await stream]).toEqual([
      "unknown",
      "unknown",
      "unknown",
    ]);
    expect((await other.desk.ask("total"))._unsafeUnwrap()).toBe(before + 1);
    expect(proxy.connections).toBe(2);
    other.close();
    proxy.close();
  });

  test("while it is opened: what was not sent waits for the next one", async () => {
    for (const bytes of [0, 50, 150]) {
      const proxy = await cuttingProxy(service.url, (connection) =>
        connection < 2 ? bytes : Number.POSITIVE_INFINITY,
      );
      const other = clientOf(proxy.url);
      const before = (await client.desk.ask("total"))._unsafeUnwrap();
      const replies = await Promise.all([other.desk.ask("add", 1), other.desk.ask("add", 1)]);
      expect(replies.map((reply) => reply.isOk() && reply.value)).toEqual([before + 1, before + 2]);
      expect(proxy.connections).toBe(3);
      other.close();
      proxy.close();
    }
  });

  test("once it was let in: the next one says in its handshake, too, who it is", async () => {
    const protocols: (string | null)[] = [];
    const known = start("of-ada", protocols);
    const proxy = await cuttingProxy(known.url, (connection) => (connection === 0 ? 2_000 : Number.POSITIVE_INFINITY));
    const other = clientOf(proxy.url);
    expect((await other.desk.ask("echo", "a".repeat(5_000)))._unsafeUnwrapErr().kind).toBe("unknown");
    expect((await other.desk.ask("total"))._unsafeUnwrap()).toBe(0);
    expect(protocols).toEqual(["envoi.v1, bearer.of-ada", "envoi.v1, bearer.of-ada"]);
    other.close();
    proxy.close();
    await known.stop({ streams: 0, timeout: 1 });
  });

  test("a service that is not there: the message was not sent, for sure", async () => {
    const proxy = await cuttingProxy(service.url, () => 0);
    const other = clientOf(proxy.url);
    expect((await other.desk.ask("total"))._unsafeUnwrapErr()).toMatchObject({ kind: "unreachable", retryable: true });
    expect(proxy.connections).toBe(4);
    const stream = Array.fromAsync(other.desk.stream("endless")).catch((error) => error.kind);
    expect(await stream).toBe("unreachable");
    other.close();

    const clock = createManualClock();
    const late = clientOf(proxy.url, { clock, timeout: 500, retry: { first: 60_000, longest: 60_000 } });
    const asked = late.desk.ask("total");
    await clock.advance(500);
    expect((await asked)._unsafeUnwrapErr()).toMatchObject({ kind: "unreachable" });
    late.close();
    proxy.close();
  });

  test("that says goodbye still answers; what comes later waits for the service that takes its place", async () => {
    const first = start();
    const { port } = first.url;
    const other = clientOf(first.url, { retry: { first: 5, longest: 20, attempts: 1_000 } });
    const stream = other.desk.stream("endless");
    expect((await stream.next()).value).toBe(1);
    const stopped = first.stop({ streams: 50, timeout: 50 });
    const ended = await Array.fromAsync(stream).then(
      () => "end",
      (error) => error.kind,
    );
    expect(["unknown", "cancelled", "stopped", "unavailable"]).toContain(ended);
    await stopped;
    const asked = other.desk.ask("total");
    const next = Bun.serve({
      port: Number(port),
      hostname: "127.0.0.1",
      websocket: service.gateway.websocket,
      fetch: service.gateway.fetch,
    });
    expect((await asked).isOk()).toBe(true);
    other.close();
    await next.stop(true);
  });

  test("that its client closes ends all that is under way", async () => {
    const other = clientOf(service.url);
    await other.desk.ask("total");
    const never = other.desk.ask("never");
    const stream = other.desk.stream("endless");
    await stream.next();
    other.close();
    expect((await never)._unsafeUnwrapErr().kind).toBe("cancelled");
    expect((await other.desk.ask("total"))._unsafeUnwrapErr().kind).toBe("cancelled");
    expect(await Array.fromAsync(stream).catch((error) => error.kind)).toBe("cancelled");
  });
});
