import { describe, expect, test } from "bun:test";
import { type AnyRef, createSystem, defineProtocol, refSchema, type System, Type } from "../../src";
import { type Cluster, connectCluster } from "../../src/nats";
import { hasNats, server } from "./rooms";

const Counter = defineProtocol("counter", {
  add: { payload: Type.Number() },
  total: { reply: Type.Number() },
  slow: { reply: Type.Number() },
  count: { payload: Type.Number(), stream: Type.Number() },
  who: { reply: Type.Unknown() },
});
const Greeter = defineProtocol("greeter", { greet: { payload: refSchema(Counter), reply: Type.Number() } });

interface Node {
  readonly system: System;
  readonly cluster: Cluster;
}

async function node(url: string, name: string): Promise<Node> {
  const system = createSystem({ name, logger: { warn() {}, error() {} } });
  return { system, cluster: await connectCluster(system, { servers: url, name: "grid", node: name }) };
}

function counter({ system, cluster }: Node, onSlow: () => void = () => undefined): AnyRef {
  let total = 0;
  const ref = system.spawn("counter", Counter, (ctx) => ({
    add(amount) {
      total += amount;
    },
    total: () => total,
    slow() {
      onSlow();
      return new Promise<number>(() => undefined);
    },
    async *count(most) {
      for (let number = 1; number <= most; number++) yield number;
    },
    who: () => ctx.metadata?.["envoi.node"],
  }));
  cluster.expose("counter", ref);
  return ref;
}

