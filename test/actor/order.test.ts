import { expect, test } from "bun:test";
import { createMessage, defineProtocol, Type } from "../../src/index";
import { testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const List = defineProtocol("list", { add: { payload: Type.String() } });
const Slow = defineProtocol("slow", { work: { payload: Type.Number(), reply: Type.Number() } });
const Sender = defineProtocol("sender", { send: { payload: Type.Number() } });

test("P2: messages of one sender are handled in the order in which they were sent, in whatever way", async () => {
  const { system, router, clock } = createTestSystem();
  const seen: string[] = [];
  const list = system.spawn("list", List, () => ({ add: (text) => void seen.push(text) }));
  const sent: string[] = [];
  for (let i = 0; i < 1_000; i++) {
    const text = String(i);
    sent.push(text);
    if (i % 4 === 0) list.tell("add", text);
    else if (i % 4 === 1) void list.ask("add", text);
    else if (i % 4 === 2) router.tell(createMessage(list.address, "add", text));
    else void list.offer("add", text);
  }
  await clock.settle();
  expect(seen).toEqual(sent);
});

test("P2: a handler that waits keeps its place in the order", async () => {
  const { system, clock } = createTestSystem();
  const seen: string[] = [];
  const gate = Promise.withResolvers<void>();
  const list = system.spawn("list", List, () => ({
    async add(text) {
      if (text === "b") await gate.promise;
      seen.push(text);
    },
  }));
  for (const text of ["a", "b", "c", "d"]) list.tell("add", text);
  await clock.settle();
  expect(seen).toEqual(["a"]);
  gate.resolve();
  await clock.settle();
  expect(seen).toEqual(["a", "b", "c", "d"]);
});

test("P2: senders at the same time each keep their own order", async () => {
  const { system, clock } = createTestSystem();
  const seen: string[] = [];
  const list = system.spawn("list", List, () => ({ add: (text) => void seen.push(text) }));
  for (const name of ["x", "y", "z"]) {
    const sender = system.spawn(name, Sender, (ctx) => ({
      async send(i) {
        if (i % 3 === 0) await undefined;
        ctx.tell(list, "add", `${name}${i}`);
      },
    }));
    for (let i = 0; i < 100; i++) sender.tell("send", i);
  }
  await clock.settle();
  expect(seen).toHaveLength(300);
  for (const name of ["x", "y", "z"]) {
    expect(seen.filter((text) => text.startsWith(name))).toEqual(Array.from({ length: 100 }, (_, i) => `${name}${i}`));
  }
});

test("P2: what an actor tells itself comes after what waits already", async () => {
  const { system, clock } = createTestSystem();
  const seen: string[] = [];
  const list = system.spawn("list", List, (ctx) => ({
    add(text) {
      seen.push(text);
      if (text === "a") ctx.self.tell("add", "again");
    },
  }));
  list.tell("add", "a");
  list.tell("add", "b");
  await clock.settle();
  expect(seen).toEqual(["a", "b", "again"]);
});

test("P3: a slow handler is never overlapped", async () => {
  const { system, clock } = createTestSystem();
  let inside = 0;
  const gates: PromiseWithResolvers<void>[] = [];
  const slow = system.spawn("slow", Slow, () => ({
    async work(n) {
      inside++;
      const gate = Promise.withResolvers<void>();
      gates.push(gate);
      await gate.promise;
      inside--;
      if (n === 1) throw new Error("also one that fails is over before the next begins");
      return n;
    },
  }));
  const answers = Promise.all([slow.ask("work", 0), slow.ask("work", 1), slow.ask("work", 2)]);
  for (let begun = 1; begun <= 3; begun++) {
    await clock.settle();
    expect({ inside, begun: gates.length }).toEqual({ inside: 1, begun });
    gates[begun - 1]?.resolve();
  }
  expect((await answers).map((answer) => answer.unwrapOr(-1))).toEqual([0, -1, 2]);
});

test("P3: the next message waits for the handler, not for its asker", async () => {
  const { system, clock, takeLog } = createTestSystem();
  const begun: number[] = [];
  const gate = Promise.withResolvers<number>();
  const slow = system.spawn("slow", Slow, () => ({
    work(n) {
      begun.push(n);
      return n === 0 ? gate.promise : n;
    },
  }));
  const first = slow.ask("work", 0, { timeout: 10 });
  const second = slow.ask("work", 1);
  await clock.advance(10);
  expect((await first)._unsafeUnwrapErr().kind).toBe("timeout");
  expect(begun).toEqual([0]);
  gate.resolve(0);
  expect((await second)._unsafeUnwrap()).toBe(1);
  expect(takeLog()).toHaveLength(1); // The late reply.
});

test("P3: an actor that waits does not hold up another", async () => {
  const { system, clock } = createTestSystem();
  const gate = Promise.withResolvers<number>();
  const stuck = system.spawn("stuck", Slow, () => ({ work: () => gate.promise }));
  const free = system.spawn("free", Slow, () => ({ work: (n) => n }));
  let isStuckDone = false;
  const waiting = stuck.ask("work", 0).then(() => {
    isStuckDone = true;
  });
  expect((await free.ask("work", 5))._unsafeUnwrap()).toBe(5);
  await clock.settle();
  expect(isStuckDone).toBe(false);
  gate.resolve(0);
  await waiting;
});
