/** Runs a node that receives durable messages, and writes each call of its handler as a line: it is there to be killed. */
import { createSystem } from "../../../src";
import { connectCluster, deliveryOf } from "../../../src/nats";
import { Orders } from "../durable/nodes";

const [servers = "", name = "", crashAt = "", pauseAt = ""] = process.argv.slice(2);
const say = (line: object): Promise<number> => Bun.write(Bun.stdout, `${JSON.stringify(line)}\n`);

const system = createSystem({ logger: { warn() {}, error() {} } });
const cluster = await connectCluster(system, { servers: servers.split(","), name: "shop", node: name });
const ref = system.spawn("orders", Orders, (ctx) => ({
  place: async ({ id }) => {
    await say({ id, mayRepeat: deliveryOf(ctx.metadata)?.mayRepeat });
    if (id === crashAt) process.kill(process.pid, "SIGKILL");
    if (id === pauseAt) process.kill(process.pid, "SIGSTOP");
  },
  flush: () => undefined,
  watch: async function* () {},
}));
await cluster.receiveDurable("orders", ref, { ackWait: 500, backoff: 1 });
await say({ id: "ready" });
