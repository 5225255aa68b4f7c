/** A node of a cluster in a process of its own: `node.ts URL CLUSTER NODE`. It exposes a desk, and serves the singleton `keeper`. */
import { createSystem } from "envoi";
import { connectCluster } from "envoi/nats";
import { createDesk, Desk } from "../desk";
import { Keeper } from "./keeper";

const [servers = "", name = "", node = ""] = process.argv.slice(2);
const system = createSystem({ logger: { warn() {}, error() {} } });
const cluster = await connectCluster(system, { servers, name, node });
cluster.expose("desk", system.spawn("desk", Desk, createDesk));
await cluster.singleton("keeper", Keeper, () => () => ({ where: () => node }));
process.stdout.write("here\n");
