import { expect, test } from "bun:test";
import { type AskResult, address, createMessage, defineProtocol, isDeliveryError, Type } from "../../src/index";
import { differences } from "../differences";
import { testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const Sum = defineProtocol("sum", {
  add: { payload: Type.Number(), reply: Type.Number() },
  reset: {},
  maybe: { payload: Type.Union([Type.Number(), Type.Undefined()]), reply: Type.Number() },
});

const never = new Promise<number>(() => {});

test("P6: an ask comes back with Ok and the reply, which is undefined where the operation has none", async () => {
  const { system } = createTestSystem();
  let sum = 0;
  const ref = system.spawn("sum", Sum, () => ({
    add: (n) => (sum += n),
    reset() {
      sum = 0;
      return "ignored";
    },
    maybe: async (n) => n ?? -1,
  }));
  expect((await ref.ask("add", 2))._unsafeUnwrap()).toBe(2);
  expect((await ref.ask("reset"))._unsafeUnwrap()).toBeUndefined();
  expect((await ref.ask("add", 3, { timeout: 100 }))._unsafeUnwrap()).toBe(3);
  expect((await ref.ask("maybe"))._unsafeUnwrap()).toBe(-1);
  expect((await ref.ask("maybe", undefined, { timeout: 100 }))._unsafeUnwrap()).toBe(-1);
});

test("P6: an ask is a native promise, which resolves and never rejects", async () => {
  const { system, router } = createTestSystem();
  const ref = system.spawn("sum", Sum, () => ({
    add: () => Promise.reject(new Error("no")),
    reset() {
      throw new Error("no");
    },
    maybe: () => 1,
  }));
  const asks = [ref.ask("add", 1), ref.ask("reset"), router.ask(createMessage(address("nobody"), "add", 1))];
  for (const ask of asks) expect(Object.getPrototypeOf(ask)).toBe(Promise.prototype);
  const answers = await Promise.allSettled(asks);
  expect(answers.map((answer) => answer.status)).toEqual(["fulfilled", "fulfilled", "fulfilled"]);
});

test("P6: an ask waits five seconds by default, no less and no more", async () => {
  const { system, clock, router, deadLetters } = createTestSystem();
  const ref = system.spawn("sum", Sum, () => ({ add: () => never, reset() {}, maybe: () => 1 }));
  const answers: AskResult<number>[] = [];
  void ref.ask("add", 41).then((answer) => answers.push(answer));
  await clock.advance(4_999);
  expect(answers).toHaveLength(0);
  await clock.advance(1);
  expect(answers).toHaveLength(1);
  const error = answers[0]?._unsafeUnwrapErr();
  expect(isDeliveryError(error)).toBe(true);
  expect(error).toMatchObject({ kind: "timeout", timeout: 5_000, retryable: true, operation: "add" });
  expect(error?.address).toBe(address("sum"));
  expect(error?.undelivered).toMatchObject({ to: address("sum"), type: "add", payload: 41, pattern: "ask" });
  expect(error?.message).toContain("@(sum)");
  expect(error?.message).toContain("5000 ms");
  expect(router.audit().running).toBe(1); // The handler has been told, and is not forgotten.
  expect(deadLetters).toEqual([]);
});

test("P6: the timeout is the ask's own, else the system's", async () => {
  const { system, clock } = createTestSystem({ askTimeout: 100 });
  const ref = system.spawn("sum", Sum, () => ({ add: () => never, reset() {}, maybe: () => 1 }));
  const settled: string[] = [];
  const ask = (name: string, timeout?: number): void =>
    void ref.ask("add", 1, timeout === undefined ? {} : { timeout }).then(() => settled.push(name));
  ask("long", 200);
  ask("default");
  ask("short", 50);
  ask("fraction", 0.5);
  await clock.advance(49);
  expect(settled).toEqual(["fraction"]);
  await clock.advance(1);
  expect(settled).toEqual(["fraction", "short"]);
  await clock.advance(50);
  expect(settled).toEqual(["fraction", "short", "default"]);
  await clock.advance(100);
  expect(settled).toEqual(["fraction", "short", "default", "long"]);
});

test("P6: an ask without a timeout waits for ever, and sets no timer", async () => {
  const { system, clock } = createTestSystem();
  const gate = Promise.withResolvers<number>();
  const ref = system.spawn("sum", Sum, () => ({ add: () => gate.promise, reset() {}, maybe: () => 1 }));
  let isSettled = false;
  const ask = ref.ask("add", 1, { timeout: Number.POSITIVE_INFINITY }).then((answer) => {
    isSettled = true;
    return answer;
  });
  await clock.settle();
  expect(clock.timers).toBe(0);
  await clock.advance(365 * 86_400_000);
  expect(isSettled).toBe(false);
  gate.resolve(3);
  expect((await ask)._unsafeUnwrap()).toBe(3);
});

test("P6: a settled ask leaves no timer, however it was settled", async () => {
  const { system, clock, takeLog } = createTestSystem();
  const gates: PromiseWithResolvers<number>[] = [];
  const wait = (): Promise<number> => {
    const gate = Promise.withResolvers<number>();
    gates.push(gate);
    return gate.promise;
  };
  const ref = system.spawn("sum", Sum, () => ({ add: wait, reset() {}, maybe: () => 1 }));
  const other = system.spawn("other", Sum, () => ({ add: wait, reset() {}, maybe: () => 1 }));

  await ref.ask("maybe", 1);
  await clock.settle();
  expect({ after: "a synchronous reply", timers: clock.timers }).toEqual({ after: "a synchronous reply", timers: 0 });

  const answered = ref.ask("add", 1);
  await clock.settle();
  expect(clock.timers).toBe(1);
  gates[0]?.resolve(1);
  await answered;
  await clock.settle();
  expect({ after: "a reply", timers: clock.timers }).toEqual({ after: "a reply", timers: 0 });

  const failed = ref.ask("add", 1);
  await clock.settle();
  gates[1]?.reject(new Error("no"));
  await failed;
  await clock.settle();
  expect({ after: "a failure", timers: clock.timers }).toEqual({ after: "a failure", timers: 0 });

  const controller = new AbortController();
  const cancelled = ref.ask("add", 1, { signal: controller.signal });
  await clock.settle();
  controller.abort();
  await cancelled;
  await clock.settle();
  expect({ after: "cancelling", timers: clock.timers }).toEqual({ after: "cancelling", timers: 0 });
  gates[2]?.resolve(1);
  await clock.settle();
  expect(takeLog()).toHaveLength(1); // Its late reply.
  await clock.advance(1_000); // The window of the log ends.

  const running = other.ask("add", 1);
  const queued = other.ask("add", 2);
  await clock.settle();
  const stopped = system.stop(other);
  expect((await queued)._unsafeUnwrapErr().kind).toBe("stopped");
  gates[3]?.resolve(1);
  await running;
  await stopped;
  await clock.settle();
  expect({ after: "stopping", timers: clock.timers }).toEqual({ after: "stopping", timers: 0 });
});

test("P6: all asks share one timer of the clock", async () => {
  const { system, clock } = createTestSystem();
  const ref = system.spawn("sum", Sum, () => ({ add: () => never, reset() {}, maybe: () => 1 }));
  const asks = Array.from({ length: 1_000 }, (_, i) => ref.ask("add", i, { timeout: 10 + i }));
  await clock.settle();
  expect(clock.timers).toBe(1);
  await clock.advance(1_010);
  expect((await Promise.all(asks)).every((answer) => answer.isErr())).toBe(true);
  expect(clock.timers).toBe(0);
});

test("P6: what happens after an ask has settled changes nothing", async () => {
  const { system, clock, takeLog } = createTestSystem();
  const gate = Promise.withResolvers<number>();
  const controller = new AbortController();
  const ref = system.spawn("sum", Sum, () => ({ add: () => gate.promise, reset() {}, maybe: () => 1 }));
  const ask = ref.ask("add", 1, { timeout: 10, signal: controller.signal });
  let count = 0;
  void ask.then(() => count++);
  await clock.advance(10);
  gate.resolve(1);
  controller.abort();
  await clock.advance(10_000);
  expect((await ask)._unsafeUnwrapErr().kind).toBe("timeout");
  expect(count).toBe(1);
  expect(takeLog()).toHaveLength(1); // The late reply.
});

test("P6: an option that cannot be one throws at once, and nothing is sent", () => {
  const { system, router } = createTestSystem();
  const ref = system.spawn("sum", Sum, () => ({ add: (n) => n, reset() {}, maybe: () => 1 }));
  for (const timeout of [0, -1, Number.NaN, "500", null, Number.NEGATIVE_INFINITY]) {
    expect(() => ref.ask("add", 1, { timeout: timeout as number })).toThrow(/timeout of an ask .* above 0.*got/);
    expect(() => ref.ask("reset", { timeout: timeout as number })).toThrow(RangeError);
  }
  for (const signal of [{}, "abort", null, new AbortController()]) {
    expect(() => ref.ask("add", 1, { signal: signal as AbortSignal })).toThrow(/signal of an ask is an AbortSignal/);
  }
  expect(router.audit().accepted).toBe(0);
});

test("P6: a bad option of a router's ask throws at once, also when nobody is at the address", () => {
  const { router } = createTestSystem();
  const message = createMessage(address("nobody"), "add", 1);
  expect(() => router.ask(message, { timeout: 0 })).toThrow(RangeError);
  expect(router.audit().accepted).toBe(0);
});

test("P6: ten thousand asks of a synchronous handler all come back", async () => {
  const { system, router } = createTestSystem();
  const ref = system.spawn("sum", Sum, () => ({ add: (n) => n + 1, reset() {}, maybe: () => 1 }));
  const answers = await Promise.all(Array.from({ length: 10_000 }, (_, i) => ref.ask("add", i)));
  const wanted = answers.map((_, i) => i + 1);
  expect(
    differences(
      answers.map((answer) => answer._unsafeUnwrap()),
      wanted,
    ),
  ).toEqual([]);
  expect(router.audit()).toMatchObject({ accepted: 10_000, handled: 10_000 });
});

test("P6: ten thousand asks of an asynchronous handler all come back", async () => {
  const { system, router } = createTestSystem();
  const ref = system.spawn("sum", Sum, () => ({
    async add(n) {
      await undefined;
      if (n % 100 === 0) throw n;
      return n + 1;
    },
    reset() {},
    maybe: () => 1,
  }));
  const answers = await Promise.all(Array.from({ length: 10_000 }, (_, i) => ref.ask("add", i)));
  const wanted = answers.map((_, i) => (i % 100 === 0 ? -1 : i + 1));
  expect(
    differences(
      answers.map((answer) => answer.unwrapOr(-1)),
      wanted,
    ),
  ).toEqual([]);
  expect(router.audit()).toMatchObject({ accepted: 10_000, handled: 9_900, failed: 100 });
});

test("P6: ten thousand asks of a handler that never settles all time out", async () => {
  const { system, router, clock, deadLetters, takeLog } = createTestSystem();
  const ref = system.spawn("sum", Sum, () => ({ add: () => never, reset() {}, maybe: () => 1 }));
  const asks = Array.from({ length: 10_000 }, (_, i) => ref.ask("add", i, { timeout: 1_000 + (i % 10) }));
  await clock.advance(1_009);
  const answers = await Promise.all(asks);
  expect([...new Set(answers.map((answer) => answer._unsafeUnwrapErr().kind))]).toEqual(["timeout"]);
  expect(router.audit()).toMatchObject({ accepted: 10_000, handled: 0, queued: 9_999, running: 1 });
  const report = await Promise.all([system.shutdown({ timeout: 1 }), clock.advance(1)]);
  expect(report[0].unfinished).toEqual([address("sum")]);
  expect(deadLetters).toHaveLength(9_999); // The asks that timed out in the queue.
  expect(takeLog()).toHaveLength(1); // Of the actor that was abandoned.
});
