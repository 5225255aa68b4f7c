/** Three servers, three nodes and a caller under load, and all that may be done to them. The caller's process has the store and is never harmed. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NatsServer } from "../../../benchmarks/harness/nats-server";
import { createSystem } from "../../../src";
import { connectCluster } from "../../../src/nats";
import { checkLinearizable, counter } from "../../linearizable/linearizable";
import { Orders } from "../durable/nodes";
import { checkDeliveries, type DeliveryEvent } from "../faults/deliveries";
import { type FaultyProxy, startProxy, type Way } from "../faults/proxy";
import type { threeServers } from "../faults/three-servers";
import type { ChaosNode } from "../programs/chaos-node";
import { callOn, historyOf, KEYS } from "../programs/counting";
import { Counter, Store } from "../programs/protocols";
import { BY_NAME, eventOf, IDS, Noted, noteIn, pace, Sending } from "./load";

export type Servers = Awaited<ReturnType<typeof threeServers>>;
interface Write {
  readonly id: string;
  readonly epoch: number;
  readonly node: string;
  readonly count: number;
  readonly added?: number | undefined;
}
export type Breaks = ChaosNode["breaks"];
type Child = Bun.Subprocess<"pipe", "pipe", "inherit">;

/** The nodes. The last one reaches the servers through proxies. */
export const NODES = ["a", "b", "c"] as const;
export type NodeName = (typeof NODES)[number];
const BEHIND_PROXIES = "c";
/** For the addresses that servers tell of each other: nobody is there, so that a node stays behind its proxies. */
export const NOWHERE = 'client_advertise: "127.0.0.1:9"';
/** The time until a stall is taken for one, in milliseconds: no trouble takes so long, on a busy machine either. */
const STALLED = 120_000;
const quiet = { hookTimeout: 60_000, logger: { warn() {}, error() {} } };

export class Chaos {
  readonly proxies: readonly FaultyProxy[];
  readonly #servers: Servers;
  readonly #name: string;
  readonly #breaks: Breaks;
  readonly #folder = mkdtempSync(join(tmpdir(), "envoi-chaos-"));
  readonly #file = join(this.#folder, "deliveries");
  readonly #noted = new Noted(this.#file);
  readonly #children = new Map<NodeName, Child>();
  readonly #runs = new Map<NodeName, number>();
  readonly #system = createSystem(quiet);
  #cluster!: Awaited<ReturnType<typeof connectCluster>>; // `start` sets it.
  #sending!: Sending;
  #crashing!: Sending;
  #running: readonly Promise<void>[] = [];
  #isOver = false;
  #isClosed = false;
  #news = Promise.withResolvers<void>();
  /** The nodes that have ended their load. */
  readonly #stopped = new Set<NodeName>();
  /** The nodes of the next version that all counters have answered by its new operation. */
  readonly peeked = new Set<NodeName>();

  readonly #counts = new Map<string, { readonly epoch: number; readonly count: number }>();
  /** The nodes that wrote for an id at an epoch. */
  readonly #writers = new Map<string, Set<string>>();
  readonly #writes = new Map<string, number>();
  /** What was added to each id, in whichever order. */
  readonly #added = new Set<string>();
  /** Writes of an old epoch that the store took. */
  lateWrites = 0;

  constructor(servers: Servers, name: string, breaks: Breaks = []) {
    this.#servers = servers;
    this.#name = name;
    this.#breaks = breaks;
    this.proxies = servers.servers.map(({ port }) => startProxy(port));
  }

