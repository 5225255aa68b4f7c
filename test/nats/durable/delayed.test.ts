import { afterAll, describe, expect, test } from "bun:test";
import type { Socket } from "bun";
import { hasNats, server } from "../rooms";
import { node, Orders, spawnOrders } from "./nodes";

/** A way to a server, which says on it that it is another version. */
function asVersion(port: number, version: string): number {
  const servers = new Map<Socket, Promise<Socket>>();
  const listener = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(client) {
        const there = Bun.connect({
          hostname: "127.0.0.1",
          port,
          socket: {
            data(_, bytes) {
              const text = bytes.toString("latin1").replace(/^(INFO .*?"version":")[^"]*/gm, `$1${version}`);
              client.write(Buffer.from(text, "latin1"));
            },
            close: () => void client.end(),
          },
        });
        servers.set(client, there);
      },
      data: (client, bytes) => void servers.get(client)?.then((there) => there.write(bytes)),
      close: (client) => void servers.get(client)?.then((there) => there.end()),
    },
  });
  afterAll(() => listener.stop(true));
  return listener.port;
}

describe.skipIf(!hasNats)("a delayed durable message", () => {
  test("to a name of any length that a durable send takes is handed in, and so is one at once", async () => {
    const { url } = await server();
    await using one = await node("node-1", url);
    for (const [index, name] of ["x".repeat(255), `${"x".repeat(254)}y`, "ß".repeat(42)].entries()) {
      const actor = one.system.spawn(`orders-${index}`, Orders, () => ({
        place: ({ id }) => {
          handled.push(id);
          if (handled.length === 2) both.resolve();
        },
        flush: () => undefined,
        watch: async function* () {},
      }));
      const handled: string[] = [];
      const both = Promise.withResolvers<void>();
      await one.cluster.receiveDurable(name, actor);
      const orders = one.cluster.durable(name, Orders);
      await orders.tell("place", { id: `later to ${index}` }, { delay: 1 });
      await orders.tell("place", { id: `to ${index}` });
      await both.promise;
      expect(handled.sort()).toEqual([`later to ${index}`, `to ${index}`]);
    }
  });

  test("is stored now, and handed in when its time has come, after what was sent later", async () => {
    const { url } = await server();
    await using one = await node("node-1", url);
    await using two = await node("node-2", url);
    const actor = spawnOrders(two.system);
    await two.cluster.receiveDurable("orders", actor.ref);
    const orders = one.cluster.durable("orders", Orders);
    const later = await Promise.all(
      [2_501, 2_001].map((delay) => orders.tell("place", { id: `after ${delay}` }, { delay })),
    );
    expect(later.map((each) => each.isOk() && each.value.level)).toEqual(["stored", "stored"]);
    await orders.tell("place", { id: "at once" });
    await actor.calls(3);
    const once = { attempt: 1, mayRepeat: false };
    expect(actor.handled).toEqual(["at once", "after 2001", "after 2501"].map((id) => ({ id, ...once })));
  }, 30_000);

  test("outlives its sender and a kill of its server, and is stored once by its name", async () => {
    const nats = await server();
    {
      await using one = await node("node-1", nats.url);
      const orders = one.cluster.durable("orders", Orders);
      const send = () => orders.tell("place", { id: "a" }, { delay: 1_000, id: "named" });
      const stored = [await send(), await send()];
      expect(stored.map((each) => each._unsafeUnwrap().isDuplicate)).toEqual([false, true]);
      await orders.tell("place", { id: "b" }, { delay: 1_001 });
    }
    await nats.kill();
    await nats.restart();
    await using two = await node("node-2", nats.url);
    const actor = spawnOrders(two.system);
    await two.cluster.receiveDurable("orders", actor.ref);
    await actor.calls(2);
    expect(actor.handled.map(({ id }) => id)).toEqual(["a", "b"]);
  }, 60_000);

  test("is handed to the actor for an id, and becomes a dead letter of it after its attempts", async () => {
    const { url } = await server();
    await using one = await node("node-1", url);
    const handled = Promise.withResolvers<void>();
    const create = () => () => ({
      place: ({ poison }: { poison?: boolean }) => {
        if (poison === true) throw new Error("it is poison");
        handled.resolve();
      },
      flush: () => undefined,
      watch: async function* () {},
    });
    const shops = await one.cluster.sharded("shop", Orders, create, { durable: { attempts: 2, backoff: 1 } });
    const ada = one.cluster.durable(shops.ref("ada"));
    await ada.tell("place", { id: "a", poison: true }, { delay: 500 });
    await ada.tell("place", { id: "b" }, { delay: 501 });
    await handled.promise;
    expect(await one.cluster.deadLetters(shops.ref("ada"))).toMatchObject([
      { id: expect.stringMatching(/^later-\d+-[0-9a-z]+\.0$/), payload: { id: "a" }, attempts: 2 },
    ]);
  }, 30_000);

  test("is refused by servers without schedules, and their version is named; other messages are not", async () => {
    const { port } = await server();
    await using one = await node("node-1", `nats://127.0.0.1:${asVersion(port, "2.11.9")}`);
    const actor = spawnOrders(one.system);
    await one.cluster.receiveDurable("orders", actor.ref);
    const orders = one.cluster.durable("orders", Orders);
    const refused = await orders.tell("place", { id: "later" }, { delay: 1, timeout: 60_000 });
    expect(refused.isErr() && refused.error.kind).toBe("unreachable");
    expect(refused.isErr() && refused.error.message).toContain("2.12 or later, and nats-1 is 2.11.9");
    await orders.tell("place", { id: "now" });
    await actor.calls(1);
    expect(actor.handled.map(({ id }) => id)).toEqual(["now"]);
    expect(() => orders.tell("place", { id: "x" }, { delay: 0 })).toThrow("delay");
  }, 30_000);
});
