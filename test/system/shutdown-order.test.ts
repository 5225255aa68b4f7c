import { expect, test } from "bun:test";
import {
  type AskResult,
  address,
  type Context,
  defineProtocol,
  type Ref,
  type SignaturesOf,
  Type,
} from "../../src/index";
import { type TestSystem, testSystems } from "../actor/test-system";

const { createTestSystem } = testSystems();

const Stage = defineProtocol("stage", { work: { payload: Type.String() }, wait: { payload: Type.String() } });
type Stage = SignaturesOf<typeof Stage>;

const outcomeOf = (answer: AskResult): unknown => (answer.isOk() ? "ok" : answer.error.kind);

/** Actors that tell when they stop, each with a gate for its `wait` and one for its `onStop`. */
function stages({ system, clock }: TestSystem) {
  const seen: string[] = [];
  const spawn = (
    name: string,
    { phase, onStop = () => undefined, next }: { phase?: number; onStop?: () => unknown; next?: Ref<Stage> } = {},
    parent?: Context<Stage>,
  ) => {
    const gate = Promise.withResolvers<void>();
    let ctx: Context<Stage> | undefined;
    const factory = (own: Context<Stage>) => {
      ctx = own;
      return {
        work(text: string) {
          seen.push(`${name} ${text}`);
          next?.tell("work", `${text}, from ${name}`);
        },
        async wait(text: string) {
          await gate.promise;
          seen.push(`${name} ${text}`);
          next?.tell("work", `${text}, from ${name}`);
        },
        async onStop() {
          await onStop();
          seen.push(`${name} stopped at ${clock.monotonicTime()}`);
        },
      };
    };
    const options = phase === undefined ? {} : { phase };
    const ref =
      parent === undefined ? system.spawn(name, Stage, factory, options) : parent.spawn(name, Stage, factory, options);
    return { ref, gate, ctx: ctx as unknown as Context<Stage> }; // The factory has run.
  };
  return { seen, spawn, sleep: (ms: number) => new Promise<void>((resolve) => clock.setTimer(resolve, ms)) };
}

test("P13: phases are in the order of numbers, not of their texts", async () => {
  const systems = createTestSystem();
  const { seen, spawn } = stages(systems);
  for (const phase of [10, 9, -1, 100, -10]) spawn(`phase-${phase}`, { phase });
  await systems.system.shutdown();
  expect(seen).toEqual([-10, -1, 9, 10, 100].map((phase) => `phase-${phase} stopped at 0`));
});

test("P13: shutdown stops phase by phase, the smallest first, each once all of the one before has stopped", async () => {
  const systems = createTestSystem();
  const { seen, spawn, sleep } = stages(systems);
  spawn("last", { phase: 10 });
  spawn("first", { phase: -1.5, onStop: () => sleep(20) });
  spawn("slow", { onStop: () => sleep(30) });
  spawn("quick", { phase: 0 });
  const shutdown = systems.system.shutdown();
  await systems.clock.advance(100);
  expect(await shutdown).toEqual({ unfinished: [] });
  expect(seen).toEqual(["first stopped at 20", "quick stopped at 20", "slow stopped at 50", "last stopped at 50"]);
});

test("P13: children stop before their parents, however deep, and whatever takes them long", async () => {
  const systems = createTestSystem();
  const { seen, spawn, sleep } = stages(systems);
  const root = spawn("root");
  const child = spawn("child", { onStop: () => sleep(10) }, root.ctx);
  spawn("leaf", { onStop: () => sleep(20) }, child.ctx);
  spawn("other", {}, root.ctx);
  const shutdown = systems.system.shutdown();
  await systems.clock.advance(100);
  expect(await shutdown).toEqual({ unfinished: [] });
  expect(seen).toEqual(["other stopped at 0", "leaf stopped at 20", "child stopped at 30", "root stopped at 30"]);
});

