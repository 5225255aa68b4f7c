/** A node that owns a singleton if it falls to it, whose actor writes its epoch to the log of node `main`, again and again. */
import { createSystem } from "../../../src";
import { connectCluster } from "../../../src/nats";
import { Log, Writer } from "./protocols";

const [url = "", name = "", node = "", lease = ""] = process.argv.slice(2);
const system = createSystem({ logger: { warn() {}, error() {} } });
const cluster = await connectCluster(system, { servers: url, name, node, lease: Number(lease) });
const log = cluster.remote("main", "log", Log);
await cluster.singleton("writer", Writer, ({ epoch }) => (ctx) => ({
  begin() {
    ctx.timers.fixedDelay("write", 1, () => log.tell("write", { epoch, node }));
    return epoch;
  },
}));
console.log("ready");
