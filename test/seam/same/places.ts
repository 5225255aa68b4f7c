import { type AnyRef, createSystem, type Protocol, type Ref } from "../../../src/index";
import { connectCluster } from "../../../src/nats/index";
import { spawnWorkers } from "../../../src/workers/index";
import { start } from "./actors";
import type { Place } from "./caller";

const QUIET = { logger: { warn() {}, error() {} }, hookTimeout: 60_000 };

export async function inOneProcess(): Promise<Place> {
  const system = createSystem(QUIET);
  const actors = new Map<string, AnyRef>(Object.entries(start(system)));
  return {
    system,
    // Each name stands for the actor of its protocol.
    ref: <Signatures>(name: string, _: Protocol<string, Signatures>) => actors.get(name) as Ref<Signatures>,
    [Symbol.asyncDispose]: async () => void (await system.shutdown({ timeout: 0 })),
  };
}

export async function overWorkers(as: "thread" | "process"): Promise<Place> {
  const system = createSystem(QUIET);
  const entry = new URL("./worker.ts", import.meta.url);
  const workers = await spawnWorkers(system, { entry, as, size: 1, readyWithin: 60_000, leaveWithin: 100 });
  return {
    system,
    ref: (name, protocol) => workers.ref(name, protocol),
    [Symbol.asyncDispose]: async () => void (await system.shutdown()),
  };
}

export async function overNats(servers: string): Promise<Place> {
  const [system, far] = [createSystem(QUIET), createSystem(QUIET)];
  const near = await connectCluster(system, { servers, name: "same", node: "near" });
  const cluster = await connectCluster(far, { servers, name: "same", node: "far" });
  for (const [name, ref] of Object.entries(start(far))) cluster.expose(name, ref);
  return {
    system,
    ref: <Signatures>(name: string, protocol: Protocol<string, Signatures>) => near.remote("far", name, protocol),
    async [Symbol.asyncDispose]() {
      await system.shutdown();
      await far.shutdown({ timeout: 0 });
    },
  };
}
