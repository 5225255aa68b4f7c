import { describe, expect, test } from "bun:test";
import { startNats } from "../../../benchmarks/harness/nats-server";
import { node, Orders, spawnOrders } from "../durable/nodes";
import { event } from "../events";
import { hasNats } from "../rooms";
import { checkDeliveries, type DeliveryEvent } from "./deliveries";

/** In the long form, more. */
const ROUNDS = process.env["ENVOI_LONG"] === undefined ? 1 : 4;

describe.skipIf(!hasNats)("durable messages over one server that is killed", () => {
  test("none is lost, out of order or repeated unmarked, whichever of two nodes handles it next", async () => {
    const server = await startNats();
    const events: DeliveryEvent[] = [];
    const handled = new Set<number>();
    let heard = Promise.withResolvers<void>();
    const note = (event: DeliveryEvent): void => {
      events.push(event);
      if (event.kind === "handled") handled.add(event.number);
      heard.resolve();
      heard = Promise.withResolvers();
    };
    const until = async (fits: () => boolean): Promise<void> => {
      while (!fits()) await heard.promise;
    };
    await using sender = await node("sender", server.url);
    await using one = await node("one", server.url);
    await using two = await node("two", server.url);
    for (const each of [one, two]) {
      const { ref } = spawnOrders(each.system, async ({ id }, { mayRepeat }) => {
        note({ kind: "handled", isMarked: mayRepeat, sender: "s", receiver: "orders", number: Number(id) });
        await new Promise((resolve) => setTimeout(resolve, 1)); // So that one is under way when the server is killed.
      });
      await each.cluster.receiveDurable("orders", ref, { ackWait: 1_000 });
    }
    const orders = sender.cluster.durable("orders", Orders);
    let number = 0;
    let isOver = false;
    const sending = (async () => {
      while (!isOver) {
        await until(() => number - handled.size < 50);
        const message = { sender: "s", receiver: "orders", number: ++number };
        note({ kind: "sent", ...message });
        const stored = await orders.tell("place", { id: String(message.number) }, { timeout: 60_000 });
        if (stored.isOk()) note({ kind: "acknowledged", ...message });
      }
    })();
    for (let round = 0; round < ROUNDS; round++) {
      const before = handled.size;
      await until(() => handled.size > before + 100);
      const back = [one, two].map(({ system }) => event(system, "reconnected"));
      await server.kill();
      await server.restart();
      await Promise.all(back);
    }
    isOver = true;
    await sending;
    await until(() => handled.size === number);
    expect(checkDeliveries(events)).toEqual([]);
    await server.close();
  }, 120_000);
});
