/**
 * A node of the chaos: it serves counters and orders, calls and sends, until a line comes, and serves on until its input ends. The word `crash` in the name
 * of an order kills it, once. `breaks` names the parts that are broken on purpose.
 */
import { existsSync, writeFileSync } from "node:fs";
import { createSystem, ok, type Ref, type SignaturesOf } from "../../../src";
import { connectCluster, deliveryOf, type Lease } from "../../../src/nats";
import { Outbox } from "../../../src/nats/durable/outbox";
import { Members } from "../../../src/nats/members";
import { Nodes } from "../../../src/nats/nodes";
import { BY_NAME, DURABLE, eventOf, noteIn, pace, Sending } from "../chaos/load";
import { Orders } from "../durable/nodes";
import { callOn, KEYS } from "./counting";
import { Counter, NextCounter, Store } from "./protocols";

/** The settings of a node, as JSON. */
export interface ChaosNode {
  readonly servers: readonly string[];
  readonly cluster: string;
  readonly node: string;
  /** Another name for each process. */
  readonly run: string;
  readonly folder: string;
  readonly breaks: readonly ("fence" | "marks" | "outbox")[];
  /** True for the next version of the program, which says when all counters have answered to its new operation. */
  readonly isNext: boolean;
}

const settings: ChaosNode = JSON.parse(process.argv[2] ?? "");
const { servers, node, run, folder, breaks } = settings;
const isFenced = !breaks.includes("fence");
if (!isFenced) {
  // Actors go on after the lease of their node has ended, and what comes of them is taken.
  Members.prototype.onGone = () => undefined;
  Nodes.prototype.admits = () => true;
}
if (breaks.includes("outbox")) {
  const { add } = Outbox.prototype;
  Outbox.prototype.add = function (this: Outbox, message) {
    void add.call(this, message);
    return Promise.resolve(ok({ level: "replicated", sequence: 0, isDuplicate: false })); // It is not stored yet.
  };
}
/** For ever, in milliseconds: a handler that waits for the store must not keep the node from joining anew. */
const WAIT = 3_600_000;

const system = createSystem({ hookTimeout: WAIT, logger: { warn() {}, error() {} } });
const note = noteIn(`${folder}/deliveries`);
/** Says that something is new in the files, and once only for all of a turn. */
let isSaid = false;
const say = (): void => {
  if (isSaid) return;
  isSaid = true;
  setImmediate(() => {
    isSaid = false;
    process.stdout.write("news\n");
  });
};
const cluster = await connectCluster(system, { servers, name: settings.cluster, node, lease: 1_000, replicas: 3 });
const store = cluster.remote("main", "store", Store);
const counterOf = (id: string, lease: Lease): ((added: number) => Promise<number>) => {
  let count: number | undefined;
  return async (added) => {
    const { epoch } = lease;
    count ??= (await store.ask("open", { id, epoch }, { timeout: WAIT }))._unsafeUnwrap();
    if (added !== 0) {
      const write = { id, epoch, node, count: count + added, added };
      const written = await store.ask("write", write, { timeout: WAIT });
      if (!written._unsafeUnwrap()) throw new Error("A later owner has written.");
      count += added;
    }
    if (isFenced && !lease.isHeld) throw new Error("Another node may own it.");
    return count;
  };
};
let isOver = false;
const isStopped = (): boolean => isOver;
/** Asks each counter by the new operation, until all have answered. */
async function peek(of: (id: string) => Ref<SignaturesOf<typeof NextCounter>>): Promise<void> {
  for (const key of KEYS) {
    while ((await of(key).ask("peek", { timeout: 60_000 })).isErr()) {
      if (isOver) return;
      await pace();
    }
  }
  process.stdout.write("peeked\n");
}
async function serveCounters(): Promise<(id: string) => Ref<SignaturesOf<typeof Counter>>> {
  if (!settings.isNext) {
    const add = (id: string, lease: Lease) => () => ({ add: counterOf(id, lease) });
    return (await cluster.sharded("counter", Counter, add)).ref;
  }
  const { ref } = await cluster.sharded("counter", NextCounter, (id, lease) => () => {
    const add = counterOf(id, lease);
    return { add: (added) => add(Number(added)), peek: () => add(0) };
  });
  void peek(ref);
  return (id) => ref(id) as Ref<SignaturesOf<typeof Counter>>; // It takes what that version takes, and answers so.
}
const counters = await serveCounters();
const orders = (ctx: { readonly metadata: Parameters<typeof deliveryOf>[0] }) => ({
  place({ id, poison }: { id: string; poison?: boolean }) {
    note(eventOf(id, !breaks.includes("marks") && deliveryOf(ctx.metadata)?.mayRepeat === true));
    say();
    const crashed = `${folder}/crashed`;
    if (id.startsWith("crash") && !existsSync(crashed)) {
      writeFileSync(crashed, node);
      process.kill(process.pid, "SIGKILL");
    }
    if (poison === true) throw new Error("It is poison.");
  },
  flush: () => undefined,
  watch: async function* () {},
});
const shops = await cluster.sharded("shop", Orders, () => orders, { durable: DURABLE });
await cluster.receiveDurable(BY_NAME, system.spawn("orders", Orders, orders), DURABLE);
process.stdout.write("ready\n");
const running = [
  callOn(`${folder}/calls ${run}`, run, counters, isStopped, pace),
  new Sending(cluster, shops, run, (event) => {
    note(event);
    say();
  }).run(isStopped),
];
for await (const _ of process.stdin) {
  isOver = true;
  await Promise.all(running);
  process.stdout.write("stopped\n");
}
isOver = true;
await system.shutdown();
await Promise.all(running);
