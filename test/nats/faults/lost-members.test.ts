import { describe, expect, test } from "bun:test";
import { createSystem, defineProtocol, Type } from "../../../src";
import { connectCluster } from "../../../src/nats";
import { event } from "../events";
import { hasNats, server } from "../rooms";
import { copyDisk } from "./earlier";

const Desk = defineProtocol("desk", { who: { reply: Type.String() } });

describe.skipIf(!hasNats)("a server that came back without its last leases", () => {
  test("P17: one node joins anew, another one has its lease all the same: they reach each other", async () => {
    const alone = await server();
    async function joined(node: string) {
      const system = createSystem({ logger: { warn() {}, error() {} } });
      const cluster = await connectCluster(system, { servers: alone.url, name: "leases", node });
      cluster.expose(
        "desk",
        system.spawn("desk", Desk, () => ({ who: () => node })),
      );
      return { system, cluster };
    }
    const a = await joined("a");
    const goBack = copyDisk(alone);
    const b = await joined("b");
    const [toB, toA] = [a.cluster.remote("b", "desk", Desk), b.cluster.remote("a", "desk", Desk)];
    expect((await toB.ask("who")).unwrapOr("")).toBe("b");
    // Each is an entry, of which both hear.
    for (const name of ["one", "two", "three", "four"])
      await b.cluster.singleton(name, Desk, () => () => ({ who: () => "b" }));

    const isBack = event(a.system, "joined", ({ node }) => node === "b");
    await goBack();
    await isBack;
    const asked = async (ref: typeof toA): Promise<string> => {
      const result = await ref.ask("who", { timeout: 500 });
      return result.isOk() ? result.value : await asked(ref); // The two meet anew. The test's timeout bounds it.
    };
    expect(await asked(toB)).toBe("b");
    expect(await asked(toA)).toBe("a");
    await b.system.shutdown();
    await a.system.shutdown();
  }, 30_000);
});
