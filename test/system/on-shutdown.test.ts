import { expect, test } from "bun:test";
import { defineProtocol } from "../../src/index";
import { testSystems } from "../actor/test-system";

const { createTestSystem } = testSystems();

const Work = defineProtocol("work", { work: {} });

test("P13: onShutdown is called once all actors have stopped, and the shutdown waits for it", async () => {
  const { system, clock } = createTestSystem();
  const order: string[] = [];
  const gate = Promise.withResolvers<void>();
  system.spawn("actor", Work, () => ({ work() {}, onStop: () => void order.push("the actor stopped") }));
  system.onShutdown(async () => {
    order.push("called");
    await gate.promise;
    order.push("done");
  });
  const report = system.shutdown().then(() => order.push("shut down"));
  await clock.settle();
  expect(order).toEqual(["the actor stopped", "called"]);
  gate.resolve();
  await report;
  expect(order).toEqual(["the actor stopped", "called", "done", "shut down"]);
  await clock.settle();
  expect(clock.timers).toBe(0);
});

test("P13: a shutdown waits for onShutdown no longer than for its actors, and one that fails is logged", async () => {
  const { system, clock, takeLog } = createTestSystem();
  const called: string[] = [];
  system.onShutdown(() => new Promise(() => undefined));
  system.onShutdown(() => {
    throw new Error("no");
  });
  const again = (): void => void called.push("again");
  system.onShutdown(again);
  system.onShutdown(again)();
  let isShutDown = false;
  const report = system.shutdown({ timeout: 100 }).then(() => {
    isShutDown = true;
  });
  await clock.advance(99);
  expect(isShutDown).toBe(false);
  await clock.advance(1);
  await report;
  expect(called).toEqual(["again"]);
  expect(takeLog().map(({ message }) => message)).toEqual([expect.stringContaining("onShutdown threw: Error: no")]);
});

test("onShutdown takes a function", () => {
  const { system } = createTestSystem({ name: "shop" });
  expect(() => system.onShutdown(7 as never)).toThrow("onShutdown takes a function");
  expect(system.name).toBe("shop");
});

test("P13: beforeShutdown is called while all actors still run and may be called; they stop once it has ended, or after the timeout", async () => {
  const { system, clock, takeLog } = createTestSystem();
  const order: string[] = [];
  const gate = Promise.withResolvers<void>();
  const ref = system.spawn("actor", Work, () => ({
    work: () => void order.push("handled"),
    onStop: () => void order.push("stopped"),
  }));
  system.beforeShutdown(async () => {
    ref.tell("work");
    await gate.promise;
    order.push("handed over");
  });
  system.beforeShutdown(() => {
    throw new Error("no");
  });
  system.beforeShutdown(() => void order.push("removed"))();
  system.onShutdown(() => void order.push("after"));
  const report = system.shutdown();
  await clock.settle();
  expect(order).toEqual(["handled"]);
  gate.resolve();
  await report;
  expect(order).toEqual(["handled", "handed over", "stopped", "after"]);
  expect(takeLog().map(({ message }) => message)).toEqual([expect.stringContaining("beforeShutdown threw: Error: no")]);

  const other = createTestSystem();
  other.system.beforeShutdown(() => new Promise(() => undefined));
  const late = other.system.shutdown({ timeout: 100 });
  await other.clock.advance(100);
  expect(await late).toEqual({ unfinished: [] });
  expect(() => system.beforeShutdown("no" as never)).toThrow(/beforeShutdown takes a function/);
});
