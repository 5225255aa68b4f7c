/** A node that takes each message slower than they come, and writes what it got, and what it was told, as lines. */
import { appendFileSync, existsSync } from "node:fs";
import { createSystem } from "../../../src";
import { connectCluster, deliveryOf } from "../../../src/nats";
import { Orders } from "../durable/nodes";
import { Slow } from "./protocols";

const [servers = "", file = "", go = ""] = process.argv.slice(2);
const write = (line: object): void => appendFileSync(file, `${JSON.stringify(line)}\n`);
/** Holds the process, so that it reads nothing: until the file `go` is there, and then for 2 ms each time. */
const hold = (): void => {
  do Bun.sleepSync(2);
  while (!existsSync(go));
};

const system = createSystem({ logger: { warn() {}, error() {} } });
system.events.subscribe((event) => {
  if ((event.kind as string).startsWith("nats:")) write({ kind: event.kind });
});
const cluster = await connectCluster(system, { servers, name: "slow", node: "slow" });
const log = system.spawn("log", Slow, () => ({
  put({ number }) {
    hold();
    write({ put: number });
  },
  take({ number }) {
    hold();
    write({ take: number });
    return number;
  },
}));
cluster.expose("log", log);
const orders = system.spawn("orders", Orders, (ctx) => ({
  place({ id }) {
    Bun.sleepSync(2);
    write({ order: id, isMarked: deliveryOf(ctx.metadata)?.mayRepeat });
  },
  flush: () => undefined,
  watch: async function* () {},
}));
await cluster.receiveDurable("orders", orders);
console.log("ready");
await Bun.stdin.text();
await system.shutdown();
