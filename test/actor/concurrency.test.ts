import { expect, test } from "bun:test";
import {
  address,
  type Context,
  createMessage,
  defineProtocol,
  type Factory,
  type SignaturesOf,
  Type,
} from "../../src/index";
import { spawnGated } from "./gated";
import { expectBalance, reasonsOf, type TestSystem, testSystems } from "./test-system";

const { createTestSystem, createTestRouter } = testSystems();

test("P3: with a concurrency of n at most n handlers run at once, begun in the order of the mailbox", async () => {
  for (const concurrency of [2, 3, 7]) {
    const test = createTestSystem();
    const gated = spawnGated(test, { concurrency });
    const labels = Array.from({ length: 10 }, (_, i) => String(i));
    const asks = labels.map((label) => gated.ref.ask("work", label));
    await test.clock.settle();
    expect(gated.begun).toEqual(labels.slice(0, concurrency));
    expect(test.router.audit()).toMatchObject({ running: concurrency, queued: 10 - concurrency });
    for (let ended = 1; ended <= 10; ended++) {
      await gated.release();
      expect(gated.begun).toEqual(labels.slice(0, concurrency + ended));
      expectBalance(test.router.audit());
    }
    expect((await Promise.all(asks)).map((ask) => ask.unwrapOr(""))).toEqual(labels.map((label) => `${label} done`));
  }
});

test("P3: a concurrency of 1 is that of any actor", async () => {
  const test = createTestSystem();
  const gated = spawnGated(test, { concurrency: 1 });
  for (const label of ["a", "b"]) gated.ref.tell("work", label);
  await test.clock.settle();
  expect(gated.begun).toEqual(["a"]);
  await gated.drain();
});

test("P3: handlers that do not wait are handled in a row, and so are those that throw", async () => {
  const { system, clock, takeLog, router } = createTestSystem();
  const seen: number[] = [];
  const Sync = defineProtocol("sync", { work: { payload: Type.Number(), reply: Type.Number() } });
  const worker = system.spawn(
    "worker",
    Sync,
    () => ({
      work(n) {
        seen.push(n);
        if (n === 3) throw new Error("broken");
        return n;
      },
    }),
    { concurrency: 2 },
  );
  const asks = Array.from({ length: 100 }, (_, n) => worker.ask("work", n));
  await clock.settle();
  expect(seen).toEqual(Array.from({ length: 100 }, (_, n) => n));
  expect((await Promise.all(asks)).map((ask) => ask.unwrapOr(-1))).toEqual(seen.map((n) => (n === 3 ? -1 : n)));
  expect(router.audit()).toMatchObject({ handled: 99, failed: 1, running: 0 });
  expect(takeLog()).toEqual([]);
});

const Shared = defineProtocol("shared", {
  look: { payload: Type.String(), reply: Type.Array(Type.String()) },
  tick: {},
});
const Asker = defineProtocol("asker", { ask: { payload: Type.String(), reply: Type.Array(Type.String()) } });

type SharedContext = Context<SignaturesOf<typeof Shared>>;

const view = (ctx: SharedContext): string =>
  `${ctx.message.payload} of ${ctx.sender?.address} ${ctx.signal.aborted ? "aborted" : "wanted"}`;

function spawnShared(
  { system }: TestSystem,
  onTick: (ctx: SharedContext) => unknown = () => undefined,
  concurrency = 3,
) {
  const gates = new Map<string, () => void>();
  const wait = (label: string): Promise<void> => new Promise((resolve) => gates.set(label, resolve));
  const ref = system.spawn(
    "shared",
    Shared,
    (ctx) => ({
      async look(label) {
        const seen = [view(ctx)];
        await wait(label);
        seen.push(view(ctx));
        await undefined;
        seen.push(view(ctx));
        return seen;
      },
      tick() {
        ctx.timers.once("tick", 1, () => onTick(ctx));
      },
    }),
    { concurrency },
  );
  const asker = (name: string) =>
    system.spawn(name, Asker, (ctx) => ({
      ask: async (label) => (await ctx.ask(ref, "look", label)).unwrapOr(["nothing"]),
    }));
  return { ref, asker, wait, open: (label: string) => gates.get(label)?.() };
}

