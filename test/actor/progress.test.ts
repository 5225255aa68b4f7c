import { describe, expect, test } from "bun:test";
import { AsyncLocalStorage } from "node:async_hooks";
import {
  type AskOptions,
  address,
  type Context,
  createMessage,
  createPool,
  defineProtocol,
  ok,
  type Progress,
  type Ref,
  receive,
  type SignaturesOf,
  spawnPool,
  Type,
} from "../../src/index";
import { createBehaviourKit } from "../../src/testing";
import { type TestSystem, testSystems } from "./test-system";
import { Wire } from "./wire";

const { createTestSystem } = testSystems();

const Worker = defineProtocol("worker", {
  work: { payload: Type.Number(), reply: Type.String() },
  idle: { reply: Type.String() },
});
type WorkerRef = Ref<SignaturesOf<typeof Worker>>;
type WorkerContext = Context<SignaturesOf<typeof Worker>>;

/** A turn of the event loop on the system's clock. */
const turn = (ctx: WorkerContext): Promise<void> => new Promise((resolve) => ctx.clock.macrotask(resolve));

/** Works in steps of a turn each, and says so after each of them. */
const inSteps = (ctx: WorkerContext) => ({
  async work(steps: number) {
    for (let done = 1; done <= steps; done++) {
      ctx.progress(done, steps, `step ${done}`);
      await turn(ctx);
    }
    await turn(ctx);
    return "done";
  },
  idle: () => "idle",
});

const spawnWorker = ({ system }: TestSystem, name = "worker"): WorkerRef => system.spawn(name, Worker, inSteps);

/** Asks, and returns what was heard with the reply as the last. */
async function hear(test: TestSystem, ask: (options: AskOptions) => Promise<unknown>): Promise<unknown[]> {
  const heard: unknown[] = [];
  const reply = ask({ onProgress: ({ done, total, note }) => heard.push(`${done}/${total} ${note}`) });
  await test.settle();
  return [...heard, await reply];
}

const THREE = ["1/3 step 1", "2/3 step 2", "3/3 step 3", ok("done")];

