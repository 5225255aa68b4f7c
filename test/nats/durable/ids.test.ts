import { afterEach, describe, expect, test } from "bun:test";
import { connect } from "@nats-io/transport-node";
import { createSystem } from "../../../src";
import { connectCluster, deliveryOf } from "../../../src/nats";
import { event } from "../events";
import { hasNats, server } from "../rooms";
import { ids, node, type Order, Orders } from "./nodes";

const children: Bun.Subprocess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill("SIGKILL");
    await child.exited;
  }
});

interface Call {
  readonly to: string;
  readonly id: string;
  readonly mayRepeat: boolean | undefined;
}

/** The repeats that nobody marked. */
const faultsOf = (calls: readonly Call[]): readonly Call[] =>
  calls.filter(({ id, mayRepeat }, index) => mayRepeat !== true && calls.findIndex((each) => each.id === id) < index);

/** The orders to an id, in the order in which they came first. */
const firstOf = (calls: readonly Call[], to: string): readonly string[] => [
  ...new Set(calls.filter((call) => call.to === to).map(({ id }) => id)),
];

/** Calls `on` for each line of a program until it ends. */
async function linesOf(child: Bun.Subprocess<"ignore", "pipe">, on: (call: Call) => void): Promise<void> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const bytes of child.stdout) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) on(JSON.parse(line));
  }
}