test("P3: ctx.message, ctx.sender and ctx.signal are those of the message whose handler reads them, also after it waited", async () => {
  const test = createTestSystem();
  const { asker, open } = spawnShared(test);
  const asks = ["a", "b", "c"].map((name) => asker(name).ask("ask", `m-${name}`));
  await test.clock.settle();
  for (const label of ["m-c", "m-a", "m-b"]) open(label);
  const seen = (await Promise.all(asks)).map((ask) => ask._unsafeUnwrap());
  expect(seen).toEqual(["a", "b", "c"].map((name) => Array(3).fill(`m-${name} of @(${name}) wanted`)));
});

test("P7: the signal of the one that was given up is aborted, and no other", async () => {
  const test = createTestSystem();
  const { ref, open } = spawnShared(test);
  const stop = new AbortController();
  const given = ref.ask("look", "a", { signal: stop.signal });
  const wanted = ref.ask("look", "b");
  const late = ref.ask("look", "c", { timeout: 5 });
  await test.clock.settle();
  stop.abort();
  await test.clock.advance(5);
  expect([(await given)._unsafeUnwrapErr().kind, (await late)._unsafeUnwrapErr().kind]).toEqual([
    "cancelled",
    "timeout",
  ]);
  for (const label of ["a", "b", "c"]) open(label);
  expect((await wanted)._unsafeUnwrap()).toEqual(Array(3).fill("b of undefined wanted"));
  await test.clock.settle();
  const late1 = test.deadLetters.map(({ reason, reply }) => [reason, reply]);
  expect(late1).toEqual([
    ["late-reply", ["a of undefined wanted", "a of undefined aborted", "a of undefined aborted"]],
    ["late-reply", ["c of undefined wanted", "c of undefined aborted", "c of undefined aborted"]],
  ]);
  test.takeLog();
});

const Hanging = defineProtocol("hanging", { hang: { payload: Type.String(), reply: Type.Null() } });

/** An actor whose handlers end when they are given up, and only then. */
function spawnHanging(
  system: TestSystem["system"],
  concurrency: number,
  onAbort: (ctx: Context<SignaturesOf<typeof Hanging>>) => void,
) {
  const factory: Factory<SignaturesOf<typeof Hanging>> = (ctx) => ({
    hang() {
      const { promise, reject } = Promise.withResolvers<null>();
      ctx.onAbort(() => {
        onAbort(ctx);
        reject(ctx.signal.reason);
      });
      return promise;
    },
  });
  return system.spawn("hanging", Hanging, factory, { concurrency });
}

test("P7: a callback of ctx.onAbort is a part of its own message among several: ctx.signal and ctx.message are its", async () => {
  const { system, clock, takeLog } = createTestSystem();
  const seen: unknown[] = [];
  const hanging = spawnHanging(system, 3, (ctx) => seen.push([ctx.message?.payload, ctx.signal.reason?.kind]));
  const controller = new AbortController();
  const asks = [
    hanging.ask("hang", "a", { timeout: 10 }),
    hanging.ask("hang", "b", { signal: controller.signal }),
    hanging.ask("hang", "c"),
  ];
  await clock.settle();
  controller.abort();
  await clock.advance(10);
  const stopped = system.stop(hanging);
  await clock.settle();
  expect(seen.slice(0, 2)).toEqual([
    ["b", "cancelled"],
    ["a", "timeout"],
  ]);
  expect(seen.map((each) => (each as unknown[])[0])).toEqual(["b", "a", "c"]);
  await Promise.all([stopped, ...asks]);
  takeLog();
});

