import { describe, expect, test } from "bun:test";
import type { DeliveryError, Result } from "../../../src";
import { ids, node, Orders, spawnOrders } from "../durable/nodes";
import { hasNats, server } from "../rooms";

const errorOf = (result: Result<unknown, DeliveryError>) => (result.isErr() ? result.error : undefined);

describe.skipIf(!hasNats)("a durable send that ended as unreachable is not handled", () => {
  test("where its level was refused, and a neighbour of the same turn was stored", async () => {
    const { url } = await server();
    await using one = await node("node-1", url);
    const refused = one.cluster.durable("orders", Orders, { level: "replicated" });
    const orders = one.cluster.durable("orders", Orders);
    const [first, second, third] = await Promise.all([
      refused.tell("place", { id: "refused" }),
      orders.tell("place", { id: "a" }),
      refused.tell("place", { id: "refused too" }),
    ]);
    expect([first, second, third].map((each) => errorOf(each as typeof first)?.kind)).toEqual([
      "unreachable",
      undefined,
      "unreachable",
    ]);
    await orders.tell("place", { id: "b" });
    const actor = spawnOrders(one.system);
    await one.cluster.receiveDurable("orders", actor.ref);
    await actor.calls(2);
    expect(actor.handled.map(({ id }) => id)).toEqual(["a", "b"]);
  });

  test("where its time was over before the streams were open, and that of a neighbour was not", async () => {
    const nats = await server();
    await using one = await node("node-1", nats.url, { lease: 60_000 });
    const orders = one.cluster.durable("orders", Orders);
    nats.pause();
    const short = orders.tell("place", { id: "short" }, { timeout: 300 });
    const long = orders.tell("place", { id: "long" }, { timeout: 60_000 });
    expect(errorOf(await short)?.kind).toBe("unreachable");
    nats.resume();
    expect((await long).isOk()).toBe(true);
    await orders.tell("place", { id: "last" });
    const actor = spawnOrders(one.system);
    await one.cluster.receiveDurable("orders", actor.ref);
    await actor.calls(2);
    expect(actor.handled.map(({ id }) => id)).toEqual(["long", "last"]);
  }, 60_000);

  test("where a batch that may have been stored goes on to be tried: those of it whose time is over ended as timeout", async () => {
    const nats = await server();
    await using one = await node("node-1", nats.url, { lease: 60_000 });
    const orders = one.cluster.durable("orders", Orders);
    await orders.tell("place", { id: "first" });
    nats.pause();
    const [short, long] = [300, 60_000].map((timeout, index) =>
      orders.tell("place", { id: `o-${index}` }, { timeout }),
    );
    expect(errorOf(await (short as NonNullable<typeof short>))?.kind).toBe("timeout");
    nats.resume();
    expect((await long)?.isOk()).toBe(true);
    await orders.tell("place", { id: "last" });
    const actor = spawnOrders(one.system);
    await one.cluster.receiveDurable("orders", actor.ref);
    await actor.calls(4);
    expect(actor.handled.map(({ id }) => id)).toEqual(["first", ...ids(2), "last"]); // Each of them once.
  }, 60_000);
});

describe.skipIf(!hasNats)("the id of a durable send", () => {
  test("is known for its receiver alone, though both may have slashes, and as it was given", async () => {
    const { url } = await server();
    await using one = await node("node-1", url);
    const sent = [
      await one.cluster.durable("shop/eu", Orders).tell("place", { id: "one" }, { id: "7" }),
      await one.cluster.durable("shop", Orders).tell("place", { id: "another" }, { id: "eu/7" }),
      await one.cluster.durable("shop", Orders).tell("place", { id: "blank" }, { id: "eu/7 " }),
      await one.cluster.durable("shop", Orders).tell("place", { id: "again" }, { id: "eu/7" }),
    ];
    expect(sent.map((each) => each._unsafeUnwrap().isDuplicate)).toEqual([false, false, false, true]);
    const actor = spawnOrders(one.system);
    await one.cluster.receiveDurable("shop", actor.ref);
    await actor.calls(2);
    expect(actor.handled.map(({ id }) => id)).toEqual(["another", "blank"]);
  });

  test("that no header can carry is refused at once", async () => {
    const { url } = await server();
    await using one = await node("node-1", url);
    const orders = one.cluster.durable("orders", Orders);
    for (const id of ["a\nb", "a\r\nNats-Expected-Stream: other", "", " ", "x".repeat(257), "\ud800"]) {
      expect(() => orders.tell("place", { id: "a" }, { id })).toThrow("The id of a durable send is a text of 1 to 256");
    }
    expect((await orders.tell("place", { id: "a" }, { id: "ü€😀" })).isOk()).toBe(true);
    expect((await orders.tell("place", { id: "a" }, { id: "x".repeat(256) })).isOk()).toBe(true);
  });

  test("takes room from the payload: what does not fit with it is too large, and what fits is stored", async () => {
    const { url } = await server({ config: "max_payload: 1024" });
    await using one = await node("node-1", url);
    const orders = one.cluster.durable("orders", Orders);
    const fits = async (length: number, options: { id?: string; delay?: number }) => {
      const sent = await orders.tell("place", { id: "x".repeat(length) }, options);
      return errorOf(sent)?.kind ?? "stored";
    };
    const sizes = Array.from({ length: 32 }, (_, index) => index * 32);
    for (const optionsOf of [
      () => ({}),
      (size: number) => ({ id: "€".repeat(120) + size }),
      () => ({ delay: 60_000 }),
      (size: number) => ({ id: "x".repeat(60) + size, delay: 60_000 }),
    ]) {
      const outcomes = await Promise.all(sizes.map((size) => fits(size, optionsOf(size))));
      expect(new Set(outcomes)).toEqual(new Set(["stored", "payload-too-large"]));
    }
    expect(await fits(1, { id: "€".repeat(256), delay: 60_000 })).toBe("payload-too-large");
  });
});
