/** A node that owns a singleton if it falls to it, whose actor writes its epoch to the log of node `main`, again and again. */
import { createSystem } from "../../../src";
import { connectCluster } from "../../../src/nats";
import { Connection } from "../../../src/nats/connection";
import { Log, Writer } from "./protocols";

const [url = "", name = "", node = "", lease = ""] = process.argv.slice(2);
// Its keys end as those of the cluster do. With a longer lease it believes in them for longer, as a node whose clock stands still does.
const { bucket } = Connection.prototype;
Connection.prototype.bucket = function (this: Connection, who, what, options) {
  return bucket.call(this, who, what, options.ttl === undefined ? options : { ...options, ttl: 1_000 });
};
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