test("P13: a pipeline in ascending phases drains from its head to its end: nothing is lost", async () => {
  const systems = createTestSystem();
  const { seen, spawn } = stages(systems);
  const end = spawn("end", { phase: 2 });
  const middle = spawn("middle", { phase: 1, next: end.ref });
  const head = spawn("head", { phase: 0, next: middle.ref });
  for (const text of ["a", "b"]) head.ref.tell("wait", text);
  await systems.clock.settle();
  const shutdown = systems.system.shutdown({ drain: true });
  head.gate.resolve();
  await shutdown;
  const order = ["head b", "head stopped at 0", "middle stopped at 0", "end stopped at 0"].map((line) =>
    seen.indexOf(line),
  );
  expect(order).toEqual(order.toSorted((a, b) => a - b));
  expect(seen.filter((line) => line.startsWith("end"))).toEqual([
    "end a, from head, from middle",
    "end b, from head, from middle",
    "end stopped at 0",
  ]);
  expect(systems.router.audit()).toMatchObject({ accepted: 6, handled: 6 });
});

test("P13: what does not stop in time is named, with all that waited for it; later phases are abandoned too", async () => {
  const systems = createTestSystem({ hookTimeout: Number.POSITIVE_INFINITY });
  const { seen, spawn } = stages(systems);
  const root = spawn("root", { phase: 1 });
  spawn("stuck", { onStop: () => new Promise(() => {}) }, root.ctx);
  spawn("later", { phase: 2 });
  spawn("before", { phase: 0 });
  const ask = root.ref.ask("wait", "x");
  await systems.clock.settle();
  root.gate.resolve();
  expect(outcomeOf(await ask)).toBe("ok");
  const shutdown = systems.system.shutdown({ timeout: 100 });
  await systems.clock.advance(100);
  const { unfinished } = await shutdown;
  expect(unfinished.toSorted()).toEqual([address("later"), address("root"), address("root/stuck")]);
  expect(seen).toEqual(["root x", "before stopped at 0"]);
  expect(systems.takeLog()).toMatchObject([{ level: "warn", details: { unfinished } }]);
  expect(systems.system.inspect()).toEqual([]);
});

test("P13: an onStop that never ends is given up after hookTimeout, within a shutdown that has longer", async () => {
  const systems = createTestSystem({ hookTimeout: 50 });
  const { spawn } = stages(systems);
  spawn("stuck", { onStop: () => new Promise(() => {}) });
  const shutdown = systems.system.shutdown({ timeout: 100 });
  await systems.clock.advance(50);
  expect(await shutdown).toEqual({ unfinished: [] });
  expect(systems.takeLog().map(({ message }) => message)).toEqual([
    expect.stringContaining("onStop did not end within 50 ms"),
  ]);
});

test("P1: the audit balances at every step of a shutdown", async () => {
  const systems = createTestSystem();
  const { spawn, sleep } = stages(systems);
  const actors = ["a", "b", "c"].map((name, phase) => spawn(name, { phase, onStop: () => sleep(5) }));
  const asks = actors.flatMap(({ ref }) => ["x", "y", "z"].map((text) => ref.ask("wait", text)));
  await systems.clock.settle();
  const shutdown = systems.system.shutdown({ timeout: 12 });
  actors[0]?.gate.resolve();
  actors[1]?.gate.resolve();
  for (let i = 0; i < 15; i++) {
    const { accepted, handled, failed, dead, queued, running } = systems.router.audit();
    expect({ i, sum: handled + failed + dead + queued + running }).toEqual({ i, sum: accepted });
    await systems.clock.advance(1);
  }
  await shutdown;
  expect((await Promise.all(asks)).map(outcomeOf)).toEqual([
    "ok",
    "stopped",
    "stopped",
    "ok", // Its phase comes later.
    "ok",
    "ok",
    "stopped",
    "stopped",
    "stopped",
  ]);
  systems.takeLog();
});

test("P13: `await using` runs onStop of all, also when the block throws", async () => {
  const { clock } = createTestSystem();
  const { createSystem } = await import("../../src/index");
  const seen: string[] = [];
  const run = async (): Promise<void> => {
    await using system = createSystem({ clock });
    const ref = system.spawn("worker", Stage, () => ({
      work() {},
      wait() {},
      async onStop() {
        await undefined;
        seen.push("stopped");
      },
    }));
    await ref.ask("work", "x");
    throw new Error("left");
  };
  expect(await run().catch((error: Error) => error.message)).toBe("left");
  expect(seen).toEqual(["stopped"]);
});
