import { expect, test } from "bun:test";
import { defineProtocol, Type } from "../../src/index";
import { testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const Work = defineProtocol("work", {
  work: { payload: Type.String(), reply: Type.String() },
});

/** An actor that tells which of its messages were given up, and waits for gates. */
function createWorker({ system }: ReturnType<typeof createTestSystem>, concurrency?: number) {
  const aborted: string[] = [];
  const forgets: (() => void)[] = [];
  const gates: PromiseWithResolvers<string>[] = [];
  const ref = system.spawn(
    "worker",
    Work,
    (ctx) => ({
      work(name) {
        forgets.push(ctx.onAbort(() => aborted.push(name)));
        const gate = Promise.withResolvers<string>();
        gates.push(gate);
        return gate.promise;
      },
    }),
    concurrency === undefined ? {} : { concurrency },
  );
  return { ref, aborted, forgets, gates };
}

for (const concurrency of [undefined, 8]) {
  const where = concurrency === undefined ? "one at a time" : "several at once";

  test(`P7: onAbort calls back when the asker gives up, by time or by its signal, ${where}`, async () => {
    const systems = createTestSystem();
    const { ref, aborted, gates } = createWorker(systems, concurrency);
    const late = ref.ask("work", "late", { timeout: 10 });
    await systems.clock.advance(9);
    expect(aborted).toEqual([]);
    await systems.clock.advance(1);
    expect(aborted).toEqual(["late"]);
    gates[0]?.reject(new DOMException("ended early", "AbortError"));
    expect((await late)._unsafeUnwrapErr().kind).toBe("timeout");

    const controller = new AbortController();
    const cancelled = ref.ask("work", "cancelled", { signal: controller.signal });
    await systems.clock.settle();
    controller.abort();
    expect(aborted).toEqual(["late", "cancelled"]);
    gates[1]?.reject(new DOMException("ended early", "AbortError"));
    expect((await cancelled)._unsafeUnwrapErr().kind).toBe("cancelled");
    await systems.clock.settle();
    // Both ended as they were told to: nothing is logged.
    expect(systems.router.audit()).toMatchObject({ accepted: 2, failed: 2 });
  });

  test(`P7: onAbort calls back when the actor is stopped, ${where}`, async () => {
    const systems = createTestSystem();
    const { ref, aborted, gates } = createWorker(systems, concurrency);
    const ask = ref.ask("work", "it");
    await systems.clock.settle();
    const stopped = systems.system.stop(ref);
    expect(aborted).toEqual(["it"]);
    gates[0]?.resolve("done");
    await systems.clock.settle();
    await stopped;
    expect((await ask)._unsafeUnwrap()).toBe("done");
  });

  test(`P7: onAbort does not call back when all is well, nor afterwards, nor once it was forgotten, ${where}`, async () => {
    const systems = createTestSystem();
    const { ref, aborted, forgets, gates } = createWorker(systems, concurrency);
    const well = ref.ask("work", "well", { timeout: 10 });
    await systems.clock.settle();
    gates[0]?.resolve("done");
    expect((await well)._unsafeUnwrap()).toBe("done");
    const forgotten = ref.ask("work", "forgotten", { timeout: 10 });
    await systems.clock.settle();
    forgets[1]?.();
    forgets[1]?.();
    await systems.clock.advance(1_000);
    gates[1]?.reject(new DOMException("ended early", "AbortError"));
    expect((await forgotten)._unsafeUnwrapErr().kind).toBe("timeout");
    await systems.system.stop(ref);
    expect(aborted).toEqual([]);
  });
}

test("P7: of several messages at once, onAbort calls back for the one that was given up", async () => {
  const systems = createTestSystem();
  const { ref, aborted, gates } = createWorker(systems, 8);
  const controller = new AbortController();
  const kept = ref.ask("work", "kept");
  const given = ref.ask("work", "given up", { signal: controller.signal });
  await systems.clock.settle();
  controller.abort();
  expect(aborted).toEqual(["given up"]);
  gates[0]?.resolve("done");
  gates[1]?.reject(new DOMException("ended early", "AbortError"));
  expect([(await kept).isOk(), (await given).isOk()]).toEqual([true, false]);
});

test("P7: onAbort calls back at once where the asker has given up already, and a handler that ends for it has not failed", async () => {
  const systems = createTestSystem();
  let calls = 0;
  const begin = Promise.withResolvers<void>();
  const ref = systems.system.spawn("worker", Work, (ctx) => ({
    async work() {
      await begin.promise;
      ctx.onAbort(() => calls++)();
      if (calls > 0) throw new DOMException("ended early", "AbortError");
      return "nobody waits for it";
    },
  }));
  const ask = ref.ask("work", "late", { timeout: 10 });
  await systems.clock.advance(10);
  begin.resolve();
  await systems.clock.settle();
  expect(calls).toBe(1);
  expect((await ask)._unsafeUnwrapErr().kind).toBe("timeout"); // Nothing is logged.
});

test("P10: onAbort of an instance that was replaced calls back at once", async () => {
  const systems = createTestSystem({ supervision: {} });
  const contexts: { onAbort(callback: () => void): () => void }[] = [];
  const ref = systems.system.spawn("worker", Work, (ctx) => {
    contexts.push(ctx);
    return {
      work(name) {
        if (name === "fail") throw new Error("it failed");
        return name;
      },
    };
  });
  const failure = systems.expectFailure(ref);
  expect((await ref.ask("work", "fail")).isErr()).toBe(true);
  await failure;
  expect((await ref.ask("work", "on"))._unsafeUnwrap()).toBe("on");
  const calls: number[] = [];
  for (const [instance, ctx] of contexts.entries()) ctx.onAbort(() => calls.push(instance));
  expect(calls).toEqual([0]);
});

test("P7: onAbort outside of a message calls back when the actor stops", async () => {
  const systems = createTestSystem();
  let calls = 0;
  const ref = systems.system.spawn("worker", Work, (ctx) => {
    ctx.onAbort(() => calls++);
    ctx.onAbort(() => calls++)();
    return { work: (name) => name };
  });
  expect((await ref.ask("work", "it"))._unsafeUnwrap()).toBe("it");
  expect(calls).toBe(0);
  await systems.system.stop(ref);
  expect(calls).toBe(1);
});

test("P9: what an onAbort throws is told as uncaught, and the others are called", async () => {
  const systems = createTestSystem();
  const told: string[] = [];
  const thrown = new Error("of the callback");
  const gate = Promise.withResolvers<string>();
  const ref = systems.system.spawn("worker", Work, (ctx) => ({
    work() {
      ctx.onAbort(() => {
        throw thrown;
      });
      ctx.onAbort(() => told.push("the other"));
      return gate.promise;
    },
  }));
  const ask = ref.ask("work", "it", { timeout: 10 });
  await systems.clock.settle();
  await expect(systems.clock.advance(10)).rejects.toBe(thrown);
  expect(told).toEqual(["the other"]);
  gate.reject(new DOMException("ended early", "AbortError"));
  expect((await ask).isErr()).toBe(true);
});

test("P7: of several onAbort of a message, those that were not forgotten are called, once each and in their order", async () => {
  const systems = createTestSystem();
  const told: string[] = [];
  const gates: PromiseWithResolvers<string>[] = [];
  const same = () => told.push("same");
  const ref = systems.system.spawn("worker", Work, (ctx) => ({
    work(name) {
      const forget = ["a", "b", "c", "d"].map((each) => ctx.onAbort(() => told.push(each)));
      forget[2]?.();
      if (name === "not the first") forget[0]?.();
      ctx.onAbort(same)();
      ctx.onAbort(same);
      forget[2]?.();
      ctx.onAbort(() => told.push("last"));
      const gate = Promise.withResolvers<string>();
      gates.push(gate);
      return gate.promise;
    },
  }));
  for (const name of ["the first", "not the first"]) {
    const ask = ref.ask("work", name, { timeout: 10 });
    await systems.clock.advance(10);
    expect(told.splice(0)).toEqual([...(name === "the first" ? ["a"] : []), "b", "d", "same", "last"]);
    const stopped = name === "not the first" ? systems.system.stop(ref) : undefined;
    gates.pop()?.reject(new DOMException("ended early", "AbortError"));
    expect((await ask).isErr()).toBe(true);
    await systems.clock.settle();
    await stopped;
    expect(told).toEqual([]);
  }
});
