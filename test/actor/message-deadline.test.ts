import { describe, expect, test } from "bun:test";
import {
  type AskResult,
  type Context,
  createMessage,
  createTopic,
  defineProtocol,
  receive,
  type SignaturesOf,
  StreamError,
  spawnPool,
  Type,
} from "../../src/index";
import { expectBalance, reasonsOf, type TestSystem, testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const Work = defineProtocol("work", {
  run: { payload: Type.String(), reply: Type.String() },
  tick: {},
  items: { payload: Type.String(), stream: Type.Number() },
});
type WorkContext = Context<SignaturesOf<typeof Work>>;

/** An actor that keeps what it handles, and the time that is left then; "slow" takes 50 ms. */
function spawnWork(test: TestSystem, name = "work", options = {}) {
  const seen: [operation: string, left: number][] = [];
  const ref = test.system.spawn(
    name,
    Work,
    (ctx) => ({
      async run(text) {
        seen.push([text, ctx.deadline]);
        if (text === "slow") await sleep(ctx, 50);
        return text;
      },
      tick: () => void seen.push(["tick", ctx.deadline]),
      async *items(text) {
        seen.push([text, ctx.deadline]);
        for (let i = 0; ; i++) {
          yield i;
          await sleep(ctx, 10);
        }
      },
    }),
    options,
  );
  return { ref, seen };
}

const sleep = (ctx: { readonly clock: WorkContext["clock"] }, milliseconds: number): Promise<void> =>
  new Promise((resolve) => ctx.clock.setTimer(resolve, milliseconds));

const kindOf = (result: AskResult<unknown>): string => (result.isOk() ? "ok" : result.error.kind);

test("ctx.deadline is what is left of an ask, or of the deadline of a tell, an offer and a stream", async () => {
  const test = createTestSystem();
  const { ref, seen } = spawnWork(test);
  ref.tell("run", "slow");
  ref.tell("run", "told", { deadline: 100 });
  ref.tell("tick", { deadline: 100 });
  void ref.ask("run", "asked", { timeout: 100 });
  void ref.offer("run", "offered", { deadline: 100 });
  const items = ref.stream("items", "streamed", { deadline: 100, timeout: 70 });
  const first = items.next();
  await test.advance(50);
  await first;
  await items.return();
  await test.advance(10); // Its producer ends its present wait.
  await ref.ask("run", "endless", { timeout: Number.POSITIVE_INFINITY });
  receive(ref).tell("run", "through a door", { deadline: 20 });
  const topic = createTopic<string>("topic");
  topic.subscribe(ref, "run");
  topic.publish("published", undefined, { deadline: 20 });
  await test.settle();
  expect(seen).toEqual([
    ["slow", Number.POSITIVE_INFINITY],
    ["told", 50],
    ["tick", 50],
    ["asked", 50],
    ["offered", 50],
    ["streamed", 50],
    ["endless", Number.POSITIVE_INFINITY],
    ["through a door", 20],
    ["published", 20],
  ]);
});

test("ctx.deadline is read anew each time, and is not below 0", async () => {
  const test = createTestSystem();
  const left: number[] = [];
  const Slow = defineProtocol("slow", { run: {} });
  const slow = test.system.spawn("slow", Slow, (ctx) => ({
    async run() {
      for (let i = 0; i < 4; i++) {
        left.push(ctx.deadline);
        await sleep(ctx, 10);
      }
    },
  }));
  slow.tell("run", { deadline: 25 });
  await test.advance(40);
  expect(left.splice(0)).toEqual([25, 15, 5, 0]);
  expect(test.router.audit()).toMatchObject({ handled: 1, dead: 0 }); // One that has begun is not ended.
  const asked = slow.ask("run", { timeout: 25 });
  await test.advance(40);
  expect([left, kindOf(await asked)]).toEqual([[25, 15, 5, 0], "timeout"]);
});

test("P1: a message whose deadline is over when its turn comes is dead-lettered once, and not handled", async () => {
  for (const concurrency of [1, 2]) {
    const test = createTestSystem();
    const { ref, seen } = spawnWork(test, "work", { concurrency });
    for (let i = 0; i < concurrency; i++) ref.tell("run", "slow");
    ref.tell("run", "late", { deadline: 50 });
    ref.tell("tick", { deadline: 10 });
    receive(ref).tell("run", "late", { deadline: 10 });
    expect((await ref.offer("run", "late", { deadline: 10 })).isOk()).toBe(true); // The mailbox took it.
    ref.tell("run", "in time", { deadline: 51 });
    await test.advance(50);
    expect(seen.slice(concurrency)).toEqual([["in time", 1]]);
    expect(reasonsOf(test.deadLetters)).toEqual(["timeout", "timeout", "timeout", "timeout"]);
    expect(test.deadLetters[1]?.description).toBe(
      '"tick" to @(work) still waited when its deadline of 10 ms was over, and is not handled; ' +
        "give it more time, or look why the actor is slow.",
    );
    expectBalance(test.router.audit());
    expect(test.router.audit()).toMatchObject({ accepted: concurrency + 5, handled: concurrency + 1, dead: 4 });
    await test.advance(1_000);
    test.takeLog();
  }
});

test("a deadline stays with a message that is stashed, forwarded or handed to a worker", async () => {
  const test = createTestSystem();
  const { ref, seen } = spawnWork(test);
  let isOpen = false;
  const front = test.system.spawn("front", Work, (ctx) => ({
    run() {
      if (isOpen) return ctx.forward(ref);
      ctx.timers.once("open", 20, () => {
        isOpen = true;
        ctx.unstash();
      });
      return ctx.stash();
    },
    tick: () => {
      void ctx.message; // Made and kept: the deadline stays beside it.
      return ctx.forward(ref);
    },
    items: () => ctx.forward(ref),
  }));
  const pools = (["round-robin", "broadcast"] as const).map((routing) =>
    spawnPool(
      test.system,
      routing,
      Work,
      (ctx) => ({ run: () => ctx.forward(front), tick: () => ctx.forward(front), items: () => ctx.forward(front) }),
      { size: 1, routing },
    ),
  );
  for (const pool of pools) {
    isOpen = false;
    pool.tell("run", "late", { deadline: 20 });
    pool.tell("run", "in time", { deadline: 30 });
    await test.advance(20);
    pool.tell("tick", { deadline: 5 });
    await test.settle();
    expect(seen.splice(0)).toEqual([
      ["in time", 10],
      ["tick", 5],
    ]);
    expect(reasonsOf(test.deadLetters).splice(-1)).toEqual(["timeout"]);
  }
  expectBalance(test.router.audit());
  await test.advance(1_000);
  test.takeLog();
});

for (const routing of ["broadcast", "first-answer", "round-robin"] as const) {
  test(`the workers of a ${routing} pool know what is left of the ask, and bound by it what they ask`, async () => {
    const test = createTestSystem();
    const { ref, seen } = spawnWork(test);
    const pool = spawnPool(
      test.system,
      "pool",
      Work,
      (ctx) => ({
        async run(text) {
          await sleep(ctx, 10);
          seen.push(["worker", ctx.deadline]);
          ctx.tell(ref, "tick");
          return (await ctx.ask(ref, "run", text)).unwrapOr("");
        },
        tick() {},
        *items() {},
      }),
      { size: 2, routing },
    );
    const asked = pool.ask("run", "asked", { timeout: 100 });
    await test.advance(10);
    expect((await asked).isOk()).toBe(true);
    const seenBy = (operation: string): number[] => seen.flatMap(([each, left]) => (each === operation ? [left] : []));
    // The other worker of a first-answer pool is given up by then: nothing is left to it, and it asks nothing.
    const workers = { broadcast: [90, 90], "first-answer": [90, 0], "round-robin": [90] }[routing];
    expect(seenBy("worker")).toEqual(workers);
    expect(seenBy("asked")).toEqual(workers.filter((left) => left > 0));
    expect(seenBy("tick")).toEqual(workers.map(() => Number.POSITIVE_INFINITY));
  });
}

test("a deadline is kept with an offer that goes through interceptors", async () => {
  const test = createTestSystem();
  const { ref, seen } = spawnWork(test);
  test.router.use(async (_, next) => {
    await null;
    return next();
  });
  await test.router.offer(createMessage(ref.address, "run", "offered"), { deadline: 50 });
  const items = test.router.stream(createMessage(ref.address, "items", "streamed"), { deadline: 50 });
  await test.settle();
  await items.next();
  await items.return();
  expect(seen).toEqual([
    ["offered", 50],
    ["streamed", 50],
  ]);
  await test.advance(10);
});

test("P11: an offer waits for room no longer than its deadline", async () => {
  const test = createTestSystem();
  const { ref } = spawnWork(test, "work", { capacity: 1, overflow: "wait" });
  ref.tell("run", "slow");
  await test.settle();
  ref.tell("run", "in the mailbox");
  const offered = ref.offer("run", "late", { deadline: 10, timeout: 1_000 });
  await test.advance(10);
  expect(kindOf(await offered)).toBe("timeout");
  await test.advance(40);
});

describe("a stream", () => {
  test("ends at its deadline, wherever it is, and its producer is told", async () => {
    const test = createTestSystem();
    const { ref } = spawnWork(test);
    const read: unknown[] = [];
    const reading = (async () => {
      try {
        for await (const item of ref.stream("items", "a", { deadline: 25 })) read.push(item);
      } catch (thrown) {
        read.push(thrown instanceof StreamError && thrown.kind, test.clock.monotonicTime());
      }
    })();
    await test.advance(30);
    await reading;
    expect(read).toEqual([0, 1, 2, "timeout", 25]);
    expect((await ref.ask("run", "next")).isOk()).toBe(true); // The actor is free.
  });

  test("P6: that has ended leaves no timer", async () => {
    const test = createTestSystem();
    const { ref } = spawnWork(test);
    const items = ref.stream("items", "a", { deadline: 10_000 });
    await items.next();
    await items.return();
    await test.advance(10);
    expect(test.clock.heldTimers).toBe(0);
  });
});

/** An actor that sends by `ctx`, 10 ms after it was told to. */
function spawnSender(test: TestSystem, send: (ctx: Pick<WorkContext, "tell" | "ask" | "offer" | "stream">) => unknown) {
  const Sender = defineProtocol("sender", { send: { reply: Type.Any() } });
  return test.system.spawn("sender", Sender, (ctx) => ({
    async send() {
      await sleep(ctx, 10);
      return await send(ctx);
    },
  }));
}

describe("what a handler sends through ctx never outlives the deadline of its message", () => {
  for (const [how, send] of [
    ["ctx.tell", (ctx, ref) => ctx.tell(ref, "run", "x")],
    ["ctx.tell with a longer deadline", (ctx, ref) => ctx.tell(ref, "run", "x", { deadline: 1_000 })],
    ["ctx.tell without a payload", (ctx, ref) => ctx.tell(ref, "tick")],
    ["ctx.ask", (ctx, ref) => ctx.ask(ref, "run", "x")],
    ["ctx.offer", (ctx, ref) => ctx.offer(ref, "run", "x")],
    ["ctx.stream", (ctx, ref) => ctx.stream(ref, "items", "x").next()],
  ] as [string, (ctx: WorkContext, ref: ReturnType<typeof spawnWork>["ref"]) => unknown][]) {
    test(`${how}: it has what is left`, async () => {
      const test = createTestSystem();
      const { ref, seen } = spawnWork(test);
      spawnSender(test, (ctx) => send(ctx as WorkContext, ref)).tell("send", { deadline: 100 });
      await test.advance(10);
      expect(seen.map(([, left]) => left)).toEqual([90]);
      await test.advance(100);
    });

    test(`${how}: it is not handled after that`, async () => {
      const test = createTestSystem();
      const { ref, seen } = spawnWork(test);
      ref.tell("run", "slow");
      spawnSender(test, (ctx) => send(ctx as WorkContext, ref)).tell("send", { deadline: 30 });
      await test.advance(60);
      expect(seen.map(([text]) => text)).toEqual(["slow"]);
      expect(reasonsOf(test.deadLetters)).toEqual(["timeout"]);
      expectBalance(test.router.audit());
      await test.advance(1_000);
      test.takeLog();
    });
  }

  test("a shorter deadline of its own stays", async () => {
    const test = createTestSystem();
    const { ref, seen } = spawnWork(test);
    const sender = spawnSender(test, (ctx) => {
      ctx.tell(ref, "run", "told", { deadline: 5 });
      return ctx.ask(ref, "run", "asked", { timeout: 5 });
    });
    sender.tell("send", { deadline: 100 });
    await test.advance(10);
    expect(seen).toEqual([
      ["told", 5],
      ["asked", 5],
    ]);
  });

  test("it goes on through an ask to what that asks and tells", async () => {
    const test = createTestSystem();
    const { ref, seen } = spawnWork(test);
    const middle = spawnSender(test, async (ctx) => {
      ctx.tell(ref, "run", "told");
      await ctx.ask(ref, "run", "asked");
    });
    const First = defineProtocol("first", { send: {} });
    const first = test.system.spawn("first", First, (ctx) => ({
      async send() {
        await ctx.ask(middle, "send");
      },
    }));
    first.tell("send", { deadline: 100 });
    await test.advance(10);
    expect(seen).toEqual([
      ["told", 90],
      ["asked", 90],
    ]);
  });

  test("the timeout of an ask bounds what its handler asks, and not what it tells", async () => {
    const test = createTestSystem();
    const { ref, seen } = spawnWork(test);
    const sender = spawnSender(test, async (ctx) => {
      ctx.tell(ref, "run", "told");
      await ctx.ask(ref, "run", "asked");
    });
    const asked = sender.ask("send", { timeout: 100 });
    await test.advance(10);
    await asked;
    expect(seen).toEqual([
      ["told", Number.POSITIVE_INFINITY],
      ["asked", 90],
    ]);
  });
});

test("a deadline that is no number of milliseconds above 0 throws at once", () => {
  const { ref } = spawnWork(createTestSystem());
  for (const deadline of [0, -1, Number.NaN, "5"] as number[]) {
    const sentence = /^The deadline of .* is a number of milliseconds above 0, or Infinity; got/;
    expect(() => ref.tell("run", "a", { deadline })).toThrow(sentence);
    expect(() => ref.offer("run", "a", { deadline })).toThrow(sentence);
    expect(() => ref.stream("items", "a", { deadline })).toThrow(sentence);
    expect(() => receive(ref).tell("run", "a", { deadline })).toThrow(sentence);
  }
});
