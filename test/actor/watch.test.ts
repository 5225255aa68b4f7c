import { expect, test } from "bun:test";
import {
  type AnyRef,
  address,
  type Context,
  defineProtocol,
  type Ref,
  type SignaturesOf,
  type Terminated,
  Type,
} from "../../src/index";
import { type TestSystem, testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const Log = defineProtocol("log", {
  note: { payload: Type.String() },
  hold: {},
  fail: {},
  watch: { payload: Type.Unknown() },
});
type Log = SignaturesOf<typeof Log>;
const Send = defineProtocol("send", {
  burst: { payload: Type.Number() },
  leave: {},
  fail: { payload: Type.Unknown() },
});
type Send = SignaturesOf<typeof Send>;

interface Watcher {
  readonly ref: Ref<Log>;
  readonly seen: string[];
  readonly contexts: Context<Log>[];
  readonly open: () => void;
}

/** An actor that writes down what comes, watches what it is told to, and holds still until it is let go. */
function spawnWatcher({ system }: TestSystem, options: Parameters<typeof system.spawn>[3] = {}): Watcher {
  const seen: string[] = [];
  const contexts: Context<Log>[] = [];
  const gate = Promise.withResolvers<void>();
  const ref = system.spawn(
    "watcher",
    Log,
    (ctx) => {
      contexts.push(ctx);
      return {
        note: (text) => void seen.push(text),
        hold: () => gate.promise,
        fail() {
          throw new Error("watcher broken");
        },
        watch: (ref) => void ctx.watch(ref as AnyRef, ({ address }) => seen.push(`${address} ended`)),
      };
    },
    options,
  );
  return { ref, seen, contexts, open: gate.resolve };
}

const spawnSender = ({ system }: TestSystem, to: Ref<Log>, name = "sender"): Ref<Send> =>
  system.spawn(name, Send, (ctx) => ({
    async burst(count) {
      for (let i = 1; i <= count; i++) ctx.tell(to, "note", `${i}`);
    },
    leave: () => ctx.stop(),
    fail(error) {
      throw error;
    },
  }));

test("P2: terminated comes once, after all that the actor sent before it stopped", async () => {
  const systems = createTestSystem();
  const { ref, seen } = spawnWatcher(systems);
  const sender = spawnSender(systems, ref);
  ref.tell("watch", sender);
  await systems.clock.settle();
  sender.tell("burst", 3);
  sender.tell("leave");
  sender.tell("burst", 3); // Too late.
  await systems.clock.settle();
  expect(seen).toEqual(["1", "2", "3", "@(sender) ended"]);
  expect(systems.takeLog()).toHaveLength(1);
});

for (const [what, options] of Object.entries({
  "a full mailbox whose senders wait": { capacity: 1, overflow: "wait" },
  "a bounded mailbox": { capacity: 10 },
  priorities: { priority: (_: string, payload: unknown) => -Number(payload) || 0 },
} as const)) {
  test(`P2: terminated comes after all that was sent through ${what}`, async () => {
    const systems = createTestSystem();
    const { ref, seen, open } = spawnWatcher(systems, options);
    const sender = systems.system.spawn("sender", Send, (ctx) => ({
      burst(count) {
        for (let i = 1; i <= count; i++) void ref.offer("note", `${i}`);
        ctx.stop();
      },
      leave() {},
      fail() {},
    }));
    ref.tell("watch", sender);
    await systems.clock.settle();
    ref.tell("hold");
    await systems.clock.settle();
    sender.tell("burst", 5);
    await systems.clock.settle();
    const later = ref.offer("note", "6"); // It does not overtake.
    open();
    await systems.clock.settle();
    expect((await later).isOk()).toBe(true);
    expect(seen).toEqual(["1", "2", "3", "4", "5", "@(sender) ended", "6"]);
  });
}

test("P2: the system's lane is not bounded: terminated enters a full mailbox that rejects", async () => {
  const systems = createTestSystem();
  const { ref, seen, open } = spawnWatcher(systems, { capacity: 1, overflow: "reject" });
  const sender = spawnSender(systems, ref);
  ref.tell("watch", sender);
  await systems.clock.settle();
  ref.tell("hold");
  await systems.clock.settle();
  for (const text of ["in", "rejected"]) ref.tell("note", text);
  await systems.system.stop(sender);
  expect(systems.system.inspect()).toMatchObject([{ queued: 1 }]);
  open();
  await systems.clock.settle();
  expect(seen).toEqual(["in", "@(sender) ended"]);
  expect(systems.takeLog()).toHaveLength(1);
});

test("P2: an actor that is gone already is told as terminated at once, in a turn of the watcher", async () => {
  const systems = createTestSystem();
  const { ref, seen, contexts } = spawnWatcher(systems);
  const sender = spawnSender(systems, ref);
  await systems.system.stop(sender);
  const told: Terminated[] = [];
  ref.tell("note", "before");
  contexts[0]?.watch(sender, (terminated) => {
    seen.push("ended");
    told.push(terminated);
  });
  ref.tell("note", "after");
  expect(seen).toEqual([]);
  await systems.clock.settle();
  expect(seen).toEqual(["before", "ended", "after"]);
  expect(told).toEqual([{ address: address("sender"), error: undefined }]);
});

test("watching twice tells twice; each ends by itself, before the end of the actor or while it waits in the mailbox", async () => {
  const systems = createTestSystem();
  const { ref, seen, contexts, open } = spawnWatcher(systems);
  const sender = spawnSender(systems, ref);
  const [ctx] = contexts as [Context<Log>];
  const unwatch = ["a", "b", "c"].map((name) => ctx.watch(sender, () => seen.push(name)));
  unwatch[0]?.();
  unwatch[0]?.();
  ref.tell("hold");
  await systems.system.stop(sender);
  unwatch[1]?.(); // It is queued.
  open();
  await systems.clock.settle();
  expect(seen).toEqual(["c"]);
  unwatch[2]?.(); // It was told.
});

test("a watch of a root, a child and a handler of a router", async () => {
  const systems = createTestSystem();
  const { ref, seen, contexts } = spawnWatcher(systems);
  const [ctx] = contexts as [Context<Log>];
  const child = ctx.spawn("child", Log, () => ({ note() {}, hold() {}, fail() {}, watch() {} }));
  const handler = systems.router.register(address("handler"), () => 1);
  const root = spawnSender(systems, ref, "root");
  for (const each of [child, handler, root]) ref.tell("watch", each);
  await systems.clock.settle();
  ctx.stop(child);
  await systems.router.unregister(handler.address);
  await systems.system.stop(root);
  await systems.clock.settle();
  expect(seen).toEqual(["@(watcher/child) ended", "@(handler) ended", "@(root) ended"]);
});

test("a handler of a router can watch, and stop", async () => {
  const systems = createTestSystem();
  const { ref } = spawnWatcher(systems);
  const seen: string[] = [];
  const handler = systems.router.register(address("handler"), (_, ctx) => {
    ctx.watch(ref, ({ address }) => {
      seen.push(address);
      ctx.stop();
    });
  });
  await handler.ask("x" as never);
  await systems.system.stop(ref);
  await systems.clock.settle();
  expect(seen).toEqual(["@(watcher)"]);
  expect(systems.router.has(handler.address)).toBe(false);
});

test("terminated has the error where the supervisor stopped the actor for it, and none otherwise", async () => {
  const broken = new Error("broken");
  for (const [decide, error] of [
    ["stop", broken],
    ["escalate", broken],
  ] as const) {
    const systems = createTestSystem({ supervision: { decide: () => decide } });
    const { contexts } = spawnWatcher(systems);
    const sender = spawnSender(systems, contexts[0]?.self as Ref<Log>);
    const told: Terminated[] = [];
    contexts[0]?.watch(sender, (terminated) => told.push(terminated));
    await sender.ask("fail", broken);
    await systems.clock.settle();
    expect(told).toEqual([{ address: address("sender"), error }]);
    systems.takeLog();
  }
  const systems = createTestSystem();
  const { contexts } = spawnWatcher(systems);
  const sender = spawnSender(systems, contexts[0]?.self as Ref<Log>);
  const told: Terminated[] = [];
  contexts[0]?.watch(sender, (terminated) => told.push(terminated));
  await sender.ask("fail", broken); // Resumed.
  await systems.system.stop(sender);
  await systems.clock.settle();
  expect(told).toEqual([{ address: address("sender"), error: undefined }]);
});

test("a restart is no stop: the watch goes on", async () => {
  const systems = createTestSystem({ supervision: {} });
  const { ref, seen } = spawnWatcher(systems);
  const sender = spawnSender(systems, ref);
  ref.tell("watch", sender);
  await systems.clock.settle();
  await sender.ask("fail", new Error("broken"));
  sender.tell("burst", 1);
  await systems.clock.settle();
  expect(seen).toEqual(["1"]);
  await systems.system.stop(sender);
  await systems.clock.settle();
  expect(seen).toEqual(["1", "@(sender) ended"]);
  systems.takeLog();
});

test("P10: a restart of the watcher ends its watches, also one that waits in the mailbox", async () => {
  const systems = createTestSystem({ supervision: {} });
  const { ref, seen } = spawnWatcher(systems);
  const senders = ["a", "b"].map((name) => spawnSender(systems, ref, name));
  for (const sender of senders) ref.tell("watch", sender);
  await systems.clock.settle();
  ref.tell("fail");
  await Promise.all([senders[0]].map((sender) => systems.system.stop(sender as Ref<Send>)));
  ref.tell("note", "x");
  await systems.clock.settle();
  await systems.system.stop(senders[1] as Ref<Send>);
  await systems.clock.settle();
  expect(seen).toEqual(["x"]);
  systems.takeLog();
});

test("P14: a watcher that stops first leaves nothing at the watched, nor a watched at its watcher", async () => {
  const systems = createTestSystem();
  const held: WeakRef<object>[] = [];
  const target = spawnSender(systems, spawnWatcher(systems).ref, "target");
  const other = systems.system.spawn("other", Log, () => ({ note() {}, hold() {}, fail() {}, watch() {} }));
  for (let i = 0; i < 100; i++) {
    const ref = systems.system.spawn(`watcher-${i}`, Log, (ctx) => {
      const state = { list: new Array(100).fill(i) };
      held.push(new WeakRef(state));
      ctx.watch(target, () => state.list.pop());
      return { note: () => void state.list.pop(), hold() {}, fail() {}, watch() {} };
    });
    await systems.system.stop(ref);
  }
  let calls = 0;
  const watcher = systems.system.spawn("last", Log, (ctx) => ({
    note() {},
    hold() {},
    fail() {},
    watch(ref) {
      ctx.watch(ref as AnyRef, () => calls++)(); // Ended at once.
    },
  }));
  watcher.tell("watch", other);
  for (let round = 0; round < 5; round++) {
    await systems.clock.settle();
    Bun.gc(true);
  }
  expect(held.filter((each) => each.deref() === undefined).length).toBeGreaterThan(75);
  await systems.system.stop(target);
  await systems.system.stop(other);
  await systems.clock.settle();
  expect(calls).toBe(0);
});

test("two actors that watch each other both stop, and nobody hears of it", async () => {
  const systems = createTestSystem();
  const { system, clock } = systems;
  const seen: string[] = [];
  const make = (name: string): Ref<Log> =>
    system.spawn(name, Log, (ctx) => ({
      note() {},
      hold() {},
      fail() {},
      watch: (ref) => void ctx.watch(ref as AnyRef, ({ address }) => seen.push(address)),
    }));
  const [a, b] = [make("a"), make("b")];
  a.tell("watch", b);
  b.tell("watch", a);
  await clock.settle();
  await system.shutdown();
  await clock.settle();
  expect(seen).toEqual([]);
});

test("a terminated callback may watch again, and be asynchronous: messages wait for it", async () => {
  const systems = createTestSystem();
  const { ref, seen, contexts } = spawnWatcher(systems);
  const gate = Promise.withResolvers<void>();
  const [ctx] = contexts as [Context<Log>];
  const senders = ["a", "b"].map((name) => spawnSender(systems, ref, name)) as [Ref<Send>, Ref<Send>];
  ctx.watch(senders[0], async () => {
    ctx.watch(senders[1], () => seen.push("b ended"));
    await gate.promise;
    seen.push("a ended");
  });
  await systems.system.stop(senders[0]);
  await systems.system.stop(senders[1]);
  ref.tell("note", "x");
  await systems.clock.settle();
  expect(seen).toEqual([]);
  gate.resolve();
  await systems.clock.settle();
  expect(seen.toSorted()).toEqual(["a ended", "b ended", "x"]);
  expect(seen[0]).toBe("a ended");
});

test("a watch of itself, of what is no reference, or without a function throws", async () => {
  const systems = createTestSystem();
  const { ref, contexts } = spawnWatcher(systems);
  const [ctx] = contexts as [Context<Log>];
  expect(() => ctx.watch(ref, () => {})).toThrow(/cannot watch itself; use the hook onStop/);
  expect(() => ctx.watch({ address: ref.address }, () => {})).toThrow(/This is no reference to an actor/);
  expect(() => ctx.watch(ref, undefined as never)).toThrow(/watches with a function to call/);
});
