import { afterAll, describe, expect, test } from "bun:test";
import { type ClientOptions, ClientStreamError, createClient } from "../../../src/http/client/index";
import { serve } from "../../../src/http/index";
import { createSystem, defineProtocol, Type } from "../../../src/index";
import { createManualClock } from "../../../src/testing/index";
import { isLong } from "../../property/runs";
import { cuttingProxy } from "./cutting-proxy";

const Source = defineProtocol("source", {
  count: { payload: Type.Number(), stream: Type.Unknown() },
  fail: { payload: Type.Number(), stream: Type.Number() },
  endless: { stream: Type.Number() },
  begun: { reply: Type.Number() },
  left: { reply: Type.Number() },
});
const system = createSystem({ logger: { error() {}, warn() {} } });
let begun = 0;
let left = 0;
const source = system.spawn(
  "source",
  Source,
  () => ({
    async *count(most) {
      begun++;
      for (let n = 1; n <= most; n++) yield { n, text: "ä😀\n".repeat(n % 3) };
    },
    async *fail(most) {
      for (let n = 1; n <= most; n++) yield n;
      throw new Error("a secret");
    },
    async *endless() {
      begun++;
      try {
        for (let n = 1; ; n++) yield n;
      } finally {
        left++;
      }
    },
    begun: () => begun,
    left: () => left,
  }),
  { concurrency: 1_000 },
);
const operations = ["count", "fail", "endless", "begun", "left"] as const;
const service = serve(system, {
  port: 0,
  signals: [],
  hostname: "127.0.0.1",
  expose: {
    plain: { ref: source, operations },
    kept: {
      ref: source,
      operations: {
        begun: true,
        left: true,
        ...{ count: { resume: { for: 60_000 } }, fail: { resume: {} }, endless: { resume: { items: 50 } } },
      },
    },
  },
});
afterAll(() => service.stop({ streams: 0, timeout: 1 }));

const clientOf = (url: string | URL, more: Partial<ClientOptions> = {}) =>
  createClient<typeof service>({ url, retry: { first: 1, longest: 5, attempts: 5 }, ...more });
const client = clientOf(service.url);

const expected = (most: number): unknown[] =>
  Array.from({ length: most }, (_, index) => ({ n: index + 1, text: "ä😀\n".repeat((index + 1) % 3) }));

/** The items of a stream, and the error that ended it. */
async function read(
  stream: AsyncIterable<unknown>,
): Promise<{ readonly items: unknown[]; readonly error?: ClientStreamError }> {
  const items: unknown[] = [];
  try {
    for await (const item of stream) items.push(item);
    return { items };
  } catch (error) {
    if (!(error instanceof ClientStreamError)) throw error;
    return { items, error };
  }
}

describe("a stream by HTTP", () => {
  test("gives its items, and ends", async () => {
    for (const actor of [client.plain, client.kept]) {
      expect(await read(actor.stream("count", 5))).toEqual({ items: expected(5) });
      expect(await read(actor.stream("count", 0))).toEqual({ items: [] });
    }
  });

  test("that fails throws its error, after its items", async () => {
    for (const actor of [client.plain, client.kept]) {
      const { items, error } = await read(actor.stream("fail", 2));
      expect({ items, kind: error?.kind, status: error?.error.status }).toEqual({
        items: [1, 2],
        kind: "handler-failed",
        status: 500,
      });
      expect(error?.message).not.toContain("secret");
    }
  });

  test("that is refused throws the refusal", async () => {
    // @ts-expect-error — no number
    const { error } = await read(client.plain.stream("count", "many"));
    expect(error?.error).toMatchObject({ kind: "invalid-payload", status: 400, issues: [{ path: "" }] });
    // @ts-expect-error — no stream
    expect((await read(client.plain.stream("begun"))).error?.kind).toMatch(/invalid-response|not-acceptable/);
    // @ts-expect-error — not exposed
    expect((await read(client.plain.stream("nothing"))).error?.kind).toBe("not-found");
  });

  test("that is left ends at the service, also where it could be resumed", async () => {
    for (const actor of [client.plain, client.kept]) {
      const before = (await actor.ask("left"))._unsafeUnwrap();
      for await (const n of actor.stream("endless")) if (n === 30) break;
      const stream = actor.stream("endless");
      await stream.next();
      const pending = stream.next().then(() => stream.next());
      await stream.return?.();
      expect(await pending).toEqual({ done: true, value: undefined });
      const abort = new AbortController();
      const aborted = read(actor.stream("endless", undefined, { signal: abort.signal }));
      abort.abort(new Error("no more"));
      expect((await aborted).error).toMatchObject({ kind: "cancelled", cause: abort.signal.reason });
      for (let now = before; now < before + 2; ) now = (await actor.ask("left"))._unsafeUnwrap();
    }
  });

  test("begins with its first read", async () => {
    const before = (await client.plain.ask("begun"))._unsafeUnwrap();
    await client.plain.stream("count", 1).return?.();
    expect((await client.plain.ask("begun"))._unsafeUnwrap()).toBe(before);
  });
});

