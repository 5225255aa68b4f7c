import { describe, expect, test } from "bun:test";
import { createSystem, defineProtocol, Type } from "../../src";
import { connectCluster } from "../../src/nats";
import { Orders, spawnOrders } from "./durable/nodes";
import { event } from "./events";
import { hasNats, server } from "./rooms";

const LONG = { timeout: 30_000 };
const Desk = defineProtocol("desk", { who: { reply: Type.Object({ node: Type.String(), epoch: Type.Number() }) } });

describe.skipIf(!hasNats)("servers that lose what they have stored", async () => {
  const nats = hasNats ? await server() : undefined;

  async function node(name: string) {
    const system = createSystem({ hookTimeout: 30_000, logger: { warn() {}, error() {} } });
    const cluster = await connectCluster(system, { servers: nats?.url ?? "", name: "shop", node: name, lease: 1_000 });
    const desk = system.spawn("desk", Desk, () => ({ who: () => ({ node: name, epoch: 0 }) }));
    cluster.expose("desk", desk);
    const desks = await cluster.sharded("desk", Desk, (_, { epoch }) => () => ({ who: () => ({ node: name, epoch }) }));
    return { name, system, cluster, desks };
  }

  test("P17: their nodes join anew, reach each other, and own ids again, with later epochs", async () => {
    const [a, b] = [await node("a"), await node("b")];
    const ids = ["ada", "bob", "cy", "dan", "eve", "fay"];
    const epochs = new Map<string, number>();
    for (const id of ids) epochs.set(id, (await a.desks.ref(id).ask("who", LONG))._unsafeUnwrap().epoch);
    expect((await a.cluster.remote("b", "desk", Desk).ask("who", LONG))._unsafeUnwrap().node).toBe("b");

    const rejoined = [a, b].map(({ system }) =>
      Promise.all(["a", "b"].map((name) => event(system, "joined", (detail) => detail["node"] === name))),
    );
    await nats?.kill();
    await nats?.restart(true);
    await Promise.all(rejoined);
    expect(a.cluster.members()).toEqual(["a", "b"]);
    expect(b.cluster.members()).toEqual(["a", "b"]);

    for (const [from, to] of [
      [a, "b"],
      [b, "a"],
    ] as const) {
      expect((await from.cluster.remote(to, "desk", Desk).ask("who", LONG))._unsafeUnwrap().node).toBe(to);
    }
    for (const id of ids) {
      const ask = async () => {
        const [first, second] = await Promise.all([a, b].map(({ desks }) => desks.ref(id).ask("who", LONG)));
        if (first?.isOk() && second?.isOk()) return [first.value, second.value] as const;
        throw new Error(JSON.stringify([id, first, second]));
      };
      let [first, second] = await ask();
      while (first.epoch !== second.epoch) [first, second] = await ask(); // Its shard moved between the two: the nodes share them anew.
      expect(second.node).toBe(first.node);
      expect(first.epoch).toBeGreaterThan(epochs.get(id) ?? Number.POSITIVE_INFINITY);
    }
    // Later leaves are heard of, too.
    const left = event(a.system, "left", (detail) => detail["node"] === "b");
    await b.system.shutdown();
    await left;
    for (const id of ids) expect((await a.desks.ref(id).ask("who", LONG))._unsafeUnwrap().node).toBe("a");
    await a.system.shutdown();
  }, 120_000);

  test("P17: a receiver that lives goes on: what is stored from then on is handled, and tried again where its handler fails", async () => {
    const { system, cluster } = await node("c");
    let failures = 0;
    const { ref, handled, calls } = spawnOrders(system, ({ poison }) => {
      if (poison === true && failures++ === 0) throw new Error("not yet");
    });
    await cluster.receiveDurable("orders", ref, { backoff: 1 });
    const orders = cluster.durable("orders", Orders);
    await orders.tell("place", { id: "before" });
    await calls(1);

    const rejoined = event(system, "joined", (detail) => detail["node"] === "c");
    await nats?.kill();
    await nats?.restart(true);
    await rejoined;
    for (const order of [{ id: "after-1" }, { id: "after-2", poison: true }, { id: "after-3" }]) {
      expect((await orders.tell("place", order, { timeout: 60_000 })).isOk()).toBe(true);
    }
    await calls(5);
    expect(handled.map(({ id }) => id)).toEqual(["before", "after-1", "after-2", "after-2", "after-3"]);
    await system.shutdown();
  }, 120_000);
});
