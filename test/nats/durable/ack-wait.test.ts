import { afterAll, describe, expect, test } from "bun:test";
import { AckPolicy, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import type { Socket } from "bun";
import { hasNats, server } from "../rooms";
import { node, Orders, spawnOrders } from "./nodes";

const STREAM = "ENVOI_shop_durable";

const manager = async (servers: string) => {
  const nc = await connect({ servers });
  afterAll(() => nc.close());
  return await jetstreamManager(nc);
};

const createShop = () => () => ({ place: () => undefined, flush: () => undefined, watch: async function* () {} });

/** A way to a server that holds all bytes which a client sends, from those with a text in them. */
function holding(port: number) {
  const clients = new Map<Socket, { readonly there: Promise<Socket>; held: Buffer[] | undefined }>();
  let text: string | undefined;
  let held = Promise.withResolvers<void>();
  const listener = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(client) {
        const socket = { data: (_: Socket, bytes: Buffer) => void client.write(bytes), close: () => void client.end() };
        clients.set(client, { there: Bun.connect({ hostname: "127.0.0.1", port, socket }), held: undefined });
      },
      data(client, bytes) {
        const way = clients.get(client);
        if (way === undefined) return;
        if (text !== undefined && bytes.includes(text)) {
          way.held ??= [];
          held.resolve();
        }
        if (way.held === undefined) void way.there.then((there) => there.write(Buffer.from(bytes)));
        else way.held.push(Buffer.from(bytes)); // The socket uses its buffer again.
      },
      close: (client) => void clients.get(client)?.there.then((there) => there.end()),
    },
  });
  afterAll(() => listener.stop(true));
  return {
    url: `nats://127.0.0.1:${listener.port}`,
    /** Resolves once the text has come. */
    hold(from: string): Promise<void> {
      text = from;
      held = Promise.withResolvers();
      return held.promise;
    },
    release() {
      text = undefined;
      for (const way of clients.values()) {
        const bytes = Buffer.concat(way.held ?? []);
        way.held = undefined;
        void way.there.then((there) => there.write(bytes));
      }
    },
  };
}

describe.skipIf(!hasNats)("the ackWait of durable messages", () => {
  test("is changed by the next start, to more and to less", async () => {
    const { url } = await server();
    const jsm = await manager(url);
    for (const ackWait of [5_000, 8_000, 5_000]) {
      await using one = await node("node-1", url);
      const actor = spawnOrders(one.system);
      await one.cluster.receiveDurable("orders", actor.ref, { ackWait });
      await one.cluster.sharded("shop", Orders, createShop, { durable: { ackWait } });
      for (const consumer of ["orders", "orders==later", "shop=0", "shop=7==later"]) {
        const stream = consumer.endsWith("later") ? "ENVOI_shop_later" : STREAM;
        expect((await jsm.consumers.info(stream, consumer)).config.ack_wait).toBe(ackWait * 1e6);
      }
      await one.cluster.durable("orders", Orders).tell("place", { id: "a" });
      await actor.calls(1);
    }
  }, 30_000);

  test("is the longest one that a node asks for while nodes differ, so that none goes on after its time", async () => {
    const { url } = await server();
    const jsm = await manager(url);
    await using one = await node("node-1", url);
    await using two = await node("node-2", url);
    await using three = await node("node-3", url);
    const kept = async (): Promise<number> => ((await jsm.consumers.info(STREAM, "orders")).config.ack_wait ?? 0) / 1e6;
    const { ref } = spawnOrders(one.system);
    await one.cluster.receiveDurable("orders", ref, { ackWait: 3_000 });
    expect(await kept()).toBe(3_000);
    await two.cluster.receiveDurable("orders", spawnOrders(two.system).ref, { ackWait: 4_000 });
    expect(await kept()).toBe(4_000);
    await three.cluster.receiveDurable("orders", spawnOrders(three.system).ref, { ackWait: 2_000 });
    expect(await kept()).toBe(4_000);
  });

  const UPDATE = '"action":"update"';
  const WRITE = "PUB $KV.ENVOI_shop_positions.orders==wait";
  test.each([
    ["changes the consumer late, where the other one has changed it, too", UPDATE, 4_000],
    ["changes the consumer late, where the other one had nothing to change", UPDATE, 5_000],
    ["has seen nobody receive, and says so late", WRITE, 5_000],
  ])(
    "is not the shorter one of two nodes that open a name at the same moment: one %s",
    async (_, text, longer) => {
      const nats = await server();
      const jsm = await manager(nats.url);
      const way = holding(nats.port);
      const lease = 30_000; // That of the node whose messages are held goes on.
      await using one = await node("node-1", nats.url, { lease });
      await using two = await node("node-2", way.url, { lease });
      const first = await one.cluster.receiveDurable("orders", spawnOrders(one.system).ref, { ackWait: 5_000 });
      await first.close();
      for (;;) {
        const { num_waiting } = await jsm.consumers.info(STREAM, "orders");
        if (num_waiting === 0) break; // The server has heard of the end.
      }
      const held = way.hold(text);
      const shorter = two.cluster.receiveDurable("orders", spawnOrders(two.system).ref, { ackWait: 2_000 });
      await held;
      const again = one.system.spawn("again", Orders, createShop());
      await one.cluster.receiveDurable("orders", again, { ackWait: longer });
      way.release();
      await shorter;
      expect((await jsm.consumers.info(STREAM, "orders")).config.ack_wait).toBe(longer * 1e6);
    },
    30_000,
  );

  test("cannot be had where somebody else made the consumer: the name is not served then, and is once that is gone", async () => {
    const { url } = await server();
    const jsm = await manager(url);
    await using one = await node("node-1", url);
    await using two = await node("node-2", url);
    const shops = await two.cluster.sharded("shop", Orders, undefined, { durable: true });
    await two.cluster.durable(shops.ref("a")).tell("place", { id: "a" }); // The stream is there from now on.
    await jsm.consumers.add(STREAM, {
      durable_name: "shop=5",
      filter_subject: "envoi.shop.durable.shop.=5",
      ack_policy: AckPolicy.Explicit,
      max_ack_pending: 7,
    });
    const served = () => one.cluster.sharded("shop", Orders, createShop, { durable: true });
    expect(String(await served().catch((thrown) => thrown))).toContain("somebody else made it, so delete it");
    expect(one.cluster.epochOf("shop", "a")).toBeUndefined();
    expect(() => one.cluster.ref("shop", "a", Orders)).toThrow("does not know the name");
    const consumers = await jsm.consumers.list(STREAM).next();
    expect(consumers.every(({ num_waiting }) => num_waiting === 0)).toBe(true); // None of its lanes goes on.
    const refused = await shops.ref("a").offer("flush");
    expect(refused.isErr() && refused.error.message).toContain('no node of cluster "shop" serves "shop"');
    await jsm.consumers.delete(STREAM, "shop=5");
    await served();
    expect((await one.cluster.ref("shop", "a", Orders).offer("flush")).isOk()).toBe(true);
  }, 30_000);
});
