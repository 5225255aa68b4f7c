import { describe, expect, spyOn, test } from "bun:test";
import { type ClientOptions, createClient } from "../../../src/http/client/index";
import { createManualClock } from "../../../src/testing/index";
import { errorOf } from "./stream-error";

const clientOf = (more: Partial<ClientOptions>) => createClient({ url: "http://service.example", ...more });

describe("a service that says when to come back", () => {
  const at = (seconds: number) => new Date(seconds * 1_000).toUTCString();
  const said: readonly (readonly [retryAfter: string, date: string | null, milliseconds: number | null])[] = [
    ["7", null, 7_000],
    [at(1_090), at(1_000), 90_000],
    [at(900), at(1_000), null],
    [at(1_090), null, null], // Its clock is not known.
    ["soon", at(1_000), null],
    ["-5", at(1_000_000_000), null],
    ["99999999999999", at(1_000), null],
  ];
  test.each(said)("by %p, with the date %p, is understood as %p ms", async (retryAfter, date, milliseconds) => {
    const headers = { "retry-after": retryAfter, ...(date !== null && { date }) };
    const client = clientOf({ fetch: async () => new Response("", { status: 503, headers }) });
    expect((await client.actor("counter").ask("total"))._unsafeUnwrapErr().retryAfter).toBe(milliseconds);
  });

  test("at once, by a stream, is not asked without a pause", async () => {
    const events = "retry: 0\nid: s:1\ndata: 1\n\n";
    const head = { "content-type": "text/event-stream", "content-location": "/streams/s" };
    const clock = createManualClock();
    let requests = 0;
    const client = clientOf({
      clock,
      retry: { first: 1_000 },
      async fetch() {
        requests++;
        return new Response(events, { headers: head });
      },
    });
    const stream = client.actor("counter").stream("ticks", 2);
    expect((await stream.next()).value).toBe(1);
    const second = stream.next();
    await new Promise((resolve) => setImmediate(resolve)); // The connection has ended, and a pause begun.
    await clock.advance(499); // Half of it, at least.
    expect(requests).toBe(1);
    await stream.return?.();
    expect(await second).toEqual({ done: true, value: undefined });
  });
});

describe("a token that never comes", () => {
  test("holds up no ask and no stream beyond its time, or its signal", async () => {
    const clock = createManualClock();
    const requests: string[] = [];
    const client = clientOf({
      clock,
      idle: 500,
      token: () => new Promise<string>(() => {}),
      async fetch(at) {
        requests.push(at);
        return Response.json(7);
      },
    });
    const late = client.actor("counter").ask("add", 2, { timeout: 500 });
    const stream = errorOf(client.actor("counter").stream("ticks", 2));
    await clock.advance(500);
    expect((await late)._unsafeUnwrapErr()).toMatchObject({ kind: "timeout", status: null });
    expect(await stream).toMatchObject({ kind: "timeout" });
    const abort = new AbortController();
    const asked = client.actor("counter").ask("add", 2, { signal: abort.signal });
    const left = errorOf(client.actor("counter").stream("ticks", 2, { signal: abort.signal }));
    abort.abort();
    expect((await asked)._unsafeUnwrapErr()).toMatchObject({ kind: "cancelled" });
    expect(await left).toMatchObject({ kind: "cancelled" });
    expect({ requests, timers: clock.timers }).toEqual({ requests: [], timers: 0 });
  });
});

describe("a stream", () => {
  test("that is never read keeps nothing of its signal", async () => {
    for (const socket of [false, true]) {
      const { signal } = new AbortController();
      const listen = spyOn(signal, "addEventListener");
      const client = clientOf({ socket });
      const stream = client.actor("counter").stream("ticks", 9, { signal });
      const events = client.sessions.at("s").events({ signal });
      expect(listen).toHaveBeenCalledTimes(0);
      for (const left of [stream, events]) expect(await left.return?.()).toEqual({ done: true, value: undefined });
      expect(listen).toHaveBeenCalledTimes(0);
      client.close();
    }
  });

  test("P6: whose signal is aborted while nobody reads leaves no timer, and its gateway is told", async () => {
    const clock = createManualClock();
    const requests: string[] = [];
    const left = Promise.withResolvers<void>();
    const client = clientOf({
      clock,
      fetch: async (at, { method }) => {
        requests.push(`${method} ${new URL(at).pathname}`);
        if (method === "DELETE") left.resolve();
        const body = new ReadableStream({
          start: (sink) => sink.enqueue(new TextEncoder().encode("id: s:1\ndata: 1\n\n")),
        });
        const headers = { "content-type": "text/event-stream", "content-location": "/streams/s" };
        return new Response(body, { headers });
      },
    });
    const abort = new AbortController();
    const stream = client.actor("counter").stream("ticks", 9, { signal: abort.signal });
    expect((await stream.next()).value).toBe(1);
    abort.abort();
    expect(clock.timers).toBe(0);
    await left.promise;
    expect(requests).toEqual(["POST /actors/counter/ticks", "DELETE /streams/s"]);
    expect(await errorOf(stream)).toMatchObject({ kind: "cancelled" });
  });
});