/** Bytes of a response until its first event is complete, and until its end. */
async function lengths(): Promise<{ readonly head: number; readonly whole: number }> {
  const proxy = await cuttingProxy(service.url, () => Number.POSITIVE_INFINITY);
  await read(clientOf(proxy.url).kept.stream("count", 1));
  const head = proxy.longest;
  await read(clientOf(proxy.url).kept.stream("count", 12));
  const whole = proxy.longest;
  proxy.close();
  return { head, whole };
}

describe("a proxy cuts connections", () => {
  test("the first one after N bytes, for each N up to the whole: each event is shown once, and the operation runs once", async () => {
    const { whole } = await lengths();
    expect(whole).toBeGreaterThan(500);
    const step = isLong ? 1 : 29;
    for (let offset = 0; offset <= whole; offset += step) {
      const proxy = await cuttingProxy(service.url, (connection) =>
        connection === 0 ? offset : Number.POSITIVE_INFINITY,
      );
      const before = begun;
      const { items, error } = await read(clientOf(proxy.url).kept.stream("count", 12));
      // Cut in its head, nobody knows whether it was begun: it is not begun again.
      const isKnown = error === undefined;
      if (isKnown) expect({ offset, items }).toEqual({ offset, items: expected(12) });
      else
        expect({ offset, items, kind: error.kind, isInHead: offset < 500 }).toEqual({
          offset,
          items: [],
          kind: "unknown",
          isInHead: true,
        });
      expect({ offset, begun: begun - before <= 1 }).toEqual({ offset, begun: true });
      proxy.close();
    }
  }, 60_000);

  test("the first one after N bytes of a stream that may be begun twice: each event is shown once", async () => {
    const { whole } = await lengths();
    for (let offset = 0; offset <= whole; offset += isLong ? 1 : 41) {
      const proxy = await cuttingProxy(service.url, (connection) =>
        connection === 0 ? offset : Number.POSITIVE_INFINITY,
      );
      const { items, error } = await read(clientOf(proxy.url).kept.stream("count", 12, { repeatable: true }));
      expect({ offset, items, error }).toEqual({ offset, items: expected(12), error: undefined });
      proxy.close();
    }
  }, 60_000);

  test("each of them after N bytes, for each N from the first event on: each event is shown once", async () => {
    const { head, whole } = await lengths();
    for (let bytes = head; bytes <= whole; bytes += isLong ? 1 : 61) {
      const proxy = await cuttingProxy(service.url, () => bytes);
      const { items, error } = await read(
        clientOf(proxy.url, { retry: { first: 1, longest: 1, attempts: 50 } }).kept.stream("count", 12),
      );
      expect({ bytes, items, error }).toEqual({ bytes, items: expected(12), error: undefined });
      proxy.close();
    }
  }, 60_000);

  test("each of them before an event: the client gives up, and says so", async () => {
    const { head } = await lengths();
    const proxy = await cuttingProxy(service.url, () => head - 160); // The event, the end, and their ids are longer.
    const { items, error } = await read(clientOf(proxy.url).kept.stream("count", 12, { repeatable: true }));
    expect({ items, kind: error?.kind, connections: proxy.connections }).toEqual({
      items: [],
      kind: "unknown",
      connections: 6,
    });
    expect(error?.message).toContain("6 attempts in a row brought nothing");
    proxy.close();
  });

  test("of a stream that cannot be resumed: the loop throws after what came", async () => {
    const { whole } = await lengths();
    const proxy = await cuttingProxy(service.url, () => whole);
    const { items, error } = await read(clientOf(proxy.url).plain.stream("count", 100));
    expect(items.length).toBeGreaterThan(0);
    expect(items).toEqual(expected(items.length));
    expect(error?.message).toContain("cannot be resumed");
    expect(proxy.connections).toBe(1);
    proxy.close();
  });
});

