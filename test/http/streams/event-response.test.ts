import { expect, test } from "bun:test";
import type { EventLog, LoggedEvent, PartMaker } from "../../../src/http/contract";
import { createGateway } from "../../../src/http/index";
import { eventResponse } from "../../../src/http/streams/event-response";
import { createTestSystem } from "../../../src/testing/index";
import { eventsOf, take } from "./event-reader";

/** A log whose events can be read before it counts them. */
class EarlyLog implements EventLog {
  readonly isEnded = false;
  last = 0;
  reads = 0;
  readonly #events: LoggedEvent[] = [];
  #wake: () => void = () => {};

  add(count: number, last: number): void {
    for (let n = 0; n < count; n++) this.#events.push({ id: this.#events.length + 1, data: "1" });
    this.last = last;
    this.#wake();
  }

  read(after: number, most: number): readonly LoggedEvent[] {
    if (++this.reads > 100) throw new Error("The reader reads again and again.");
    return this.#events.slice(after, after + most);
  }

  changed(after: number): Promise<void> {
    if (this.last > after) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

test("P5: a reader that is ahead of what its log counts waits, and does not hold the event loop", async () => {
  const { system } = createTestSystem();
  const log = new EarlyLog();
  const part: PartMaker = (site) => ({
    routes: [{ method: "GET", path: "/log", handle: (visit) => eventResponse(site, visit, log, { after: 0 }) }],
  });
  const gateway = createGateway(system, { expose: {}, parts: [part] });
  const response = await gateway.fetch(new Request("http://service/log"));
  const events = eventsOf(response);
  log.add(2, 1);
  const early = await take(events, 2);
  log.add(1, 3);
  expect([...early, ...(await take(events, 1))].map(({ id }) => id)).toEqual(["1", "2", "3"]);
  await events.return();
});

test("P18: a log that cannot be read keeps neither its reader nor the place of its reader", async () => {
  const { system } = createTestSystem();
  const log = new EarlyLog();
  log.add(1, 1);
  let followers = 0;
  const follow = (at: number) => {
    followers++;
    return { at, leave: () => void followers-- };
  };
  let reads = 0;
  log.read = () => {
    if (++reads % 2 === 0) throw new Error("damaged");
    return [];
  };
  const statuses: unknown[] = [];
  const part: PartMaker = (site) => ({
    routes: [
      {
        method: "GET",
        path: "/log",
        handle(visit) {
          try {
            return eventResponse(site, visit, log, { after: 0, follow });
          } catch (thrown) {
            return new Response(String(thrown), { status: 503 });
          }
        },
      },
    ],
  });
  const gateway = createGateway(system, { expose: {}, parts: [part], limits: { streams: 1 } });
  for (let n = 0; n < 3; n++) statuses.push((await gateway.fetch(new Request("http://service/log"))).status);
  expect([statuses, followers]).toEqual([[503, 503, 503], 0]);
});