test("P3: a timer's callback that waits has the actor to itself, and takes nothing from the handlers beside it", async () => {
  const test = createTestSystem();
  const gate = Promise.withResolvers<void>();
  const seenByTimer: string[] = [];
  const attempt = (ctx: SharedContext): void => {
    try {
      seenByTimer.push(view(ctx));
    } catch (thrown) {
      seenByTimer.push(String(thrown));
    }
  };
  const { ref, asker, open } = spawnShared(test, async (ctx) => {
    attempt(ctx);
    await gate.promise;
    attempt(ctx);
  });
  ref.tell("tick");
  const first = asker("first").ask("ask", "a");
  await test.clock.advance(1);
  expect(seenByTimer).toHaveLength(1);
  const second = asker("second").ask("ask", "b"); // A slot is free, but the callback is alone.
  open("a");
  expect((await first)._unsafeUnwrap()).toEqual(Array(3).fill("a of @(first) wanted"));
  await test.clock.settle();
  expect(test.router.audit()).toMatchObject({ queued: 1 });
  gate.resolve();
  await test.clock.settle();
  open("b");
  expect((await second)._unsafeUnwrap()).toEqual(Array(3).fill("b of @(second) wanted"));
  const nothing = "Error: @(shared) handles no message now; read ctx.message inside a handler.";
  expect(seenByTimer).toEqual([nothing, nothing]);
});

test("P3: what a handler sets off is not taken for that handler, nor for its message", async () => {
  const { system, clock } = createTestSystem();
  const seen: string[] = [];
  const gate = Promise.withResolvers<void>();
  const friend = spawnGated({ system, clock }, {}, "friend");
  await system.stop(friend.ref);
  const Watching = defineProtocol("watching", { look: { payload: Type.String() } });
  const worker = system.spawn(
    "worker",
    Watching,
    (ctx) => {
      const look = (): void => {
        try {
          seen.push(String(ctx.message.payload));
        } catch {
          seen.push("no message");
        }
      };
      return {
        async look() {
          ctx.watch(friend.ref, look); // In this turn,
          await gate.promise;
          ctx.watch(friend.ref, look); // and in one that begins here.
          await new Promise<void>((resolve) => clock.setTimer(resolve, 1));
          look();
        },
      };
    },
    { concurrency: 2 },
  );
  worker.tell("look", "a");
  await clock.settle();
  gate.resolve();
  await clock.advance(1);
  expect(seen).toEqual(["no message", "no message", "a"]);
});

test("P3: hooks have the actor to itself: no message begins before onStart has ended, and onStop comes after all", async () => {
  const { system, clock, router } = createTestSystem();
  const seen: string[] = [];
  const gates: (() => void)[] = [];
  const wait = (): Promise<void> => new Promise((resolve) => gates.push(resolve));
  const Hooked = defineProtocol("hooked", { work: { payload: Type.String() } });
  const worker = system.spawn(
    "worker",
    Hooked,
    () => ({
      async onStart() {
        seen.push("onStart");
        await wait();
        seen.push("started");
      },
      async work(label) {
        seen.push(label);
        await wait();
        seen.push(`${label} done`);
      },
      async onStop() {
        seen.push("onStop");
        await wait();
        seen.push("stopped");
      },
    }),
    { concurrency: 2 },
  );
  const step = async (): Promise<void> => {
    gates.shift()?.();
    await clock.settle();
    expectBalance(router.audit());
  };
  for (const label of ["a", "b", "c"]) worker.tell("work", label);
  await clock.settle();
  expect(seen).toEqual(["onStart"]);
  expect(router.audit()).toMatchObject({ queued: 3, running: 0 });
  await step();
  expect(seen).toEqual(["onStart", "started", "a", "b"]);
  let isStopped = false;
  void system.stop(worker, { drain: true }).then(() => {
    isStopped = true;
  });
  await step();
  await step();
  expect(seen.slice(4)).toEqual(["a done", "c", "b done"]);
  await step();
  expect({ isStopped, last: seen.slice(-2) }).toEqual({ isStopped: false, last: ["c done", "onStop"] });
  await step();
  expect({ isStopped, last: seen.at(-1) }).toEqual({ isStopped: true, last: "stopped" });
});

