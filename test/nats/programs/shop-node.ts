/** A node that serves the ids of "shop" and writes each call of a handler as a line. The order `hang` never ends. It is there to be killed. */
import { createSystem } from "../../../src";
import { connectCluster, deliveryOf } from "../../../src/nats";
import { Orders } from "../durable/nodes";

const [servers = "", node = ""] = process.argv.slice(2);
const say = (line: object): Promise<number> => Bun.write(Bun.stdout, `${JSON.stringify(line)}\n`);

const system = createSystem({ logger: { warn() {}, error() {} } });
const cluster = await connectCluster(system, { servers, name: "shop", node, lease: 1_000 });
await cluster.sharded(
  "shop",
  Orders,
  (to) => (ctx) => ({
    async place({ id }) {
      await say({ to, id, mayRepeat: deliveryOf(ctx.metadata)?.mayRepeat });
      if (id.startsWith("hang")) await new Promise(() => {});
    },
    flush: () => undefined,
    watch: async function* () {},
  }),
  { durable: { ackWait: 2_000, backoff: 1 } },
);
await say({ to: "", id: "ready" });
