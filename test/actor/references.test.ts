import { expect, test } from "bun:test";
import { type AnyRef, address, createMessage, defineProtocol, type RefTo, Type } from "../../src/index";
import { countCollected } from "./kept";
import { testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const Holder = defineProtocol("holder", {
  size: { payload: Type.Unknown(), reply: Type.Number() },
  wait: { payload: Type.Unknown() },
});

const MANY = 200;
const MOST = MANY * 0.9;

test("P14: a reference to a stopped actor keeps nothing of its state alive", async () => {
  const { system } = createTestSystem();
  const states: WeakRef<object>[] = [];
  const payloads: WeakRef<object>[] = [];
  const refs: RefTo<typeof Holder>[] = [];
  const makeOne = async (i: number): Promise<void> => {
    const ref = system.spawn(`holder${i}`, Holder, (ctx) => {
      const state = { data: new Array(100).fill(i) };
      states.push(new WeakRef(state));
      return {
        size: () => {
          ctx.signal.addEventListener("abort", () => state.data.pop());
          return state.data.length;
        },
        wait: () => undefined,
      };
    });
    refs.push(ref);
    const payload = { text: `payload ${i}` };
    payloads.push(new WeakRef(payload));
    await ref.ask("size", payload);
    await ref.ask("wait", payload);
  };
  for (let i = 0; i < MANY; i++) await makeOne(i);
  expect(await countCollected(states)).toBe(0); // While they live, their state does: so the count can tell.
  for (const ref of refs) await system.stop(ref);
  expect(await countCollected(states)).toBeGreaterThan(MOST);
  expect(await countCollected(payloads)).toBeGreaterThan(MOST);
  expect(refs.map((ref) => ref.address)).toHaveLength(MANY); // They are held until here.
});

test("P14: a reference to a stopped actor does not keep what listened to the signal of its factory", async () => {
  const { system } = createTestSystem();
  const states: WeakRef<object>[] = [];
  const refs: AnyRef[] = [];
  let released = 0;
  const makeOne = (i: number): void => {
    const ref = system.spawn(`holder${i}`, Holder, (ctx) => {
      const state = { data: new Array(100).fill(i) };
      states.push(new WeakRef(state));
      ctx.signal.addEventListener("abort", () => (released += state.data.length));
      return { size: () => 1, wait() {} };
    });
    refs.push(ref);
  };
  for (let i = 0; i < MANY; i++) makeOne(i);
  for (const ref of refs) await system.stop(ref);
  expect(released).toBe(100 * MANY);
  expect(await countCollected(states)).toBeGreaterThan(MOST);
  expect(refs).toHaveLength(MANY);
});

test("P14: a reference to an actor that was abandoned, or whose factory threw, keeps nothing of it either", async () => {
  const { system, clock, takeLog } = createTestSystem();
  const states: WeakRef<object>[] = [];
  const refs: AnyRef[] = [];
  const never = new Promise<void>(() => {});
  const makeOne = (i: number): void => {
    const state = { data: new Array(100).fill(i) };
    states.push(new WeakRef(state));
    if (i % 2 === 0) {
      const stuck = system.spawn(`stuck${i}`, Holder, () => ({ size: () => state.data.length, wait: () => never }));
      refs.push(stuck);
      stuck.tell("wait", state);
      return;
    }
    try {
      system.spawn(`broken${i}`, Holder, (ctx) => {
        refs.push(ctx.self);
        throw state;
      });
    } catch {
      // As it should.
    }
  };
  for (let i = 0; i < MANY; i++) makeOne(i);
  await clock.settle();
  await Promise.all([system.shutdown({ timeout: 1 }), clock.advance(1)]);
  takeLog();
  expect(refs).toHaveLength(MANY);
  expect(await countCollected(states)).toBeGreaterThan(MOST);
  expect(refs).toHaveLength(MANY);
});

test("P14: a reference to a stopped actor does not keep its priority function", async () => {
  const { system } = createTestSystem();
  const states: WeakRef<object>[] = [];
  const refs: AnyRef[] = [];
  const makeOne = (i: number): void => {
    const state = { data: new Array(100).fill(i) };
    states.push(new WeakRef(state));
    const make = () => ({ size: () => 1, wait() {} });
    const ref = system.spawn(`holder${i}`, Holder, make, { priority: () => state.data.length });
    ref.tell("wait", i);
    refs.push(ref);
  };
  for (let i = 0; i < MANY; i++) makeOne(i);
  for (const [i, ref] of refs.entries()) await system.stop(ref, { drain: i % 2 === 0 });
  expect(await countCollected(states)).toBeGreaterThan(MOST);
  expect(refs).toHaveLength(MANY);
});

test("P14: a message that was handled is not kept by the actor", async () => {
  const { system, clock } = createTestSystem();
  const payloads: WeakRef<object>[] = [];
  const ref = system.spawn("holder", Holder, (ctx) => ({
    size: () => String(ctx.message.id).length,
    wait: async () => undefined,
  }));
  const sendOne = async (i: number): Promise<void> => {
    const payload = { text: `payload ${i}` };
    payloads.push(new WeakRef(payload));
    if (i % 2 === 0) await ref.ask("size", payload);
    else ref.tell("wait", payload);
  };
  for (let i = 0; i < MANY; i++) await sendOne(i);
  await clock.settle();
  expect(await countCollected(payloads)).toBeGreaterThan(MOST);
  expect((await ref.ask("size", 0)).isOk()).toBe(true);
});

test("P14: a reply is not kept by the timers of an ask that has settled", async () => {
  const { system, clock } = createTestSystem();
  const replies: WeakRef<object>[] = [];
  const Making = defineProtocol("making", { make: { reply: Type.Unknown() }, makeLater: { reply: Type.Unknown() } });
  const make = (): object => {
    const reply = { data: new Array(100).fill(0) };
    replies.push(new WeakRef(reply));
    return reply;
  };
  const ref = system.spawn("making", Making, () => ({
    make,
    async makeLater() {
      await undefined;
      return make();
    },
  }));
  for (let i = 0; i < MANY; i++) await ref.ask(i % 2 === 0 ? "make" : "makeLater", { timeout: 60_000 });
  await clock.settle();
  expect(await countCollected(replies)).toBeGreaterThan(MOST);
});

test("P14: the error of what a handler asked or read keeps neither the handler nor what it handled", async () => {
  const { system, clock } = createTestSystem();
  const Asking = defineProtocol("asking", { go: { payload: Type.Unknown() }, read: { payload: Type.Unknown() } });
  const states: WeakRef<object>[] = [];
  const kept: unknown[] = [];
  const Deaf = defineProtocol("deaf", { wait: {}, items: { stream: Type.Number() } });
  const deaf = system.spawn("deaf", Deaf, () => ({ wait: () => new Promise<void>(() => {}), items: () => [] }));
  deaf.tell("wait");
  const asker = system.spawn(
    "asker",
    Asking,
    (ctx) => ({
      async go(payload) {
        const state = { payload, data: new Array(100).fill(0) };
        states.push(new WeakRef(state));
        ctx.signal.addEventListener("abort", () => state.data.pop());
        ctx.onAbort(() => state.data.pop());
        const options = { timeout: 10, signal: ctx.signal };
        kept.push(...(await Promise.all([ctx.ask(deaf, "wait", options), ctx.ask(deaf, "wait", options)])));
      },
      async read(payload) {
        const state = { payload, data: new Array(100).fill(0) };
        states.push(new WeakRef(state));
        ctx.onAbort(() => state.data.pop());
        ctx.signal.addEventListener("abort", () => state.data.pop());
        try {
          for await (const _ of ctx.stream(deaf, "items", { timeout: 10, signal: ctx.signal }));
        } catch (thrown) {
          kept.push(thrown);
        }
      },
    }),
    { concurrency: MANY },
  );
  const sendOne = (i: number): void => {
    const payload = { text: `payload ${i}` };
    states.push(new WeakRef(payload));
    asker.tell(i % 2 === 0 ? "go" : "read", payload);
  };
  for (let i = 0; i < MANY; i++) sendOne(i);
  await clock.settle();
  expect(await countCollected(states)).toBe(0); // While they wait, they are kept: so the count can tell.
  await clock.advance(10);
  expect(kept).toHaveLength(1.5 * MANY);
  expect(await countCollected(states)).toBeGreaterThan(2 * MOST);
  expect(kept).toHaveLength(1.5 * MANY); // They are held until here.
  await system.stop(asker);
});

test("P14: a name can be used again, and an old reference does not reach the new actor", async () => {
  const { system, router } = createTestSystem();
  const spawn = (size: number): RefTo<typeof Holder> =>
    system.spawn("holder", Holder, () => ({ size: () => size, wait() {} }));
  const old = spawn(1);
  expect(() => spawn(2)).toThrow(/@\(holder\) is in use; stop that actor first/);
  await system.stop(old);
  const fresh = spawn(2);
  expect(fresh.address).toBe(old.address);
  expect((await fresh.ask("size", 0))._unsafeUnwrap()).toBe(2);
  expect((await old.ask("size", 0))._unsafeUnwrapErr().kind).toBe("stopped");
  expect((await router.ask(createMessage(address("holder"), "size", 0)))._unsafeUnwrap()).toBe(2);
  await system.stop(old); // Which does not stop the new one.
  expect((await fresh.ask("size", 0)).isOk()).toBe(true);
});

test("P14: a name stays in use until its actor has stopped", async () => {
  const { system, clock } = createTestSystem();
  const gate = Promise.withResolvers<void>();
  const spawn = (): RefTo<typeof Holder> =>
    system.spawn("holder", Holder, () => ({ size: () => 1, wait: () => gate.promise }));
  const old = spawn();
  old.tell("wait", 0);
  await clock.settle();
  const stopped = system.stop(old);
  expect(spawn).toThrow(/in use/);
  gate.resolve();
  await stopped;
  expect(spawn).not.toThrow();
});

test("P14: a name is used again ten thousand times", async () => {
  const { system, router } = createTestSystem();
  for (let i = 0; i < 10_000; i++) {
    const ref = system.spawn("holder", Holder, () => ({ size: () => i, wait() {} }));
    if (i % 1_000 === 0) expect((await ref.ask("size", 0))._unsafeUnwrap()).toBe(i);
    void system.stop(ref);
  }
  expect(router.has(address("holder"))).toBe(false);
});

test("P14: there is one reference to an actor, and it shows its address and nothing more", async () => {
  const { system } = createTestSystem();
  const own: AnyRef[] = [];
  const ref = system.spawn("holder", Holder, (ctx) => {
    own.push(ctx.self);
    return { size: () => own.push(ctx.self), wait() {} };
  });
  await ref.ask("size", 0);
  expect(own[0]).toBe(ref);
  expect(own[1]).toBe(ref);
  expect(String(ref)).toBe("@(holder)");
  expect(JSON.stringify({ ref })).toBe('{"ref":"@(holder)"}');
  expect(Bun.inspect(ref)).toBe("Ref @(holder)");
  expect(Object.keys(ref)).toEqual([]);
});

test("P14: a name that cannot be in an address is refused", () => {
  const { system } = createTestSystem();
  for (const name of ["", " ", "a b", "@(a)", "a/", "/a", "a//b", "a(b", "a\n", "a".repeat(513), undefined, 7]) {
    const spawn = (): unknown => system.spawn(name as string, Holder, () => ({ size: () => 1, wait() {} }));
    expect(spawn).toThrow(/is not an actor id/);
  }
});

test("P14: of many messages at once, what was handled is not kept while the rest waits", async () => {
  const { system, router } = createTestSystem();
  const payloads: WeakRef<object>[] = [];
  const gate = Promise.withResolvers<void>();
  const holder = system.spawn("holder", Holder, () => ({
    size: () => 0,
    wait: (payload) => (payload === "gate" ? gate.promise : undefined),
  }));
  const tellMany = (): void => {
    for (let i = 0; i < MANY; i++) {
      const payload = { text: `payload ${i}` };
      payloads.push(new WeakRef(payload));
      holder.tell("wait", payload);
    }
  };
  tellMany();
  holder.tell("wait", "gate");
  holder.tell("wait", "behind it");
  const collected = await countCollected(payloads);
  expect(router.audit()).toMatchObject({ handled: MANY, running: 1, queued: 1 });
  expect(collected).toBeGreaterThan(MANY - 20);
  gate.resolve();
  await system.stop(holder, { drain: true });
});