test("P13: a stop waits for all that run, and dead-letters the rest", async () => {
  const test = createTestSystem();
  const gated = spawnGated(test, { concurrency: 3 });
  const asks = ["a", "b", "c", "d"].map((label) => gated.ref.ask("work", label));
  await test.clock.settle();
  let isStopped = false;
  void test.system.stop(gated.ref).then(() => {
    isStopped = true;
  });
  await gated.release(2);
  expect({ isStopped, audit: test.router.audit() }).toMatchObject({ isStopped: false, audit: { running: 1, dead: 1 } });
  await gated.release();
  expect(isStopped).toBe(true);
  const kinds = (await Promise.all(asks)).map((ask) => (ask.isOk() ? "ok" : ask.error.kind));
  expect(kinds).toEqual(["ok", "ok", "ok", "stopped"]);
});

test("P13: all that run are abandoned together: their askers get stopped, and the audit balances", async () => {
  const test = createTestSystem();
  const gated = spawnGated(test, { concurrency: 2 });
  const asks = ["a", "b", "c"].map((label) => gated.ref.ask("work", label, { timeout: Number.POSITIVE_INFINITY }));
  await test.clock.settle();
  const report = test.system.shutdown({ timeout: 10 });
  await test.clock.advance(10);
  expect((await report).unfinished).toEqual([gated.ref.address]);
  for (const ask of asks) expect((await ask)._unsafeUnwrapErr().kind).toBe("stopped");
  expect(test.router.audit()).toMatchObject({ accepted: 3, failed: 2, dead: 1, running: 0 });
  await gated.drain(); // What they do then is lost.
  expect(test.router.audit()).toMatchObject({ accepted: 3, failed: 2, dead: 1 });
  test.takeLog();
});

test("P10: one that fails does not disturb the others, but the restart waits for them; what waits goes to the next instance", async () => {
  const test = createTestSystem({ supervision: {} });
  const seen: string[] = [];
  const gates = new Map<string, () => void>();
  let instances = 0;
  const Work = defineProtocol("work", { work: { payload: Type.String(), reply: Type.String() } });
  const worker = test.system.spawn(
    "worker",
    Work,
    (ctx) => {
      const instance = ++instances;
      return {
        async work(label) {
          seen.push(`${instance} ${label}`);
          await new Promise<void>((resolve) => gates.set(label, resolve));
          if (label.startsWith("break")) throw new Error(label);
          return `${instance} ${ctx.message.payload}`;
        },
      };
    },
    { concurrency: 3 },
  );
  const asks = ["a", "break 1", "break 2", "b"].map((label) => worker.ask("work", label));
  await test.clock.settle();
  gates.get("break 1")?.();
  await test.clock.settle();
  expect(test.system.inspect()[0]).toMatchObject({ state: "restarting", queued: 1, restarts: 0 });
  gates.get("break 2")?.(); // Fails too, while the restart waits: that is not a second restart.
  await test.clock.settle();
  expect({ instances, seen }).toEqual({ instances: 1, seen: ["1 a", "1 break 1", "1 break 2"] });
  gates.get("a")?.();
  await test.clock.settle();
  expect({ instances, last: seen.at(-1) }).toEqual({ instances: 2, last: "2 b" });
  expect(test.system.inspect()[0]).toMatchObject({ restarts: 1, failed: 2 });
  gates.get("b")?.();
  const replies = (await Promise.all(asks)).map((ask) => (ask.isOk() ? ask.value : ask.error.kind));
  expect(replies).toEqual(["1 a", "handler-failed", "handler-failed", "2 b"]);
  test.takeLog();
});

test("P1: inspect shows all that run, each with its age", async () => {
  const test = createTestSystem();
  const gated = spawnGated(test, { concurrency: 2 });
  gated.ref.tell("work", "a");
  await test.clock.advance(5);
  gated.ref.tell("poke");
  await test.clock.advance(3);
  gated.ref.tell("work", "c");
  expect(test.system.inspect()[0]).toMatchObject({
    state: "awaiting",
    queued: 1,
    current: [
      { operation: "work", age: 8 },
      { operation: "poke", age: 3 },
    ],
  });
  await gated.release();
  await gated.drain();
  expect(test.system.inspect()[0]).toMatchObject({ state: "idle", queued: 0, handled: 3, current: [] });
});

