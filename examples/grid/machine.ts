/** A machine of the grid: a node of the cluster with workers of its own. machines.ts starts it, and kills it. */
import { createSystem } from "envoi";
import { connectCluster } from "envoi/nats";
import { spawnWorkers } from "envoi/workers";
import { type FromMachine, laneOf, type MachineOptions, NODE_OF_STORE, TO_LEAVE } from "./machines";
import { Counter, Store } from "./protocols";

const options = JSON.parse(process.argv[2] ?? "{}") as MachineOptions; // Written by machines.ts.
const { servers, cluster: name, node, lanes, workers: size, threads } = options;
const send = (message: FromMachine): unknown => process.connected && process.send?.(message);
const say = (line: string): unknown => send({ kind: "say", line: `${node}: ${line}` });

process.on("disconnect", () => process.exit(1)); // Nobody is left to work for.
let leave = (): unknown => process.exit(0); // It has nothing yet.
process.on("message", (message) => message === TO_LEAVE && leave());

const system = createSystem({ name: node, logger: { warn: say, error: say } });
const cluster = await connectCluster(system, { servers, name, node });
leave = async () => {
  await cluster.close(); // Each running page is finished, and those behind it stay stored.
  await system.shutdown();
  process.exit(0);
};
const workers = await spawnWorkers(system, {
  entry: new URL("./worker.ts", import.meta.url),
  size,
  as: threads ? "thread" : "process",
  exposes: { store: cluster.remote(NODE_OF_STORE, "store", Store) },
  readyWithin: 60_000,
});
const counter = workers.pool("counter", Counter, { routing: "least-busy" });
for (let lane = 0; lane < lanes; lane++) {
  // A page is tried until it is in the store. What a dead machine held goes to another one after a second.
  await cluster.receiveDurable(laneOf(lane), counter, { attempts: 1_000_000, ackWait: 1_000 });
}
send({ kind: "ready" });
