import { describe, expect, test } from "bun:test";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { ids, node, Orders, spawnOrders } from "../durable/nodes";
import { hasNats, server } from "../rooms";
import { asNumbered, checkDeliveries, sentAll } from "./deliveries";
import { startProxy } from "./proxy";

describe.skipIf(!hasNats)("a message whose acknowledgement was lost", () => {
  /** Sends through a network that loses the first acknowledgement, and gives what a receiver makes of that. */
  async function afterLoss(send: (url: string, loseOne: () => Promise<void>) => Promise<void>) {
    const { url, port } = await server();
    const proxy = startProxy(port);
    await using one = await node("node-1", url);
    const orders = one.cluster.durable("orders", Orders);
    await orders.tell("place", { id: "o-0" });
    const loseOne = async (): Promise<void> => {
      proxy.blackHole("down", true);
      await proxy.swallowed("down", 60); // More than a PING and a PONG: the acknowledgement.
      proxy.blackHole("down", false);
      proxy.cut();
    };
    await send(`nats://127.0.0.1:${proxy.port}`, loseOne);
    await orders.tell("place", { id: "o-2" });
    const events = sentAll(ids(3));
    const last = Promise.withResolvers<void>();
    const { ref } = spawnOrders(one.system, ({ id }, { mayRepeat }) => {
      events.push({ kind: "handled", isMarked: mayRepeat, ...asNumbered(id) });
      if (id === "o-2") last.resolve();
    });
    await one.cluster.receiveDurable("orders", ref);
    await last.promise;
    proxy.close();
    return checkDeliveries(events);
  }

  test("is sent again, and stored once", async () => {
    const faults = await afterLoss(async (url, loseOne) => {
      await using two = await node("node-2", url);
      await two.cluster.durable("others", Orders).tell("flush"); // It has found JetStream.
      const orders = two.cluster.durable("orders", Orders);
      const losing = loseOne();
      const sending = orders.tell("place", { id: "o-1" }, { timeout: 60_000 });
      await losing;
      expect((await sending).isOk()).toBe(true);
    });
    expect(faults).toEqual([]);
  });

  test("broken variant: without a name for JetStream, the checker finds it twice", async () => {
    const faults = await afterLoss(async (url, loseOne) => {
      const nc = await connect({ servers: url, timeout: 500, reconnectTimeWait: 50, maxReconnectAttempts: -1 });
      const js = (await jetstreamManager(nc)).jetstream();
      const losing = loseOne();
      const batch = '{"v":1,"n":"node-2","e":[{"o":"place","p":{"id":"o-1"}}]}';
      const send = (): Promise<unknown> =>
        js.publish("envoi.shop.durable.orders", batch, { timeout: 1_000 }).catch(send);
      const sending = send();
      await losing;
      await sending;
      await nc.close();
    });
    expect(faults).toContainEqual({ ...asNumbered("o-1"), fault: "unmarked repeat" });
  });

  test("and was sent again by its owner is stored once by the name that its owner gave; without one the checker finds it twice", async () => {
    const { url } = await server();
    await using one = await node("node-1", url);
    const orders = one.cluster.durable("orders", Orders);
    for (const options of [{ id: "named" }, { id: "named" }]) await orders.tell("place", { id: "o-0" }, options);
    for (const options of [{}, {}]) await orders.tell("place", { id: "o-1" }, options);
    const events = sentAll(ids(2));
    const actor = spawnOrders(one.system, ({ id }, { mayRepeat }) =>
      events.push({ kind: "handled", isMarked: mayRepeat, ...asNumbered(id) }),
    );
    await one.cluster.receiveDurable("orders", actor.ref);
    await actor.calls(3);
    expect(checkDeliveries(events)).toEqual([{ ...asNumbered("o-1"), fault: "unmarked repeat" }]);
  });
});

describe.skipIf(!hasNats)("a receiver that acknowledges before it handles", () => {
  test("broken variant: when it goes, the checker finds what was lost", async () => {
    const { url } = await server();
    await using one = await node("node-1", url);
    const first = await one.cluster.receiveDurable("orders", spawnOrders(one.system).ref);
    await first.close(); // It has made the consumer.
    const orders = one.cluster.durable("orders", Orders);
    await orders.tell("place", { id: "o-0" });
    await orders.tell("place", { id: "o-1" });
    const nc = await connect({ servers: url });
    const consumer = await (await jetstreamManager(nc)).jetstream().consumers.get("ENVOI_shop_durable", "orders");
    const taken = await consumer.next();
    await taken?.ackAck();
    await nc.close(); // It goes here, and has handled nothing.
    const events = sentAll(ids(2));
    await using two = await node("node-2", url);
    const actor = spawnOrders(two.system, ({ id }, { mayRepeat }) =>
      events.push({ kind: "handled", isMarked: mayRepeat, ...asNumbered(id) }),
    );
    await two.cluster.receiveDurable("orders", actor.ref);
    await actor.calls(1);
    expect(checkDeliveries(events)).toEqual([{ ...asNumbered("o-0"), fault: "lost" }]);
  });
});
