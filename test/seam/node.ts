/** A node that exposes the actors, and receives durable messages. */
import { createSystem } from "../../src/index";
import { connectCluster } from "../../src/nats/index";
import { start } from "./actors";
import { Log } from "./protocols";

const [servers = "", name = "", lease = ""] = process.argv.slice(2);
const system = createSystem({ logger: { warn() {}, error() {} } });
const cluster = await connectCluster(system, { servers, name, node: "far", lease: Number(lease) });
const { subject, narrow } = start(system, cluster.remote("near", "log", Log));
cluster.expose("subject", subject);
cluster.expose("narrow", narrow);
await cluster.receiveDurable("subject", subject, { ackWait: 1_000 });
console.log("ready");
