import { describe, expect, test } from "bun:test";
import { address, createSystem } from "../../../src";
import { connectCluster } from "../../../src/nats";
import { ids, node, Orders, spawnOrders } from "../durable/nodes";
import { hasNats, server } from "../rooms";
import { startProxy } from "./proxy";

describe.skipIf(!hasNats)("a node that another node has taken a durable message from", () => {
  /** A receiver behind a proxy whose actor is still to be found, as that for an id is while nobody owns its shard, and one beside it. */
  const room = async () => {
    const { url, port } = await server();
    const proxy = startProxy(port);
    const system = createSystem({ hookTimeout: 60_000, logger: { warn() {}, error() {} } });
    const cluster = await connectCluster(system, {
      servers: `nats://127.0.0.1:${proxy.port}`,
      name: "shop",
      node: "cut",
    });
    const next = await node("next", url);
    const asked = Promise.withResolvers<void>();
    const owner = Promise.withResolvers<ReturnType<typeof spawnOrders>["ref"]>();
    system.resolve(
      "late/",
      async () => {
        asked.resolve();
        return await owner.promise;
      },
      { waiting: 10 },
    );
    await cluster.receiveDurable("orders", system.ref(address("late/orders"), Orders), { ackWait: 500 });
    return { proxy, system, next, asked: asked.promise, owner };
  };

  test("hands it in no more, though it has waited here for its actor", async () => {
    const { proxy, system, next, asked, owner } = await room();
    const orders = next.cluster.durable("orders", Orders);
    await Promise.all(ids(3).map((id) => orders.tell("place", { id })));
    await asked;
    proxy.blackHole("up", true);
    const there = spawnOrders(next.system);
    await next.cluster.receiveDurable("orders", there.ref, { ackWait: 500 });
    await there.calls(3); // The server has given them to it, so that the other one has lost them.
    expect(there.handled.map(({ id, mayRepeat }) => [id, mayRepeat])).toEqual(ids(3).map((id) => [id, true]));
    await next.system.shutdown();
    const here = spawnOrders(system);
    owner.resolve(here.ref);
    proxy.blackHole("up", false);
    proxy.cut();
    const sender = await node("sender", `nats://127.0.0.1:${proxy.port}`);
    await sender.cluster.durable("orders", Orders).tell("place", { id: "last" }, { timeout: 60_000 });
    await here.calls(1);
    expect(here.handled.map(({ id }) => id)).toEqual(["last"]);
    await sender.system.shutdown();
    await system.shutdown();
    proxy.close();
  }, 60_000);

  test("tells the handler that runs, by its signal", async () => {
    const { proxy, system, next, owner } = await room();
    const [begun, aborted] = [Promise.withResolvers<void>(), Promise.withResolvers<unknown>()];
    const ref = system.spawn("here", Orders, (ctx) => ({
      place: async () => {
        ctx.onAbort(aborted.resolve);
        begun.resolve();
        await aborted.promise;
      },
      flush: () => undefined,
      watch: async function* () {},
    }));
    owner.resolve(ref);
    await next.cluster.durable("orders", Orders).tell("place", { id: "a" });
    await begun.promise;
    proxy.blackHole("up", true);
    await aborted.promise;
    const there = spawnOrders(next.system);
    await next.cluster.receiveDurable("orders", there.ref, { ackWait: 500 });
    await there.calls(1);
    expect(there.handled).toEqual([{ id: "a", attempt: 1, mayRepeat: true }]);
    await next.system.shutdown();
    proxy.blackHole("up", false);
    proxy.cut();
    await system.shutdown();
    proxy.close();
  }, 60_000);
});
