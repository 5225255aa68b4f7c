import { afterEach, describe, expect, test } from "bun:test";
import { createSystem, defineProtocol, refSchema, type System, type Terminated, Type } from "../../src";
import { type Cluster, connectCluster } from "../../src/nats";
import { event } from "./events";
import { startProxy } from "./faults/proxy";
import { hasNats, server } from "./rooms";

const Desk = defineProtocol("desk", { who: { reply: Type.Number() }, stop: {} });
const Watcher = defineProtocol("watcher", { watch: { payload: refSchema(Desk), reply: Type.Null() } });

const quiet = { logger: { warn() {}, error() {} } };
const children: Bun.Subprocess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill("SIGKILL");
    await child.exited;
  }
});

describe.skipIf(!hasNats)("a watch of an actor on another node", async () => {
  const { url, port } = hasNats ? await server() : { url: "", port: 0 };
  const { url: plain } = hasNats ? await server({ jetstream: false }) : { url: "" };

  const join = async (name: string, node: string, servers = url): Promise<{ system: System; cluster: Cluster }> => {
    const system = createSystem(quiet);
    return { system, cluster: await connectCluster(system, { servers, name, node, lease: 1_000 }) };
  };

  /** A node in a process of its own, with a desk. */
  const startDesk = async (name: string, servers = url): Promise<Bun.Subprocess> => {
    const program = `
      import { createSystem, defineProtocol, Type } from ${JSON.stringify(`${import.meta.dir}/../../src/index`)};
      import { connectCluster } from ${JSON.stringify(`${import.meta.dir}/../../src/nats/index`)};
      const system = createSystem();
      const cluster = await connectCluster(system, { servers: "${servers}", name: "${name}", node: "b", lease: 1_000 });
      const Desk = defineProtocol("desk", { who: { reply: Type.Number() }, stop: {} });
      cluster.expose("desk", system.spawn("desk", Desk, (ctx) => ({ who: () => process.pid, stop: () => void ctx.stop() })));
      console.log("ready");
    `;
    const child = Bun.spawn([process.execPath, "-e", program], { stdio: ["ignore", "pipe", "inherit"] });
    children.push(child);
    await child.stdout.getReader().read(); // It is ready.
    return child;
  };

  /** Watches the desk of node b by an actor, and gives its ends. */
  const watching = async ({ system, cluster }: { system: System; cluster: Cluster }) => {
    const desk = cluster.remote("b", "desk", Desk);
    const told: Terminated[] = [];
    let heard = Promise.withResolvers<void>();
    const watcher = system.spawn(`watcher-${crypto.randomUUID()}`, Watcher, (ctx) => ({
      watch(ref) {
        ctx.watch(ref, (end) => {
          told.push(end);
          heard.resolve();
        });
        return null;
      },
    }));
    const watch = async () => void (await watcher.ask("watch", desk));
    await watch();
    const next = async (): Promise<Terminated | undefined> => {
      while (told.length === 0) {
        await heard.promise;
        heard = Promise.withResolvers();
      }
      return told.shift();
    };
    return { desk, watch, next };
  };

  test("is told unreachable once the lease of a killed node has ended; the reference lives on, and a new watch is told, too", async () => {
    const first = await startDesk("watch-1");
    const a = await join("watch-1", "a");
    const { desk, watch, next } = await watching(a);
    expect((await desk.ask("who"))._unsafeUnwrap()).toBe(first.pid);
    const left = event(a.system, "left", ({ node }) => node === "b");
    first.kill("SIGKILL");
    const { reason, error, address } = (await next()) ?? {};
    expect({ reason, address }).toEqual({ reason: "unreachable", address: desk.address });
    expect(String(error)).toContain('node "b" has left, or its lease has ended');
    await left; // Not before.
    const second = await startDesk("watch-1");
    expect((await desk.ask("who"))._unsafeUnwrap()).toBe(second.pid);
    await watch();
    desk.tell("stop");
    expect((await next())?.reason).toBe("stopped");
    await a.system.shutdown();
  }, 60_000);

  test("is told unreachable when the system of its node shuts down, and the reference reaches the next one", async () => {
    const a = await join("watch-4", "a");
    const { desk, next } = await watching(a);
    for (const number of [1, 2]) {
      const b = await join("watch-4", "b");
      b.cluster.expose(
        "desk",
        b.system.spawn("desk", Desk, () => ({ who: () => number, stop() {} })),
      );
      expect((await desk.ask("who"))._unsafeUnwrap()).toBe(number);
      await b.system.shutdown();
      if (number === 1) expect((await next())?.reason).toBe("unreachable");
    }
    await a.system.shutdown();
  }, 60_000);

  test("that begins while nobody is there is told at once, and goes on once the node is back", async () => {
    const a = await join("watch-5", "a");
    const never = await watching(a);
    expect(String((await never.next())?.error)).toContain('node "b" is not in cluster "watch-5"');
    const b = await startDesk("watch-5");
    expect((await never.desk.ask("who"))._unsafeUnwrap()).toBe(b.pid);
    await never.watch();
    never.desk.tell("stop");
    expect((await never.next())?.reason).toBe("stopped");
    await a.system.shutdown();
  }, 60_000);

  test("is told the stop of an actor that its node exposed later, with no message to it before", async () => {
    const a = await join("watch-6", "a");
    const joined = event(a.system, "joined", ({ node }) => node === "b");
    const b = await join("watch-6", "b");
    await joined;
    const { desk, next } = await watching(a);
    expect((await desk.ask("who"))._unsafeUnwrapErr().kind).toBe("no-recipient");
    const clerk = b.system.spawn("clerk", Desk, () => ({ who: () => 1, stop() {} }));
    b.cluster.expose("desk", clerk);
    await b.system.stop(clerk);
    expect((await next())?.reason).toBe("stopped");
    await Promise.all([a.system.shutdown(), b.system.shutdown()]);
  }, 60_000);

  test("without JetStream is told once nobody serves the node", async () => {
    const first = await startDesk("watch-2", plain);
    const a = await join("watch-2", "a", plain);
    const { desk, next } = await watching(a);
    expect((await desk.ask("who"))._unsafeUnwrap()).toBe(first.pid);
    first.kill("SIGKILL");
    await first.exited;
    await desk.ask("who"); // Nobody takes it.
    expect((await next())?.reason).toBe("unreachable");
    await a.system.shutdown();
  }, 60_000);

  test("is told the stop after this node was cut off for longer than its lease, though it sends nothing any more", async () => {
    await startDesk("watch-3");
    const proxy = startProxy(port);
    const a = await join("watch-3", "a", `nats://127.0.0.1:${proxy.port}`);
    const other = await join("watch-3", "other");
    const { desk, next } = await watching(a);
    await desk.ask("who");
    const gone = event(a.system, "gone");
    proxy.refuse(true);
    proxy.cut();
    await gone;
    const back = event(a.system, "joined", ({ node }) => node === "a");
    proxy.refuse(false);
    await back;
    const exposed = other.cluster.remote("b", "desk", Desk);
    exposed.tell("stop");
    expect((await next())?.reason).toBe("stopped");
    await a.system.shutdown();
    await other.system.shutdown();
    proxy.close();
  }, 60_000);
});
