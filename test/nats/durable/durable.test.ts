import { describe, expect, test } from "bun:test";
import { connect } from "@nats-io/transport-node";
import { createSystem, type DeliveryError, type PublishedEvent, type System } from "../../../src";
import { connectCluster } from "../../../src/nats";
import { startProxy } from "../faults/proxy";
import { hasNats, server } from "../rooms";
import { ids, node, Orders, spawnOrders } from "./nodes";

const errorOf = (result: { isErr(): boolean; error?: DeliveryError }) => (result.isErr() ? result.error : undefined);

const event = (system: System, kind: string): Promise<PublishedEvent> =>
  new Promise((resolve) => {
    const end = system.events.subscribe((each) => {
      if (each.kind !== `nats:${kind}`) return;
      end();
      resolve(each as PublishedEvent); // Its kind has a colon.
    });
  });

describe.skipIf(!hasNats)("a durable send", () => {
  test("is stored without a receiver, and handled when one comes, in order and on another node", async () => {
    const { url } = await server();
    await using sender = await node("node-1", url);
    await using receiver = await node("node-2", url);
    const orders = sender.cluster.durable("orders", Orders);
    const stored = await Promise.all(ids(500).map((id) => orders.tell("place", { id })));
    expect(stored.every((result) => result.isOk())).toBe(true);
    expect(stored[0]?._unsafeUnwrap()).toEqual({ level: "stored", sequence: 1, isDuplicate: false });
    expect(new Set(stored.map((result) => result._unsafeUnwrap().sequence)).size).toBe(1); // One turn, one JetStream message.
    const actor = spawnOrders(receiver.system);
    await receiver.cluster.receiveDurable("orders", actor.ref);
    await actor.calls(500);
    expect(actor.handled).toEqual(ids(500).map((id) => ({ id, attempt: 1, mayRepeat: false })));
  });

  test("takes the name of a message, and stores it once", async () => {
    const { url } = await server();
    await using one = await node("node-1", url);
    const orders = one.cluster.durable("orders", Orders);
    const first = await orders.tell("place", { id: "a" }, { id: "order-a" });
    const second = await orders.tell("place", { id: "a" }, { id: "order-a" });
    expect([first, second].map((result) => result._unsafeUnwrap().isDuplicate)).toEqual([false, true]);
    await orders.tell("place", { id: "b" });
    const actor = spawnOrders(one.system);
    await one.cluster.receiveDurable("orders", actor.ref);
    await actor.calls(2);
    expect(actor.handled.map(({ id }) => id)).toEqual(["a", "b"]);
  });

  test("carries metadata, and no sender sets those of the delivery", async () => {
    const { url } = await server();
    await using one = await node("node-1", url);
    const seen = Promise.withResolvers<unknown>();
    const ref = one.system.spawn("orders", Orders, (ctx) => ({
      place: () => seen.resolve(ctx.metadata),
      flush: () => undefined,
      watch: async function* () {},
    }));
    await one.cluster.receiveDurable("orders", ref);
    const metadata = { user: "Ada", "envoi.delivery": { attempt: 99 } };
    await one.cluster.durable("orders", Orders).tell("place", { id: "a" }, { metadata });
    expect(await seen.promise).toEqual({
      user: "Ada",
      "envoi.delivery": { id: expect.stringMatching(/^1-[0-9a-z]+\.0$/), from: "node-1", attempt: 1, mayRepeat: false },
    });
  });

  test("is refused with its reason before it leaves", async () => {
    const { url } = await server({ config: "max_payload: 4096" });
    await using one = await node("node-1", url);
    const orders = one.cluster.durable("orders", Orders);
    const untyped = orders.tell.bind(orders) as (
      operation: string,
      payload?: unknown,
    ) => ReturnType<typeof orders.tell>;
    expect(errorOf(await untyped("plaice"))).toMatchObject({ kind: "unknown-operation" });
    expect(errorOf(await untyped("watch"))).toMatchObject({ kind: "unknown-operation" });
    expect(errorOf(await untyped("place", { id: 7n }))).toMatchObject({
      kind: "invalid-payload",
      issues: [{ path: "/id" }],
    });
    expect(errorOf(await untyped("place", { id: "x".repeat(4_000) }))).toMatchObject({ kind: "payload-too-large" });
    const largest = "x".repeat(2_900);
    expect(
      (await Promise.all([orders.tell("place", { id: largest }), orders.tell("place", { id: largest })])).every(
        (each) => each.isOk(),
      ),
    ).toBe(true);
  });

  test("is refused at once beyond the capacity, and by a closed cluster", async () => {
    const { url } = await server();
    await using one = await node("node-1", url);
    const orders = one.cluster.durable("orders", Orders, { capacity: 2 });
    const [first, second, third] = await Promise.all(ids(3).map((id) => orders.tell("place", { id })));
    expect([first?.isOk(), second?.isOk()]).toEqual([true, true]);
    expect(errorOf(third as never)).toMatchObject({ kind: "mailbox-full", capacity: 2 });
    await one.cluster.close();
    expect(errorOf(await orders.tell("flush"))).toMatchObject({ kind: "unreachable" });
  });

  test("says within its time that JetStream is off", async () => {
    const { url } = await server({ jetstream: false });
    await using one = await node("node-1", url);
    const orders = one.cluster.durable("orders", Orders);
    const error = errorOf(await orders.tell("flush", { timeout: 300 }));
    expect(error).toMatchObject({ kind: "unreachable" });
    expect(error?.message).toContain("JetStream");
    const actor = spawnOrders(one.system);
    const thrown = await one.cluster.receiveDurable("orders", actor.ref).catch((each) => each);
    expect(String(thrown)).toContain("needs JetStream");
  });

  test("says that the stream is full, and goes on once there is room", async () => {
    const { url } = await server();
    await using one = await node("node-1", url);
    const orders = one.cluster.durable("orders", Orders);
    await orders.tell("place", { id: "a" });
    const { jetstreamManager } = await import("@nats-io/jetstream");
    const { connect } = await import("@nats-io/transport-node");
    const nc = await connect({ servers: url });
    const jsm = await jetstreamManager(nc);
    await jsm.streams.update("ENVOI_shop_durable", { max_msgs: 1 });
    const error = errorOf(await orders.tell("place", { id: "b" }));
    expect(error).toMatchObject({ kind: "unreachable" });
    expect(error?.message).toContain("maximum messages exceeded");
    const actor = spawnOrders(one.system);
    const receiver = await one.cluster.receiveDurable("orders", actor.ref);
    await actor.calls(1);
    await receiver.close();
    expect((await orders.tell("place", { id: "c" })).isOk()).toBe(true);
    await nc.close();
  });

  test("is refused where the cluster has less than its level", async () => {
    const { url } = await server();
    await using one = await node("node-1", url);
    const error = errorOf(await one.cluster.durable("orders", Orders, { level: "replicated" }).tell("flush"));
    expect(error?.message).toContain("replicas: 3");
    const synced = one.cluster.durable("orders", Orders, { level: "synced", serversSync: true });
    expect((await synced.tell("flush"))._unsafeUnwrap().level).toBe("synced");
  });

  test("behind a cut connection ends in time, as what nobody knows; it is stored once when the way is back", async () => {
    const { port } = await server();
    const proxy = startProxy(port);
    await using one = await node("node-1", `nats://127.0.0.1:${proxy.port}`);
    const orders = one.cluster.durable("orders", Orders);
    await orders.tell("place", { id: "a" });
    proxy.blackHole("down", true); // The message arrives, its acknowledgement does not.
    const lost = orders.tell("place", { id: "b" }, { timeout: 400 });
    const kept = orders.tell("place", { id: "c" }, { timeout: 30_000 });
    expect(errorOf(await lost)).toMatchObject({ kind: "timeout", timeout: 400 });
    proxy.blackHole("down", false);
    proxy.cut();
    expect((await kept)._unsafeUnwrap()).toMatchObject({ isDuplicate: false });
    const actor = spawnOrders(one.system);
    await one.cluster.receiveDurable("orders", actor.ref);
    await orders.tell("place", { id: "d" });
    await actor.calls(4);
    expect(actor.handled.map(({ id }) => id)).toEqual(["a", "b", "c", "d"]);
    await one.cluster.close();
    proxy.close();
  });

  test("that nobody answers ends by its timeout, however many tries were made", async () => {
    const { port } = await server();
    const proxy = startProxy(port);
    await using one = await node("node-1", `nats://127.0.0.1:${proxy.port}`);
    const timeout = 2_000; // That of two tries, of which the last one ends as its sender's time does.
    const refs = ids(20).map((name) => one.cluster.durable(name, Orders));
    for (const orders of refs) await orders.tell("place", { id: "a" }, { timeout });
    proxy.blackHole("up", true);
    const ended = await Promise.all(refs.map((orders) => orders.tell("place", { id: "b" }, { timeout })));
    expect(ended.map((each) => errorOf(each)?.kind)).toEqual(refs.map(() => "timeout"));
    proxy.blackHole("up", false);
    proxy.cut();
    await one.cluster.close();
    proxy.close();
  }, 30_000);

  test.each([
    [{ level: "safe" }, "level"],
    [{ capacity: 0 }, "capacity"],
  ])("the options %p are refused at once", async (options, says) => {
    const { url } = await server();
    await using one = await node("node-1", url);
    expect(() => one.cluster.durable("orders", Orders, options as never)).toThrow(says);
    const orders = one.cluster.durable("orders", Orders);
    expect(() => orders.tell("flush", { timeout: 0 })).toThrow("timeout");
  });
});