/** Serves texts as event streams, one for each request, and tells what was asked. */
function scripted(...answers: readonly (readonly [status: number, text: string, headers?: Record<string, string>])[]) {
  const asked: (string | null)[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch({ headers }) {
      const [status, text, more] = answers[asked.push(headers.get("last-event-id")) - 1] ?? [503, ""];
      return new Response(text, { status, headers: { "content-type": "text/event-stream", ...more } });
    },
  });
  return { url: server.url, asked, close: () => server.stop(true) };
}

describe("how a client comes back", () => {
  test("after the pause that the service asks for, and then ever later, with some of it left to chance", async () => {
    const first = "retry: 400\nid: s:1\ndata: 1\n\n";
    const { url, asked, close } = scripted(
      [200, first],
      [503, ""],
      [503, "", { "retry-after": "9" }],
      [200, "id: s:2\ndata: 2\n\nid: s:3\nevent: end\ndata: {}\n\n"],
    );
    const clock = createManualClock();
    const pauses: number[] = [];
    const recording: ClientOptions["clock"] = {
      setTimer(callback, delay) {
        if (delay !== 30_000) pauses.push(delay); // That is the watch for a connection that is dead.
        return clock.setTimer(callback, delay !== 30_000 ? 0 : delay);
      },
    };
    const moving = setInterval(() => void clock.advance(0));
    const other = clientOf(url, { retry: { longest: 10_000 }, clock: recording });
    expect(await read(other.plain.stream("endless"))).toEqual({ items: [1, 2] });
    clearInterval(moving);
    expect(asked).toEqual([null, "s:1", "s:1", "s:1"]);
    const [a = 0, b = 0, c = 0] = pauses;
    expect([a >= 200 && a <= 400, b >= 400 && b <= 800, c]).toEqual([true, true, 9_000]);
    expect(clock.timers).toBe(0);
    close();
  });

  test("but not to a stream that is gone, or not its own any more", async () => {
    for (const status of [401, 403, 404, 410]) {
      const { url, asked, close } = scripted([200, "id: s:1\ndata: 1\n\n"], [status, ""]);
      const { items, error } = await read(clientOf(url).plain.stream("endless"));
      expect({ items, status: error?.error.status, asked: asked.length }).toEqual({ items: [1], status, asked: 2 });
      close();
    }
  });

  test("a stream of which all was read ends with 204; a goodbye is no item", async () => {
    const { url, close } = scripted(
      [200, 'id: s:1\ndata: 1\n\nretry: 1\nevent: reconnect\ndata: {"after":1}\n\n'],
      [204, ""],
    );
    expect(await read(clientOf(url).plain.stream("endless"))).toEqual({ items: [1] });
    close();
  });

  test("an event that is no JSON, or too long, is refused", async () => {
    for (const text of ["data: {\n\n", "event: error\ndata: 7\n\n", `data: ${"x".repeat(17_000_000)}`]) {
      const { url, close } = scripted([200, text]);
      expect((await read(clientOf(url).plain.stream("endless"))).error?.kind).toBe("invalid-response");
      close();
    }
  });

  test("a connection without a byte for too long counts as lost; one that nobody reads from does not", async () => {
    const clock = createManualClock();
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch({ headers }) {
        const isFirst = headers.get("last-event-id") === null;
        const text = isFirst ? "id: s:1\ndata: 1\n\n" : "id: s:2\ndata: 2\n\nevent: end\ndata: {}\n\n";
        return new Response(
          new ReadableStream({
            start(controller) {
              controller.enqueue(new TextEncoder().encode(text));
              if (!isFirst) controller.close();
            },
          }),
          { headers: { "content-type": "text/event-stream" } },
        );
      },
    });
    const stream = clientOf(server.url, { clock, idle: 1_000 }).plain.stream("endless");
    expect(await stream.next()).toEqual({ done: false, value: 1 });
    await clock.advance(10_000);
    const second = stream.next();
    const moving = setInterval(() => void clock.advance(100));
    expect(await second).toEqual({ done: false, value: 2 });
    expect(await stream.next()).toEqual({ done: true, value: undefined });
    clearInterval(moving);
    expect(clock.timers).toBe(0);
    await server.stop(true);
  });
});
