import { describe, expect, test } from "bun:test";
import { connect } from "@nats-io/transport-node";
import { createSystem } from "../../src";
import { connectCluster } from "../../src/nats";
import { hasNats, server } from "./rooms";

/** Turns of the event loop that each take what the servers said meanwhile at once, for longer than a lease takes to end or a loss to be found. */
const TURNS = 400;
/** Changes that others make in each. */
const CHANGES = 5;

describe.skipIf(!hasNats)("a node in a busy process", () => {
  test("P17: takes nothing for lost that is heard while the servers say how far they are", async () => {
    const { url } = await server();
    const system = createSystem({ logger: { warn() {}, error() {} } });
    const gone: unknown[] = [];
    system.events.subscribe((event) => event.kind === "nats:gone" && gone.push(event));
    const cluster = await connectCluster(system, { servers: url, name: "busy", node: "a", lease: 1_000 });
    const nc = await connect({ servers: url });
    for (let turn = 0; turn < TURNS; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
      // A question that left in this turn is answered between two changes, and all of that is read at once.
      for (let change = 0; change < CHANGES; change++) {
        nc.publish("$KV.ENVOI_busy_members.other", `${turn} ${change}`);
        await new Promise<void>((resolve) => queueMicrotask(resolve)); // It leaves.
        Bun.sleepSync(2);
      }
    }
    expect(gone).toEqual([]);
    expect(cluster.members()).toEqual(["a"]);
    await nc.close();
    await system.shutdown();
  }, 60_000);
});
