import { expect, test } from "bun:test";
import { type AskResult, address, defineProtocol, Type } from "../../src/index";
import { countListeners } from "./kept";
import { reasonsOf, testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const Work = defineProtocol("work", {
  work: { payload: Type.Number(), reply: Type.Number() },
  quick: { reply: Type.Number() },
});

/** An actor whose `work` hands out its signal and waits for a gate. */
function createWorker(test: ReturnType<typeof createTestSystem>) {
  const signals: AbortSignal[] = [];
  const gates: PromiseWithResolvers<number>[] = [];
  const begun: number[] = [];
  const ref = test.system.spawn("worker", Work, (ctx) => ({
    work(n) {
      begun.push(n);
      signals.push(ctx.signal);
      const gate = Promise.withResolvers<number>();
      gates.push(gate);
      return gate.promise;
    },
    quick() {
      signals.push(ctx.signal);
      return 1;
    },
  }));
  return { ref, signals, gates, begun };
}

const kindOf = (answer: AskResult): string => (answer.isOk() ? "ok" : answer.error.kind);

test("P7: a timeout aborts the handler's signal, with the timeout as its reason", async () => {
  const systems = createTestSystem();
  const { ref, signals, gates } = createWorker(systems);
  const ask = ref.ask("work", 1, { timeout: 10 });
  await systems.clock.advance(9);
  expect(signals[0]?.aborted).toBe(false);
  await systems.clock.advance(1);
  expect(signals[0]?.aborted).toBe(true);
  const error = (await ask)._unsafeUnwrapErr();
  expect(signals[0]?.reason).toBe(error);
  expect(error.kind).toBe("timeout");
  gates[0]?.reject(signals[0]?.reason);
  await systems.clock.settle();
  expect(systems.router.audit()).toMatchObject({ accepted: 1, failed: 1 }); // And nothing is logged: it ended as told.
});

test("P7: cancelling aborts the handler's signal and gives the asker the reason", async () => {
  const systems = createTestSystem();
  const { ref, signals, gates } = createWorker(systems);
  const controller = new AbortController();
  const ask = ref.ask("work", 1, { signal: controller.signal });
  await systems.clock.settle();
  expect(signals[0]?.aborted).toBe(false);
  const reason = new Error("the user left");
  controller.abort(reason);
  const error = (await ask)._unsafeUnwrapErr();
  expect(error).toMatchObject({ kind: "cancelled", reason, retryable: false, address: address("worker") });
  expect(error.message).toContain("the user left");
  expect(signals[0]?.aborted).toBe(true);
  expect(signals[0]?.reason).toBe(error);
  gates[0]?.reject(new DOMException("ended early", "AbortError"));
});

test("P7: of a timeout and an abort, the first one counts", async () => {
  const systems = createTestSystem();
  const { ref, signals, gates } = createWorker(systems);
  const controller = new AbortController();
  const ask = ref.ask("work", 1, { signal: AbortSignal.any([controller.signal]), timeout: 10 });
  await systems.clock.advance(10);
  expect(kindOf(await ask)).toBe("timeout");
  controller.abort();
  await systems.clock.settle();
  expect(signals[0]?.reason).toMatchObject({ kind: "timeout" });
  gates[0]?.reject(new DOMException("ended early", "AbortError"));
});

test("P7: stopping the actor aborts the signal of the running handler", async () => {
  const systems = createTestSystem();
  const { ref, signals, gates } = createWorker(systems);
  const ask = ref.ask("work", 1);
  await systems.clock.settle();
  const stopped = systems.system.stop(ref);
  expect(signals[0]?.aborted).toBe(true);
  expect(signals[0]?.reason).toMatchObject({ name: "AbortError" });
  expect(String(signals[0]?.reason)).toContain("@(worker)");
  gates[0]?.resolve(5); // It is finished, and its asker gets the reply all the same (P13).
  expect((await ask)._unsafeUnwrap()).toBe(5);
  await stopped;
});

test("P7: a signal is not aborted when all is well, nor by what happens later", async () => {
  const systems = createTestSystem();
  const { ref, signals, gates } = createWorker(systems);
  const controller = new AbortController();
  const first = ref.ask("work", 1, { timeout: 10, signal: controller.signal });
  await systems.clock.settle();
  gates[0]?.resolve(1);
  expect(kindOf(await first)).toBe("ok");
  const second = ref.ask("work", 2, { timeout: 50 });
  await ref.offer("quick");
  controller.abort();
  await systems.clock.advance(50);
  expect(kindOf(await second)).toBe("timeout");
  expect(signals.map((signal) => signal.aborted)).toEqual([false, true]);
  gates[1]?.reject(new DOMException("ended early", "AbortError"));
  await systems.clock.settle();
  await systems.system.stop(ref);
  expect(signals.map((signal) => signal.aborted)).toEqual([false, true, false]);
});

test("P7: each message has a signal of its own, the same at each reading", async () => {
  const { system } = createTestSystem();
  const read: AbortSignal[] = [];
  const ref = system.spawn("worker", Work, (ctx) => ({
    async work() {
      read.push(ctx.signal);
      await undefined;
      read.push(ctx.signal);
      return 1;
    },
    quick: () => read.push(ctx.signal),
  }));
  await ref.ask("work", 1);
  await ref.ask("quick");
  expect(read).toHaveLength(3);
  expect(read[0]).toBe(read[1] as AbortSignal);
  expect(read[1]).not.toBe(read[2] as AbortSignal);
});

test("P7: a signal that is first read after the asker gave up is aborted already", async () => {
  const { system, clock } = createTestSystem();
  const gate = Promise.withResolvers<void>();
  const late: AbortSignal[] = [];
  const ref = system.spawn("worker", Work, (ctx) => ({
    async work() {
      await gate.promise;
      late.push(ctx.signal);
      throw ctx.signal.reason;
    },
    quick: () => 1,
  }));
  const ask = ref.ask("work", 1, { timeout: 10 });
  await clock.advance(10);
  gate.resolve();
  await clock.settle();
  expect(late[0]?.aborted).toBe(true);
  expect(late[0]?.reason).toBe((await ask)._unsafeUnwrapErr());
});

test("P7: a signal that is first read after the stop is aborted already", async () => {
  const { system, clock, takeLog } = createTestSystem();
  const gate = Promise.withResolvers<void>();
  const late: AbortSignal[] = [];
  const ref = system.spawn("worker", Work, (ctx) => ({
    async work() {
      await gate.promise;
      late.push(ctx.signal);
      return 1;
    },
    quick: () => 1,
  }));
  ref.tell("work", 1);
  await clock.settle();
  const stopped = system.stop(ref);
  gate.resolve();
  await stopped;
  expect(late.map((signal) => signal.aborted)).toEqual([true]);
  expect(takeLog()).toEqual([]);
});

test("P7: a signal that the factory reads is not that of a message: it aborts when the actor stops", async () => {
  const { system, clock, takeLog } = createTestSystem();
  const signals: AbortSignal[] = [];
  const gate = Promise.withResolvers<number>();
  const ref = system.spawn("worker", Work, (ctx) => {
    signals.push(ctx.signal);
    return { work: () => gate.promise, quick: () => 1 };
  });
  const ask = ref.ask("work", 1, { timeout: 10 });
  await clock.advance(10);
  expect(kindOf(await ask)).toBe("timeout");
  expect({ after: "a timeout", isAborted: signals[0]?.aborted }).toEqual({ after: "a timeout", isAborted: false });
  gate.reject(new Error("nothing to do with it"));
  await clock.settle();
  expect(takeLog()).toHaveLength(1); // It had not read the signal of its message, so it did not end early.
  await system.stop(ref);
  expect({ after: "the stop", isAborted: signals[0]?.aborted }).toEqual({ after: "the stop", isAborted: true });
});

test("P7: a listener may stop its own actor", async () => {
  const { system, clock, router } = createTestSystem();
  const gate = Promise.withResolvers<number>();
  const ref = system.spawn("worker", Work, (ctx) => ({
    work() {
      ctx.signal.addEventListener("abort", () => ctx.stop());
      return gate.promise;
    },
    quick: () => 1,
  }));
  const first = ref.ask("work", 1, { timeout: 10 });
  const second = ref.ask("quick", { timeout: 20 });
  await clock.advance(10);
  expect(kindOf(await first)).toBe("timeout");
  expect(kindOf(await second)).toBe("stopped");
  gate.reject(new DOMException("ended early", "AbortError"));
  await clock.settle();
  expect(router.has(ref.address)).toBe(false);
});

test("P7: a signal that is aborted already cancels at once, and nothing is sent", async () => {
  const systems = createTestSystem();
  const { ref, begun } = createWorker(systems);
  const reason = new Error("too late");
  const answer = await ref.ask("work", 1, { signal: AbortSignal.abort(reason) });
  expect(answer._unsafeUnwrapErr()).toMatchObject({ kind: "cancelled", reason });
  await systems.clock.settle();
  expect(begun).toEqual([]);
  expect(systems.router.audit().accepted).toBe(0);
  expect(systems.deadLetters).toEqual([]);
});

test("P7: an ask that was given up while it was queued is never handled, and dead with its reason", async () => {
  const systems = createTestSystem();
  const { ref, gates, begun } = createWorker(systems);
  const controller = new AbortController();
  const first = ref.ask("work", 0);
  const timedOut = ref.ask("work", 1, { timeout: 10 });
  const cancelled = ref.ask("work", 2, { signal: controller.signal });
  const waiting = ref.ask("quick");
  await systems.clock.advance(10);
  controller.abort();
  expect([kindOf(await timedOut), kindOf(await cancelled)]).toEqual(["timeout", "cancelled"]);
  gates[0]?.resolve(0);
  expect([kindOf(await first), kindOf(await waiting)]).toEqual(["ok", "ok"]);
  expect(begun).toEqual([0]);
  expect(reasonsOf(systems.deadLetters)).toEqual(["timeout", "cancelled"]);
  expect(systems.deadLetters.map((letter) => letter.message.payload)).toEqual([1, 2]);
  expect(systems.deadLetters.every((letter) => letter.asked)).toBe(true); // And so none is logged.
});

test("P7: an ask that was given up while it was queued keeps its reason when the actor is stopped", async () => {
  const systems = createTestSystem();
  const { ref, gates } = createWorker(systems);
  const running = ref.ask("work", 0);
  const queued = ref.ask("work", 1, { timeout: 10 });
  await systems.clock.advance(10);
  expect(kindOf(await queued)).toBe("timeout");
  const stopped = systems.system.stop(ref);
  gates[0]?.resolve(0);
  await Promise.all([running, stopped]);
  expect(reasonsOf(systems.deadLetters)).toEqual(["timeout"]);
});

test("P7: a late reply becomes a dead letter, and is logged", async () => {
  const systems = createTestSystem();
  const { ref, gates } = createWorker(systems);
  const ask = ref.ask("work", 7, { timeout: 10 });
  await systems.clock.advance(10);
  expect(kindOf(await ask)).toBe("timeout");
  gates[0]?.resolve(70);
  await systems.clock.settle();
  expect(systems.deadLetters).toHaveLength(1);
  expect(systems.deadLetters[0]).toMatchObject({
    reason: "late-reply",
    address: address("worker"),
    operation: "work",
    asked: false,
    reply: 70,
  });
  expect(systems.deadLetters[0]?.message).toMatchObject({ type: "work", payload: 7 });
  const [logged] = systems.takeLog();
  expect(logged?.level).toBe("warn");
  expect(logged?.message).toContain("late-reply");
  expect(logged?.message).toContain("@(worker)");
});

test("P7: a listener of the asker's signal is taken off once the ask has settled", async () => {
  const { system } = createTestSystem();
  const ref = system.spawn("worker", Work, () => ({ work: (n) => n, quick: () => 1 }));
  const controller = new AbortController();
  const { signal } = controller;
  const listeners = countListeners(signal);
  const asks = Array.from({ length: 100 }, (_, i) => ref.ask("work", i, { signal }));
  expect(listeners()).toBe(1); // One for all of them: taking off 40,000 one by one took seconds.
  await Promise.all(asks);
  expect(listeners()).toBe(0);
});

test("P7: each of many asks with one signal is cancelled by it, and none that has settled", async () => {
  const { system, clock } = createTestSystem();
  const ref = system.spawn("worker", Work, () => ({ work: () => new Promise<never>(() => {}), quick: () => 1 }));
  const controller = new AbortController();
  const { signal } = controller;
  expect((await ref.ask("quick", { signal }))._unsafeUnwrap()).toBe(1);
  const asks = Array.from({ length: 1_000 }, (_, i) => ref.ask("work", i, { signal }));
  const other = ref.ask("work", 0, { timeout: 10 });
  controller.abort("enough");
  expect((await Promise.all(asks)).map(kindOf)).toEqual(new Array(1_000).fill("cancelled"));
  expect(kindOf(await ref.ask("work", 1, { signal }))).toBe("cancelled");
  await clock.advance(10);
  expect(kindOf(await other)).toBe("timeout");
});

test("P7: a reply whose asker gave up while a synchronous handler ran is a dead letter", async () => {
  const systems = createTestSystem();
  const controller = new AbortController();
  const ref = systems.system.spawn("worker", Work, () => ({
    work(n) {
      controller.abort();
      return n;
    },
    quick: () => 1,
  }));
  expect(kindOf(await ref.ask("work", 5, { signal: controller.signal }))).toBe("cancelled");
  expect(reasonsOf(systems.deadLetters)).toEqual(["late-reply"]);
  expect(systems.deadLetters[0]?.reply).toBe(5);
  systems.takeLog();
});

test("P9: a handler that throws after its asker gave up restarts its actor, unless it was told of that", async () => {
  const { system, clock, takeLog, events } = createTestSystem({ supervision: {} });
  const failed = (): string[] => events.flatMap((event) => (event.kind === "failed" ? [event.operation] : []));
  let made = 0;
  const gates: PromiseWithResolvers<number>[] = [];
  const lost = (reply: AskResult<number>): number => {
    if (reply.isErr()) throw reply.error;
    return reply.value;
  };
  const inner = system.spawn("inner", Work, () => ({ work: () => new Promise<number>(() => {}), quick: () => 1 }));
  const ref = system.spawn("worker", Work, (ctx) => {
    made++;
    return {
      work(which) {
        if (which === 1) ctx.signal.throwIfAborted();
        if (which === 2) return ctx.ask(inner, "work", 0).then(lost); // Lost with its asker.
        const gate = Promise.withResolvers<number>();
        gates.push(gate);
        return gate.promise;
      },
      quick: () => 1,
    };
  });
  for (const which of [0, 1, 2]) {
    const asked = ref.ask("work", which, { timeout: 10 });
    await clock.advance(10);
    expect(kindOf(await asked)).toBe("timeout");
    gates.pop()?.reject(new TypeError("a mistake"));
    await clock.settle();
    expect({ which, made, failed: failed(), logged: takeLog().length }).toEqual({
      which,
      made: 2, // By the first of them.
      failed: Array(which === 0 ? 1 : 2).fill("work"), // The second was told, and threw something else; the third gave up.
      logged: which === 2 ? 0 : 1,
    });
  }
  await Promise.all([system.shutdown({ timeout: 1 }), clock.advance(1)]);
  takeLog(); // Who has not stopped: what lost its asker ran on.
});