  /** Resolves once all nodes run and have written to all counters. */
  async start(): Promise<void> {
    const options = { servers: this.#servers.urls, name: this.#name, node: "main", lease: 1_000, replicas: 3 };
    this.#cluster = await connectCluster(this.#system, options);
    this.#system.events.subscribe(({ kind }) => {
      if ((kind as string) === "nats:joined" || (kind as string) === "nats:left") this.#tell();
    });
    const store = this.#system.spawn("store", Store, () => ({
      open: ({ id, epoch }) => {
        const { epoch: last = 0, count = 0 } = this.#counts.get(id) ?? {};
        this.#counts.set(id, { epoch: Math.max(epoch, last), count });
        return count;
      },
      write: (write) => this.#write(write),
    }));
    this.#cluster.expose("store", store);
    await Promise.all(NODES.map((node) => this.run(node)));
    const counters = await this.#cluster.sharded("counter", Counter);
    const shops = await this.#cluster.sharded("shop", Orders, undefined, { durable: true });
    const write = noteIn(this.#file);
    const note = (event: DeliveryEvent): void => {
      write(event);
      this.#tell();
    };
    this.#sending = new Sending(this.#cluster, shops, "main", note);
    this.#crashing = new Sending(this.#cluster, shops, "crash", note);
    const isOver = (): boolean => this.#isOver;
    this.#running = [
      callOn(join(this.#folder, "calls main"), "main", counters.ref, isOver, pace),
      this.#sending.run(isOver),
    ];
    await this.progress();
  }

  #write({ id, epoch, node, count, added }: Write): boolean {
    const { epoch: last = 0 } = this.#counts.get(id) ?? {};
    if (epoch < last) {
      if (!this.#breaks.includes("fence")) return false;
      this.lateWrites++;
    }
    this.#counts.set(id, { epoch: Math.max(epoch, last), count });
    const key = `${id} ${epoch}`;
    this.#writers.set(key, (this.#writers.get(key) ?? new Set()).add(node));
    this.#added.add(`${id} ${added}`);
    this.#writes.set(id, (this.#writes.get(id) ?? 0) + 1);
    this.#tell();
    return true;
  }

  // ——— What happens

  #tell(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }

  /** Resolves once it holds. Rejects when it does not for so long that it never will. */
  async until(holds: () => boolean): Promise<void> {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.#tell();
    }, STALLED);
    try {
      for (;;) {
        if (this.#isClosed || isLate) throw new Error(`${this.#name} stands still.`);
        this.#noted.read();
        if (holds()) return;
        await this.#news.promise;
      }
    } finally {
      clearTimeout(timer);
    }
  }

  get events(): readonly DeliveryEvent[] {
    return this.#noted.events;
  }

  /** Resolves once each counter was written anew, and messages were acknowledged and handled. */
  async progress(): Promise<void> {
    const before = new Map(this.#writes);
    const from = this.events.length;
    const happened = (kind: DeliveryEvent["kind"]): boolean =>
      this.events.slice(from).filter((event) => event.kind === kind).length >= 10;
    await this.until(
      () =>
        KEYS.every((key) => (this.#writes.get(key) ?? 0) > (before.get(key) ?? 0)) &&
        happened("acknowledged") &&
        happened("handled"),
    );
  }

  /** Resolves once a node has its lease, or has not any more. */
  isMember(node: NodeName, wanted: boolean): Promise<void> {
    return this.until(() => this.#cluster.members().includes(node) === wanted);
  }

  // ——— The nodes

  #child(node: NodeName): Child {
    const child = this.#children.get(node);
    if (child === undefined) throw new Error(`Node ${node} does not run.`);
    return child;
  }

  /** Starts a node, and waits until it serves. */
  async run(node: NodeName, isNext = false): Promise<void> {
    const number = (this.#runs.get(node) ?? 0) + 1;
    this.#runs.set(node, number);
    const settings: ChaosNode = {
      servers:
        node === BEHIND_PROXIES ? this.proxies.map(({ port }) => `nats://127.0.0.1:${port}`) : this.#servers.urls,
      cluster: this.#name,
      node,
      run: `${node}${number}`,
      folder: this.#folder,
      breaks: this.#breaks,
      isNext,
    };
    const program = join(import.meta.dir, "..", "programs", "chaos-node.ts");
    const child: Child = Bun.spawn([process.execPath, program, JSON.stringify(settings)], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#children.set(node, child);
    const ready = Promise.withResolvers<void>();
    const read = async (): Promise<void> => {
      let text = "";
      for await (const chunk of child.stdout) {
        text = text.slice(text.lastIndexOf("\n") + 1) + new TextDecoder().decode(chunk);
        if (text.includes("ready\n")) ready.resolve();
        if (text.includes("stopped\n")) this.#stopped.add(node);
        if (text.includes("peeked\n")) this.peeked.add(node);
        this.#tell();
      }
    };
    void read().finally(() => {
      ready.reject(new Error(`Node ${node} has ended.`));
      this.#tell();
    });
    await ready.promise;
  }

  async kill(node: NodeName): Promise<void> {
    const child = this.#child(node);
    child.kill("SIGKILL");
    await child.exited;
  }

  /** Stops a node in its tracks, or wakes it. */
  signal(node: NodeName, signal: "SIGSTOP" | "SIGCONT"): void {
    this.#child(node).kill(signal);
  }

  /** Ends a node in order, under load. */
  async end(node: NodeName): Promise<void> {
    const child = this.#child(node);
    child.stdin.end();
    void child.exited.then(() => this.#tell());
    await this.until(() => child.exitCode !== null || child.signalCode !== null);
    if (child.exitCode !== 0) throw new Error(`Node ${node} ended with ${child.signalCode ?? child.exitCode}.`);
  }

  /** Sends a message whose handler kills its node, and gives that node once it is dead. */
  async crash(): Promise<NodeName> {
    const pending = this.#crashing.send("s0", false);
    const node = await Promise.race(
      NODES.map(async (each) => {
        const child = this.#child(each);
        await child.exited;
        return each;
      }),
    );
    await pending;
    return node;
  }

  // ——— The servers, and the way to them

  /** Swallows all that goes one way between the node behind the proxies and the servers; the end of it cuts the connections that lost something. */
  swallow(way: Way, swallows: boolean): void {
    for (const proxy of this.proxies) {
      proxy.blackHole(way, swallows);
      if (!swallows) proxy.cut();
    }
  }

  leader(): Promise<NatsServer> {
    return this.#servers.leader(`KV_ENVOI_${this.#name}_owners`);
  }

  // ——— The end

  /** Ends the load, waits until all that is stored is handled, and gives what the checking programs find. */
  async verdict() {
    this.#isOver = true;
    for (const node of NODES) {
      const { stdin } = this.#child(node);
      stdin.write("stop\n");
      stdin.flush();
    }
    await Promise.all(this.#running);
    await this.until(() => NODES.every((node) => this.#stopped.has(node)));
    await this.#drain();
    for (const node of NODES) await this.end(node);
    const letters = [
      ...(await this.#cluster.deadLetters(BY_NAME, { limit: 100_000 })),
      ...(await this.#cluster.deadLetters("shop", { limit: 100_000 })),
    ];
    await this.#system.shutdown();
    const dead = letters.map(({ payload }): DeliveryEvent => {
      const { id } = payload as { id: string }; // All are orders.
      const { sender, receiver, number } = eventOf(id, false);
      return { kind: "dead letter", sender, receiver, number };
    });
    const calls = readdirSync(this.#folder).filter((file) => file.startsWith("calls "));
    const all = historyOf(calls.map((file) => join(this.#folder, file)));
    // The store knows what became of the calls whose callers do not: one that it never heard of had no effect.
    const history = all.filter(({ key, input, output }) => output !== undefined || this.#added.has(`${key} ${input}`));
    return {
      calls: history.length,
      messages: this.events.filter(({ kind }) => kind === "acknowledged").length,
      deadLetters: dead.length,
      refusal: checkLinearizable(counter, history),
      faults: checkDeliveries([...this.events, ...dead]),
      sharedEpochs: [...this.#writers].filter(([, nodes]) => nodes.size > 1),
      lateWrites: this.lateWrites,
    };
  }

  /** A last message to each receiver is handled after all that were stored before it. */
  async #drain(): Promise<void> {
    for (const receiver of [BY_NAME, ...IDS]) {
      if (!(await this.#sending.send(receiver, false)))
        throw new Error(`The last message to ${receiver} is not stored.`);
      const last = this.events.length;
      await this.until(() => this.events.length > last); // Its own lines are read.
      const { number } = this.events.findLast((event) => event.sender === "main" && event.receiver === receiver) ?? {};
      await this.until(() =>
        this.events.some(
          (event) =>
            event.kind === "handled" &&
            event.sender === "main" &&
            event.receiver === receiver &&
            event.number === number,
        ),
      );
    }
  }

  /** Ends all that is left, also after a failure. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isOver = this.#isClosed = true;
    this.#tell();
    for (const child of this.#children.values()) {
      child.kill("SIGKILL");
      await child.exited;
    }
    for (const proxy of this.proxies) proxy.close();
    await this.#system.shutdown();
    await Promise.all(this.#running);
    await this.#servers.ask(async (jsm) => {
      for await (const { config } of jsm.streams.list()) {
        if (config.name.includes(`ENVOI_${this.#name}_`)) await jsm.streams.delete(config.name);
      }
      return true;
    });
    this.#noted.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