test("P11: a bounded mailbox before several handlers: what runs is not counted", async () => {
  const test = createTestSystem();
  const gated = spawnGated(test, { concurrency: 2, capacity: 1, overflow: "wait" });
  gated.ref.tell("work", "a");
  await test.clock.settle();
  gated.ref.tell("work", "b");
  await test.clock.settle();
  const offers = ["c", "d", "e"].map((label) => gated.ref.offer("work", label));
  await test.clock.settle();
  expect(gated.begun).toEqual(["a", "b"]);
  expect(test.router.audit()).toMatchObject({ running: 2, queued: 3 });
  await gated.drain();
  expect((await Promise.all(offers)).every((offer) => offer.isOk())).toBe(true);
  expect(gated.begun).toEqual(["a", "b", "c", "d", "e"]);
});

test("P12: streams beside each other, and beside messages; leaving one ends its own handler alone", async () => {
  const { system, clock, router } = createTestSystem();
  const ended: string[] = [];
  const Ticker = defineProtocol("ticker", {
    ticks: { payload: Type.String(), stream: Type.String() },
    say: { reply: Type.String() },
  });
  const ticker = system.spawn(
    "ticker",
    Ticker,
    (ctx) => ({
      async *ticks(label) {
        try {
          for (let i = 0; ; i++) {
            await undefined;
            yield `${label}${i} ${ctx.message.payload}`;
          }
        } finally {
          ended.push(`${label} ${ctx.message.payload}`);
        }
      },
      say: () => "hi",
    }),
    { concurrency: 3 },
  );
  const a = ticker.stream("ticks", "a", { credit: 1 });
  const b = ticker.stream("ticks", "b", { credit: 1 });
  const read = async (stream: typeof a): Promise<unknown> => (await stream.next()).value;
  expect([await read(a), await read(b), await read(a)]).toEqual(["a0 a", "b0 b", "a1 a"]);
  expect((await ticker.ask("say"))._unsafeUnwrap()).toBe("hi");
  await a.return();
  await clock.settle();
  expect(ended).toEqual(["a a"]);
  expect(await read(b)).toBe("b1 b");
  expect(router.audit()).toMatchObject({ running: 1, queued: 0 });
  await b.return();
  await clock.settle();
  expect(ended).toEqual(["a a", "b b"]);
});

test("P1: a stashed message that is taken again beside the handler that stashed it has its own outcome", async () => {
  const { system, clock, router } = createTestSystem();
  const Stashing = defineProtocol("stashing", {
    work: { payload: Type.String(), reply: Type.String() },
    ready: {},
  });
  let isReady = false;
  const gate = Promise.withResolvers<void>();
  const worker = system.spawn(
    "worker",
    Stashing,
    (ctx) => ({
      async work(label) {
        if (isReady) return `${label} done`;
        const stashed = ctx.stash();
        await gate.promise;
        return stashed;
      },
      ready() {
        isReady = true;
        ctx.unstash();
      },
    }),
    { concurrency: 2 },
  );
  const reply = worker.ask("work", "a", { timeout: 10 });
  await clock.settle();
  expect(router.audit()).toMatchObject({ accepted: 1, queued: 1, running: 0 });
  worker.tell("ready");
  await clock.settle();
  expectBalance(router.audit());
  gate.resolve();
  await clock.advance(10);
  expect((await reply)._unsafeUnwrap()).toBe("a done");
  expect(router.audit()).toMatchObject({ accepted: 2, handled: 2, running: 0, queued: 0 });
  expect(system.inspect()[0]?.current).toEqual([]);
  expect((await worker.ask("work", "b"))._unsafeUnwrap()).toBe("b done");
});

