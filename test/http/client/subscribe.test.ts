import { afterAll, expect, test } from "bun:test";
import { type ClientOptions, ClientStreamError, createClient } from "../../../src/http/client/index";
import { serve } from "../../../src/http/index";
import { createSystem, createTopic, defineProtocol, Type } from "../../../src/index";
import { createManualClock } from "../../../src/testing/index";
import { cuttingProxy } from "./cutting-proxy";

const Desk = defineProtocol("desk", { echo: { payload: Type.Number(), reply: Type.Number() } });

interface Change {
  readonly total: number;
  readonly at: Date;
}

function start() {
  const system = createSystem({ logger: { error() {}, warn() {} } });
  const changes = createTopic<Change>("changes");
  const ref = system.spawn("desk", Desk, () => ({ echo: (n) => n }));
  const service = serve(system, {
    port: 0,
    hostname: "127.0.0.1",
    signals: [],
    expose: { desk: { ref, operations: ["echo"] } },
    topics: { changes },
    socket: { messages: 1, subscriptions: 2 },
    limits: { body: 4_000 },
  });
  return { service, publish: (total: number) => changes.publish({ total, at: new Date(0) }), changes };
}
const { service, publish, changes } = start();
const clientOf = (url: URL | string, more: Partial<ClientOptions> = {}) =>
  createClient<typeof service>({ url, retry: { first: 1, longest: 2, attempts: 3 }, ...more });
afterAll(() => service.stop({ streams: 0, timeout: 1 }));

/** Begins to read: the promise of the first item, once the subscription has begun. */
async function begin<Item>(
  subscribe: (onGap: (missed: number | null) => void) => AsyncIterator<Item, undefined>,
): Promise<{
  readonly stream: AsyncIterator<Item, undefined>;
  readonly first: Promise<IteratorResult<Item, undefined>>;
  readonly gaps: (number | null)[];
  gap(): Promise<void>;
}> {
  const gaps: (number | null)[] = [];
  let next = Promise.withResolvers<void>();
  const stream = subscribe((missed) => {
    gaps.push(missed);
    next.resolve();
    next = Promise.withResolvers<void>();
  });
  const begun = next.promise;
  const first = stream.next();
  await begun;
  return { stream, first, gaps, gap: () => next.promise };
}

const untilLeft = async () => {
  while (changes.size > 0) await new Promise((resolve) => setImmediate(resolve));
};

test("a topic's items come over the socket, with their types after JSON, until the loop is left", async () => {
  for (const socket of [false, true]) {
    const client = clientOf(service.url, { socket });
    const { stream, first, gaps } = await begin((onGap) => client.subscribe("changes", { onGap }));
    publish(1);
    expect(await first).toEqual({ done: false, value: { total: 1, at: "1970-01-01T00:00:00.000Z" } });
    publish(2);
    publish(3);
    expect((await stream.next()).value?.total).toBe(2);
    expect((await stream.next()).value?.total).toBe(3);
    expect(gaps).toEqual([null]);
    await stream.return?.();
    expect(await stream.next()).toEqual({ done: true, value: undefined });
    await untilLeft();
    client.close();
  }
});

test("subscriptions take nothing from the messages that a socket may have under way", async () => {
  const client = clientOf(service.url, { socket: true });
  const first = await begin((onGap) => client.subscribe("changes", { onGap }));
  const second = await begin((onGap) => client.subscribe("changes", { onGap }));
  const third = Array.fromAsync(client.subscribe("changes")).catch((error) => error);
  expect((await client.desk.ask("echo", 7, { timeout: 5_000 }))._unsafeUnwrap()).toBe(7);
  expect(await third).toBeInstanceOf(ClientStreamError);
  expect(await third).toMatchObject({ kind: "too-many-requests", error: { status: 429 } });
  publish(4);
  expect((await first.first).value?.total).toBe(4);
  expect((await second.first).value?.total).toBe(4);
  client.close();
  expect(await second.stream.next().catch((error) => error.kind)).toBe("cancelled");
});

test("a reader that is slow is told how many items were left out, where they would have been", async () => {
  const client = clientOf(service.url);
  const { stream, first, gaps } = await begin((onGap) => client.subscribe("changes", { onGap, buffer: 2 }));
  publish(1);
  await first;
  for (let total = 2; total <= 6; total++) publish(total);
  const read = [];
  // Another subscription shows when all have come.
  const other = await begin((onGap) => client.subscribe("changes", { onGap }));
  publish(7);
  await other.first;
  for (let n = 0; n < 2; n++) read.push((await stream.next()).value?.total);
  expect({ read, gaps }).toEqual({ read: [2, 3], gaps: [null] });
  const next = stream.next();
  publish(8);
  expect((await next).value?.total).toBe(8);
  expect(gaps).toEqual([null, 4]);
  client.close();
});

