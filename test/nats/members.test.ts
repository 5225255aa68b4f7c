import { describe, expect, test } from "bun:test";
import { Kvm } from "@nats-io/kv";
import { connect } from "@nats-io/transport-node";
import { createSystem, defineProtocol, type System, Type } from "../../src";
import { type Cluster, connectCluster } from "../../src/nats";
import { event } from "./events";
import { hasNats, server } from "./rooms";

describe.skipIf(!hasNats)("members", async () => {
  const { url } = hasNats ? await server() : { url: "" };
  const start = async (node: string, name: string): Promise<{ system: System; cluster: Cluster }> => {
    const system = createSystem({ logger: { warn() {}, error() {} } });
    return { system, cluster: await connectCluster(system, { servers: url, name, node, lease: 1_000 }) };
  };

  test("a node that joins is told to the others, and one that closes", async () => {
    const a = await start("a", "one");
    const joined = event(a.system, "joined", ({ node }) => node === "b");
    const b = await start("b", "one");
    await joined;
    expect(a.cluster.members()).toEqual(["a", "b"]);
    expect(b.cluster.members()).toEqual(["a", "b"]);
    const left = event(a.system, "left", ({ node }) => node === "b");
    await b.cluster.close();
    await left;
    expect(a.cluster.members()).toEqual(["a"]);
    await a.system.shutdown();
    await b.system.shutdown();
  });

  test("two nodes of one name are refused", async () => {
    const a = await start("a", "two");
    const system = createSystem();
    const thrown = await connectCluster(system, { servers: url, name: "two", node: "a", lease: 1_000 }).catch(
      (each) => each,
    );
    expect(String(thrown)).toContain('Node "a" of cluster "two" runs already');
    await system.shutdown();
    await a.system.shutdown();
  });

  test("a bucket that somebody made with other times is refused: its leases, or its owners, would end at other moments", async () => {
    const nc = await connect({ servers: url });
    const kvm = new Kvm(nc);
    await kvm.create("ENVOI_made-1_members", { ttl: 1_000 }); // Ends of leases leave no mark, so that nobody would hear of them.
    await kvm.create("ENVOI_made-2_owners", { ttl: 60_000 });
    await expect(start("a", "made-1")).rejects.toThrow(
      'The bucket "ENVOI_made-1_members" of cluster "made-1" was not made by nodes: its entries end after 1000 ms and leave a mark for 0 ms (0 for never and none), in place of 1000 and 60000. End all nodes, and delete it.',
    );
    const five = await start("a", "made-2");
    await expect(five.cluster.sharded("desk", defineProtocol("desk", {}))).rejects.toThrow("was not made by nodes");
    await five.system.shutdown();
    await nc.close();
  });

  test("a node with another lease than the cluster's is refused, and one with the same is taken", async () => {
    const a = await start("a", "lease");
    const system = createSystem();
    const thrown = await connectCluster(system, { servers: url, name: "lease", node: "b", lease: 5_000 }).catch(
      (each) => each,
    );
    expect(String(thrown)).toContain('cluster "lease" have a lease of 1000 ms, and node "b" asks for 5000 ms');
    expect(a.cluster.members()).toEqual(["a"]);
    const same = await connectCluster(system, { servers: url, name: "lease", node: "b", lease: 1_000 });
    expect(same.members()).toEqual(["a", "b"]);
    await system.shutdown();
    await a.system.shutdown();
  });

  test("a cluster that is closed has no members, and takes no names", async () => {
    const Desk = defineProtocol("desk", { who: { reply: Type.Number() } });
    const a = await start("a", "closed");
    await a.cluster.close();
    expect(a.cluster.members()).toEqual([]);
    await expect(a.cluster.sharded("desk", Desk)).rejects.toThrow('Cluster "closed" is closed: connect again');
    await a.system.shutdown();
  });

  test("a node that is killed leaves when its lease ends", async () => {
    const a = await start("a", "three");
    const program = `
      import { createSystem } from ${JSON.stringify(`${import.meta.dir}/../../src/index`)};
      import { connectCluster } from ${JSON.stringify(`${import.meta.dir}/../../src/nats/index`)};
      await connectCluster(createSystem(), { servers: ${JSON.stringify(url)}, name: "three", node: "b", lease: 1_000 });
    `;
    const joined = event(a.system, "joined", ({ node }) => node === "b");
    const child = Bun.spawn([process.execPath, "-e", program], {
      cwd: `${import.meta.dir}/../..`,
      stdio: ["ignore", "ignore", "inherit"],
    });
    await joined;
    const left = event(a.system, "left", ({ node }) => node === "b");
    child.kill("SIGKILL");
    await left;
    expect(a.cluster.members()).toEqual(["a"]);
    await a.system.shutdown();
  });

  test("P17: until the lease of a killed node has ended, the next one of its name takes nothing: asks are unreachable, and then answered", async () => {
    const Desk = defineProtocol("desk", { who: { reply: Type.Number() } });
    const a = await start("a", "restart");
    const program = `
      import { createSystem, defineProtocol, Type } from ${JSON.stringify(`${import.meta.dir}/../../src/index`)};
      import { connectCluster } from ${JSON.stringify(`${import.meta.dir}/../../src/nats/index`)};
      const Desk = defineProtocol("desk", { who: { reply: Type.Number() } });
      const cluster = await connectCluster(createSystem(), { servers: ${JSON.stringify(url)}, name: "restart", node: "b", lease: 1_000 });
      await cluster.sharded("desk", Desk, () => () => ({ who: () => process.pid }));
    `;
    const run = () =>
      Bun.spawn([process.execPath, "-e", program], {
        cwd: `${import.meta.dir}/../..`,
        stdio: ["ignore", "ignore", "inherit"],
      });
    const desks = await a.cluster.sharded("desk", Desk);
    const who = async (): Promise<number> => {
      for (;;) {
        const answer = await desks.ref("ada").ask("who");
        if (answer.isOk()) return answer.value;
        expect(answer.error).toMatchObject({ retryable: true });
      }
    };
    const joined = event(a.system, "joined", ({ node }) => node === "b");
    const first = run();
    await joined;
    expect(await who()).toBe(first.pid);
    first.kill("SIGKILL");
    await first.exited;
    const second = run();
    expect(await who()).toBe(second.pid);
    second.kill("SIGKILL");
    await a.system.shutdown();
  }, 30_000);

  test("a node that joins after another one has left is answered by a third that heard of it", async () => {
    const Door = defineProtocol("door", { knock: { reply: Type.String() } });
    const a = await start("a", "four");
    a.cluster.expose(
      "door",
      a.system.spawn("door", Door, () => ({ knock: () => "yes" })),
    );
    const left = event(a.system, "left", ({ node }) => node === "b");
    const first = await start("b", "four");
    await first.cluster.close();
    await left;
    for (const node of ["b", "c"]) {
      const { system, cluster } = await start(node, "four"); // One of the name that left, and a new one.
      const answer = await cluster.remote("a", "door", Door).ask("knock", { timeout: 10_000 });
      expect({ node, answer: answer.unwrapOr("no") }).toEqual({ node, answer: "yes" });
      await system.shutdown();
    }
    await first.system.shutdown();
    await a.system.shutdown();
  }, 60_000);
});