describe.skipIf(!hasNats)("two nodes", async () => {
  const { url } = hasNats ? await server({ jetstream: false, config: "max_payload: 65536" }) : { url: "" };

  async function both(run: (a: Node, b: Node) => Promise<void>): Promise<void> {
    const [a, b] = [await node(url, "a"), await node(url, "b")];
    try {
      await run(a, b);
    } finally {
      await a.system.shutdown();
      await b.system.shutdown();
    }
  }

  test("P2: asks, tells and streams reach an exposed actor, in order", () =>
    both(async (a, b) => {
      counter(b);
      const remote = a.cluster.remote("b", "counter", Counter);
      for (let number = 1; number <= 1_000; number++) remote.tell("add", number);
      expect((await remote.ask("total"))._unsafeUnwrap()).toBe(500_500);
      expect(await Array.fromAsync(remote.stream("count", 100, { credit: 8 }))).toHaveLength(100);
      expect((await remote.ask("who"))._unsafeUnwrap()).toBe("a");
    }));

  test("P18: what is not exposed is not reached", () =>
    both(async (a, b) => {
      b.system.spawn("hidden", Counter, () => ({
        add() {},
        total: () => 1,
        slow: () => 1,
        async *count() {},
        who: () => 1,
      }));
      const result = await a.cluster.remote("b", "hidden", Counter).ask("total");
      expect(result._unsafeUnwrapErr().kind).toBe("no-recipient");
    }));

  test("a reference in a payload is one on the other node", () =>
    both(async (a, b) => {
      const ref = counter(a);
      const greeter = b.system.spawn("greeter", Greeter, (ctx) => ({
        async greet(its) {
          its.tell("add", 7);
          return (await ctx.ask(its, "total"))._unsafeUnwrap();
        },
      }));
      b.cluster.expose("greeter", greeter);
      const result = await a.cluster.remote("b", "greeter", Greeter).ask("greet", ref as never); // Of that protocol.
      expect(result._unsafeUnwrap()).toBe(7);
    }));

  test("P17: a node that nobody serves is unreachable at once, and is reached once it is there", async () => {
    const a = await node(url, "a");
    const remote = a.cluster.remote("b", "counter", Counter);
    const lost = await remote.ask("total", { timeout: 60_000 });
    expect(lost._unsafeUnwrapErr().kind).toBe("unreachable");
    const letter = new Promise((resolve) => a.system.router.deadLetters.subscribe(({ reason }) => resolve(reason)));
    remote.tell("add", 1); // It never leaves.
    expect(await letter).toBe("unreachable");
    const b = await node(url, "b");
    counter(b);
    expect((await remote.ask("total"))._unsafeUnwrap()).toBe(0);
    await a.system.shutdown();
    await b.system.shutdown();
  });

  test("P17: what a node that is killed has begun to handle fails as timeout, since nobody knows", async () => {
    const a = await node(url, "a");
    const program = `
      import { createSystem, defineProtocol, Type } from ${JSON.stringify(`${import.meta.dir}/../../src/index`)};
      import { connectCluster } from ${JSON.stringify(`${import.meta.dir}/../../src/nats/index`)};
      const system = createSystem();
      const cluster = await connectCluster(system, { servers: ${JSON.stringify(url)}, name: "grid", node: "killed" });
      const Slow = defineProtocol("slow", { slow: { reply: Type.Number() } });
      const slow = system.spawn("slow", Slow, () => ({ slow: () => (console.log("begun"), new Promise(() => {})) }));
      cluster.expose("slow", slow);
      console.log("ready");
    `;
    const child = Bun.spawn([process.execPath, "-e", program], {
      cwd: `${import.meta.dir}/../..`,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const lines = child.stdout.getReader();
    await lines.read(); // It is ready.
    const Slow = defineProtocol("slow", { slow: { reply: Type.Number() } });
    const waits = a.cluster.remote("killed", "slow", Slow).ask("slow", { timeout: 60_000 });
    await lines.read(); // It has begun.
    child.kill("SIGKILL");
    const { kind, message } = (await waits)._unsafeUnwrapErr();
    expect({ kind, message }).toEqual({ kind: "timeout", message: expect.stringContaining('"killed"') });
    await a.system.shutdown();
  }, 60_000);

  test("P17: what waits at a node that goes fails as timeout, what comes later is unreachable, and the next node of its name is reached", async () => {
    const a = await node(url, "a");
    const b = await node(url, "b");
    const { promise: begun, resolve: onSlow } = Promise.withResolvers<void>();
    counter(b, onSlow);
    const remote = a.cluster.remote("b", "counter", Counter);
    const waiting = remote.ask("slow", { timeout: 60_000 });
    await begun;
    await b.cluster.close();
    remote.tell("add", 1); // Nobody takes it: so it is known that the node has gone.
    expect((await waiting)._unsafeUnwrapErr().kind).toBe("timeout");
    expect((await remote.ask("total", { timeout: 60_000 }))._unsafeUnwrapErr().kind).toBe("unreachable");
    const next = await node(url, "b");
    counter(next);
    expect((await remote.ask("total"))._unsafeUnwrap()).toBe(0);
    for (const { system } of [a, b, next]) await system.shutdown({ timeout: 0 });
  });

  test("the end of an actor over there is the end of its reference here", () =>
    both(async (a, b) => {
      const there = counter(b);
      const remote = a.cluster.remote("b", "counter", Counter);
      expect((await remote.ask("total"))._unsafeUnwrap()).toBe(0);
      await b.system.stop(there);
      expect((await remote.ask("total"))._unsafeUnwrapErr().kind).toMatch(/stopped|no-recipient/);
    }));

  test("a payload beyond what the server takes is refused before it is sent", () =>
    both(async (a, b) => {
      const Text = defineProtocol("text", { take: { payload: Type.String(), reply: Type.Number() } });
      b.cluster.expose(
        "text",
        b.system.spawn("text", Text, () => ({ take: (text) => text.length })),
      );
      const remote = a.cluster.remote("b", "text", Text);
      expect((await remote.ask("take", "x".repeat(60_000)))._unsafeUnwrap()).toBe(60_000);
      expect((await remote.ask("take", "x".repeat(70_000)))._unsafeUnwrapErr().kind).toBe("payload-too-large");
      const many = await Promise.all([1, 2, 3, 4].map(() => remote.ask("take", "x".repeat(40_000)))); // More than one text.
      expect(many.map((result) => result._unsafeUnwrap())).toEqual([40_000, 40_000, 40_000, 40_000]);
    }));
});