describe("the progress of an ask", () => {
  test("is told to its asker in order, and before the reply", async () => {
    const test = createTestSystem();
    const worker = spawnWorker(test);
    expect(await hear(test, (options) => worker.ask("work", 3, options))).toEqual(THREE);
  });

  test("is told through a door, the router, an interceptor, and to an actor that asks", async () => {
    const test = createTestSystem();
    const worker = spawnWorker(test);
    const message = createMessage(worker.address, "work", 3);
    expect(await hear(test, (options) => receive(worker).ask("work", 3, options))).toEqual(THREE);
    expect(await hear(test, (options) => test.router.ask(message, options))).toEqual(THREE);
    const remove = test.router.use((_, next) => next());
    expect(await hear(test, (options) => test.router.ask(message, options))).toEqual(THREE);
    remove();
    const asker = test.system.spawn("asker", Worker, (ctx) => ({
      ...inSteps(ctx),
      work: async (steps) => {
        const onProgress = ({ done, total = 0 }: Progress) => ctx.progress(done, total, `step ${done}`);
        return (await ctx.ask(worker, "work", steps, { onProgress })).unwrapOr("none");
      },
    }));
    expect(await hear(test, (options) => asker.ask("work", 3, options))).toEqual(THREE);
  });

  test("is told to the first asker when the ask is forwarded, stashed, or handed to workers of a pool", async () => {
    const test = createTestSystem();
    const worker = spawnWorker(test);
    const stasher = test.system.spawn("stasher", Worker, (ctx) => ({
      work: () => ctx.stash(),
      idle() {
        ctx.become({ work: () => ctx.forward(worker), idle: () => "" });
        ctx.unstash();
        return "";
      },
    }));
    const heard = hear(test, async (options) => {
      const reply = stasher.ask("work", 3, options);
      stasher.tell("idle");
      return reply;
    });
    expect(await heard).toEqual(THREE);
    const other = spawnWorker(test, "other");
    for (const routing of ["round-robin", "broadcast", "first-answer"] as const) {
      const pool = spawnPool(test.system, routing, Worker, inSteps, { size: 2, routing });
      expect(await hear(test, (options) => pool.ask("work", 3, options))).toEqual(THREE);
      const { ref } = createPool(test.system, `${routing}-refs`, Worker, [worker, other], { routing });
      expect(await hear(test, (options) => ref.ask("work", 3, options))).toEqual(THREE);
    }
  });

  test("relays through an actor that handles several asks at once, each to its own asker", async () => {
    const test = createTestSystem();
    const pool = spawnPool(test.system, "pool", Worker, inSteps, { size: 2 });
    const asker = test.system.spawn(
      "asker",
      Worker,
      (ctx) => ({
        ...inSteps(ctx),
        work: async (steps) => {
          const onProgress = ({ done, total = 0 }: Progress) => ctx.progress(done, total, `step ${done}`);
          return (await ctx.ask(pool, "work", steps, { onProgress })).unwrapOr("none");
        },
      }),
      { concurrency: 2 },
    );
    const both = [3, 2].map((steps) => hear(test, (options) => asker.ask("work", steps, options)));
    expect(await Promise.all(both)).toEqual([THREE, ["1/2 step 1", "2/2 step 2", ok("done")]]);
  });

  test("comes through a transport, whose nonsense is ignored, and not after its end", async () => {
    const test = createTestSystem();
    const wire = new Wire();
    const { ref } = test.system.attach(address("node-7/worker"), Worker, wire);
    const heard: Progress[] = [];
    const reply = ref.ask("work", 3, { onProgress: (progress) => heard.push(progress) });
    const out = wire.last;
    expect(out.wantsProgress).toBe(true);
    out.progress(1, 3, "step 1");
    await test.settle();
    for (const wrong of [Number.NaN, Number.POSITIVE_INFINITY, "2" as never]) out.progress(wrong);
    out.progress(2, Number.NaN);
    out.progress(2, 3, {} as never);
    await test.settle();
    out.progress(2);
    out.complete("done");
    out.progress(3);
    await test.settle();
    expect(await reply).toEqual(ok("done"));
    expect(heard).toEqual([{ done: 1, total: 3, note: "step 1" }]);
    void ref.ask("work", 3);
    expect(wire.last.wantsProgress).toBe(false);
    wire.last.progress(1);
    wire.last.complete("done");
  });

  test("P5: said a million times in one turn, is told once, with the last", async () => {
    const test = createTestSystem();
    const worker = test.system.spawn("worker", Worker, (ctx) => ({
      ...inSteps(ctx),
      async work(steps) {
        for (let done = 1; done <= steps; done++) ctx.progress(done, steps, "");
        await turn(ctx);
        await turn(ctx);
        return "done";
      },
    }));
    expect(await hear(test, (options) => worker.ask("work", 1_000_000, options))).toEqual([
      "1000000/1000000 ",
      ok("done"),
    ]);
  });

  test("P6: is not told once the ask has settled, though the handler goes on", async () => {
    const test = createTestSystem();
    const worker = test.system.spawn("worker", Worker, (ctx) => ({
      ...inSteps(ctx),
      work(steps) {
        ctx.progress(1, steps, "said in the turn of the reply");
        return "done";
      },
    }));
    expect(await hear(test, (options) => worker.ask("work", 3, options))).toEqual([ok("done")]);
  });

  test("P7: is not told once the asker has given up, by its signal or by its timeout", async () => {
    const test = createTestSystem();
    let say = (_: number): void => {};
    const worker = test.system.spawn("worker", Worker, (ctx) => ({
      ...inSteps(ctx),
      async work() {
        say = (done) => ctx.progress(done);
        await new Promise((resolve) => ctx.onAbort(() => resolve(undefined)));
        say(3);
        await turn(ctx);
        await turn(ctx);
        throw ctx.signal.reason;
      },
    }));
    for (const giveUp of ["signal", "timeout"] as const) {
      const heard: number[] = [];
      const controller = new AbortController();
      const onProgress = ({ done }: Progress) => heard.push(done);
      const reply = worker.ask("work", 1, { onProgress, signal: controller.signal, timeout: 100 });
      await test.settle();
      say(1);
      await test.settle();
      say(2); // Is due when the asker gives up.
      if (giveUp === "signal") controller.abort();
      else await test.advance(100);
      await test.settle();
      expect((await reply)._unsafeUnwrapErr().kind).toBe(giveUp === "signal" ? "cancelled" : "timeout");
      expect(heard).toEqual(giveUp === "signal" ? [1] : [1, 2]);
      expect(test.takeLog()).toEqual([]);
    }
  });

  test("P9: an onProgress that throws or rejects is logged, and neither hurts the handler nor the ask", async () => {
    const test = createTestSystem();
    const worker = spawnWorker(test);
    const fail = (): void => {
      throw new Error("no screen");
    };
    for (const onProgress of [fail, async () => fail()]) {
      const reply = worker.ask("work", 1, { onProgress });
      await test.settle();
      expect(await reply).toEqual(ok("done"));
      const [entry, more] = test.takeLog();
      expect(entry?.message).toBe('envoi: the onProgress of an ask, "work" to @(worker), threw: Error: no screen');
      expect(more).toBeUndefined();
    }
  });

  test("P16: is told in the system's context, whoever asked and whoever works", async () => {
    const storage = new AsyncLocalStorage<string>();
    const test = storage.run("system", () => createTestSystem());
    const worker = test.system.spawn("worker", Worker, (ctx) => ({
      ...inSteps(ctx),
      work: (steps) => storage.run("worker", () => inSteps(ctx).work(steps)),
    }));
    const seen: unknown[] = [];
    const onProgress = () => seen.push(storage.getStore());
    const reply = storage.run("asker", () => worker.ask("work", 2, { onProgress }));
    await test.settle();
    expect(await reply).toEqual(ok("done"));
    expect(seen).toEqual(["system", "system"]);
  });

  test("goes nowhere when nobody listens, in a tell, and outside of messages", async () => {
    const test = createTestSystem();
    const worker = test.system.spawn("worker", Worker, (ctx) => {
      ctx.progress(1);
      return { ...inSteps(ctx), onStart: () => ctx.progress(2) };
    });
    worker.tell("work", 1);
    const heard = await hear(test, () => worker.ask("work", 1));
    expect(heard).toEqual([ok("done")]);
  });

  test("is refused with numbers that say nothing; so is an onProgress that is no function", async () => {
    const test = createTestSystem();
    const worker = test.system.spawn("worker", Worker, (ctx) => ({
      ...inSteps(ctx),
      work(which) {
        const wrong = [() => ctx.progress(Number.NaN), () => ctx.progress(1, Number.POSITIVE_INFINITY)];
        wrong.push(() => ctx.progress(1, 2, 3 as unknown as string));
        wrong[which]?.();
        return "none was thrown";
      },
    }));
    const errors = [];
    for (const which of [0, 1, 2]) {
      const reply = worker.ask("work", which);
      await test.settle();
      errors.push((await reply)._unsafeUnwrapErr().message);
    }
    expect(errors[0]).toContain("takes finite numbers, such as ctx.progress(3, 10); got NaN and undefined.");
    expect(errors[1]).toContain("got 1 and Infinity.");
    expect(errors[2]).toContain("The note of ctx.progress() is a text; got 3.");
    const onProgress = "show" as unknown as () => void;
    expect(() => worker.ask("work", 1, { onProgress })).toThrow("The onProgress of an ask is a function, such as");
  });
});

test("a behaviour kit records progress as an effect", () => {
  const kit = createBehaviourKit(Worker, (ctx) => ({
    work(steps) {
      ctx.progress(1, steps);
      ctx.progress(2, undefined, "more");
      return "done";
    },
    idle: () => "",
  }));
  expect(kit.run("work", 3).effects).toEqual([
    { kind: "progressed", done: 1, total: 3 },
    { kind: "progressed", done: 2, note: "more" },
  ]);
});

test("an address that is not here is told as ever, with a listener as without", async () => {
  const test = createTestSystem();
  const reply = test.router.ask(createMessage(address("nobody"), "work", 1), { onProgress: () => {} });
  await test.settle();
  expect((await reply)._unsafeUnwrapErr().kind).toBe("no-recipient");
});
