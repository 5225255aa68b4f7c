import { describe, expect, test } from "bun:test";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { createSystem, defineProtocol, Type } from "../../../src";
import { connectCluster } from "../../../src/nats";
import { event } from "../events";
import { hasNats, server } from "../rooms";
import { copyDisk } from "./earlier";
import { startProxy } from "./proxy";
import { threeServers } from "./three-servers";

const Desk = defineProtocol("desk", { who: { reply: Type.Object({ node: Type.String(), epoch: Type.Number() }) } });
const IDS = Array.from({ length: 40 }, (_, index) => `desk-${index}`);
type Found = ReadonlyMap<string, { readonly node: string; readonly epoch: number }>;

/** Servers lose who owns what, while all nodes go on: with one copy of all, as is the default. */
describe.skipIf(!hasNats)("the owners of ids that the servers have lost", () => {
  async function joined(servers: string | readonly string[], name: string, node: string) {
    const system = createSystem({ hookTimeout: 30_000, logger: { warn() {}, error() {} } });
    const cluster = await connectCluster(system, { servers, name, node, lease: 1_000 });
    const desks = await cluster.sharded("desk", Desk, (_, { epoch }) => () => ({ who: () => ({ node, epoch }) }));
    const owners = async (): Promise<Found | undefined> => {
      const found = await Promise.all(
        IDS.map(async (id) => [id, (await desks.ref(id).ask("who", { timeout: 2_000 })).unwrapOr(undefined)] as const),
      );
      if (found.some(([, owner]) => owner === undefined)) return undefined;
      return new Map(found as [string, { node: string; epoch: number }][]); // None is undefined.
    };
    return { system, cluster, owners };
  }
  type Node = Awaited<ReturnType<typeof joined>>;

  /** Asks all nodes until they find the same owners. The test's timeout bounds it. */
  async function agreed(...nodes: readonly Node[]): Promise<Found> {
    for (;;) {
      const [first, ...others] = await Promise.all(nodes.map(({ owners }) => owners()));
      if (first !== undefined && others.every((each) => Bun.deepEquals(each, first))) return first;
      await Bun.sleep(100);
    }
  }

  const nodesOf = (found: Found): string[] => [...new Set([...found.values()].map(({ node }) => node))].sort();

  /** Another node finds the same owners, and each shard has a later epoch than before. */
  async function checkAnew(before: Found, nodes: readonly Node[], joinLate: () => Promise<Node>): Promise<void> {
    const after = await agreed(...nodes);
    for (const id of IDS)
      expect(after.get(id)?.epoch).toBeGreaterThan(before.get(id)?.epoch ?? Number.POSITIVE_INFINITY);
    const late = await joinLate();
    let found = await agreed(...nodes, late);
    while (!nodesOf(found).includes("late")) found = await agreed(...nodes, late); // It gets its share.
    for (const id of IDS) {
      const [first, last] = [after.get(id), found.get(id)];
      if (first?.node !== last?.node) expect(last?.epoch).toBeGreaterThan(first?.epoch ?? Number.POSITIVE_INFINITY);
    }
    for (const { system } of [...nodes, late]) await system.shutdown();
  }

  const gone = (nodes: readonly Node[]) => Promise.all(nodes.map(({ system }) => event(system, "gone")));

  test("P17: because somebody deleted their bucket: all nodes give up what they own, and share it anew", async () => {
    const { url } = await server();
    const nodes = [await joined(url, "deleted", "a"), await joined(url, "deleted", "b")];
    const before = await agreed(...nodes);
    const nc = await connect({ servers: url });
    const heard = gone(nodes);
    await (await jetstreamManager(nc)).streams.delete("KV_ENVOI_deleted_owners");
    await heard;
    await checkAnew(before, nodes, () => joined(url, "deleted", "late"));
    await nc.close();
  }, 120_000);

  test("P17: while a node joins: it claims nothing that another one may still hold", async () => {
    const { url } = await server();
    const [a, joining] = [await joined(url, "early", "a"), createSystem({ hookTimeout: 30_000 })];
    const cluster = await connectCluster(joining, { servers: url, name: "early", node: "b", lease: 1_000 });
    await agreed(a);
    const held = () => IDS.filter((id) => a.cluster.epochOf("desk", id) !== undefined);
    expect(held()).toEqual(IDS);
    const nc = await connect({ servers: url });
    await (await jetstreamManager(nc)).streams.delete("KV_ENVOI_early_owners");
    let heldByBoth: readonly string[] | undefined; // When it makes its first actor.
    const desks = await cluster.sharded("desk", Desk, (_, { epoch }) => {
      heldByBoth ??= held();
      return () => ({ who: () => ({ node: "b", epoch }) });
    });
    const first = async (): Promise<void> => {
      const asked = IDS.map((id) => desks.ref(id).ask("who", { timeout: 500 }));
      await Promise.all(asked);
      if (heldByBoth === undefined) await first();
    };
    await first();
    expect(heldByBoth).toEqual([]);
    await joining.shutdown();
    await a.system.shutdown();
    await nc.close();
  }, 120_000);

  test("P17: because one of three servers has lost its disk", async () => {
    const { urls, leader } = await threeServers("");
    const nodes = [await joined(urls, "disk", "a"), await joined(urls, "disk", "b")];
    const before = await agreed(...nodes);
    const heard = gone(nodes);
    const lost = await leader("KV_ENVOI_disk_owners");
    await lost?.kill();
    await lost?.restart(true);
    await heard;
    await checkAnew(before, nodes, () => joined(urls, "disk", "late"));
  }, 120_000);

  test("P17: because their server came back with what it had on its disk a while ago", async () => {
    const alone = await server();
    const nodes = [await joined(alone.url, "back", "a")];
    const goBack = copyDisk(alone);
    nodes.push(await joined(alone.url, "back", "b"));
    let before = await agreed(...nodes);
    while (nodesOf(before).length < 2) before = await agreed(...nodes); // Shards have moved since.
    const heard = gone(nodes);
    await goBack();
    await heard;
    await checkAnew(before, nodes, () => joined(alone.url, "back", "late"));
  }, 120_000);

  test("P17: and have others in their place by now: a node that was cut off meanwhile knows the owners", async () => {
    const alone = await server();
    const proxy = startProxy(alone.port);
    const nodes = [
      await joined(alone.url, "cut", "a"),
      await joined(`nats://127.0.0.1:${proxy.port}`, "cut", "b"),
    ] as const;
    const [a, b] = nodes;
    while (nodesOf(await agreed(...nodes)).length < 2) await Bun.sleep(100);
    const goBack = copyDisk(alone);
    const c = await joined(alone.url, "cut", "c");
    while (nodesOf(await agreed(...nodes, c)).length < 3) await Bun.sleep(100);
    proxy.refuse(true);
    proxy.cut();
    await goBack();
    await c.system.shutdown();
    while (nodesOf(await agreed(a)).join() !== "a") await Bun.sleep(100); // It has claimed all that is free.
    const isBack = event(a.system, "joined", ({ node }) => node === "b");
    proxy.refuse(false);
    await isBack;
    while (nodesOf(await agreed(...nodes)).length < 2) await Bun.sleep(100);
    for (const { system } of [a, b]) await system.shutdown();
    proxy.close();
  }, 120_000);
});