test("P1: a message forwarded to the actor itself is handled in another slot, and its asker gets that reply", async () => {
  const { system, clock, router } = createTestSystem();
  const Again = defineProtocol("again", { work: { payload: Type.String(), reply: Type.String() } });
  const gate = Promise.withResolvers<void>();
  let times = 0;
  const worker = system.spawn(
    "worker",
    Again,
    (ctx) => ({
      async work(label) {
        if (++times > 1) return `${label} ${times}`;
        const passed = ctx.forward(ctx.self);
        await gate.promise;
        return passed;
      },
    }),
    { concurrency: 2 },
  );
  const reply = worker.ask("work", "a", { timeout: 10 });
  await clock.settle();
  expectBalance(router.audit());
  expect((await reply)._unsafeUnwrap()).toBe("a 2");
  expect(router.audit()).toMatchObject({ accepted: 2, handled: 1, running: 1 });
  gate.resolve();
  await clock.settle();
  expect(router.audit()).toMatchObject({ accepted: 2, handled: 2, running: 0 });
});

test("P3: a handler of a router may have a concurrency, too", async () => {
  const { router, clock, deadLetters } = createTestRouter();
  const gates: (() => void)[] = [];
  const to = address("worker");
  router.register(
    to,
    async (message, ctx) => {
      await new Promise<void>((resolve) => gates.push(resolve));
      return ctx.message === message;
    },
    { concurrency: 2 },
  );
  const asks = [1, 2, 3].map((n) => router.ask(createMessage(to, "work", n)));
  await clock.settle();
  expect(gates).toHaveLength(2);
  for (let i = 0; i < 3; i++) {
    gates.shift()?.();
    await clock.settle();
  }
  expect((await Promise.all(asks)).map((ask) => ask._unsafeUnwrap())).toEqual([true, true, true]);
  expect(reasonsOf(deadLetters)).toEqual([]);
});

test("P13: a child with a concurrency that its supervisor stops is counted out once: its parent still waits for the others", async () => {
  const { system, clock, takeLog } = createTestSystem();
  const Child = defineProtocol("child", { fail: {}, wait: {} });
  const stops: string[] = [];
  system.events.subscribe((event) => {
    if (event.kind === "stopped") stops.push(event.address);
  });
  const gate = Promise.withResolvers<void>();
  const handlers = {
    async fail() {
      await Promise.resolve();
      throw new Error("broken");
    },
    wait: () => gate.promise,
  };
  const parent = system.spawn(
    "parent",
    Child,
    (ctx) => {
      ctx.spawn("waiting", Child, () => handlers).tell("wait");
      ctx.spawn("failing", Child, () => handlers, { concurrency: 2 }).tell("fail");
      return handlers;
    },
    { supervision: { decide: () => "stop" } },
  );
  await clock.settle();
  const stopped = system.stop(parent);
  await clock.settle();
  expect(stops).toEqual(["@(parent/failing)"]);
  gate.resolve();
  await stopped;
  await clock.settle(); // Events have a macrotask of their own.
  expect(stops).toEqual(["@(parent/failing)", "@(parent/waiting)", "@(parent)"]);
  expect(takeLog()).toHaveLength(1);
});

test("P5: each of 50,000 running handlers is found at once when its asker gives up, by a timeout or a signal", async () => {
  const { system, clock, router } = createTestSystem();
  let aborted = 0;
  const hanging = spawnHanging(system, 100_000, () => aborted++);
  const controller = new AbortController();
  const asks = Array.from({ length: 50_000 }, (_, i) =>
    hanging.ask(
      "hang",
      "",
      i % 2 === 0 ? { timeout: 100 } : { signal: controller.signal, timeout: Number.POSITIVE_INFINITY },
    ),
  );
  await clock.settle();
  expect(router.audit()).toMatchObject({ running: 50_000 });
  controller.abort();
  await clock.advance(200);
  const kinds = new Set((await Promise.all(asks)).map((ask) => ask.isErr() && ask.error.kind));
  expect(kinds).toEqual(new Set(["timeout", "cancelled"]));
  expect(aborted).toBe(50_000);
  await clock.settle();
  expect(router.audit()).toMatchObject({ running: 0, failed: 50_000 });
});
