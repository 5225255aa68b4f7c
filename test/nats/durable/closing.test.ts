import { describe, expect, test } from "bun:test";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { startProxy } from "../faults/proxy";
import { hasNats, server } from "../rooms";
import { ids, node, Orders, spawnOrders } from "./nodes";

describe.skipIf(!hasNats)("a receiver of durable messages", () => {
  test("finishes the running message when it closes, and hands back those behind it", async () => {
    const { url } = await server();
    await using one = await node("node-1", url);
    await using two = await node("node-2", url);
    const gate = Promise.withResolvers<void>();
    const first = spawnOrders(one.system, () => gate.promise);
    const receiver = await one.cluster.receiveDurable("orders", first.ref);
    const orders = one.cluster.durable("orders", Orders);
    await Promise.all(ids(3).map((id) => orders.tell("place", { id })));
    await first.calls(1);
    const closed = receiver.close();
    gate.resolve();
    await closed;
    const second = spawnOrders(two.system);
    await two.cluster.receiveDurable("orders", second.ref);
    await second.calls(2);
    expect(first.handled.map(({ id }) => id)).toEqual(["o-0"]);
    expect(second.handled).toEqual(ids(2, 1).map((id) => ({ id, attempt: 1, mayRepeat: false })));
  });

  test("hands back at once what is on its way to it when it closes, as what was not handled", async () => {
    const { url, port } = await server();
    const proxy = startProxy(port);
    await using one = await node("node-1", `nats://127.0.0.1:${proxy.port}`, { lease: 60_000 });
    await using two = await node("node-2", url, { lease: 60_000 });
    const orders = two.cluster.durable("orders", Orders);
    const first = spawnOrders(one.system);
    const receiver = await one.cluster.receiveDurable("orders", first.ref, { ackWait: 3_600_000 });
    const nc = await connect({ servers: url });
    const jsm = await jetstreamManager(nc);
    const state = () => jsm.consumers.info("ENVOI_shop_durable", "orders");
    while ((await state()).num_waiting === 0); // It pulls.
    proxy.delay("down", 300);
    await Promise.all(ids(3).map((id) => orders.tell("place", { id })));
    while ((await state()).num_ack_pending === 0); // The server has sent it.
    const closed = receiver.close();
    const second = spawnOrders(two.system);
    await two.cluster.receiveDurable("orders", second.ref, { ackWait: 3_600_000 });
    await second.calls(3);
    await closed;
    expect(first.handled).toEqual([]);
    expect(second.handled).toEqual(ids(3).map((id) => ({ id, attempt: 1, mayRepeat: false })));
    await nc.close();
    await one.cluster.close();
    proxy.close();
  }, 30_000);

  test("ends with its actor, and the messages stay stored for the next one", async () => {
    const { url } = await server();
    await using one = await node("node-1", url);
    const orders = one.cluster.durable("orders", Orders);
    const first = spawnOrders(one.system);
    await one.cluster.receiveDurable("orders", first.ref);
    await one.system.stop(first.ref);
    await Promise.all(ids(3).map((id) => orders.tell("place", { id })));
    const second = spawnOrders(one.system);
    await one.cluster.receiveDurable("orders", second.ref);
    await second.calls(3);
    expect(second.handled.map(({ id }) => id)).toEqual([...ids(3)]);
  });
});
