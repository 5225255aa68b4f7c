import { createSystem, type Protocol, type Ref, type SignaturesOf, type System } from "../../src/index";
import { connectCluster, type DurableRef } from "../../src/nats/index";
import { spawnWorkers } from "../../src/workers/index";
import { event } from "../nats/events";
import { startProxy } from "../nats/faults/proxy";
import { Log, Subject } from "./protocols";

/** The place of the actors that are called, and a way to cut it off. */
export interface Place extends AsyncDisposable {
  /** The system of those who call. */
  readonly system: System;
  ref<Signatures>(name: string, protocol: Protocol<string, Signatures>): Ref<Signatures>;
  readonly durable: DurableRef<SignaturesOf<typeof Subject>> | undefined;
  /** Resolves once an actor there has said so. */
  heard(text: string): Promise<void>;
  /** Sends a durable message whose acknowledgement, or whose handler, is cut off. Resolves once the link may be cut. */
  interrupt(
    durable: DurableRef<SignaturesOf<typeof Subject>>,
  ): Promise<{ readonly stored: ReturnType<typeof durable.tell> }>;
  /** Resolves once this side knows of the cut. */
  cut(): Promise<void>;
  /** Resolves once all that was sent while the link was cut is lost or told, so that it may be mended. */
  spent(sent: readonly Promise<unknown>[], durable: readonly (Promise<unknown> | undefined)[]): Promise<unknown>;
  /** Resolves once this side knows that the link is back. */
  mend(): Promise<void>;
}

/** A system with an actor that hears what actors elsewhere say. */
function listening() {
  const system = createSystem({ logger: { warn() {}, error() {} }, hookTimeout: 60_000 });
  const notes: string[] = [];
  let changed = Promise.withResolvers<void>();
  const log = system.spawn("log", Log, () => ({
    note(text) {
      notes.push(text);
      changed.resolve();
      changed = Promise.withResolvers();
    },
  }));
  const heard = async (text: string): Promise<void> => {
    while (!notes.includes(text)) await changed.promise;
  };
  return { system, log, heard };
}

const turn = () => new Promise<void>((resolve) => setTimeout(resolve, 1));

/** A worker that dies, and is started again. */
export async function workerThatDies(as: "thread" | "process"): Promise<Place> {
  const { system, log, heard } = listening();
  const workers = await spawnWorkers(system, {
    entry: new URL("./worker.ts", import.meta.url),
    as,
    size: 1,
    exposes: { log },
    readyWithin: 60_000,
    heartbeatLimit: Number.POSITIVE_INFINITY,
    supervision: { backoff: { initial: 200 }, beyondLimit: "hold" },
  });
  const until = async (isReady: boolean): Promise<void> => {
    while ((workers.members[0]?.state === "ready") !== isReady) await turn();
  };
  const subject = workers.ref("subject", Subject);
  return {
    system,
    ref: (name, protocol) => workers.ref(name, protocol),
    durable: undefined,
    interrupt: () => Promise.reject(new Error("Workers have no durable sends.")),
    heard,
    cut() {
      const { pid } = workers.members[0] ?? {};
      if (as === "process" && pid !== undefined) process.kill(pid, "SIGKILL");
      else subject.tell("end");
      return until(false);
    },
    spent: (sent) => Promise.all(sent),
    mend: () => until(true),
    [Symbol.asyncDispose]: async () => void (await system.shutdown()),
  };
}

/** This node and one in another process; this one is connected through a proxy. */
async function twoNodes(url: string, lease: number) {
  const { system, log, heard } = listening();
  const proxy = startProxy(Number(new URL(url).port));
  const name = `seam-${crypto.randomUUID().slice(0, 8)}`;
  const servers = `nats://127.0.0.1:${proxy.port}`;
  const cluster = await connectCluster(system, { servers, name, node: "near", lease });
  cluster.expose("log", log);
  const startFar = async (): Promise<Bun.Subprocess> => {
    const program = [process.execPath, `${import.meta.dir}/node.ts`, url, name, String(lease)];
    const child = Bun.spawn(program, { stdio: ["ignore", "pipe", "inherit"] });
    await child.stdout.getReader().read(); // It is ready.
    return child;
  };
  let far = await startFar();
  return {
    proxy,
    system,
    heard,
    ref: <Signatures>(actor: string, protocol: Protocol<string, Signatures>) => cluster.remote("far", actor, protocol),
    durable: cluster.durable("subject", Subject),
    async kill(): Promise<void> {
      far.kill("SIGKILL");
      await far.exited;
    },
    async restart(): Promise<void> {
      far = await startFar();
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await system.shutdown();
      far.kill("SIGKILL");
      await far.exited;
      proxy.close();
    },
  };
}

/** A node that is killed, and started again. */
export async function nodeThatDies(url: string): Promise<Place> {
  const nodes = await twoNodes(url, 3_000);
  return {
    ...nodes,
    async interrupt(durable) {
      const stored = durable.tell("pay", "durable before");
      await nodes.heard("paying");
      return { stored };
    },
    async cut() {
      const left = event(nodes.system, "left", ({ node }) => node === "far");
      await nodes.kill();
      await left;
    },
    spent: (sent, durable) => Promise.all([...sent, ...durable]),
    mend: nodes.restart,
  };
}

/** This node's connection to its server is cut. It is back while the lease still runs, or when that has ended. */
export async function connectionThatIsCut(url: string, isLong: boolean): Promise<Place> {
  const nodes = await twoNodes(url, isLong ? 3_000 : 12_000);
  const { proxy, system } = nodes;
  return {
    ...nodes,
    async interrupt(durable) {
      proxy.blackHole("down", true);
      const stored = durable.tell("note", "durable before", { timeout: 60_000 });
      await proxy.swallowed("down", 1); // The acknowledgement of JetStream.
      return { stored };
    },
    async cut() {
      const known = event(system, isLong ? "gone" : "disconnected");
      proxy.refuse(true);
      proxy.cut();
      await known;
    },
    // The client forgets what was to leave when it tries to connect again.
    spent: (sent) => (isLong ? Promise.all(sent) : proxy.refused(2)),
    async mend() {
      const back = event(system, isLong ? "joined" : "reconnected");
      proxy.blackHole("down", false);
      proxy.refuse(false);
      await back;
    },
  };
}
