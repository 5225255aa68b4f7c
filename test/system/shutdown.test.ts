import { expect, test } from "bun:test";
import { type AskResult, address, createMessage, createSystem, defineProtocol, Type } from "../../src/index";
import { reasonsOf, testSystems } from "../actor/test-system";

const { createTestSystem } = testSystems();

const Work = defineProtocol("work", { work: { payload: Type.String(), reply: Type.String() } });

const outcomeOf = (answer: AskResult): unknown => (answer.isOk() ? answer.value : answer.error.kind);

/** An actor whose handler waits for a gate, and hands out its signal. */
function spawnWaiting({ system }: ReturnType<typeof createTestSystem>, name = "waiting") {
  const gate = Promise.withResolvers<void>();
  const signals: AbortSignal[] = [];
  const ref = system.spawn(name, Work, (ctx) => ({
    async work(text) {
      signals.push(ctx.signal);
      await gate.promise;
      return text;
    },
  }));
  return { ref, gate, signals };
}

test("P13: shutdown stops all actors, and reports that none is unfinished", async () => {
  const systems = createTestSystem();
  const { ref, gate, signals } = spawnWaiting(systems);
  systems.system.spawn("idle", Work, (ctx) => {
    ctx.spawn("child", Work, () => ({ work: (text) => text }));
    return { work: (text) => text };
  });
  systems.router.register(address("registered"), () => 1);
  const asks = [ref.ask("work", "running"), ref.ask("work", "queued")];
  await systems.clock.settle();
  const report = systems.system.shutdown();
  expect(signals[0]?.aborted).toBe(true);
  gate.resolve();
  expect(await report).toEqual({ unfinished: [] });
  expect((await Promise.all(asks)).map(outcomeOf)).toEqual(["running", "stopped"]);
  for (const id of ["waiting", "idle", "idle/child", "registered"]) {
    expect({ id, isThere: systems.router.has(address(id)) }).toEqual({ id, isThere: false });
  }
  await systems.clock.settle();
  expect(systems.clock.timers).toBe(0);
});

test("P13: shutdown of a system without actors leaves no timer", async () => {
  const { system, clock } = createTestSystem();
  expect(await system.shutdown()).toEqual({ unfinished: [] });
  await clock.settle();
  expect(clock.timers).toBe(0);
});

test("P13: shutdown with drain handles first what waits", async () => {
  const systems = createTestSystem();
  const { ref, gate } = spawnWaiting(systems);
  const asks = ["a", "b", "c"].map((text) => ref.ask("work", text));
  const report = systems.system.shutdown({ drain: true });
  gate.resolve();
  expect((await report).unfinished).toEqual([]);
  expect((await Promise.all(asks)).map(outcomeOf)).toEqual(["a", "b", "c"]);
});

test("P13: a quiet shutdown leaves to its report what does not stop in time", async () => {
  const { system, clock } = createTestSystem(); // It fails where something was logged.
  system.spawn("endless", Work, () => ({ work: () => new Promise<string>(() => {}) })).ask("work", "a");
  await clock.settle();
  const report = system.shutdown({ timeout: 10, quiet: true });
  await clock.advance(10);
  expect(await report).toEqual({ unfinished: [address("endless")] });
});

test("P13: what does not stop in time is abandoned, logged and named; its askers get `stopped`", async () => {
  const systems = createTestSystem();
  const { clock, system, router, deadLetters } = systems;
  const { ref, gate, signals } = spawnWaiting(systems, "stuck");
  const parent = system.spawn("parent", Work, (ctx) => {
    const child = ctx.spawn("child", Work, () => ({ work: () => new Promise<string>(() => {}) }));
    return {
      work(text) {
        ctx.tell(child, "work", text);
        return text;
      },
    };
  });
  spawnWaiting(systems, "idle");
  await parent.ask("work", "for the child");
  const asks = [ref.ask("work", "running"), ref.ask("work", "queued")];
  await clock.settle();
  let isReported = false;
  const shutdown = system.shutdown({ timeout: 100 }).then((report) => {
    isReported = true;
    return report;
  });
  await clock.advance(99);
  expect(isReported).toBe(false);
  await clock.advance(1);
  const { unfinished } = await shutdown;
  expect(unfinished.toSorted()).toEqual([address("parent"), address("parent/child"), address("stuck")]);
  expect((await Promise.all(asks)).map(outcomeOf)).toEqual(["stopped", "stopped"]);
  expect(signals[0]?.aborted).toBe(true);
  const [entry, ...more] = systems.takeLog();
  expect(more).toEqual([]);
  expect(entry?.level).toBe("warn");
  expect(entry?.message).toContain("within 100 ms");
  expect(entry?.details).toEqual({ unfinished });
  expect(router.audit()).toMatchObject({ accepted: 4, handled: 1, failed: 2, dead: 1, running: 0, queued: 0 });
  expect(reasonsOf(deadLetters)).toEqual(["stopped"]);

  gate.resolve(); // What it does after that changes nothing.
  await clock.settle();
  expect(router.audit()).toMatchObject({ accepted: 4, handled: 1, failed: 2, dead: 1 });
  expect(unfinished.filter((at) => router.has(at))).toEqual([]);
});

