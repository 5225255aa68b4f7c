import { expect, test } from "bun:test";
import { Disconnects } from "../../src/http/disconnects";
import { createGateway } from "../../src/http/index";
import { serverIn } from "../../src/http/server";
import { createManualClock } from "../../src/testing/index";
import { testSystems } from "../actor/test-system";
import { Counter, createCounter, post } from "./counter";

const { createTestSystem } = testSystems();

function createWatching() {
  const clock = createManualClock();
  const disconnects = new Disconnects(clock);
  const client = new AbortController();
  return { clock, disconnects, client, request: new Request("http://service/", { signal: client.signal }) };
}

test("P7: a client that goes away is noticed within 50 ms", async () => {
  const { clock, disconnects, client, request } = createWatching();
  const watched = disconnects.watch(request);
  client.abort("gone");
  await clock.advance(50);
  expect([watched.signal.aborted, watched.signal.reason]).toEqual([true, "gone"]);
});

test("P7: a client that goes away later is noticed at once", async () => {
  const { clock, disconnects, client, request } = createWatching();
  const watched = disconnects.watch(request);
  await clock.advance(1_000);
  expect(watched.signal.aborted).toBe(false);
  client.abort();
  expect(watched.signal.aborted).toBe(true);
});

test("P6: a request that was answered is not looked at, and leaves no timer", async () => {
  const { clock, disconnects, request } = createWatching();
  let isLookedAt = false;
  const spied = new Proxy(request, {
    get(target, name) {
      isLookedAt ||= name === "signal";
      return Reflect.get(target, name, target);
    },
  });
  const early = disconnects.watch(spied);
  early.end();
  const late = disconnects.watch(spied);
  await clock.advance(10); // The second one is now among those that the timer will look at.
  late.end();
  await clock.advance(100);
  expect([isLookedAt, clock.timers]).toEqual([false, 0]);
});

test("requests that begin while others are watched have their own time", async () => {
  const { clock, disconnects } = createWatching();
  const grown: string[] = [];
  const add = (name: string): void =>
    disconnects.add({ before: null, after: null, grown: () => void grown.push(name) });
  add("first");
  await clock.advance(20);
  add("second");
  await clock.advance(10);
  expect(grown).toEqual(["first"]);
  await clock.advance(25);
  expect(grown).toEqual(["first", "second"]);
  expect(clock.timers).toBe(0);
});

test.each([
  ["has no timeout", {}],
  [
    "takes no timeout for the request",
    {
      timeout() {
        throw new Error("not a request of this server");
      },
    },
  ],
])("P5: a server that %s stops nothing: other clients are watched on", async (_, server) => {
  const { clock, disconnects, client, request } = createWatching();
  disconnects.watch(request, serverIn({ requestIP: () => null, ...server }), 1_000);
  const other = disconnects.watch(request);
  client.abort("gone");
  await clock.advance(50);
  expect(other.signal.aborted).toBe(true);
  const later = disconnects.watch(request);
  await clock.advance(50);
  expect(later.signal.aborted).toBe(true);
});

test.each([
  ["by its path", "/actors/counter/reset", null],
  ["in the wire form", "/messages", { id: "1", pattern: "tell", to: "@(counter)", type: "reset", timestamp: 1 }],
])(
  "P7: a client that goes away while its message waits for room (%s) leaves nothing in the mailbox",
  async (_, path, body) => {
    const { system, settle, advance } = createTestSystem();
    const ref = system.spawn("counter", Counter, createCounter, { capacity: 1, overflow: "wait" });
    const gateway = createGateway(system, { expose: { counter: { ref, operations: ["never", "reset"] } } });
    const asked = post(gateway, "/actors/counter/never", null);
    await settle();
    const prefer = { prefer: "respond-async" };
    expect((await post(gateway, "/actors/counter/reset", null, prefer)).status).toBe(202);
    const client = new AbortController();
    const headers = { "content-type": "application/json", ...prefer };
    const request = new Request(`http://service${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
      signal: client.signal,
    });
    const answer = gateway.fetch(request);
    await settle();
    expect(system.router.audit().queued).toBe(2);
    client.abort();
    await advance(50);
    expect(system.router.audit().queued).toBe(1);
    expect((await answer).status).toBe(503);
    await advance(30_000); // Then the first ask has ended, too.
    expect((await asked).status).toBe(504);
  },
);
