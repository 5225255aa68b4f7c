import { describe, expect, test } from "bun:test";
import * as conventions from "@opentelemetry/semantic-conventions/incubating";
import { createSystem, defineProtocol, Type } from "envoi";
import { metricProducer, metrics } from "envoi/telemetry";
import { createManualClock } from "envoi/testing";
import { testMeters } from "./readings";

const Shop = defineProtocol("shop", {
  order: { payload: Type.Number(), reply: Type.Number() },
  refund: { payload: Type.Number() },
});
const silent = { warn() {}, error() {} };

function shopOf(options: Parameters<typeof createSystem>[0] = {}) {
  const system = createSystem({ metrics: { sample: 1 }, logger: silent, ...options });
  const shop = system.spawn("shop", Shop, () => ({
    order: (items) => {
      if (items < 0) throw new Error("less than none");
      return items;
    },
    refund() {},
  }));
  return { system, shop };
}

describe("metrics of the real SDK", () => {
  test("messages are told by operation and outcome, dead letters by reason, and nothing is told twice", async () => {
    const { system, shop } = shopOf();
    const { meter, collect } = testMeters();
    metrics(system, { meter, runtime: false });
    for (let items = 1; items <= 20; items++) await shop.ask("order", items);
    await shop.ask("order", -1);
    shop.tell("refund", 1);
    await shop.ask("order", 1);
    await system.stop(shop);
    shop.tell("refund", 2);
    for (const _ of [1, 2]) {
      const collected = await collect();
      expect(collected.values("messaging.client.consumed.messages")).toEqual({
        "shop order": 21,
        "shop order handler-failed": 1,
        "shop refund": 1,
      });
      expect(collected.values("envoi.dead_messages")).toEqual({ "shop refund": 1 });
      expect(collected.values("envoi.dead_letters")).toEqual({ stopped: 1 });
      expect(collected.values("envoi.actor.restarts")).toEqual({ "": 1 });
    }
  });

  test("actors and mailboxes are told by protocol: their sum and the fullest, and never by address", async () => {
    const { system } = shopOf();
    const { meter, collect } = testMeters();
    metrics(system, { meter, runtime: false });
    const never = new Promise<number>(() => {});
    for (const [name, waiting] of [
      ["a", 3],
      ["b", 5],
    ] as const) {
      const begun = Promise.withResolvers<void>();
      const order = (): Promise<number> => {
        begun.resolve();
        return never;
      };
      const busy = system.spawn(name, Shop, () => ({ order, refund() {} }));
      for (let index = 0; index <= waiting; index++) busy.tell("order", index);
      await begun.promise;
    }
    const collected = await collect();
    expect(collected.values("envoi.actors")).toEqual({ shop: 3 });
    expect(collected.values("envoi.mailbox.messages")).toEqual({ shop: 8 });
    expect(collected.values("envoi.mailbox.max_messages")).toEqual({ shop: 5 });
    expect(collected.values("envoi.running_messages")).toEqual({ shop: 2 });
    await system.shutdown({ timeout: 0 });
  });

  test("as many protocols as one likes make 201 rows at most", async () => {
    const { system } = shopOf();
    const { meter, collect } = testMeters();
    metrics(system, { meter, runtime: false });
    for (let index = 0; index < 500; index++) {
      system.spawn(`one-${index}`, defineProtocol(`made-${index}`, { go: {} }), () => ({ go() {} }));
    }
    const actors = (await collect()).values("envoi.actors");
    expect(Object.keys(actors).length).toBe(201);
    expect(actors["_OTHER"]).toBe(301);
  });

  test("a protocol whose actors have stopped has none", async () => {
    const { system, shop } = shopOf();
    const { meter, collect } = testMeters();
    metrics(system, { meter, runtime: false });
    expect((await collect()).values("envoi.actors")).toEqual({ shop: 1 });
    await system.stop(shop);
    expect((await collect()).values("envoi.actors")).toEqual({ shop: 0 });
  });

  test("the messages of several protocols of one name are counted together, and those of too many as others", async () => {
    const system = createSystem({ metrics: { sample: 1 } });
    const { meter, collect } = testMeters(metricProducer(system) as never);
    metrics(system, { meter, runtime: false });
    for (let index = 0; index < 300; index++) {
      const Made = defineProtocol(`made-${index % 250}`, { go: { reply: Type.Number() } });
      await system.spawn(`one-${index}`, Made, () => ({ go: () => index })).ask("go");
    }
    const collected = await collect();
    const counts = collected.values("messaging.client.consumed.messages");
    expect([counts["made-0 go"], counts["made-199 go"], counts["_OTHER "]]).toEqual([2, 1, 50]);
    const times = collected.histograms("messaging.process.duration");
    expect([times["made-0 go"]?.count, times["_OTHER "]?.count]).toEqual([2, 50]);
    expect(times["made-0 go"]?.buckets.counts.reduce((sum, count) => sum + count)).toBe(2);
    await system.shutdown();
  });

  test("5,000 actors are counted in slices, between which the event loop goes on", async () => {
    const { system } = shopOf();
    const { meter, collect } = testMeters();
    metrics(system, { meter, runtime: false });
    for (let index = 0; index < 5_000; index++) system.spawn(`${index}`, Shop, () => ({ order: () => 1, refund() {} }));
    let turns = 0;
    let isCollecting = true;
    const count = (): void => {
      turns++;
      if (isCollecting) setImmediate(count);
    };
    setImmediate(count);
    const collected = await collect();
    isCollecting = false;
    expect(collected.values("envoi.actors")).toEqual({ shop: 5_001 });
    expect(turns).toBeGreaterThanOrEqual(3);
    await system.shutdown();
  });

  test("the process and the event loop are told by the names of the conventions", async () => {
    const clock = createManualClock();
    const { system } = shopOf({ clock });
    const { meter, collect } = testMeters();
    metrics(system, { meter, resolution: 20 });
    await clock.advance(1_000);
    const collected = await collect();
    expect(collected.names).toEqual(
      [
        ...["mean", "max", "p50", "p90", "p99"].map((name) => `nodejs.eventloop.delay.${name}`),
        ...["envoi.actor.restarts", "envoi.actors", "envoi.heap.usage", "envoi.mailbox.max_messages"],
        ...["envoi.mailbox.messages", "envoi.running_messages", "process.cpu.time", "process.memory.usage"],
      ].sort(),
    );
    const known = new Set<unknown>(Object.values(conventions));
    for (const name of collected.names) if (!name.startsWith("envoi.")) expect(known).toContain(name);
    expect(Object.keys(collected.values("process.cpu.time"))).toEqual(["user", "system"]);
    expect(collected.values("nodejs.eventloop.delay.max")).toEqual({ "": 0 });
    expect(collected.values("process.memory.usage")[""]).toBeGreaterThan(1_000_000);
  });

  test("a block of the event loop is told once, in seconds", async () => {
    const clock = createManualClock();
    const { system } = shopOf({ clock });
    let late = 0;
    const blocked = { ...clock, setTimer: clock.setTimer, monotonicTime: () => clock.monotonicTime() + late };
    const { meter, collect } = testMeters();
    metrics(Object.assign(Object.create(system) as typeof system, { clock: blocked }), { meter, resolution: 20 });
    await clock.advance(30);
    late = 250;
    await clock.advance(20);
    expect((await collect()).values("nodejs.eventloop.delay.max")).toEqual({ "": 0.25 });
    await clock.advance(100);
    expect((await collect()).values("nodejs.eventloop.delay.max")).toEqual({ "": 0 });
  });

  test("stopped, it tells nothing, and leaves no timer and no subscription", async () => {
    const clock = createManualClock();
    const { system } = shopOf({ clock });
    const { meter, collect } = testMeters();
    const stop = metrics(system, { meter });
    expect(clock.timers).toBe(1);
    stop();
    expect(clock.timers).toBe(0);
    expect((await collect()).values("envoi.actors")).toEqual({});
  });

  test("the attributes of the options stand at each value, so that two systems of a process are told apart", async () => {
    const { meter, collect } = testMeters();
    for (const name of ["one", "two"]) {
      metrics(shopOf().system, { meter, runtime: false, attributes: { "envoi.system": name } });
    }
    const points = (await collect()).get("envoi.actors")?.dataPoints ?? [];
    expect(points.map(({ attributes }) => attributes["envoi.system"])).toEqual(["one", "two"]);
  });

  test("a system that counts nothing is refused with what to write; without messages it is told of", async () => {
    const system = createSystem();
    const { meter, collect } = testMeters();
    expect(() => metrics(system, { meter })).toThrow(
      "make it with createSystem({ metrics: true }), or write metrics(system, { meter, messages: false })",
    );
    metrics(system, { meter, messages: false });
    expect((await collect()).names).not.toContain("messaging.client.consumed.messages");
    expect(() => metricProducer(system)).toThrow("createSystem({ metrics: true })");
  });

  test.each([
    ["no meter", {}, "The meter of metrics is one of OpenTelemetry"],
    ["an object", { meter: {} }, "The meter of metrics is one of OpenTelemetry"],
    [
      "a resolution of 0",
      { meter: testMeters().meter, resolution: 0 },
      "The resolution of metrics is a number of milliseconds from 1",
    ],
    ["a misspelt option", { meter: testMeters().meter, mesages: true }, 'There is no option "mesages" for metrics'],
    [
      "an attribute that is an object",
      { meter: testMeters().meter, attributes: { a: {} } },
      "The attributes of metrics is an object of texts",
    ],
  ])("%s is refused", (_, options, sentence) => {
    // A mistake that the compiler would tell.
    expect(() => metrics(shopOf().system, options as Parameters<typeof metrics>[1])).toThrow(sentence);
  });
});

