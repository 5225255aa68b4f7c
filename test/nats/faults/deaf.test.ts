import { describe, expect, test } from "bun:test";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { ids, node, Orders, spawnOrders } from "../durable/nodes";
import { hasNats } from "../rooms";
import { threeServers } from "./three-servers";

describe.skipIf(!hasNats)("a receiver of durable messages that waits", () => {
  // Less than one pull waits (30 s): a deaf receiver hears again by then.
  test("hears the next message though the server is killed that leads its consumer", async () => {
    const { servers, urls } = await threeServers("ENVOI_shop_durable");
    await using one = await node("node-1", urls, { replicas: 3 });
    const actor = spawnOrders(one.system);
    await one.cluster.receiveDurable("orders", actor.ref, { ackWait: 1_000 });
    const orders = one.cluster.durable("orders", Orders);
    await orders.tell("place", { id: "o-0" });
    await actor.calls(1);
    const nc = await connect({ servers: urls });
    const { cluster } = await (await jetstreamManager(nc)).consumers.info("ENVOI_shop_durable", "orders");
    await nc.close();
    await servers.find(({ name }) => name === cluster?.leader)?.kill();
    expect((await orders.tell("place", { id: "o-1" }, { timeout: 60_000 })).isOk()).toBe(true);
    await actor.calls(2);
    expect([...new Set(actor.handled.map(({ id }) => id))]).toEqual([...ids(2)]);
  }, 28_000);
});
