import { expect, test } from "bun:test";
import { type AskResult, type Context, defineProtocol, type SignaturesOf, Type } from "../../src/index";
import { expectBalance, reasonsOf, type TestSystem, testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const Store = defineProtocol("store", {
  get: { payload: Type.String(), reply: Type.String() },
  open: {},
  fail: {},
  items: { payload: Type.Number(), stream: Type.Number() },
});
type Store = SignaturesOf<typeof Store>;
const outcomeOf = (answer: AskResult): unknown => (answer.isOk() ? answer.value : answer.error.kind);

/** An actor that stashes `get` until it is opened. */
function spawnStore(
  { system, router }: TestSystem,
  options: Parameters<typeof system.spawn>[3] = {},
  get?: (ctx: Context<Store>, key: string, isOpen: boolean) => unknown,
) {
  const seen: string[] = [];
  let instances = 0;
  const ref = system.spawn(
    "store",
    Store,
    (ctx) => {
      const instance = ++instances;
      let isOpen = false;
      return {
        get(key) {
          expectBalance(router.audit());
          if (get !== undefined) return get(ctx, key, isOpen) as string;
          if (!isOpen) return ctx.stash();
          seen.push(key);
          return `${instance} ${key}`;
        },
        open() {
          isOpen = true;
          ctx.unstash();
          expectBalance(router.audit());
        },
        fail() {
          throw new Error("broken");
        },
        async *items(count) {
          for (let i = 0; i < count; i++) yield i;
        },
      };
    },
    options,
  );
  return { ref, seen };
}

test("P2: what was stashed comes before what waits, in the order in which it came, and its askers are answered", async () => {
  const systems = createTestSystem();
  const { ref, seen } = spawnStore(systems);
  const asks = ["a", "b"].map((key) => ref.ask("get", key));
  ref.tell("get", "c");
  await systems.clock.settle();
  expect(systems.router.audit()).toMatchObject({ accepted: 3, queued: 3, running: 0, handled: 0 });
  expect(systems.system.inspect()).toMatchObject([{ state: "idle", queued: 3, handled: 0 }]);
  ref.tell("open");
  asks.push(ref.ask("get", "d"));
  expect((await Promise.all(asks)).map(outcomeOf)).toEqual(["1 a", "1 b", "1 d"]);
  expect(seen).toEqual(["a", "b", "c", "d"]);
  expect(systems.router.audit()).toMatchObject({ accepted: 5, handled: 5 });
});

test("P2: what was stashed comes before what waits, also in a long row of tells", async () => {
  const { system, clock } = createTestSystem();
  const Row = defineProtocol("row", { put: { payload: Type.Number() } });
  const seen: number[] = [];
  let isStashed = false;
  const ref = system.spawn("row", Row, (ctx) => ({
    put(number) {
      if (number === 40 && !isStashed) {
        isStashed = true;
        return ctx.stash();
      }
      seen.push(number);
      if (number === 50) ctx.unstash();
      return undefined;
    },
  }));
  for (let number = 0; number < 60; number++) ref.tell("put", number);
  await clock.settle();
  expect(seen.slice(38, 53)).toEqual([38, 39, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 40, 51, 52]);
});

test("P11: the stash is bounded: one more fails its message, and says what to do", async () => {
  const systems = createTestSystem();
  const { ref } = spawnStore(systems, { stashCapacity: 2 });
  const asks = ["a", "b", "c"].map((key) => ref.ask("get", key));
  await systems.clock.settle();
  const error = (await (asks[2] as (typeof asks)[0]))._unsafeUnwrapErr();
  expect(error.kind).toBe("handler-failed");
  expect(error.message).toContain(
    "The stash of @(store) is full (2 messages); unstash earlier, or spawn it with a larger",
  );
  ref.tell("open");
  expect((await Promise.all(asks)).map(outcomeOf)).toEqual(["1 a", "1 b", "handler-failed"]);
});

test("P11: the default bound of a stash is 1,000", async () => {
  const systems = createTestSystem();
  const { ref } = spawnStore(systems);
  const asks = Array.from({ length: 1_001 }, (_, i) => ref.ask("get", `${i}`));
  ref.tell("open");
  const answers = (await Promise.all(asks)).map(outcomeOf);
  expect(answers.slice(-2)).toEqual(["1 999", "handler-failed"]);
});

test("P11: stashed messages take no room in a bounded mailbox, and come back whatever the bound", async () => {
  const systems = createTestSystem();
  const { ref } = spawnStore(systems, { capacity: 2 });
  const asks: Promise<AskResult>[] = [];
  for (const key of ["a", "b", "c", "d"]) {
    asks.push(ref.ask("get", key));
    await systems.clock.settle();
  }
  ref.tell("open");
  expect((await Promise.all(asks)).map(outcomeOf)).toEqual(["1 a", "1 b", "1 c", "1 d"]);
  const more = ["e", "f", "g"].map((key) => ref.ask("get", key)); // The bound is what it was.
  expect((await Promise.all(more)).map(outcomeOf)).toEqual(["1 e", "1 f", "mailbox-full"]);
});

test("P7: an asker may give up while its message is stashed: it is dead, and the others keep their order", async () => {
  const systems = createTestSystem();
  const { ref, seen } = spawnStore(systems);
  const asks = [ref.ask("get", "a"), ref.ask("get", "b", { timeout: 10 }), ref.ask("get", "c")];
  await systems.clock.advance(10);
  expectBalance(systems.router.audit());
  ref.tell("open");
  expect((await Promise.all(asks)).map(outcomeOf)).toEqual(["1 a", "timeout", "1 c"]);
  expect(seen).toEqual(["a", "c"]);
  expect(reasonsOf(systems.deadLetters)).toEqual(["timeout"]);
});

test("P1: an asynchronous handler may stash after an await; it is running until then, and queued after", async () => {
  const systems = createTestSystem();
  const gate = Promise.withResolvers<void>();
  const audits: unknown[] = [];
  const { ref } = spawnStore(systems, {}, async (ctx, key, isOpen) => {
    if (isOpen) return key;
    await gate.promise;
    const passed = ctx.stash();
    audits.push(systems.router.audit());
    await undefined;
    return passed;
  });
  const ask = ref.ask("get", "a");
  await systems.clock.settle();
  expect(systems.router.audit()).toMatchObject({ running: 1, queued: 0 });
  gate.resolve();
  await systems.clock.settle();
  expect(audits).toMatchObject([{ running: 0, queued: 1, accepted: 1 }]);
  ref.tell("open");
  expect(outcomeOf(await ask)).toBe("a");
});

test("P9: a handler that stashes and then throws fails, its message waits on, and its asker is not told", async () => {
  const systems = createTestSystem();
  let isBroken = true;
  const { ref } = spawnStore(systems, {}, (ctx, key) => {
    if (!isBroken) return key;
    ctx.stash();
    throw new Error("after the stash");
  });
  const ask = ref.ask("get", "a");
  await systems.clock.settle();
  expect(systems.router.audit()).toMatchObject({ accepted: 1, queued: 1, failed: 0 });
  expect(systems.takeLog()).toHaveLength(1);
  isBroken = false;
  ref.tell("open");
  expect(outcomeOf(await ask)).toBe("a");
});

test("P10: a restart puts the stash back, before what waits", async () => {
  const systems = createTestSystem({ supervision: {} });
  const { ref, seen } = spawnStore(systems, { capacity: 5 });
  const asks = ["a", "b"].map((key) => ref.ask("get", key));
  ref.tell("fail");
  asks.push(ref.ask("get", "c"));
  await systems.clock.settle();
  expect(systems.router.audit()).toMatchObject({ queued: 3, failed: 1 }); // All of it is stashed anew.
  ref.tell("open");
  expect((await Promise.all(asks)).map(outcomeOf)).toEqual(["2 a", "2 b", "2 c"]);
  expect(seen).toEqual(["a", "b", "c"]);
  systems.takeLog();
});

test("P11: the bound of the mailbox holds after a restart has put the stash back", async () => {
  const systems = createTestSystem({ supervision: {} });
  const { ref } = spawnStore(systems, { capacity: 2 });
  const asks: Promise<AskResult>[] = [];
  for (const key of ["a", "b"]) {
    asks.push(ref.ask("get", key));
    await systems.clock.settle();
  }
  await ref.ask("fail");
  await systems.clock.settle();
  ref.tell("open");
  expect((await Promise.all(asks)).map(outcomeOf)).toEqual(["2 a", "2 b"]);
  const more = ["c", "d", "e"].map((key) => ref.ask("get", key));
  expect((await Promise.all(more)).map(outcomeOf)).toEqual(["2 c", "2 d", "mailbox-full"]);
  systems.takeLog();
});

test("P13: a stop dead-letters the stash, one by one and first of all; a drain does when the rest is handled", async () => {
  for (const drain of [false, true]) {
    const systems = createTestSystem();
    const { ref } = spawnStore(systems);
    const asks = ["a", "b"].map((key) => ref.ask("get", key));
    await systems.clock.settle();
    asks.push(ref.ask("get", "c"));
    await systems.system.stop(ref, { drain });
    expect((await Promise.all(asks)).map(outcomeOf)).toEqual(["stopped", "stopped", "stopped"]);
    expect(systems.deadLetters.map(({ reason, message }) => [reason, message.payload])).toEqual([
      ["stopped", "a"],
      ["stopped", "b"],
      ["stopped", "c"],
    ]);
  }
});

for (const how of ["stop", "drain", "shutdown"] as const) {
  test(`P1: a message that is stashed during a ${how} is dead, and its asker told`, async () => {
    const systems = createTestSystem();
    const gate = Promise.withResolvers<void>();
    const { ref } = spawnStore(systems, {}, async (ctx) => {
      await gate.promise;
      return ctx.stash();
    });
    const ask = ref.ask("get", "a", { timeout: Number.POSITIVE_INFINITY });
    await systems.clock.settle();
    const { system } = systems;
    const stopped = how === "shutdown" ? system.shutdown() : system.stop(ref, { drain: how === "drain" });
    gate.resolve();
    await stopped;
    expect(systems.router.audit()).toMatchObject({ accepted: 1, dead: 1, queued: 0, running: 0 });
    expect(outcomeOf(await ask)).toBe("stopped");
  });
}

test("P1: an abandoned handler whose message is stashed: the message is dead, and counted once", async () => {
  const systems = createTestSystem();
  const { ref } = spawnStore(systems, {}, async (ctx) => {
    ctx.stash();
    await new Promise(() => {});
  });
  const ask = ref.ask("get", "a");
  await systems.clock.settle();
  void systems.system.shutdown({ timeout: 10 });
  await systems.clock.advance(10);
  expect(outcomeOf(await ask)).toBe("stopped");
  expect(systems.router.audit()).toMatchObject({ accepted: 1, dead: 1, failed: 0 });
  systems.takeLog();
});

test("P1: with several handlers at once, a message may be handled again while the handler that stashed it runs on", async () => {
  const systems = createTestSystem();
  const gate = Promise.withResolvers<void>();
  let calls = 0;
  const { ref } = spawnStore(systems, { concurrency: 3 }, async (ctx) => {
    if (++calls > 1) return "again";
    ctx.stash();
    await gate.promise;
    return "first";
  });
  const ask = ref.ask("get", "a");
  await systems.clock.settle();
  expect(systems.router.audit()).toMatchObject({ running: 0, queued: 1 });
  ref.tell("open");
  expect(outcomeOf(await ask)).toBe("again");
  expect(systems.router.audit()).toMatchObject({ accepted: 2, handled: 2, running: 0 });
  expect(systems.system.inspect()[0]?.current).toHaveLength(1);
  gate.resolve();
  await systems.clock.settle();
  expect(systems.system.inspect()[0]?.current).toHaveLength(0);
  expect(systems.router.audit()).toMatchObject({ accepted: 2, handled: 2 });
});

test("P7: whose asker gives up then is told to the handler that has the message, not to the one that stashed it", async () => {
  const systems = createTestSystem();
  const signals: AbortSignal[] = [];
  const gate = Promise.withResolvers<void>();
  const { ref } = spawnStore(systems, { concurrency: 3 }, async (ctx) => {
    signals.push(ctx.signal);
    if (signals.length === 1) ctx.stash();
    await gate.promise;
  });
  const ask = ref.ask("get", "a", { timeout: 10 });
  await systems.clock.settle();
  ref.tell("open");
  await systems.clock.advance(10);
  expect(outcomeOf(await ask)).toBe("timeout");
  expect(signals.map((signal) => signal.aborted)).toEqual([false, true]);
  gate.resolve();
  await systems.clock.settle();
  expect(systems.router.audit()).toMatchObject({ accepted: 2, handled: 2 });
});

test("P12: a stream may be stashed, and is produced once unstashed", async () => {
  const { system } = createTestSystem();
  const ref = system.spawn("store", Store, (ctx) => {
    let isOpen = false;
    return {
      get: (key) => key,
      open() {
        isOpen = true;
        ctx.unstash();
      },
      fail() {},
      items(count) {
        if (!isOpen) return ctx.stash();
        return Array.from({ length: count }, (_, i) => i);
      },
    };
  });
  const items = ref.stream("items", 3);
  const first = items.next();
  ref.tell("open");
  expect(await first).toEqual({ value: 0, done: false });
  expect(await Array.fromAsync(items)).toEqual([1, 2]);
});

test("a stash outside of a handler, twice, or after a forward throws", async () => {
  const systems = createTestSystem();
  const thrown: string[] = [];
  const attempt = (run: () => unknown): void => {
    try {
      run();
    } catch (error) {
      thrown.push((error as Error).message);
    }
  };
  const { ref: other } = (() => ({ ref: systems.system.spawn("other", Store, () => storeOf()) }))();
  const ref = systems.system.spawn("store", Store, (ctx) => {
    attempt(() => ctx.stash());
    return {
      ...storeOf(),
      get(key) {
        const passed = key === "stash" ? ctx.stash() : ctx.forward(other);
        attempt(() => ctx.stash());
        attempt(() => ctx.forward(other));
        return passed;
      },
      onStart: () => attempt(() => ctx.stash()),
    };
  });
  expect(outcomeOf(await ref.ask("get", "forward"))).toBe("forward");
  ref.tell("get", "stash");
  await systems.clock.settle();
  expect(thrown).toEqual([
    "@(store) handles no message now that it could stash; call ctx.stash() inside a handler.",
    "@(store) handles no message now that it could stash; call ctx.stash() inside a handler.",
    `"get" to @(store) was forwarded already, and can go one way only.`,
    `"get" to @(store) was forwarded already, and can go one way only.`,
    `"get" to @(store) was stashed already, and can go one way only.`,
    `"get" to @(store) was stashed already, and can go one way only.`,
  ]);
});

const storeOf = () => ({ get: (key: string) => key, open() {}, fail() {}, async *items() {} });
