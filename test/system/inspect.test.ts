import { expect, test } from "bun:test";
import {
  type ActorReport,
  address,
  defineProtocol,
  type Hooks,
  type Ref,
  type SignaturesOf,
  Type,
} from "../../src/index";
import { type TestOptions, testSystems } from "../actor/test-system";

const { createTestSystem } = testSystems();

const Work = defineProtocol("work", { work: { reply: Type.Number() }, wait: {}, fail: {} });
type Work = SignaturesOf<typeof Work>;

function spawnInspected(options: TestOptions = {}, more: object = {}, hooks: Hooks = {}) {
  const systems = createTestSystem(options);
  const gate = Promise.withResolvers<void>();
  const reports: ActorReport[] = [];
  const look = (): ActorReport => systems.system.inspect()[0] as ActorReport;
  const ref: Ref<Work> = systems.system.spawn(
    "worker",
    Work,
    () => {
      reports.push(look());
      return {
        work: () => reports.push(look()),
        wait: () => gate.promise,
        fail() {
          throw new Error("broken");
        },
        ...hooks,
      };
    },
    more,
  );
  return { ...systems, ref, gate, reports, look };
}

const EMPTY = { address: address("worker"), queued: 0, handled: 0, failed: 0, restarts: 0, current: [], children: [] };

test("inspect: starting, idle, ready, handling", async () => {
  const { ref, reports, look, clock } = spawnInspected();
  expect(reports).toEqual([{ ...EMPTY, state: "starting" }]);
  expect(look()).toEqual({ ...EMPTY, state: "idle" });
  const asks = [ref.ask("work"), ref.ask("work")];
  expect(look()).toEqual({ ...EMPTY, state: "ready", queued: 2 });
  await Promise.all(asks);
  expect(reports[1]).toEqual({ ...EMPTY, state: "handling", queued: 1, current: [{ operation: "work", age: 0 }] });
  await clock.settle();
  expect(look()).toEqual({ ...EMPTY, state: "idle", handled: 2 });
});

test("inspect: awaiting, with the message and its age", async () => {
  const { ref, gate, look, clock } = spawnInspected();
  ref.tell("wait");
  ref.tell("wait");
  await clock.advance(70);
  expect(look()).toEqual({ ...EMPTY, state: "awaiting", queued: 1, current: [{ operation: "wait", age: 70 }] });
  gate.resolve();
  await clock.settle();
  expect(look()).toEqual({ ...EMPTY, state: "idle", handled: 2 });
});

test("inspect: several messages at once, with the age of each", async () => {
  const { ref, gate, look, clock } = spawnInspected({}, { concurrency: 2 });
  ref.tell("wait");
  await clock.advance(10);
  expect(look()).toMatchObject({ state: "idle", current: [{ operation: "wait", age: 10 }] });
  ref.tell("wait");
  ref.tell("wait");
  await clock.advance(5);
  expect(look()).toEqual({
    ...EMPTY,
    state: "awaiting",
    queued: 1,
    current: [
      { operation: "wait", age: 15 },
      { operation: "wait", age: 5 },
    ],
  });
  gate.resolve();
  await clock.settle();
  expect(look()).toEqual({ ...EMPTY, state: "idle", handled: 3 });
});

test("inspect: restarting, with what waits; restarts and failures are counted", async () => {
  const { ref, look, clock, takeLog } = spawnInspected({ supervision: { backoff: { initial: 100, jitter: 0 } } });
  await ref.ask("fail");
  void ref.ask("work");
  expect(look()).toEqual({ ...EMPTY, state: "restarting", queued: 1, failed: 1 });
  await clock.advance(100);
  expect(look()).toEqual({ ...EMPTY, state: "idle", handled: 1, failed: 1, restarts: 1 });
  takeLog();
});

test("inspect: draining and stopping", async () => {
  const { ref, gate, look, clock, system } = spawnInspected();
  for (let i = 0; i < 2; i++) void ref.ask("wait");
  await clock.settle();
  void system.stop(ref, { drain: true });
  expect(look()).toMatchObject({ state: "draining", queued: 1, current: [{ operation: "wait" }] });
  const stopped = system.stop(ref);
  expect(look()).toMatchObject({ state: "stopping", queued: 0 });
  gate.resolve();
  await stopped;
  expect(system.inspect()).toEqual([]);
});

test("inspect: an actor in onStart awaits, with what waits for it; a hook is no message that was handled", async () => {
  const gate = Promise.withResolvers<void>();
  const { ref, look, clock, system } = spawnInspected({}, {}, { onStart: () => gate.promise });
  void ref.ask("work");
  expect(look()).toMatchObject({ state: "ready", queued: 1, current: [] });
  await clock.settle();
  expect(look()).toMatchObject({ state: "awaiting", queued: 1, current: [{ operation: "onStart", age: 0 }] });
  gate.resolve();
  await clock.settle();
  expect(look()).toMatchObject({ state: "idle", handled: 1 });
  await system.stop(ref);
});

test("inspect: the tree, in the order in which it was spawned; registered handlers among the roots", async () => {
  const { system, router } = createTestSystem();
  const leaf = () => ({ work: () => 1, wait() {}, fail() {} });
  system.spawn("b", Work, (ctx) => {
    for (const name of ["z", "a"]) {
      ctx.spawn(name, Work, (own) => {
        own.spawn("leaf", Work, leaf);
        return leaf();
      });
    }
    return leaf();
  });
  router.register(address("handler"), () => 1);
  system.spawn("a", Work, leaf);
  const names = (reports: readonly ActorReport[]): unknown[] =>
    reports.map(({ address, children }) => (children.length === 0 ? address : [address, names(children)]));
  expect(names(system.inspect())).toEqual([
    [
      "@(b)",
      [
        ["@(b/z)", ["@(b/z/leaf)"]],
        ["@(b/a)", ["@(b/a/leaf)"]],
      ],
    ],
    "@(handler)",
    "@(a)",
  ]);
});

test("inspect: what waits for room, and what is stashed, waits", async () => {
  const systems = createTestSystem();
  const gate = Promise.withResolvers<void>();
  const ref = systems.system.spawn(
    "worker",
    Work,
    (ctx) => ({ work: () => ctx.stash(), wait: () => gate.promise, fail() {} }),
    { capacity: 1, overflow: "wait" },
  );
  void ref.ask("work");
  await systems.clock.settle();
  void ref.ask("wait");
  await systems.clock.settle();
  for (let i = 0; i < 3; i++) void ref.ask("work");
  await systems.clock.settle();
  expect(systems.system.inspect()).toMatchObject([{ queued: 4, state: "awaiting" }]);
  expect(systems.router.audit()).toMatchObject({ queued: 4, running: 1 });
  const stopped = systems.system.stop(ref);
  gate.resolve();
  await stopped;
});
