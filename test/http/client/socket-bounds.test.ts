import { afterAll, describe, expect, test } from "bun:test";
import { type ClientOptions, createClient } from "../../../src/http/client/index";
import { type GatewayOptions, serve } from "../../../src/http/index";
import { createSystem } from "../../../src/index";
import { createManualClock } from "../../../src/testing/index";
import { Counter, createCounter } from "../counter";
import { cuttingProxy } from "./cutting-proxy";

function start(options: Pick<GatewayOptions, "limits" | "socket"> = {}) {
  const system = createSystem({ logger: { error() {}, warn() {} } });
  const counter = system.spawn("counter", Counter, createCounter, { concurrency: 2_000 });
  return serve(system, {
    port: 0,
    hostname: "127.0.0.1",
    signals: [],
    expose: { counter: { ref: counter, operations: ["echo", "never", "total"] } },
    ...options,
  });
}
const service = start();
const clientOf = (url: URL | string, more: Partial<ClientOptions> = {}) =>
  createClient<typeof service>({ url, socket: true, retry: { first: 1, longest: 2, attempts: 3 }, ...more });
const client = clientOf(service.url);
afterAll(async () => {
  client.close();
  await service.stop({ streams: 0, timeout: 1 });
});

describe("a client with a socket", () => {
  test("cancels more at once than one text takes, and loses nothing else", async () => {
    const busy = start({ socket: { messages: 3_000 } });
    const other = clientOf(busy.url);
    const abort = new AbortController();
    const running = other.counter.ask("never", undefined, { timeout: 60_000 });
    const never = { signal: abort.signal, timeout: 60_000 };
    const asked = Array.from({ length: 1_500 }, () => other.counter.ask("never", undefined, never));
    await other.counter.ask("total");
    abort.abort();
    for (const reply of await Promise.all(asked)) expect(reply._unsafeUnwrapErr().kind).toBe("cancelled");
    await other.counter.ask("total");
    expect(await Promise.race([running, "still open"])).toBe("still open");
    other.close();
    await busy.stop({ streams: 0, timeout: 1 });
  });

  test("is not held up by messages that the gateway has taken, and has not answered", async () => {
    const small = start({ limits: { body: 5_000 } });
    const other = clientOf(small.url);
    const abort = new AbortController();
    const never = { signal: abort.signal, timeout: 60_000 };
    const asked = Array.from({ length: 100 }, () => other.counter.ask("never", undefined, never));
    expect((await other.counter.ask("total")).isOk()).toBe(true);
    abort.abort();
    await Promise.all(asked);
    other.close();
    await small.stop({ streams: 0, timeout: 1 });
  });

  test("does not send a key that no gateway takes", async () => {
    const running = client.counter.ask("never", undefined, { timeout: 60_000 });
    const payload: unknown = JSON.parse('{"a":[{"__proto__":1}]}');
    expect((await client.counter.ask("echo", payload))._unsafeUnwrapErr()).toMatchObject({
      kind: "bad-request",
      status: null,
      retryable: false,
    });
    const harmless = ['{"__proto__":1}', "__proto__", { 'a,"__proto__': 1 }];
    expect((await client.counter.ask("echo", harmless))._unsafeUnwrap()).toEqual(harmless);
    expect(await Promise.race([running, "still open"])).toBe("still open");
  });

  test("sends a short text that fits a small bound", async () => {
    const small = start({ limits: { body: 400 } });
    const other = clientOf(small.url);
    const text = "x".repeat(200);
    expect((await other.counter.ask("echo", text))._unsafeUnwrap()).toBe(text);
    expect((await other.counter.ask("echo", text + text))._unsafeUnwrapErr().kind).toBe("payload-too-large");
    other.close();
    await small.stop({ streams: 0, timeout: 1 });
  });
});

describe("a socket whose network is gone without a word", () => {
  test("is lost once nothing has come for the time of idle; what comes later takes a new one", async () => {
    const proxy = await cuttingProxy(service.url, () => Number.POSITIVE_INFINITY);
    const clock = createManualClock();
    const other = clientOf(proxy.url, { clock, idle: 30_000 });
    const never = other.counter.ask("never", undefined, { timeout: 600_000 });
    await other.counter.ask("total");
    for (let round = 0; round < 3; round++) {
      const before = proxy.longest;
      await clock.advance(20_000);
      while (proxy.longest === before) await new Promise((resolve) => setImmediate(resolve)); // The pong.
      await other.counter.ask("total");
    }
    expect(await Promise.race([never, "still open"])).toBe("still open");
    proxy.hold();
    await clock.advance(30_000);
    const error = (await never)._unsafeUnwrapErr();
    expect(error.kind).toBe("unknown");
    expect(error.message).toEndWith("nothing has come for 30000 ms.");
    const asked = other.counter.ask("total");
    await clock.advance(2);
    expect((await asked).isOk()).toBe(true);
    expect(proxy.connections).toBe(2);
    other.close();
    expect(clock.timers).toBe(0);
    proxy.close();
  });
});