describe.skipIf(!hasNats)("a durable send to the actor for an id", () => {
  /** Makes actors that note their calls. `all` resolves once each of some orders has come. */
  const noted = (wanted: readonly string[], handle: (order: Order) => unknown = () => undefined) => {
    const handled: Call[] = [];
    const left = new Set(wanted);
    const all = Promise.withResolvers<void>();
    const create = (to: string) => (ctx: { readonly metadata: Parameters<typeof deliveryOf>[0] }) => ({
      place: async (order: Order) => {
        handled.push({ to, id: order.id, mayRepeat: deliveryOf(ctx.metadata)?.mayRepeat });
        if (left.delete(order.id) && left.size === 0) all.resolve();
        await handle(order);
      },
      flush: () => undefined,
      watch: async function* () {},
    });
    return { handled, all: all.promise, create };
  };

  test("is stored while nobody serves the name, and handled once and in order for each id when somebody does", async () => {
    const { url } = await server();
    await using sender = await node("node-1", url);
    const shops = await sender.cluster.sharded("shop", Orders, undefined, { durable: true });
    const to = ids(12).map((id) => `shop-${id}`);
    const sent = await Promise.all(
      ids(120).map((id, index) => sender.cluster.durable(shops.ref(to[index % 12] ?? "")).tell("place", { id })),
    );
    expect(sent.every((each) => each.isOk())).toBe(true);
    await using owner = await node("node-2", url);
    const { handled, all, create } = noted(ids(120));
    await owner.cluster.sharded("shop", Orders, create, { durable: true });
    await all;
    expect(handled.every(({ mayRepeat }) => mayRepeat === false)).toBe(true);
    for (const [first, each] of to.entries()) {
      const expected = ids(120).filter((_, index) => index % 12 === first);
      expect(handled.filter((call) => call.to === each).map(({ id }) => id)).toEqual(expected);
    }
  });

  test("of poison becomes a dead letter of its id, and the next one is handled", async () => {
    const { url } = await server();
    await using one = await node("node-1", url);
    const { handled, all, create } = noted(["a", "b"], ({ poison }) => {
      if (poison === true) throw new Error("it is poison");
    });
    const only = await one.cluster.singleton("shop", Orders, () => create("one"), {
      durable: { attempts: 2, backoff: 1 },
    });
    const orders = one.cluster.durable(only);
    await Promise.all([orders.tell("place", { id: "a", poison: true }), orders.tell("place", { id: "b" })]);
    await all;
    expect(handled.map(({ id, mayRepeat }) => [id, mayRepeat])).toEqual([
      ["a", false],
      ["a", true],
      ["b", false],
    ]);
    const letters = await one.cluster.deadLetters(only);
    expect(letters).toMatchObject([{ receiver: only.address, payload: { id: "a" }, attempts: 2 }]);
    expect(letters[0]?.message).toContain("failed in its handler: Error: it is poison");
    expect(await one.cluster.deadLetters("shop")).toEqual(letters);
  });

  test("whose handler throws on another node than the one that took it: the log there says what, and the dead letter does not", async () => {
    const { url } = await server();
    const lines: string[] = [];
    const owning = createSystem({ logger: { warn: (line) => void lines.push(line), error() {} } });
    const owner = await connectCluster(owning, { servers: url, name: "shop", node: "owner" });
    await using taker = await node("taker", url);
    const nodes = new Map<string, string>();
    const create = (at: string) => (to: string) => () => ({
      place: () => {
        nodes.set(to, at);
        throw new Error(`the secret of ${to}`);
      },
      flush: () => undefined,
      watch: async function* () {},
    });
    await owner.sharded("shop", Orders, create("owner")); // It takes no durable messages itself.
    const shops = await taker.cluster.sharded("shop", Orders, create("taker"), { durable: { attempts: 1 } });
    let left = 8; // The log of a system has no more than ten lines a second.
    const given = Promise.withResolvers<void>();
    taker.system.events.subscribe(({ kind }) => {
      if ((kind as string) === "nats:dead-letter" && --left === 0) given.resolve();
    });
    for (const id of ids(8)) await taker.cluster.durable(shops.ref(id)).tell("place", { id });
    await given.promise;
    expect([...nodes.values()]).toContain("owner");
    for (const [id, at] of nodes) {
      const [letter] = await taker.cluster.deadLetters(shops.ref(id));
      const text = `failed in its handler: Error: the secret of ${id}`;
      expect(letter?.reason).toBe("handler-failed");
      expect(letter?.message.endsWith(text)).toBe(at === "taker");
      const logged = lines.filter((line) => line.endsWith(text));
      expect(logged).toHaveLength(at === "taker" ? 0 : 1);
      for (const line of logged) expect(line).toContain(`durable message "${letter?.id}" of node "taker"`);
    }
    await owning.shutdown();
  }, 60_000);

  test("is handled by the next owner once the process of the last one is killed, and marked if it had begun there", async () => {
    const { url } = await server();
    const child = Bun.spawn([process.execPath, `${import.meta.dir}/../programs/shop-node.ts`, url, "first"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    children.push(child);
    const calls: Call[] = [];
    const [ready, hanging] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const ended = linesOf(child, (call) => {
      if (call.id === "ready") return ready.resolve();
      calls.push(call);
      if (call.id === "hang") hanging.resolve();
    });
    await ready.promise;
    await using sender = await node("sender", url, { lease: 1_000 });
    const shops = await sender.cluster.sharded("shop", Orders, undefined, { durable: true });
    const to = (index: number) => sender.cluster.durable(shops.ref(`shop-${index % 5}`));
    const early = await Promise.all(ids(50).map((id, index) => to(index).tell("place", { id })));
    await to(3).tell("place", { id: "hang" });
    const late = await Promise.all(ids(50, 50).map((id, index) => to(index).tell("place", { id })));
    expect([...early, ...late].every((each) => each.isOk())).toBe(true);
    await hanging.promise;
    child.kill("SIGKILL");
    await ended;
    const before = calls.map(({ id }) => id);
    await using next = await node("next", url, { lease: 1_000 });
    const left = ids(100).filter((id) => !before.includes(id));
    const { handled, all, create } = noted([...left, "hang"]);
    await next.cluster.sharded("shop", Orders, create, { durable: { ackWait: 2_000, backoff: 1 } });
    await all;
    expect(faultsOf([...calls, ...handled])).toEqual([]);
    expect(handled).toContainEqual({ to: "shop-3", id: "hang", mayRepeat: true });
    for (const index of [0, 1, 2, 3, 4]) {
      const expected = ids(100).filter((_, each) => each % 5 === index);
      if (index === 3) expected.splice(10, 0, "hang");
      expect(firstOf([...calls, ...handled], `shop-${index}`)).toEqual(expected);
    }
  }, 60_000);

  test("while its shard is handed over is handled in order, and a repeat is marked", async () => {
    const { url } = await server();
    await using first = await node("first", url);
    const { handled, all, create } = noted(ids(1_000));
    const shops = await first.cluster.sharded("shop", Orders, create, { durable: true });
    const to = (index: number) => first.cluster.durable(shops.ref(`shop-${index % 10}`));
    const sending = (async () => {
      for (let from = 0; from < 1_000; from += 50) {
        const stored = await Promise.all(ids(50, from).map((id, index) => to(index).tell("place", { id })));
        expect(stored.every((each) => each.isOk())).toBe(true);
      }
    })();
    const second = await node("second", url);
    await second.cluster.sharded("shop", Orders, create, { durable: true });
    await sending;
    await second.system.shutdown();
    await all;
    expect(faultsOf(handled)).toEqual([]);
    for (const index of ids(10).keys()) {
      const expected = ids(1_000).filter((_, each) => each % 10 === index);
      expect(firstOf(handled, `shop-${index}`)).toEqual(expected);
    }
  }, 60_000);

  test("to an id whose actor cannot be made becomes a dead letter, and the next one is handled", async () => {
    const { url } = await server();
    await using one = await node("node-1", url);
    const { handled, all, create } = noted(["b"]);
    let isBroken = true;
    const only = await one.cluster.singleton(
      "shop",
      Orders,
      () => {
        if (isBroken) throw new Error("the disk is away");
        return create("one");
      },
      { durable: { attempts: 2, backoff: 1, handlerTimeout: 40 } },
    );
    const letter = event(one.system, "dead-letter");
    await one.cluster.durable(only).tell("place", { id: "a" });
    await letter;
    isBroken = false;
    await one.cluster.durable(only).tell("place", { id: "b" });
    await all;
    expect(handled.map(({ id }) => id)).toEqual(["b"]);
    const letters = await one.cluster.deadLetters(only);
    expect(letters).toMatchObject([{ reason: "unreachable", attempts: 2, payload: { id: "a" } }]);
    expect(letters[0]?.message).toContain('the actor of "shop" could not be made on node "node-1"');
  });

  test("that another program wrote without an id becomes a dead letter, and the next one is handled", async () => {
    const { url } = await server();
    await using one = await node("node-1", url);
    const { handled, all, create } = noted(["a", "c"]);
    const only = await one.cluster.singleton("shop", Orders, () => create("one"), { durable: true });
    await one.cluster.durable(only).tell("place", { id: "a" });
    const stranger = await connect({ servers: url });
    for (const i of [undefined, "", "x".repeat(600)]) {
      const letter = event(one.system, "dead-letter");
      const batch = JSON.stringify({ v: 1, n: "stranger", e: [{ o: "place", i, p: { id: "b" } }] });
      stranger.publish("envoi.shop.durable.shop.=0", batch);
      await letter;
    }
    await stranger.close();
    await one.cluster.durable(only).tell("place", { id: "c" });
    await all;
    expect(handled.map(({ id }) => id)).toEqual(["a", "c"]);
    const letters = await one.cluster.deadLetters("shop");
    expect(letters.map(({ reason, operation }) => [reason, operation])).toEqual(
      Array.from({ length: 3 }, () => ["unreadable", "place"]),
    );
  });

  test("is refused by a closed cluster, with the address of its id", async () => {
    const { url } = await server();
    const one = await node("node-1", url);
    const shops = await one.cluster.sharded("shop", Orders, undefined, { durable: true });
    const to = one.cluster.durable(shops.ref("a"));
    await one.system.shutdown();
    const refused = (await to.tell("place", { id: "o-1" }))._unsafeUnwrapErr();
    expect(refused.kind).toBe("unreachable");
    expect(refused.message).toContain("@(shop/shop/a)");
  });

  test("is refused with its reason, and the address of the actor", async () => {
    const { url } = await server({ config: "max_payload: 4096" });
    await using one = await node("node-1", url);
    const only = await one.cluster.singleton("shop", Orders, undefined, { durable: true });
    const orders = one.cluster.durable(only, { level: "replicated", capacity: 1 });
    const untyped = orders.tell.bind(orders) as (name: string, payload?: unknown) => ReturnType<typeof orders.tell>;
    const sent = [
      untyped("plaice"),
      untyped("place", { id: 7n }),
      untyped("place", { id: "x".repeat(4_000) }),
      untyped("place", { id: "a" }), // The level is not there.
      untyped("place", { id: "b" }),
    ];
    const errors = (await Promise.all(sent)).map((each) => (each.isErr() ? each.error : undefined));
    const kinds = ["unknown-operation", "invalid-payload", "payload-too-large", "unreachable", "mailbox-full"];
    expect(errors.map((error) => error?.kind)).toEqual(kinds as never);
    for (const error of errors) expect(error?.message).toContain(only.address);
  });

  test("is refused at once for a name that takes none, and for an actor of this node alone", async () => {
    const { url } = await server();
    await using one = await node("node-1", url);
    const shops = await one.cluster.sharded("shop", Orders);
    expect(() => one.cluster.durable(shops.ref("a"))).toThrow("{ durable: true }");
    const local = one.system.spawn("local", Orders, noted([]).create("local"));
    expect(() => one.cluster.durable(local)).toThrow("cluster.receiveDurable()");
    const early = one.cluster.sharded("other", Orders, noted([]).create, { durable: { ackWait: 500 } });
    expect(String(await early.catch((thrown) => thrown))).toContain("twice the lease");
  });
});
