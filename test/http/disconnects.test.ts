import { expect, test } from "bun:test";
import { Disconnects } from "../../src/http/disconnects";
import { createManualClock } from "../../src/testing/index";

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
