import { expect, spyOn, test } from "bun:test";
import { createSystem, defineProtocol, type Message, systemClock, Type } from "../../src/index";
import { createManualClock } from "../../src/testing/index";
import { testSystems } from "../actor/test-system";

const { createTestSystem } = testSystems();

const Work = defineProtocol("work", { work: { payload: Type.Number(), reply: Type.Number() }, wait: {} });

test("P15: a system on a clock of its own reads no other, and sets no other timer", async () => {
  const { system, clock, router, takeLog } = createTestSystem();
  const spies = [
    spyOn(globalThis, "setTimeout"),
    spyOn(globalThis, "setInterval"),
    spyOn(globalThis, "queueMicrotask"),
    spyOn(performance, "now"),
    spyOn(Date, "now"),
    spyOn(AbortSignal, "timeout"),
  ];
  try {
    const messages: Message[] = [];
    const ref = system.spawn("work", Work, (ctx) => ({
      work: (n) => messages.push(ctx.message) + n,
      wait: () => new Promise<void>(() => {}),
    }));
    await ref.ask("work", 1);
    ref.tell("work", 2);
    const waiting = ref.ask("wait", { timeout: 10 });
    await clock.advance(10);
    expect((await waiting).isErr()).toBe(true);
    ref.tell("unknown" as "wait");
    await Promise.all([system.shutdown({ timeout: 5 }), clock.advance(5)]);
    expect(messages.map((message) => message.timestamp)).toEqual([0, 0]);
    expect(router.audit().accepted).toBe(4);
    // The manual clock hands microtasks on to the real queue, and the spies see that it did.
    const calls = spies.map((spy) => [spy.getMockName(), spy.mock.calls.length]);
    expect(calls.filter(([name, count]) => name !== "queueMicrotask" && count !== 0)).toEqual([]);
    expect(takeLog()).toHaveLength(2);
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
});

test("P15: an actor on a manual clock answers also after time has passed", async () => {
  const { system, clock } = createTestSystem();
  const ref = system.spawn("work", Work, () => ({ work: (n) => n + 1, wait() {} }));
  for (let round = 1; round <= 3; round++) {
    await clock.advance(60_000);
    let answered = 0;
    for (let n = 0; n < 100; n++) void ref.ask("work", n).then(() => answered++);
    // As `await ref.ask(…)` waits: until the real event loop has come round, and without settle().
    for (let turn = 0; turn < 5; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
    expect({ round, answered }).toEqual({ round, answered: 100 });
  }
});

test("P15: two systems may share a clock, and a manual one starts when it is told", async () => {
  const clock = createManualClock(1_700_000_000_000);
  const seen: number[] = [];
  const spawn = () =>
    createSystem({ clock }).spawn("work", Work, (ctx) => ({ work: () => seen.push(ctx.message.timestamp), wait() {} }));
  const [first, second] = [spawn(), spawn()];
  first.tell("work", 1);
  await clock.advance(500);
  second.tell("work", 1);
  await clock.settle();
  expect(seen).toEqual([1_700_000_000_000, 1_700_000_000_500]);
});

test("P15: timeouts come in the order in which they are due, whatever the order of their asks", async () => {
  const { system, clock } = createTestSystem();
  const ref = system.spawn("work", Work, () => ({ work: (n) => n, wait: () => new Promise<void>(() => {}) }));
  const delays = [5_000, 1, 64, 63, 65, 4_096, 4_095, 1_000, 1, 300_000];
  const expired: number[] = [];
  for (const delay of delays) void ref.ask("wait", { timeout: delay }).then(() => expired.push(delay));
  await clock.advance(300_000);
  expect(expired).toEqual(delays.toSorted((a, b) => a - b));
  expect(clock.monotonicTime()).toBe(300_000);
});

test("P15: system.clock is the clock that the system was made with, or the machine's", async () => {
  const clock = createManualClock();
  const systems = [createSystem({ clock }), createSystem()];
  expect(systems.map((system) => system.clock)).toEqual([clock, systemClock]);
  await Promise.all(systems.map((system) => system.shutdown()));
});
