import { describe, expect, test } from "bun:test";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { defineProtocol, Type } from "../../../src";
import { node, Orders, spawnOrders } from "../durable/nodes";
import { event } from "../events";
import { hasNats, server } from "../rooms";

const DEEP = "[".repeat(100_000) + "]".repeat(100_000);

const Prices = defineProtocol("prices", {
  set: { payload: Type.Record(Type.String(), Type.Number()) },
  end: {},
});

describe.skipIf(!hasNats)("a durable receiver gives up", () => {
  const poisons: Record<string, readonly [text: string, says: string]> = {
    "a large text that is no message": ["x".repeat(900_000), "it is no JSON"],
    "a batch that is nested too deep": [`{"v":1,"n":"x","e":[{"o":"place","p":${DEEP}}]}`, "levels deep"],
    "a batch with a key __proto__": ['{"v":1,"n":"x","e":[{"o":"place","p":{"__proto__":{}}}]}', "__proto__"],
    "an operation with a name of many kilobytes": [
      `{"v":1,"n":"${"n".repeat(300_000)}","e":[{"o":"${"o".repeat(600_000)}"}]}`,
      "asks for an operation that the actor does not have",
    ],
  };
  for (const [what, [text, says]] of Object.entries(poisons)) {
    test(`${what}, and handles the next message`, async () => {
      const { url } = await server();
      await using one = await node("node-1", url);
      const actor = spawnOrders(one.system);
      await one.cluster.receiveDurable("orders", actor.ref);
      const orders = one.cluster.durable("orders", Orders);
      await orders.tell("place", { id: "a" });
      const letter = event(one.system, "dead-letter");
      const stranger = await connect({ servers: url });
      await jetstream(stranger).publish("envoi.shop.durable.orders", text);
      await letter;
      await orders.tell("place", { id: "b" });
      await actor.calls(2);
      expect(actor.handled.map(({ id }) => id)).toEqual(["a", "b"]);
      const letters = await one.cluster.deadLetters("orders");
      expect(letters).toHaveLength(1);
      expect(letters[0]?.message).toContain(says);
      if (what.startsWith("a ")) {
        const kept = Buffer.from(String(letters[0]?.payload), "base64").toString();
        expect(kept.length).toBeGreaterThan(50);
        expect(text.startsWith(kept)).toBe(true);
      }
      await stranger.close();
    }, 20_000);
  }

  test("a message whose reason leaves no room for it: first the reason is cut, then the payload is left out", async () => {
    const { url } = await server({ config: "max_payload: 4096" });
    await using one = await node("node-1", url);
    const ended = Promise.withResolvers<void>();
    const ref = one.system.spawn("prices", Prices, () => ({ set: () => undefined, end: () => ended.resolve() }));
    await one.cluster.receiveDurable("prices", ref);
    const prices = one.cluster.durable("prices", Prices);
    const untyped = prices.tell.bind(prices) as (name: string, payload?: unknown) => ReturnType<typeof prices.tell>;
    const key = "鍵".repeat(480); // The reason names it, and is cut to 500 characters of three bytes.
    for (const filling of [1, 1_300]) {
      const letter = event(one.system, "dead-letter");
      const sent = await untyped("set", { [key]: "no number", filling: "x".repeat(filling) });
      expect(sent.isOk()).toBe(true);
      await letter;
    }
    expect((await prices.tell("end")).isOk()).toBe(true);
    await ended.promise;
    const letters = await one.cluster.deadLetters("prices");
    expect(letters.map(({ reason, payload }) => [reason, Object.keys(Object(payload)).length])).toEqual([
      ["invalid-payload", 2],
      ["invalid-payload", 2],
    ]);
    const stranger = await connect({ servers: url });
    const jsm = await jetstreamManager(stranger);
    await jsm.streams.update("ENVOI_shop_dead", { max_msg_size: 1_000 });
    const letter = event(one.system, "dead-letter");
    await untyped("set", { filling: "x".repeat(1_300) });
    await letter;
    const last = (await one.cluster.deadLetters("prices")).at(-1);
    expect(last).toMatchObject({ operation: "set", payload: undefined });
    expect(last?.message).toContain("its payload is not kept");
    await stranger.close();
  }, 20_000);
});
