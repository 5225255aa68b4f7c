import { describe, expect, test } from "bun:test";
import { createTopic, defineProtocol, Type } from "../../src/index";
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
