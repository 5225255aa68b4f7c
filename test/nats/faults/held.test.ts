import { expect, test } from "bun:test";
import { ids, node, Orders, spawnOrders } from "../durable/nodes";
import { hasNats, server } from "../rooms";
import { asNumbered, checkDeliveries, type DeliveryEvent, sentAll } from "./deliveries";
import { startProxy } from "./proxy";

test.skipIf(!hasNats)(
  "a node whose signs of life are lost on the way handles no more of a batch that another node has by now",
  async () => {
    const { url, port } = await server();
    const proxy = startProxy(port);
    await using sender = await node("sender", url);
    await using cut = await node("cut", `nats://127.0.0.1:${proxy.port}`);
    await using next = await node("next", url);
    const events: DeliveryEvent[] = sentAll(ids(6));
    const note = (id: string, isMarked: boolean) => events.push({ kind: "handled", isMarked, ...asNumbered(id) });
    const begun = Promise.withResolvers<void>();
    const taken = Promise.withResolvers<void>();
    const last = Promise.withResolvers<void>();
    const here = spawnOrders(cut.system, async ({ id }, { mayRepeat }) => {
      note(id, mayRepeat);
      begun.resolve();
      if (id === "o-5") last.resolve();
      await taken.promise;
    });
    await cut.cluster.receiveDurable("orders", here.ref, { ackWait: 500 });
    const orders = sender.cluster.durable("orders", Orders);
    const sent = await Promise.all(ids(5).map((id) => orders.tell("place", { id })));
    expect(sent.every((each) => each.isOk())).toBe(true);
    await begun.promise;
    proxy.blackHole("up", true);
    const there = spawnOrders(next.system, ({ id }, { mayRepeat }) => {
      note(id, mayRepeat);
      if (id === "o-4") taken.resolve();
    });
    await next.cluster.receiveDurable("orders", there.ref, { ackWait: 500 });
    await taken.promise;
    await next.system.shutdown();
    proxy.blackHole("up", false);
    proxy.cut();
    await orders.tell("place", { id: "o-5" }, { timeout: 60_000 });
    await last.promise; // It is done with the others by now.
    expect(checkDeliveries(events)).toEqual([]);
    expect(here.handled.map(({ id }) => id)).toEqual(["o-0", "o-5"]);
    proxy.close();
  },
  60_000,
);
