import { describe, expect, test } from "bun:test";
import { Kvm } from "@nats-io/kv";
import { connect } from "@nats-io/transport-node";
import { createSystem, defineProtocol, type System, Type } from "../../src";
import { type Cluster, connectCluster, type Lease, type ShardedOptions } from "../../src/nats";
import { shardOf, winnerOf } from "../../src/nats/shards";
import { event } from "./events";
import { hasNats, server } from "./rooms";

const Cart = defineProtocol("cart", {
  who: { reply: Type.String() },
  wait: { reply: Type.String() },
});
const LONG = { timeout: 60_000 };

/** An id whose shard moves to node b when that joins a. */
const movingId = (seed = 0): string => {
  for (let number = seed; ; number++) {
    if (winnerOf(["a", "b"], "cart", shardOf(`cart-${number}`, 64)) === "b") return `cart-${number}`;
  }
};

describe.skipIf(!hasNats)("ids over the cluster", async () => {
  const { url } = hasNats ? await server() : { url: "" };

  async function join(name: string, node: string, hookTimeout = 60_000): Promise<{ system: System; cluster: Cluster }> {
    const system = createSystem({ hookTimeout, logger: { warn() {}, error() {} } });
    return { system, cluster: await connectCluster(system, { servers: url, name, node, lease: 1_000 }) };
  }

  /** Serves carts; `wait` answers once it is released, or never. */
  const serve = async ({ cluster }: { cluster: Cluster }, options: ShardedOptions = {}) => {
    const begun = Promise.withResolvers<Lease>();
    const aborted = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const carts = await cluster.sharded(
      "cart",
      Cart,
      (_, lease) => (ctx) => ({
        who: () => cluster.node,
        async wait() {
          begun.resolve(lease);
          ctx.onAbort(() => aborted.resolve());
          await released.promise;
          return cluster.node;
        },
      }),
      options,
    );
    return { carts, begun: begun.promise, aborted: aborted.promise, release: () => released.resolve() };
  };

  test("P10: one that was made again as it stopped is drained like any before its shard moves", async () => {
    const [id, other] = [movingId(), movingId(100)];
    const [a, b] = [await join("moves-1", "a"), await join("moves-1", "b")];
    let [running, most, stops] = [0, 0, 0];
    const again = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const create = (node: string) => (at: string) => () => ({
      who: () => node,
      async wait() {
        most = Math.max(most, ++running);
        if (node === "a") {
          again.resolve();
          await released.promise;
        }
        running--;
        return node;
      },
      onStop() {
        if (at === id && stops++ === 0) slow = carts.ref(id).ask("wait", LONG); // It is made again at once.
      },
    });
    let slow: Promise<unknown> | undefined;
    const carts = await a.cluster.sharded("cart", Cart, create("a"), { idle: 100 });
    await carts.ref(id).ask("who", LONG);
    await again.promise;
    const those = await b.cluster.sharded("cart", Cart, create("b"));
    while ((await those.ref(other).ask("who", LONG))._unsafeUnwrap() !== "b"); // Others have moved.
    const asked = those.ref(id).ask("wait", LONG);
    while ((await those.ref(other).ask("who", LONG))._unsafeUnwrap() !== "b"); // It would be handled by now.
    released.resolve();
    expect((await asked).isOk()).toBe(true);
    await slow;
    expect(most).toBe(1);
    await a.system.shutdown();
    await b.system.shutdown();
  }, 60_000);

  test("a node that stood still beyond its lease claims its shards again, each time", async () => {
    const a = await join("moves-2", "a");
    const { carts } = await serve(a);
    for (let round = 0; round < 5; round++) {
      const gone = event(a.system, "gone");
      const back = event(a.system, "joined");
      Bun.sleepSync(1_200);
      await gone;
      await back;
      expect((await carts.ref("ada").ask("who", LONG))._unsafeUnwrap()).toBe("a");
    }
    await a.system.shutdown();
  }, 60_000);

  test("a handler that never ends holds up neither the way back of its node nor the caller, beyond drainTimeout", async () => {
    const a = await join("moves-3", "a");
    const { carts, begun, aborted } = await serve(a, { drainTimeout: 200 });
    const waiting = carts.ref("ada").ask("wait", { timeout: Number.POSITIVE_INFINITY });
    const lease = await begun;
    const back = event(a.system, "joined");
    Bun.sleepSync(1_200);
    expect((await waiting)._unsafeUnwrapErr().kind).toBe("timeout");
    await aborted;
    await back;
    expect((await carts.ref("bob").ask("who", LONG))._unsafeUnwrap()).toBe("a");
    expect(lease.isHeld).toBe(false);
    await a.system.shutdown({ timeout: 0 });
  }, 60_000);

  test("a handler that never ends holds its shard for drainTimeout, and then the next owner has it", async () => {
    const id = movingId();
    const a = await join("moves-4", "a");
    const { carts, begun, aborted } = await serve(a, { drainTimeout: 200 });
    const waiting = carts.ref(id).ask("wait", LONG);
    const lease = await begun;
    const b = await join("moves-4", "b");
    const { carts: those } = await serve(b);
    await aborted;
    // One that has come to the former owner waits there for the end of the handler.
    const answer = async (): Promise<string> => (await those.ref(id).ask("who", { timeout: 500 })).unwrapOr("");
    while ((await answer()) !== "b");
    expect(lease.isHeld).toBe(false);
    expect(b.cluster.epochOf("cart", id)).toBeGreaterThan(lease.epoch);
    await a.system.shutdown({ timeout: 0 });
    expect((await waiting).isErr()).toBe(true);
    await b.system.shutdown();
  }, 60_000);

  test("P18: entries that no node wrote are passed over and told, and a shard without an owner is claimed", async () => {
    const a = await join("moves-5", "a");
    const { carts } = await serve(a);
    expect((await carts.ref("ada").ask("who", LONG))._unsafeUnwrap()).toBe("a");
    const nc = await connect({ servers: url });
    const told: unknown[] = [];
    a.system.events.subscribe((each) => each.kind === "nats:error" && told.push(each));
    const members = await new Kvm(nc).open("ENVOI_moves-5_members");
    const owners = await new Kvm(nc).open("ENVOI_moves-5_owners");
    const strange = [
      "garbage",
      "null",
      "{}",
      '{"incarnation":"x"}',
      '{"incarnation":"x","serves":{"cart":5}}',
      "[".repeat(5_000),
    ];
    for (const text of strange) await members.put("strange", text);
    await members.put("odd.name", '{"incarnation":"x","serves":{}}');
    const shard = `cart.${shardOf("ada", 64)}`;
    const first = a.cluster.epochOf("cart", "ada") ?? 0;
    for (const text of [
      "garbage",
      "7",
      "{}",
      '{"node":"a b","incarnation":"x"}',
      '{"node":"c","incarnation":"x","epoch":"y"}',
    ]) {
      await owners.put(shard, text);
    }
    while ((a.cluster.epochOf("cart", "ada") ?? first) === first) await carts.ref("ada").ask("who", LONG);
    await owners.delete(shard);
    const second = a.cluster.epochOf("cart", "ada") ?? 0;
    while ((a.cluster.epochOf("cart", "ada") ?? second) === second) await carts.ref("ada").ask("who", LONG);
    expect((await carts.ref("ada").ask("who", LONG))._unsafeUnwrap()).toBe("a");
    const b = await join("moves-5", "b"); // It reads them at its start.
    await serve(b);
    expect(b.cluster.members()).toEqual(["a", "b"]);
    expect(told.length).toBeGreaterThan(5);
    await nc.close();
    await b.system.shutdown();
    await a.system.shutdown();
  }, 60_000);

  test("a system joins the same cluster again, and serves the same names", async () => {
    const { system, cluster } = await join("moves-6", "a");
    await serve({ cluster });
    await cluster.close();
    expect(() =>
      cluster.expose(
        "x",
        system.spawn("x", Cart, () => ({ who: () => "", wait: () => "" })),
      ),
    ).toThrow('Cluster "moves-6" is closed: connect again for cluster.expose.');
    expect(() => cluster.remote("b", "x", Cart)).toThrow("connect again for cluster.remote");
    const again = await connectCluster(system, { servers: url, name: "moves-6", node: "a", lease: 1_000 });
    const { carts } = await serve({ cluster: again });
    expect((await carts.ref("ada").ask("who", LONG))._unsafeUnwrap()).toBe("a");
    await system.shutdown();
  });

  test("options that cannot be are refused, and leave the name free; so are ids that some node could not have", async () => {
    const a = await join("moves-7", "a");
    for (const options of [{ idle: -1 }, { waiting: 0 }, { drainTimeout: 0 }, { durable: 7 }, { idel: 7 }]) {
      await expect(serve(a, options as ShardedOptions)).rejects.toThrow();
    }
    const { carts } = await serve(a);
    expect((await carts.ref("x".repeat(400)).ask("who", LONG))._unsafeUnwrap()).toBe("a");
    expect(() => carts.ref("x".repeat(450))).toThrow(/An id of "cart" has at most 4\d\d characters/);
    await a.system.shutdown();
  });
});
