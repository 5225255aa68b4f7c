import { describe, expect, test } from "bun:test";
import { defineProtocol, type PublishedEvent, type System, Type } from "../../src";
import { node } from "./durable/nodes";
import { event } from "./events";
import { startProxy } from "./faults/proxy";
import { hasNats, server } from "./rooms";

const Display = defineProtocol("display", {
  show: { payload: Type.Object({ symbol: Type.String(), price: Type.Number() }) },
  clear: {},
});
type Price = { symbol: string; price: number };

/** An actor that notes the prices that it is shown. */
function spawnDisplay(system: System, name = "display") {
  const shown: { readonly price: number; readonly from: unknown }[] = [];
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  const ref = system.spawn(name, Display, (ctx) => ({
    show: ({ price }) => {
      shown.push({ price, from: ctx.metadata?.["envoi.node"] });
      for (const { resolve } of waiting.filter(({ count }) => count <= shown.length)) resolve();
    },
    clear: () => undefined,
  }));
  const until = (count: number): Promise<void> =>
    shown.length >= count
      ? Promise.resolve()
      : new Promise((resolve) => {
          waiting.push({ count, resolve });
        });
  return { ref, shown, until };
}

const prices = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);
const bun = (price: number): Price => ({ symbol: "BUN", price });

describe.skipIf(!hasNats)("a topic of a cluster", () => {
  test("tells the subscribers of all nodes, those of its own included, in the order of publishing", async () => {
    const { url } = await server({ jetstream: false });
    await using one = await node("node-1", url);
    await using two = await node("node-2", url);
    const topics = [one, two].map(({ cluster }) => cluster.topic<Price>("prices"));
    const displays = [one, two].map(({ system }) => spawnDisplay(system));
    for (const [index, topic] of topics.entries()) {
      const { ref } = displays[index] as ReturnType<typeof spawnDisplay>; // One for each.
      topic.subscribe(ref, "show");
      await topic.settled();
    }
    for (const price of prices(300)) expect(topics[0]?.publish(bun(price)).isOk()).toBe(true);
    await Promise.all(displays.map((each) => each.until(300)));
    for (const { shown } of displays) expect(shown).toEqual(prices(300).map((price) => ({ price, from: "node-1" })));
  });

  test("a name that no subject or consumer could have is refused at once, for durable sends too; the connection goes on", async () => {
    const { url } = await server();
    await using one = await node("node-1", url);
    const { cluster } = one;
    const Long = defineProtocol("long", { show: { payload: Type.Number() } });
    expect(() => cluster.topic("x".repeat(5_000))).toThrow(RangeError);
    expect(() => cluster.durable("漢".repeat(100), Long)).toThrow(RangeError);
    const ref = one.system.spawn("long", Long, () => ({ show: () => undefined }));
    await expect(cluster.receiveDurable("漢".repeat(100), ref)).rejects.toThrow(RangeError);
    await expect(cluster.deadLetters("漢".repeat(100))).rejects.toThrow(RangeError);
    await cluster.topic("prices").settled();
  });

  test("splits what is larger than the server takes, and refuses one item that is", async () => {
    const { url } = await server({ jetstream: false, config: "max_payload: 4096" });
    await using one = await node("node-1", url);
    const topic = one.cluster.topic<Price>("prices");
    const display = spawnDisplay(one.system);
    topic.subscribe(display.ref, "show");
    for (const price of prices(20)) topic.publish({ symbol: "x".repeat(1_000), price });
    const refused = topic.publish({ symbol: "x".repeat(4_000), price: 1 });
    expect(refused._unsafeUnwrapErr()).toMatchObject({ kind: "payload-too-large", limit: 3_840 });
    const odd = topic.publish({ symbol: "BUN", price: 7n } as never);
    expect(odd._unsafeUnwrapErr()).toMatchObject({ kind: "invalid-payload", issues: [{ path: "/price" }] });
    await display.until(20);
    expect(display.shown.map(({ price }) => price)).toEqual([...prices(20)]);
  });

  test("ends a subscription by its function and with its actor, and has each one once", async () => {
    const { url } = await server({ jetstream: false });
    await using one = await node("node-1", url);
    const topic = one.cluster.topic<Price>("prices");
    expect(one.cluster.topic("prices")).toBe(topic as never);
    const [first, second, third] = ["a", "b", "c"].map((name) => spawnDisplay(one.system, name)) as [
      ReturnType<typeof spawnDisplay>,
      ReturnType<typeof spawnDisplay>,
      ReturnType<typeof spawnDisplay>,
    ]; // Three names.
    const unsubscribe = topic.subscribe(first.ref, "show");
    expect(topic.subscribe(first.ref, "show")).toBe(unsubscribe);
    topic.subscribe(second.ref, "show");
    topic.subscribe(third.ref, "show");
    expect(topic.size).toBe(3);
    unsubscribe();
    await one.system.stop(second.ref);
    expect(topic.size).toBe(1);
    topic.publish(bun(1));
    await third.until(1);
    expect([first.shown, second.shown]).toEqual([[], []]);
    expect(() => topic.subscribe(third.ref, "hide" as never)).toThrow('"hide"');
  });

  test("makes an item that does not fit the subscriber a dead letter, and takes nothing that is none", async () => {
    const { url } = await server({ jetstream: false });
    await using one = await node("node-1", url);
    const topic = one.cluster.topic<Price>("prices");
    const display = spawnDisplay(one.system);
    topic.subscribe(display.ref, "show");
    const { connect } = await import("@nats-io/transport-node");
    const nc = await connect({ servers: url });
    await topic.settled();
    for (const text of ["null", "{", '{"v":2}', '{"v":1,"n":"x","i":"y","f":0,"e":[1]}'])
      nc.publish("envoi.shop.topic.prices", text);
    await nc.flush();
    topic.publish({ symbol: 7, price: 1 } as never);
    topic.publish(bun(2));
    await display.until(1);
    expect(display.shown.map(({ price }) => price)).toEqual([2]);
    expect(one.system.router.audit().dead).toBe(1);
    await nc.close();
  });

  test("tells how many items were lost while its node was cut off, once the next one comes", async () => {
    const { url, port } = await server({ jetstream: false });
    const proxy = startProxy(port);
    await using one = await node("node-1", url);
    await using two = await node("node-2", `nats://127.0.0.1:${proxy.port}`);
    const [sending, receiving] = [one.cluster.topic<Price>("prices"), two.cluster.topic<Price>("prices")];
    const display = spawnDisplay(two.system);
    receiving.subscribe(display.ref, "show");
    await receiving.settled();
    sending.publish(bun(0));
    await display.until(1);
    const told = (kind: string): Promise<PublishedEvent> =>
      new Promise((resolve) => {
        const end = two.system.events.subscribe((event) => {
          if (event.kind !== `nats:${kind}`) return;
          end();
          resolve(event as PublishedEvent); // Its kind has a colon.
        });
      });
    const back = told("reconnected");
    const gap = told("gap");
    proxy.blackHole("down", true);
    for (const price of [1, 2, 3]) sending.publish(bun(price));
    await sending.settled();
    await proxy.swallowed("down", 100);
    proxy.blackHole("down", false);
    proxy.cut();
    await back;
    await receiving.settled();
    sending.publish(bun(4));
    expect((await gap).detail).toMatchObject({ node: "node-1", topic: "prices", missed: 3 });
    await display.until(2);
    expect(display.shown.map(({ price }) => price)).toEqual([0, 4]);
    await two.cluster.close();
    proxy.close();
  });

  test("tells how many items were lost while its publisher had lost its lease, too", async () => {
    const nats = await server();
    await using one = await node("node-1", nats.url, { lease: 500 });
    await using two = await node("node-2", nats.url, { lease: 500 });
    const display = spawnDisplay(two.system);
    const topic = two.cluster.topic<Price>("prices");
    topic.subscribe(display.ref, "show");
    await topic.settled();
    const published = one.cluster.topic<Price>("prices");
    published.publish(bun(0));
    await display.until(1);

    const gone = event(one.system, "gone");
    const away = event(one.system, "disconnected");
    await nats.kill();
    await away;
    for (const price of [1, 2, 3]) published.publish(bun(price));
    await gone;
    const rejoined = event(two.system, "joined", (detail) => detail["node"] === "node-1");
    const missed = event(two.system, "gap", (detail) => detail["topic"] === "prices");
    await nats.restart();
    await rejoined;
    published.publish(bun(4));
    await display.until(2);
    expect(display.shown.map(({ price }) => price)).toEqual([0, 4]);
    expect((await missed).detail).toMatchObject({ node: "node-1", missed: 3 });
  }, 60_000);

  test("is refused by a closed cluster, and without a name", async () => {
    const { url } = await server({ jetstream: false });
    await using one = await node("node-1", url);
    const topic = one.cluster.topic<Price>("prices");
    expect(() => one.cluster.topic("")).toThrow("name of a topic");
    // Each would be the same token as any other half.
    expect(() => one.cluster.topic("\ud800")).toThrow("name of a topic");
    await one.cluster.close();
    expect(topic.publish(bun(1))._unsafeUnwrapErr()).toMatchObject({ kind: "unreachable" });
  });
});
