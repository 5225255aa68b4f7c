import { describe, expect, test } from "bun:test";
import { deliveryOf } from "../../../src/nats";
import { hasNats, server } from "../rooms";
import { ids, node, type Order, Orders } from "./nodes";

describe.skipIf(!hasNats)("a durable send to the actor for an id", () => {
  const noted = (count: number, handle: (order: Order) => unknown = () => undefined) => {
    const handled: { readonly to: string; readonly id: string; readonly mayRepeat: boolean | undefined }[] = [];
    const all = Promise.withResolvers<void>();
    const create = (to: string) => (ctx: { readonly metadata: Parameters<typeof deliveryOf>[0] }) => ({
      place: async (order: Order) => {
        handled.push({ to, id: order.id, mayRepeat: deliveryOf(ctx.metadata)?.mayRepeat });
        if (handled.length === count) all.resolve();
        await handle(order);
      },
      flush: () => undefined,
      watch: async function* () {},
    });
    return { handled, all: all.promise, create };
  };

  test("is stored while nobody serves the name, and handled once and in order for each id when somebody does", async () => {
    const { url } = await server();
    await using sender = await node("node-1", url);
    const shops = await sender.cluster.sharded("shop", Orders, undefined, { durable: true });
    const to = ids(12).map((id) => `shop-${id}`);
    const sent = await Promise.all(
      ids(120).map((id, index) => sender.cluster.durable(shops.ref(to[index % 12] ?? "")).tell("place", { id })),
    );
    expect(sent.every((each) => each.isOk())).toBe(true);
    await using owner = await node("node-2", url);
    const { handled, all, create } = noted(120);
    await owner.cluster.sharded("shop", Orders, create, { durable: true });
    await all;
    expect(handled.every(({ mayRepeat }) => mayRepeat === false)).toBe(true);
    for (const [first, each] of to.entries()) {
      const expected = ids(120).filter((_, index) => index % 12 === first);
      expect(handled.filter((call) => call.to === each).map(({ id }) => id)).toEqual(expected);
    }
  });

  test("of poison becomes a dead letter of its id, and the next one is handled", async () => {
    const { url } = await server();
    await using one = await node("node-1", url);
    const { handled, all, create } = noted(3, ({ poison }) => {
      if (poison === true) throw new Error("it is poison");
    });
    const only = await one.cluster.singleton("shop", Orders, () => create("one"), {
      durable: { attempts: 2, backoff: 1 },
    });
    const orders = one.cluster.durable(only);
    await Promise.all([orders.tell("place", { id: "a", poison: true }), orders.tell("place", { id: "b" })]);
    await all;
    expect(handled.map(({ id, mayRepeat }) => [id, mayRepeat])).toEqual([
      ["a", false],
      ["a", true],
      ["b", false],
    ]);
    const letters = await one.cluster.deadLetters(only);
    expect(letters).toMatchObject([{ receiver: only.address, payload: { id: "a" }, attempts: 2 }]);
    expect(await one.cluster.deadLetters("shop")).toEqual(letters);
  });

  test("is refused at once for a name that takes none, and for an actor of this node alone", async () => {
    const { url } = await server();
    await using one = await node("node-1", url);
    const shops = await one.cluster.sharded("shop", Orders);
    expect(() => one.cluster.durable(shops.ref("a"))).toThrow("{ durable: true }");
    const local = one.system.spawn("local", Orders, noted(0).create("local"));
    expect(() => one.cluster.durable(local)).toThrow("cluster.receiveDurable()");
    const early = one.cluster.sharded("other", Orders, noted(0).create, { durable: { ackWait: 500 } });
    expect(String(await early.catch((thrown) => thrown))).toContain("twice the lease");
  });
});