test("P13: a stop that waits for an actor resolves when shutdown abandons it", async () => {
  const systems = createTestSystem();
  const { ref } = spawnWaiting(systems);
  ref.tell("work", "for ever");
  await systems.clock.settle();
  let isStopped = false;
  void systems.system.stop(ref).then(() => {
    isStopped = true;
  });
  void systems.system.shutdown({ timeout: 10 });
  await systems.clock.advance(10);
  expect(isStopped).toBe(true);
  expect(systems.takeLog()).toHaveLength(1);
});

test("P13: shutdown waits five seconds by default, or for ever", async () => {
  const systems = createTestSystem();
  const forever = createTestSystem();
  const events: string[] = [];
  const waiting = spawnWaiting(forever);
  for (const each of [spawnWaiting(systems), waiting]) each.ref.tell("work", "for ever");
  await systems.clock.settle();
  void systems.system.shutdown().then(() => events.push("default"));
  void forever.system.shutdown({ timeout: Number.POSITIVE_INFINITY }).then(() => events.push("for ever"));
  await systems.clock.advance(4_999);
  expect(events).toEqual([]);
  await systems.clock.advance(1);
  await forever.clock.advance(1_000_000);
  expect(events).toEqual(["default"]);
  expect(systems.takeLog()).toHaveLength(1);
  waiting.gate.resolve();
  await forever.clock.settle();
  expect(events).toEqual(["default", "for ever"]);
});

test("P13: shutdown is done once: later calls get the first report", async () => {
  const systems = createTestSystem();
  const { ref } = spawnWaiting(systems);
  ref.tell("work", "for ever");
  await systems.clock.settle();
  const reports = [systems.system.shutdown({ timeout: 10 }), systems.system.shutdown({ timeout: 99_999 })];
  await systems.clock.advance(10);
  const [first, second] = await Promise.all(reports);
  expect(first?.unfinished).toEqual([ref.address]);
  expect(second).toBe(first as NonNullable<typeof first>);
  expect(await systems.system.shutdown()).toBe(first as NonNullable<typeof first>);
  expect(systems.takeLog()).toHaveLength(1);
});

test("P13: a timeout of shutdown that is none throws at once", async () => {
  const { system } = createTestSystem();
  for (const timeout of [-1, Number.NaN, "500", null]) {
    const shutDown = (): unknown => system.shutdown({ timeout: timeout as number });
    expect(shutDown).toThrow(/timeout of shutdown is a number of milliseconds, or Infinity; got /);
  }
  system.spawn("work", Work, () => ({ work: (text) => text })); // It has not shut down.
  await system.shutdown({ timeout: 0 });
});

test("P13: after a shutdown nothing can be added, and what is sent is dead", async () => {
  const systems = createTestSystem();
  const { system, router, clock, deadLetters } = systems;
  const { ref, gate } = spawnWaiting(systems);
  const spawned: unknown[] = [];
  system.spawn("late", Work, (ctx) => ({
    async work(text) {
      await gate.promise;
      try {
        spawned.push(ctx.spawn("child", Work, () => ({ work: (it) => it })));
      } catch (thrown) {
        spawned.push(thrown);
      }
      return text;
    },
  }));
  router.tell(createMessage(address("late"), "work", "spawn"));
  await clock.settle();
  const report = system.shutdown();
  const refused = [
    () => system.spawn("more", Work, () => ({ work: (text) => text })),
    () => router.register(address("more"), () => 1),
  ];
  for (const add of refused) expect(add).toThrow(/@\(more\): the system has shut down; create another one/);
  gate.resolve();
  await report;
  for (const add of refused) expect(add).toThrow(/the system has shut down/);
  expect(spawned).toEqual([expect.any(Error)]);

  ref.tell("work", "too late");
  router.tell(createMessage(ref.address, "work", "too late"));
  expect((await ref.ask("work", "too late"))._unsafeUnwrapErr().kind).toBe("stopped");
  expect((await router.ask(createMessage(ref.address, "work", "too late")))._unsafeUnwrapErr().kind).toBe(
    "no-recipient",
  );
  expect(reasonsOf(deadLetters)).toEqual(["stopped", "no-recipient", "stopped", "no-recipient"]);
  expect(systems.takeLog()).toHaveLength(2);
});

test("P13: `await using` shuts the system down", async () => {
  const systems = createTestSystem();
  const { clock } = systems;
  let kept: ReturnType<typeof createSystem> | undefined;
  {
    await using system = createSystem({ clock });
    kept = system;
    system.spawn("work", Work, () => ({ work: (text) => text }));
    expect(system.router.has(address("work"))).toBe(true);
  }
  expect(kept.router.has(address("work"))).toBe(false);
  expect(() => kept?.spawn("work", Work, () => ({ work: (text) => text }))).toThrow(/has shut down/);
});
