import { heapStats } from "bun:jsc";
import { describe, expect, test } from "bun:test";
import { createTopic, defineProtocol, type PoolOptions, spawnPool, Type } from "../../src/index";
import { expectBalance, reasonsOf, testSystems } from "../actor/test-system";

const { createTestSystem } = testSystems();

const Reader = defineProtocol("reader", {
  take: { payload: Type.Number() },
  seen: { reply: Type.Array(Type.Number()) },
  pause: {},
  numbers: { payload: Type.Number(), stream: Type.Number() },
});

function spawnReader(system: ReturnType<typeof createTestSystem>["system"], name: string, options = {}) {
  return system.spawn(
    name,
    Reader,
    () => {
      const seen: number[] = [];
      return {
        take(item) {
          seen.push(item);
        },
        seen: () => seen,
        pause: () => new Promise<void>(() => {}),
        *numbers() {},
      };
    },
    options,
  );
}

describe("topics", () => {
  test("P2: every subscriber gets every item, in the order in which they were published", async () => {
    const { system, clock } = createTestSystem();
    const topic = createTopic<number>("numbers");
    const readers = ["a", "b", "c"].map((name) => spawnReader(system, name));
    for (const reader of readers) topic.subscribe(reader, "take");
    expect(topic.size).toBe(3);
    for (let i = 0; i < 100; i++) topic.publish(i);
    await clock.settle();
    const all = Array.from({ length: 100 }, (_, i) => i);
    for (const reader of readers) expect((await reader.ask("seen"))._unsafeUnwrap()).toEqual(all);
  });

  test("P11: a slow subscriber loses by its own policy, and the others nothing", async () => {
    const { system, clock, deadLetters, takeLog } = createTestSystem();
    const topic = createTopic<number>("numbers");
    const slow = spawnReader(system, "slow", { capacity: 2, overflow: "drop-oldest" });
    const quick = spawnReader(system, "quick");
    slow.tell("pause");
    await clock.settle();
    topic.subscribe(slow, "take");
    topic.subscribe(quick, "take");
    for (let i = 0; i < 5; i++) topic.publish(i);
    await clock.settle();
    expect((await quick.ask("seen"))._unsafeUnwrap()).toEqual([0, 1, 2, 3, 4]);
    expect(deadLetters.map(({ message }) => message.payload)).toEqual([0, 1, 2]);
    expect(reasonsOf(deadLetters)).toEqual(["mailbox-full", "mailbox-full", "mailbox-full"]);
    await Promise.all([system.shutdown({ timeout: 1 }), clock.advance(1)]);
    expect(takeLog().map(({ message }) => message.slice(0, 42))).toEqual([
      'envoi: dead letter (stopped): "take" to @(',
      'envoi: dead letter (stopped): "take" to @(',
      "envoi: An actor did not stop within 1 ms, ",
    ]);
  });

  test("P14: a subscription ends with its actor, and when it is taken back; twice does nothing more", async () => {
    const { system, clock, deadLetters } = createTestSystem();
    const topic = createTopic<number>("numbers");
    const reader = spawnReader(system, "reader");
    const unsubscribe = topic.subscribe(reader, "take");
    const other = spawnReader(system, "other");
    topic.subscribe(other, "take");
    unsubscribe();
    unsubscribe();
    topic.publish(1);
    await clock.settle();
    expect((await reader.ask("seen"))._unsafeUnwrap()).toEqual([]);
    await system.stop(other);
    expect(topic.size).toBe(0);
    topic.publish(2);
    topic.subscribe(other, "take");
    expect(topic.size).toBe(0);
    expect(deadLetters).toEqual([]);
  });

  test("P10: a restart keeps the subscription, and a factory that subscribes again is told once", async () => {
    const { system, clock, takeLog } = createTestSystem({ supervision: {} });
    const topic = createTopic<number>("numbers");
    let made = 0;
    const got: number[] = [];
    system.spawn("reader", Reader, (ctx) => {
      made++;
      topic.subscribe(ctx.self, "take"); // Each instance does.
      return {
        take(item) {
          if (item === 13) throw new Error("unlucky");
          got.push(item);
        },
        seen: () => got,
        pause() {},
        *numbers() {},
      };
    });
    for (const item of [1, 13, 2]) topic.publish(item);
    await clock.settle();
    expect([made, got, topic.size]).toEqual([2, [1, 2], 1]);
    expect(takeLog()).toHaveLength(1);
  });

  const Hearer = defineProtocol("hearer", {
    hear: { payload: Type.Number() },
    read: { payload: Type.Number() },
    fail: {},
  });

  test("P10: a child that subscribes hears each item once after its parent's restart, by each of its operations", async () => {
    const { system, clock, takeLog } = createTestSystem({ supervision: {} });
    const topic = createTopic<number>("numbers");
    const heard: string[] = [];
    const parent = system.spawn("parent", Hearer, (ctx) => {
      for (const name of ["a", "b"]) {
        ctx.spawn(name, Hearer, (child) => {
          topic.subscribe(child.self, "hear");
          topic.subscribe(child.self, "read");
          return {
            hear: (item) => void heard.push(`${name} hears ${item}`),
            read: (item) => void heard.push(`${name} reads ${item}`),
            fail() {},
          };
        });
      }
      return {
        hear() {},
        read() {},
        fail() {
          throw new Error("broken");
        },
      };
    });
    for (const item of [1, 2, 3]) {
      topic.publish(item);
      await clock.settle();
      expect(heard.splice(0)).toEqual([`a hears ${item}`, `a reads ${item}`, `b hears ${item}`, `b reads ${item}`]);
      expect(topic.size).toBe(4);
      parent.tell("fail");
      await clock.settle();
    }
    expect(takeLog()).toHaveLength(3);
    await system.stop(parent);
    expect(topic.size).toBe(0);
  });

  test("P10: a child whose predecessor takes long to stop keeps its own subscription when that one's ends", async () => {
    const { system, clock, takeLog } = createTestSystem({ supervision: {}, hookTimeout: 10 });
    const topic = createTopic<number>("numbers");
    const heard: string[] = [];
    let made = 0;
    const parent = system.spawn("parent", Hearer, (ctx) => {
      made++;
      const instance = made;
      ctx.spawn("child", Hearer, (child) => {
        topic.subscribe(child.self, "hear");
        return {
          hear: (item) => void heard.push(`${instance} hears ${item}`),
          read() {},
          fail() {},
          onStop: () => new Promise(() => {}), // Given up after hookTimeout, when the parent begins anew.
        };
      });
      return {
        hear() {},
        read() {},
        fail() {
          throw new Error("broken");
        },
      };
    });
    parent.tell("fail");
    await clock.settle();
    topic.publish(1); // To one that is stopping: nobody is told.
    await clock.advance(10);
    topic.publish(2);
    await clock.settle();
    expect([made, heard, topic.size]).toEqual([2, ["2 hears 2"], 1]);
    expect(takeLog().length).toBeGreaterThan(0);
    await Promise.all([system.stop(parent), clock.advance(10)]);
    takeLog();
  });

  test("P10: all workers of a pool hear each item once after the pool's restart", async () => {
    const restarted = { limit: 0 } as const; // The first failure of a worker takes the pool with it.
    for (const routing of ["round-robin", "least-busy", "broadcast"] satisfies PoolOptions["routing"][]) {
      const { system, clock, takeLog } = createTestSystem({ supervision: {} });
      const topic = createTopic<number>("numbers");
      const heard: string[] = [];
      const pool = spawnPool(
        system,
        "pool",
        Hearer,
        (ctx) => {
          topic.subscribe(ctx.self, "hear");
          return {
            hear: (item) => void heard.push(`${ctx.self} hears ${item}`),
            read() {},
            fail() {
              throw new Error("broken");
            },
          };
        },
        { size: 3, routing, supervision: restarted },
      );
      pool.tell("fail");
      await clock.settle();
      topic.publish(7);
      await clock.settle();
      expect(heard).toEqual([1, 2, 3].map((worker) => `@(pool/${worker}) hears 7`));
      expect(topic.size).toBe(3);
      expect(takeLog().length).toBeGreaterThan(0);
    }
  });

  test("two systems with an actor at the same address are two subscribers, each of which can leave", async () => {
    const [one, two] = [createTestSystem(), createTestSystem()];
    const topic = createTopic<number>("numbers");
    const readers = [one, two].map(({ system }) => spawnReader(system, "reader"));
    const [leave] = readers.map((reader) => topic.subscribe(reader, "take"));
    topic.publish(1);
    leave?.();
    topic.publish(2);
    for (const { clock } of [one, two]) await clock.settle();
    const seen = await Promise.all(readers.map((reader) => reader.ask("seen")));
    expect([topic.size, ...seen.map((reply) => reply._unsafeUnwrap())]).toEqual([1, [1], [1, 2]]);
  });

  test("P14: to subscribe and leave 200,000 times leaves nothing, neither in the topic nor in the actor", () => {
    const { system } = createTestSystem();
    const topic = createTopic<number>("numbers");
    const reader = spawnReader(system, "reader");
    const functions = (): number => {
      Bun.gc(true);
      return heapStats().objectTypeCounts["Function"] ?? 0;
    };
    topic.subscribe(reader, "take")();
    const before = functions();
    for (let i = 0; i < 200_000; i++) topic.subscribe(reader, "take")();
    expect(topic.size).toBe(0);
    expect(functions() - before).toBeLessThan(1_000);
  });

  test("P14: a topic keeps nothing alive of the actors that left it and stopped", async () => {
    const { system } = createTestSystem();
    const topic = createTopic<number>("numbers");
    const readers: WeakRef<object>[] = [];
    for (let i = 0; i < 500; i++) {
      const reader = spawnReader(system, `reader-${i}`);
      readers.push(new WeakRef(reader));
      topic.subscribe(reader, "take")();
      await system.stop(reader);
    }
    await new Promise(setImmediate); // Until then, the language keeps alive what was made a WeakRef of.
    Bun.gc(true);
    expect(readers.filter((reader) => reader.deref() !== undefined).length).toBeLessThan(100);
    expect(topic.size).toBe(0);
  });

  test("P1: a subscriber that is stopping is told nothing more, and nothing is dead-lettered for it", async () => {
    const { system, clock, deadLetters } = createTestSystem();
    const topic = createTopic<number>("numbers");
    let release = (): void => {};
    const reader = system.spawn("reader", Hearer, () => ({
      hear: () => new Promise<void>((resolve) => (release = resolve)),
      read() {},
      fail() {},
    }));
    topic.subscribe(reader, "hear");
    topic.publish(1);
    await clock.settle();
    const stopped = system.stop(reader, { drain: true });
    topic.publish(2);
    topic.publish(3);
    expect(topic.size).toBe(1); // It has not ended yet.
    release();
    await stopped;
    expect([deadLetters, topic.size, system.router.audit().accepted]).toEqual([[], 0, 1]);
  });

  test("whom an item is from is what its subscribers see as the sender", async () => {
    const { system, clock } = createTestSystem();
    const topic = createTopic<number>("numbers");
    const publisher = spawnReader(system, "publisher");
    const senders: unknown[] = [];
    const ref = system.spawn("reader", Reader, (ctx) => ({
      take: () => void senders.push(ctx.sender?.address),
      seen: () => [],
      pause() {},
      *numbers() {},
    }));
    topic.subscribe(ref, "take");
    topic.publish(1);
    topic.publish(2, publisher);
    await clock.settle();
    expect(senders).toEqual([undefined, publisher.address]);
    expectBalance(system.router.audit());
  });

  test("to subscribe again by the same operation changes nothing, and ends with the one before", async () => {
    const { system, clock } = createTestSystem();
    const topic = createTopic<number>("numbers");
    const reader = spawnReader(system, "reader");
    topic.subscribe(reader, "take");
    const second = topic.subscribe(reader, "take");
    topic.publish(1);
    second();
    topic.publish(2);
    await clock.settle();
    expect([topic.size, (await reader.ask("seen"))._unsafeUnwrap()]).toEqual([0, [1]]);
  });

  test("what cannot be one is refused at once, with what to write", () => {
    const { system } = createTestSystem();
    const topic = createTopic<number>("numbers");
    const reader = spawnReader(system, "reader");
    expect(() => createTopic("")).toThrow("The name of a topic is a text");
    // @ts-expect-error: no operation of that name.
    expect(() => topic.subscribe(reader, "nothing")).toThrow("cannot be told");
    // @ts-expect-error: a stream cannot be told.
    expect(() => topic.subscribe(reader, "numbers")).toThrow("cannot be told");
    // @ts-expect-error: its payload is a number.
    createTopic<string>("texts").subscribe(reader, "take");
    // @ts-expect-error: no reference.
    expect(() => topic.subscribe({ address: reader.address }, "take")).toThrow("no reference");
  });
});