describe.skipIf(!hasNats)("a receiver of durable messages", () => {
  test("calls a handler that fails again, before the next message, and says so", async () => {
    const { url } = await server();
    await using one = await node("node-1", url);
    const actor = spawnOrders(one.system, (_, { attempt }) => {
      if (attempt < 3) throw new Error("not yet");
    });
    await one.cluster.receiveDurable("orders", actor.ref, { backoff: 1 });
    const orders = one.cluster.durable("orders", Orders);
    await Promise.all([orders.tell("place", { id: "a" }), orders.tell("place", { id: "b" })]);
    await actor.calls(6);
    const thrice = (id: string) => [1, 2, 3].map((attempt) => ({ id, attempt, mayRepeat: attempt > 1 }));
    expect(actor.handled).toEqual([...thrice("a"), ...thrice("b")]);
    expect(await one.cluster.deadLetters("orders")).toEqual([]);
  });

  test("makes a poison message a dead letter after its attempts, keeps it, and handles the next one", async () => {
    const { url } = await server();
    await using one = await node("node-1", url);
    const actor = spawnOrders(one.system, ({ poison }) => {
      if (poison === true) throw new Error("it is poison");
    });
    await one.cluster.receiveDurable("orders", actor.ref, { attempts: 3, backoff: 1 });
    const told = event(one.system, "dead-letter");
    const orders = one.cluster.durable("orders", Orders);
    await Promise.all([orders.tell("place", { id: "a", poison: true }), orders.tell("place", { id: "b" })]);
    await actor.calls(4);
    expect(actor.handled.map(({ id }) => id)).toEqual(["a", "a", "a", "b"]);
    expect((await told).detail).toMatchObject({ receiver: "orders", reason: "handler-failed" });
    const [letter, ...others] = await one.cluster.deadLetters("orders");
    expect(others).toEqual([]);
    expect(letter).toMatchObject({
      id: expect.stringMatching(/^1-[0-9a-z]+\.0$/),
      receiver: "orders",
      from: "node-1",
      operation: "place",
      payload: { id: "a", poison: true },
      reason: "handler-failed",
      attempts: 3,
    });
    expect(letter?.message).toContain("it is poison");
    if (letter !== undefined) await one.cluster.deleteDeadLetter(letter);
    expect(await one.cluster.deadLetters("orders")).toEqual([]);
  });

  test("makes what does not fit its protocol a dead letter at once", async () => {
    const { url } = await server();
    await using one = await node("node-1", url);
    const actor = spawnOrders(one.system);
    await one.cluster.receiveDurable("orders", actor.ref);
    const orders = one.cluster.durable("orders", Orders);
    await orders.tell("place", { id: 7 } as never); // What another version sends.
    await orders.tell("place", { id: "b" });
    await actor.calls(1);
    expect(actor.handled.map(({ id }) => id)).toEqual(["b"]);
    expect(await one.cluster.deadLetters("orders")).toMatchObject([
      { reason: "invalid-payload", payload: { id: 7 }, attempts: 1 },
    ]);
  });

  test("reads dead letters that a stranger has written as unreadable ones, which can be deleted", async () => {
    const { url } = await server();
    await using one = await node("node-1", url);
    const { ref, handled } = spawnOrders(one.system, () => {
      throw new Error("always");
    });
    await one.cluster.receiveDurable("orders", ref, { attempts: 1 });
    const letter = event(one.system, "dead-letter");
    await one.cluster.durable("orders", Orders).tell("place", { id: "o-1" });
    await letter;
    const stranger = await connect({ servers: url });
    for (const text of ["garbage", "null", "{}", "[".repeat(5_000)]) {
      await stranger.request("envoi.shop.dead.orders", text);
    }
    await stranger.close();
    const letters = await one.cluster.deadLetters("orders");
    expect(letters.map(({ reason }) => reason)).toEqual(["handler-failed", ...Array(4).fill("unreadable")]);
    for (const each of letters) await one.cluster.deleteDeadLetter(each);
    expect(await one.cluster.deadLetters("orders")).toEqual([]);
    expect(handled).toHaveLength(1);
  });

  test("makes what is no message a dead letter, too", async () => {
    const { url } = await server();
    await using one = await node("node-1", url);
    const actor = spawnOrders(one.system);
    await one.cluster.receiveDurable("orders", actor.ref);
    const { connect } = await import("@nats-io/transport-node");
    const nc = await connect({ servers: url });
    await nc.request("envoi.shop.durable.orders", '{"v":2}');
    await one.cluster.durable("orders", Orders).tell("place", { id: "b" });
    await actor.calls(1);
    const letters = await one.cluster.deadLetters("orders");
    expect(letters).toMatchObject([{ reason: "unreadable", payload: btoa('{"v":2}') }]);
    expect(letters[0]?.message).toContain("version 2");
    await nc.close();
  });

  test("waits for room in a full mailbox, and drops nothing", async () => {
    const { url } = await server();
    await using one = await node("node-1", url);
    const gate = Promise.withResolvers<void>();
    const began = Promise.withResolvers<void>();
    const handled: string[] = [];
    const all = Promise.withResolvers<void>();
    const ref = one.system.spawn(
      "orders",
      Orders,
      () => ({
        place: async ({ id }) => {
          if (id === "local") {
            began.resolve();
            await gate.promise;
          }
          handled.push(id);
          if (handled.length === 4) all.resolve();
        },
        flush: () => undefined,
        watch: async function* () {},
      }),
      { capacity: 1 },
    );
    ref.tell("place", { id: "local" });
    await began.promise;
    ref.tell("place", { id: "local-2" }); // It fills the mailbox.
    await one.cluster.receiveDurable("orders", ref);
    const orders = one.cluster.durable("orders", Orders);
    await Promise.all(ids(2).map((id) => orders.tell("place", { id })));
    gate.resolve();
    await all.promise;
    expect(handled.slice(-2)).toEqual([...ids(2)]);
  });

  test("several nodes share a name, and none overtakes", async () => {
    const { url } = await server();
    await using one = await node("node-1", url);
    await using two = await node("node-2", url);
    const order: string[] = [];
    const all = Promise.withResolvers<void>();
    const note = ({ id }: { id: string }) => {
      order.push(id);
      if (order.length === 200) all.resolve();
    };
    await one.cluster.receiveDurable("orders", spawnOrders(one.system, note).ref);
    await two.cluster.receiveDurable("orders", spawnOrders(two.system, note).ref);
    const orders = one.cluster.durable("orders", Orders);
    for (const id of ids(200)) await orders.tell("place", { id });
    await all.promise;
    expect(order).toEqual([...ids(200)]);
  });

  test("misspelt options are refused with what to write instead", async () => {
    const { url } = await server();
    await using system = createSystem();
    const cluster = await connectCluster(system, { servers: url, name: "shop", node: "node-1" });
    const actor = spawnOrders(system);
    const thrown = await cluster.receiveDurable("orders", actor.ref, { attempt: 3 } as never).catch((each) => each);
    expect(String(thrown)).toContain('no option "attempt"');
  });
});
