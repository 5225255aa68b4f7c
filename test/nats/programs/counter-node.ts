/** A node that owns some of the counters, and calls all of them until its input ends. `broken` leaves the fence out. */
import { createSystem } from "../../../src";
import { connectCluster } from "../../../src/nats";
import { Members } from "../../../src/nats/members";
import { callOn } from "./counting";
import { Counter, Store } from "./protocols";

const [servers = "", name = "", node = "", file = "", replicas = "", variant = ""] = process.argv.slice(2);
const isBroken = variant === "broken";
// Actors go on after the lease of their node has ended.
if (isBroken) Members.prototype.onGone = () => undefined;
/** For ever, in milliseconds: a handler that waits for the store must not keep the node from joining anew. */
const WAIT = 3_600_000;

const system = createSystem({ hookTimeout: WAIT, logger: { warn() {}, error() {} } });
const cluster = await connectCluster(system, {
  servers: servers.split(","),
  name,
  node,
  lease: 1_000,
  replicas: Number(replicas) as 1 | 3,
});
const store = cluster.remote("main", "store", Store);
const counters = await cluster.sharded("counter", Counter, (id, lease) => () => {
  let count: number | undefined;
  return {
    async add(added) {
      const { epoch } = lease;
      count ??= (await store.ask("open", { id, epoch }, { timeout: WAIT }))._unsafeUnwrap();
      if (added !== 0) {
        const written = await store.ask("write", { id, epoch, node, count: count + added }, { timeout: WAIT });
        if (!written._unsafeUnwrap()) throw new Error("A later owner has written.");
        count += added;
      }
      if (!isBroken && !lease.isHeld) throw new Error("Another node may own it.");
      return count;
    },
  };
});
let isOver = false;
console.log("ready");
const callers = [0, 1].map((caller) => callOn(file, `${node}-${caller}`, counters.ref, () => isOver));
await Bun.stdin.text();
isOver = true;
await Promise.all(callers);
await system.shutdown();