describe("histograms by a producer of the SDK", () => {
  test("times go out as histograms in seconds, in the buckets that the system keeps", async () => {
    const { system, shop } = shopOf();
    const { collect } = testMeters(metricProducer(system, { attributes: { "envoi.system": "shop" } }));
    for (let items = 1; items <= 50; items++) await shop.ask("order", items);
    const before = system.metrics().operations.find(({ operation }) => operation === "order")?.handlerTime;
    const collected = await collect();
    const { buckets, count, sum, max } = collected.histograms("messaging.process.duration")["shop order"] ?? {};
    expect(count).toBe(50);
    expect(buckets?.boundaries.length).toBe(27);
    expect(buckets?.boundaries[0]).toBe(0.000001);
    expect(buckets?.counts).toEqual([...(before?.buckets ?? [])]);
    expect(sum).toBe((before?.sum ?? 0) / 1000);
    expect(max).toBe((before?.max ?? 0) / 1000);
    expect(collected.histograms("envoi.queue.duration")["shop order"]?.count).toBe(50);
    const metric = collected.get("messaging.process.duration");
    expect(metric?.descriptor.unit).toBe("s");
    expect(metric?.dataPoints[0]?.attributes).toEqual({
      "envoi.system": "shop",
      "messaging.system": "envoi",
      "messaging.operation.name": "process",
      "messaging.operation.type": "process",
      "messaging.destination.template": "shop",
      "messaging.envoi.operation": "order",
    });
  });
});