test("a subscription begins again where the socket was lost, and tells that items may be missing", async () => {
  const proxy = await cuttingProxy(service.url, (connection) => (connection === 0 ? 2_000 : Number.POSITIVE_INFINITY));
  const client = clientOf(proxy.url);
  const { stream, first, gaps, gap } = await begin((onGap) => client.subscribe("changes", { onGap }));
  publish(1);
  expect((await first).value?.total).toBe(1);
  const begunAgain = gap();
  const read: number[] = [];
  const reading = (async () => {
    for (;;) {
      const { value } = await stream.next();
      read.push(value?.total ?? -1);
      if (value?.total === 1_000) return;
    }
  })();
  for (let total = 2; proxy.connections === 1; total++) {
    publish(total);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await begunAgain;
  publish(1_000);
  await reading;
  expect(gaps).toEqual([null, null]);
  expect(read).toEqual([...new Set(read)].toSorted((a, b) => a - b)); // None twice, and in order.
  client.close();
  proxy.close();
});

test("a subscription moves to the service that takes the place of one that ends", async () => {
  const one = start();
  const port = Number(one.service.url.port);
  const client = clientOf(one.service.url, { retry: { first: 5, longest: 20, attempts: 1_000 } });
  const { first, gaps, gap } = await begin((onGap) => client.subscribe("changes", { onGap }));
  const begunAgain = gap();
  await one.service.stop({ streams: 50, timeout: 50 });
  const { fetch, websocket } = service.gateway;
  const next = Bun.serve({ port, hostname: "127.0.0.1", websocket, fetch });
  await begunAgain;
  publish(5);
  expect((await first).value?.total).toBe(5);
  expect(gaps).toEqual([null, null]);
  client.close();
  await next.stop(true);
});

test("an unknown topic, a signal, and a service that is not there end the loop with an error", async () => {
  const client = clientOf(service.url);
  const kindOf = (stream: AsyncIterable<unknown>) =>
    Array.fromAsync(stream).then(
      () => "end",
      (error) => [error.kind, error.message],
    );
  // @ts-expect-error — no such topic
  expect(await kindOf(client.subscribe("prices"))).toEqual([
    "not-found",
    "There is no such topic: check the spelling.",
  ]);
  const abort = new AbortController();
  const { first } = await begin((onGap) => client.subscribe("changes", { onGap, signal: abort.signal }));
  abort.abort();
  expect(await first.catch((error) => error.kind)).toBe("cancelled");
  await untilLeft();
  const aborted = await kindOf(client.subscribe("changes", { signal: AbortSignal.abort() }));
  expect(aborted).toEqual(["cancelled", 'the topic "changes" was not sent: its signal had been aborted before.']);
  expect(() => client.subscribe("changes", { buffer: 0 })).toThrow(RangeError);
  client.close();
  const proxy = await cuttingProxy(service.url, () => 0);
  const [kind, message] = (await kindOf(clientOf(proxy.url).subscribe("changes"))) as string[];
  expect(kind).toBe("unreachable");
  expect(message).toContain("4 attempts in a row failed");
  proxy.close();
});

test("a gap that throws ends the loop and the subscription; nothing comes before its promise", async () => {
  const client = clientOf(service.url);
  const failing = client.subscribe("changes", { onGap: () => Promise.reject(new Error("no state")) });
  expect(await failing.next().catch((error) => error.message)).toBe("no state");
  await untilLeft();
  const state = Promise.withResolvers<void>();
  const order: string[] = [];
  const slow = client.subscribe("changes", {
    async onGap() {
      publish(9);
      await state.promise;
      order.push("state");
    },
  });
  const first = slow.next().then(({ value }) => order.push(String(value?.total)));
  state.resolve();
  await first;
  expect(order).toEqual(["state", "9"]);
  client.close();
});

test("a loop that is left before the code of the socket has come begins nothing", async () => {
  const client = clientOf(service.url, { socket: true });
  const stream = client.subscribe("changes");
  const first = stream.next();
  for (let tick = 0; tick < 2; tick++) await undefined; // It is being loaded now.
  await stream.return?.();
  expect(await first).toEqual({ done: true, value: undefined });
  expect((await client.desk.ask("echo", 1))._unsafeUnwrap()).toBe(1); // It would come behind the subscription.
  expect(changes.size).toBe(0);
  client.close();
});

test("P15: a socket that is lost is opened again by the client's clock", async () => {
  const clock = createManualClock();
  const proxy = await cuttingProxy(service.url, (connection) => (connection === 0 ? 0 : Number.POSITIVE_INFINITY));
  const client = clientOf(proxy.url, { clock, retry: { first: 1_000, longest: 1_000 } });
  let begun = 0;
  const stream = client.subscribe("changes", { onGap: () => void begun++ });
  const first = stream.next();
  while (proxy.connections === 0 || clock.timers === 0) await new Promise((resolve) => setImmediate(resolve));
  while (proxy.connections === 1) {
    await clock.advance(100);
    await new Promise((resolve) => setImmediate(resolve));
  }
  while (begun === 0) await new Promise((resolve) => setImmediate(resolve));
  publish(3);
  expect((await first).value?.total).toBe(3);
  client.close();
  expect(clock.timers).toBe(0);
  proxy.close();
});
