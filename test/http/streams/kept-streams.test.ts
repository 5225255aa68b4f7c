import { expect, test } from "bun:test";
import { createGateway, type GatewayOptions, type ResumeOptions } from "../../../src/http/index";
import { createTestSystem } from "../../../src/testing/index";
import { eventsOf, post, takeAndLeave } from "./event-reader";
import { settlingBy, spawnFeed } from "./feeds";

const SERVICE = "http://service";

function keeping(resume: ResumeOptions, options: Pick<GatewayOptions, "limits" | "authorize"> = {}) {
  const { system, clock } = createTestSystem();
  const feed = spawnFeed(system);
  const gateway = createGateway(system, {
    ...options,
    expose: { feed: { ref: feed.ref, operations: { pushed: { resume }, ticks: { resume } } } },
  });
  const open = (operation: string, payload: unknown): Promise<Response> =>
    gateway.fetch(post(`${SERVICE}/actors/feed/${operation}`, payload));
  const get = (path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Response> =>
    gateway.fetch(new Request(`${SERVICE}${path}`, { headers, method }));
  const settled = settlingBy(clock);
  return { clock, open, get, settled, ...feed };
}

const pathOf = (response: Response): string => response.headers.get("content-location") ?? "";

test("P18: a log that was stopped is not held until it would have expired", async () => {
  const { clock, open, get, pushed, settled } = keeping({ for: 3_600_000 });
  pushed("log").push("a");
  const response = await settled(open("pushed", "log"));
  await settled(get(pathOf(response), {}, "DELETE"));
  expect((await settled(Array.fromAsync(eventsOf(response)))).at(-1)?.event).toBe("error");
  await clock.advance(60_000); // The timer that keeps quiet streams open has found none.
  expect(clock.timers).toBe(0);
});

test("P1: a stream that was begun is answered, however many others are begun at that moment", async () => {
  // The second request comes any number of microtasks after the first one.
  for (let gap = 0; gap < 100; gap++) {
    const { open, settled } = keeping({}, { limits: { streams: 1 } });
    const first = open("ticks", 2);
    for (let tick = 0; tick < gap; tick++) await null;
    const second = open("ticks", 2);
    expect((await settled(first)).status).toBe(200);
    const { status } = await settled(second);
    expect([200, 429]).toContain(status);
  }
});

test("a stream is kept as long as it says, also after a reader that took nothing for long", async () => {
  const { clock, open, get, pushed, settled } = keeping({ for: 600_000, items: 4 });
  const stream = pushed("log");
  stream.push(...Array.from({ length: 100 }, (_, index) => index + 1));
  stream.end();
  const response = await settled(open("pushed", "log"));
  await clock.advance(290_000);
  await response.body?.cancel();
  await clock.advance(590_000);
  const back = await settled(get(pathOf(response), { "last-event-id": "0" }));
  const events = await settled(Array.fromAsync(eventsOf(back)));
  expect([events.length, events.at(-1)?.event]).toEqual([101, "end"]);
});

test("a stream that expires while its caller is authorized is gone, and not at its end", async () => {
  let isHeld = false;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const { clock, open, get, pushed, settled } = keeping({ for: 5_000 }, { authorize: () => (isHeld ? promise : true) });
  pushed("log").push("a");
  const response = await settled(open("pushed", "log"));
  const [first] = await settled(takeAndLeave(response, 1));
  await clock.advance(4_000);
  isHeld = true;
  const answers = ["GET", "DELETE"].map((method) =>
    get(pathOf(response), { "last-event-id": first?.id ?? "" }, method),
  );
  await clock.advance(2_000);
  resolve(true);
  const statuses = (await settled(Promise.all(answers))).map(({ status }) => status);
  expect(statuses).toEqual([410, 410]); // 204 would say that all of it has been read.
});

test("a stream that has ended can be read again from its beginning, whatever its readers have", async () => {
  const { open, get, settled } = keeping({ items: 10 });
  const response = await settled(open("ticks", 8));
  await settled(response.text());
  for (const after of [6, 3, 0]) {
    const again = await settled(get(pathOf(response), { "last-event-id": String(after) }));
    expect((await settled(Array.fromAsync(eventsOf(again)))).length).toBe(9 - after);
  }
});
