import { expect, test } from "bun:test";
import { type ActorReport, address, defineProtocol, type System, Type } from "../../src/index";
import { testSystems } from "../actor/test-system";

const { createTestSystem } = testSystems();

const Node = defineProtocol("node", { say: { payload: Type.Number() }, fail: {}, wait: {} });

/** A system of a parent with children and grandchildren, and an actor beside it. */
function family() {
  const test = createTestSystem({ supervision: { decide: () => "restart" } });
  const { system } = test;
  const gate = Promise.withResolvers<void>();
  const behaviour = { say() {}, fail: () => Promise.reject(new Error("no")), wait: () => gate.promise };
  const parent = system.spawn("parent", Node, (ctx) => {
    for (const name of ["a", "b"]) {
      ctx.spawn(name, Node, (child) => {
        if (name === "a") child.spawn("deep/er", Node, () => behaviour);
        return behaviour;
      });
    }
    return behaviour;
  });
  const beside = system.spawn("beside", Node, () => behaviour);
  /** Lets what waits be handled. */
  const release = async (): Promise<void> => {
    gate.resolve();
    await test.clock.settle();
  };
  return { ...test, parent, beside, release };
}

/** All reports of a tree, each before its children. */
const flat = (reports: readonly ActorReport[]): ActorReport[] =>
  reports.flatMap((report) => [report, ...flat(report.children)]);

const namesOf = (system: System): string[] => Array.from(system.actors(), ({ name }) => name);

test("actors() shows each actor before its children, with what inspect() reports of it", async () => {
  const { system, clock, parent, beside, release, takeLog } = family();
  beside.tell("say", 1);
  beside.tell("fail");
  await clock.settle();
  parent.tell("wait");
  for (let count = 0; count < 300; count++) parent.tell("say", count);
  await clock.settle();
  expect(namesOf(system)).toEqual(["parent", "a", "deep/er", "b", "beside"]);
  const reports = flat(system.inspect());
  expect(reports.map(({ queued }) => queued)).toEqual([300, 0, 0, 0, 0]);
  expect(reports.map(({ restarts, failed }) => [restarts, failed])).toEqual([...Array(4).fill([0, 0]), [1, 1]]);
  const views = [...system.actors()];
  expect(
    views.map(({ ref, state, queued, handled, failed, restarts, current }) => ({
      ...{ address: ref.address, state, queued, handled, failed, restarts, current },
    })),
  ).toEqual(reports.map(({ children: _, ...report }) => report));
  expect(views.every(({ protocol }) => protocol === "node")).toBe(true);
  expect(views.map((view) => view.parent?.address)).toEqual([
    ...[undefined, parent.address, address("parent/a"), parent.address],
    undefined,
  ]);
  expect(views[0]?.ref).toBe(parent);
  await release();
  takeLog(); // Of the failure.
});

test("actors() may be paused: actors that stop meanwhile are left out, and the others come once", async () => {
  const { system, clock, parent, beside } = family();
  await clock.settle();
  const looking = system.actors();
  const first = looking.next().value;
  expect(first?.ref).toBe(parent);
  const stopped = system.stop(beside);
  await clock.settle();
  await stopped;
  system.spawn("later", Node, () => ({ say() {}, fail() {}, wait() {} }));
  expect(Array.from(looking, ({ name }) => name)).toEqual(["a", "deep/er", "b"]);
  expect(namesOf(system)).toEqual(["parent", "a", "deep/er", "b", "later"]);
  expect(first?.isStopped).toBe(false);
});

test("actors() gives the same reference for the same actor each time, and counts what waits as the audit does", async () => {
  const { system, clock, parent, router, release } = family();
  await clock.settle();
  const refs = Array.from(system.actors(), ({ ref }) => ref);
  expect(Array.from(system.actors(), ({ ref }) => ref)).toEqual(refs);
  for (let count = 0; count < 40; count++) parent.tell("say", count); // These are handled.
  parent.tell("wait");
  for (let count = 0; count < 1_000; count++) {
    parent.tell("say", count);
    if (count % 300 === 0) void parent.ask("wait"); // Comes in an envelope, between the others.
  }
  await clock.settle();
  const queued = Array.from(system.actors(), (view) => view.queued).reduce((sum, each) => sum + each);
  expect(queued).toBe(1_004);
  expect(router.audit().queued).toBe(queued);
  await release();
});

test("restarts counts those of all actors, also of those that have stopped since", async () => {
  const { system, clock, beside, takeLog } = family();
  const other = system.spawn("other", Node, () => ({
    say() {},
    fail: () => Promise.reject(new Error("no")),
    wait() {},
  }));
  expect(system.restarts).toBe(0);
  for (const actor of [beside, other, other]) {
    actor.tell("fail");
    await clock.settle();
  }
  expect(system.restarts).toBe(3);
  const stopped = system.stop(other);
  await clock.settle();
  await stopped;
  expect([...system.actors()].reduce((sum, { restarts }) => sum + restarts, 0)).toBe(1);
  expect(system.restarts).toBe(3);
  takeLog(); // Of the failures.
});
