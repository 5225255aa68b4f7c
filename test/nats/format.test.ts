import { describe, expect, test } from "bun:test";
import { Kvm } from "@nats-io/kv";
import { connect } from "@nats-io/transport-node";
import { createSystem, defineProtocol, Type } from "../../src";
import { connectCluster } from "../../src/nats";
import { event } from "./events";
import { hasNats, server } from "./rooms";

const Desk = defineProtocol("desk", { who: { reply: Type.Number() } });
const ELSE = JSON.stringify({ incarnation: "v2:another", serves: { desk: "desk 1 1" }, and: "more" });

describe.skipIf(!hasNats)("nodes of a version of envoi that say something in another format", async () => {
  const { url } = hasNats ? await server() : { url: "" };
  const plain = hasNats ? (await server({ jetstream: false })).url : "";
  const join = async (name: string, node: string, servers = url) => {
    const system = createSystem({ logger: { warn() {}, error() {} } });
    return { system, cluster: await connectCluster(system, { servers, name, node }) };
  };

  test("are no members for a node that runs, which says so once", async () => {
    const a = await join("format-1", "a");
    const nc = await connect({ servers: url });
    const members = await new Kvm(nc).open("ENVOI_format-1_members");
    const told: unknown[] = [];
    a.system.events.subscribe(({ kind, ...rest }) => {
      if ((kind as string) === "nats:error" || (kind as string) === "nats:joined") told.push(rest);
    });
    await members.put("b", ELSE);
    await members.put("b", ELSE); // Its lease is renewed.
    const joined = event(a.system, "joined", ({ node }) => node === "c");
    await members.put("c", JSON.stringify({ incarnation: "v1:here", serves: {} })); // Is heard behind them.
    await joined;
    expect(a.cluster.members()).toEqual(["a", "c"]);
    expect(told).toMatchObject([
      { detail: { text: expect.stringContaining('Node "b" of cluster "format-1" has format 2') } },
      { detail: { node: "c" } },
    ]);
    await nc.close();
    await a.system.shutdown();
  });

  test("refuse a node that would join them, which leaves nothing behind; once they are gone, it is taken", async () => {
    const a = await join("format-2", "a");
    const nc = await connect({ servers: url });
    const members = await new Kvm(nc).open("ENVOI_format-2_members");
    await members.put("old", ELSE);
    const system = createSystem();
    const options = { servers: url, name: "format-2", node: "b" };
    await expect(connectCluster(system, options)).rejects.toThrow(
      'Node "old" of cluster "format-2" has format 2 of what nodes say to each other, and node "b" has format 1: run one version of envoi on all nodes, or begin a cluster of another name.',
    );
    const left = await members.get("b");
    expect([left?.operation ?? "PURGE", a.cluster.members()]).toEqual(["PURGE", ["a"]]);
    await members.purge("old");
    await connectCluster(system, options);
    await system.shutdown();
    await nc.close();
    await a.system.shutdown();
  });

  test("are unreachable without JetStream, too, and nothing that they say is taken", async () => {
    const a = await join("format-3", "a", plain);
    const nc = await connect({ servers: plain });
    nc.subscribe("envoi.format-3.contact.b.*", { callback: (_, message) => void message.respond("v2:another") });
    await nc.flush();
    const answer = await a.cluster.remote("b", "desk", Desk).ask("who");
    expect(answer._unsafeUnwrapErr()).toMatchObject({
      kind: "unreachable",
      cause: { cause: { message: expect.stringContaining('node "b" has another format (2) than this node (1)') } },
    });
    const incarnation = (await nc.request("envoi.format-3.contact.a.b", "")).string();
    const answered: string[] = [];
    nc.subscribe("envoi.format-3.to.b.a", { callback: (_, message) => void answered.push(message.string()) });
    for (const from of ["v2:another", "another"])
      nc.publish("envoi.format-3.to.a.b", `text ${from} ${incarnation} 1 1 0\n[]`);
    nc.publish("envoi.format-3.to.a.b", `text v1:here another 1 1 0\n[]`); // Is answered: it speaks to one that is not here.
    await nc.flush();
    while (answered.length === 0) await Bun.sleep(5); // The test's timeout bounds it.
    expect(answered).toEqual([`stranger ${incarnation} v1:here 0 0 0\n`]);
    await nc.close();
    await a.system.shutdown();
  });
});
