import { expect, test } from "bun:test";
import { type AskResult, address, defineProtocol, type Hooks, type SystemEvent, Type } from "../../src/index";
import { expectBalance, type LogEntry, type TestSystem, testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const Work = defineProtocol("work", {
  work: { payload: Type.String(), reply: Type.String() },
  fail: { payload: Type.String() },
});
const outcomeOf = (answer: AskResult): unknown => (answer.isOk() ? answer.value : answer.error.kind);
const sentences = (entries: LogEntry[]): string[] => entries.map(({ message }) => message);

type Made = (instance: number, seen: string[], test: TestSystem) => Hooks;

/** An actor that writes down what it does; each instance has hooks of its own. */
function spawnHooked(test: TestSystem, hooks: Made, name = "hooked") {
  const seen: string[] = [];
  let instances = 0;
  const ref = test.system.spawn(name, Work, () => {
    const instance = ++instances;
    return {
      work(text) {
        seen.push(`${instance} ${text}`);
        expectBalance(test.router.audit());
        return `${instance} ${text}`;
      },
      fail(text) {
        throw new Error(text);
      },
      ...hooks(instance, seen, test),
    };
  });
  return { ref, seen };
}

const tellAll: Made = (instance, seen) => ({
  onStart: () => void seen.push(`${instance} onStart`),
  onRestart: (error) => void seen.push(`${instance} onRestart: ${(error as Error).message}`),
  onStop: () => void seen.push(`${instance} onStop`),
});
const tellAllLater: Made = (instance, seen) => ({
  async onStart() {
    seen.push(`${instance} onStart…`);
    await undefined;
    seen.push(`${instance} onStart`);
  },
  async onRestart(error) {
    await undefined;
    seen.push(`${instance} onRestart: ${(error as Error).message}`);
  },
  async onStop() {
    seen.push(`${instance} onStop…`);
    await undefined;
    seen.push(`${instance} onStop`);
  },
});

test("P10: the hooks run in order: onStart, messages, onStop, onStart, onRestart, messages, onStop", async () => {
  const systems = createTestSystem({ supervision: {} });
  const { ref, seen } = spawnHooked(systems, tellAll);
  const asks = [ref.ask("work", "a"), ref.ask("fail", "broken"), ref.ask("work", "b")];
  expect((await Promise.all(asks)).map(outcomeOf)).toEqual(["1 a", "handler-failed", "2 b"]);
  await systems.system.stop(ref);
  expect(seen).toEqual(["1 onStart", "1 a", "1 onStop", "2 onStart", "2 onRestart: broken", "2 b", "2 onStop"]);
  expect(systems.takeLog()).toHaveLength(1);
});

test("P10: messages wait for hooks that return promises, and so does the stop", async () => {
  const systems = createTestSystem({ supervision: {} });
  const { ref, seen } = spawnHooked(systems, tellAllLater);
  const asks = [ref.ask("work", "a"), ref.ask("fail", "broken"), ref.ask("work", "b")];
  expect((await Promise.all(asks)).map(outcomeOf)).toEqual(["1 a", "handler-failed", "2 b"]);
  await systems.system.stop(ref);
  expect(seen).toEqual([
    "1 onStart…",
    "1 onStart",
    "1 a",
    "1 onStop…",
    "1 onStop",
    "2 onStart…",
    "2 onStart",
    "2 onRestart: broken",
    "2 b",
    "2 onStop…",
    "2 onStop",
  ]);
  systems.takeLog();
});

test("P4: no hook runs on the stack of who spawns, stops or sends", async () => {
  const systems = createTestSystem({ supervision: {} });
  let isOutside = true;
  const stacks: boolean[] = [];
  const note = (): void => void stacks.push(isOutside);
  const within = <Result>(run: () => Result): Result => {
    isOutside = false;
    const result = run();
    isOutside = true;
    return result;
  };
  const { ref } = within(() => spawnHooked(systems, () => ({ onStart: note, onRestart: note, onStop: note })));
  await systems.clock.settle();
  within(() => ref.tell("fail", "x"));
  await systems.clock.settle();
  const stopped = within(() => systems.system.stop(ref));
  await stopped;
  expect(stacks).toEqual([true, true, true, true, true]);
  systems.takeLog();
});

test("P10: a hook is called on the handlers that it stands beside", async () => {
  const { system } = createTestSystem();
  class Worker {
    readonly seen: string[] = [];
    onStart(): void {
      this.seen.push("onStart");
    }
    onStop(): void {
      this.seen.push("onStop");
    }
    work(text: string): string {
      return text;
    }
    fail(): void {}
  }
  const worker = new Worker();
  const ref = system.spawn("worker", Work, () => worker);
  await system.stop(ref); // At once: onStart has not run.
  const other = system.spawn("worker", Work, () => worker);
  await other.ask("work", "");
  await system.stop(other);
  expect(worker.seen).toEqual(["onStart", "onStop"]);
});

for (const [how, failing] of Object.entries({
  throws: () => {
    throw new Error("no start");
  },
  rejects: async () => {
    throw new Error("no start");
  },
  "rejects later": async () => {
    await undefined;
    throw new Error("no start");
  },
})) {
  test(`P9: an onStart that ${how} is a failure of its actor, and no onStop is due`, async () => {
    const systems = createTestSystem({ supervision: {} });
    const { ref, seen } = spawnHooked(systems, (instance, seen) =>
      instance < 3 ? { onStart: failing, onStop: () => void seen.push("wrong") } : tellAll(instance, seen, systems),
    );
    expect(outcomeOf(await ref.ask("work", "a"))).toBe("3 a");
    expect(seen).toEqual(["3 onStart", "3 onRestart: no start", "3 a"]);
    const logged = systems.takeLog();
    expect(logged.map(({ level }) => level)).toEqual(["error", "error"]);
    for (const sentence of sentences(logged)) {
      expect(sentence).toBe(`envoi: "onStart" to @(hooked) failed in its handler: Error: no start; it restarts.`);
    }
    expect(systems.router.audit()).toMatchObject({ accepted: 1, handled: 1 });
  });

  test(`P9: an onStart that ${how} and is resumed stops its actor: there is nothing to go on with`, async () => {
    const systems = createTestSystem();
    const { ref, seen } = spawnHooked(systems, (_, seen) => ({
      onStart: failing,
      onStop: () => void seen.push("wrong"),
    }));
    expect(outcomeOf(await ref.ask("work", "a"))).toBe("stopped");
    expect(systems.router.has(ref.address)).toBe(false);
    expect(seen).toEqual([]);
    expect(sentences(systems.takeLog())).toEqual([
      `envoi: "onStart" to @(hooked) failed in its handler: Error: no start; it is stopped.`,
    ]);
  });

  test(`P9: an onStop that ${how} is logged, and the actor stops and restarts all the same`, async () => {
    const systems = createTestSystem({ supervision: {} });
    const events: SystemEvent[] = [];
    systems.system.events.subscribe((event) => events.push(event));
    const { ref } = spawnHooked(systems, () => ({ onStop: failing }));
    ref.tell("fail", "x");
    expect(outcomeOf(await ref.ask("work", "a"))).toBe("2 a");
    await systems.system.stop(ref);
    const [, restarting, stopping, ...more] = systems.takeLog();
    expect(more).toEqual([]);
    for (const entry of [restarting, stopping]) {
      expect(entry).toMatchObject({ level: "error", details: { address: ref.address } });
      expect(entry?.message).toContain(`"onStop" to @(hooked) failed in its handler: Error: no start`);
    }
    await systems.clock.settle();
    expect(events.filter(({ kind }) => kind === "failed")).toMatchObject([
      { operation: "fail", directive: "restart" },
      { operation: "onStop", directive: "restart" },
      { operation: "onStop", directive: "stop" },
    ]);
  });

  test(`P9: an onRestart that ${how} is a failure of its actor; onStop is due, because onStart had succeeded`, async () => {
    const systems = createTestSystem({ supervision: {} });
    const { ref, seen } = spawnHooked(systems, (instance, seen) => ({
      ...tellAll(instance, seen, systems),
      ...(instance === 2 ? { onRestart: failing } : {}),
    }));
    ref.tell("fail", "x");
    expect(outcomeOf(await ref.ask("work", "a"))).toBe("3 a");
    expect(seen).toEqual([
      "1 onStart",
      "1 onStop",
      "2 onStart",
      "2 onStop",
      "3 onStart",
      "3 onRestart: no start",
      "3 a",
    ]);
    expect(systems.takeLog()).toHaveLength(2);
  });
}

for (const hook of ["onStart", "onRestart", "onStop"] as const) {
  test(`P9: an ${hook} that never ends has failed after hookTimeout, 5 s by default; its late end does nothing`, async () => {
    const systems = createTestSystem({ supervision: {} });
    const { clock } = systems;
    const gate = Promise.withResolvers<void>();
    const { ref, seen } = spawnHooked(systems, (instance, seen) => ({
      ...tellAll(instance, seen, systems),
      ...((hook === "onRestart" ? instance === 2 : instance === 1)
        ? {
            async [hook]() {
              seen.push(`${instance} ${hook}…`);
              await gate.promise;
              seen.push(`${instance} ${hook} late`);
              throw new Error("late"); // A rejection that nobody heard of would fail this test.
            },
          }
        : {}),
    }));
    if (hook !== "onStart") ref.tell("fail", "x");
    const answer = ref.ask("work", "a", { timeout: 60_000 });
    await clock.advance(4_999);
    expect(seen.at(-1)).toEndWith("…");
    const late = seen.at(-1)?.charAt(0);
    const before = seen.length;
    await clock.advance(1);
    expect(outcomeOf(await answer)).toEndWith(" a");
    expect(sentences(systems.takeLog()).at(-1)).toContain(`${hook} did not end within 5000 ms`);
    const after = seen.length;
    expect(after).toBeGreaterThan(before);
    gate.resolve();
    await clock.settle();
    expect(outcomeOf(await ref.ask("work", "b"))).toEndWith(" b");
    expect(seen.slice(after)).toEqual([`${late} ${hook} late`, expect.stringMatching(/^\d b$/)]);
    await systems.system.stop(ref);
  });
}

test("P9: a hook that ends late does not end what is handled then", async () => {
  const systems = createTestSystem({ supervision: {} });
  const [late, handling] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let instances = 0;
  const ref = systems.system.spawn("hooked", Work, () => {
    const isFirst = ++instances === 1;
    return {
      async work(text) {
        await handling.promise;
        return text;
      },
      fail() {},
      onStart: () => (isFirst ? late.promise : undefined),
    };
  });
  const asks = [ref.ask("work", "a", { timeout: 60_000 }), ref.ask("fail", "b", { timeout: 60_000 })];
  await systems.clock.advance(5_000);
  late.resolve();
  await systems.clock.settle();
  expect(systems.router.audit()).toMatchObject({ running: 1, queued: 1, handled: 0 });
  handling.resolve();
  expect((await Promise.all(asks)).map(outcomeOf)).toEqual(["a", undefined]);
  expect(systems.takeLog()).toHaveLength(1);
});

test("P9: hookTimeout is the system's, and Infinity waits for ever", async () => {
  for (const hookTimeout of [20, Number.POSITIVE_INFINITY]) {
    const systems = createTestSystem({ supervision: { decide: () => "stop" }, hookTimeout });
    const gate = Promise.withResolvers<void>();
    const { ref } = spawnHooked(systems, () => ({ onStart: () => gate.promise }));
    await systems.clock.advance(19);
    expect(systems.router.has(ref.address)).toBe(true);
    await systems.clock.advance(1_000_000);
    expect(systems.router.has(ref.address)).toBe(hookTimeout > 20);
    gate.resolve();
    expect(systems.takeLog()).toHaveLength(hookTimeout > 20 ? 0 : 1);
  }
});

test("P9: a hook that ended in time leaves no timer", async () => {
  const systems = createTestSystem({ supervision: {} });
  const { ref } = spawnHooked(systems, tellAllLater);
  ref.tell("fail", "x");
  await systems.clock.settle();
  expect(systems.clock.timers).toBe(0);
  expect(systems.takeLog()).toHaveLength(1);
});

test("P13: a stop before onStart has run runs no hook at all", async () => {
  const systems = createTestSystem();
  const { ref, seen } = spawnHooked(systems, tellAll);
  const ask = ref.ask("work", "a");
  await systems.system.stop(ref);
  expect(outcomeOf(await ask)).toBe("stopped");
  expect(seen).toEqual([]);
});

test("P13: a stop during onStart lets it end, then runs onStop; what waited is dead", async () => {
  const systems = createTestSystem();
  const gate = Promise.withResolvers<void>();
  const { ref, seen } = spawnHooked(systems, (instance, seen) => ({
    ...tellAll(instance, seen, systems),
    async onStart() {
      await gate.promise;
      seen.push("started");
    },
  }));
  const ask = ref.ask("work", "a");
  await systems.clock.settle();
  const stopped = systems.system.stop(ref);
  expect(outcomeOf(await ask)).toBe("stopped");
  expect(seen).toEqual([]);
  gate.resolve();
  await stopped;
  expect(seen).toEqual(["started", "1 onStop"]);
});

test("P13: a stop during an onStart that then fails runs no onStop", async () => {
  const systems = createTestSystem({ supervision: {} });
  const gate = Promise.withResolvers<void>();
  const { ref, seen } = spawnHooked(systems, (instance, seen) => ({
    ...tellAll(instance, seen, systems),
    onStart: () => gate.promise,
  }));
  await systems.clock.settle();
  const stopped = systems.system.stop(ref);
  gate.reject(new Error("broken"));
  await stopped;
  expect(seen).toEqual([]);
  expect(systems.takeLog()).toHaveLength(1);
});

test("P13: a drain during onStart handles what waits, unless onStart fails", async () => {
  for (const isBroken of [false, true]) {
    const systems = createTestSystem({ supervision: {} });
    const gate = Promise.withResolvers<void>();
    const { ref } = spawnHooked(systems, () => ({ onStart: () => gate.promise }));
    const asks = [ref.ask("work", "a"), ref.ask("work", "b")];
    await systems.clock.settle();
    const stopped = systems.system.stop(ref, { drain: true });
    if (isBroken) gate.reject(new Error("broken"));
    else gate.resolve();
    await stopped;
    expect((await Promise.all(asks)).map(outcomeOf)).toEqual(isBroken ? ["stopped", "stopped"] : ["1 a", "1 b"]);
    expect(systems.takeLog()).toHaveLength(isBroken ? 1 : 0);
  }
});

for (const hook of ["onStart", "onRestart", "onStop"] as const) {
  test(`P13: shutdown abandons an actor that is stuck in ${hook}, and its late end does nothing`, async () => {
    const systems = createTestSystem({ supervision: {}, hookTimeout: Number.POSITIVE_INFINITY });
    const gate = Promise.withResolvers<void>();
    const { ref } = spawnHooked(systems, () => ({ [hook]: () => gate.promise }));
    if (hook === "onRestart") ref.tell("fail", "x");
    const ask = ref.ask("work", "a");
    await systems.clock.settle();
    const shutdown = systems.system.shutdown({ timeout: 50 });
    expect(outcomeOf(await ask)).toBe(hook === "onStop" ? "1 a" : "stopped");
    await systems.clock.advance(50);
    expect(await shutdown).toEqual({ unfinished: [address("hooked")] });
    systems.takeLog();
    const before = systems.router.audit();
    gate.reject(new Error("late"));
    await systems.clock.settle();
    expect(systems.router.audit()).toEqual(before);
    expect(systems.router.has(ref.address)).toBe(false);
  });
}

test("P10: a hook may tell, ask, spawn and stop; nothing of that is handled before it has ended", async () => {
  const systems = createTestSystem({ supervision: {} });
  const { system } = systems;
  const seen: string[] = [];
  const other = system.spawn("other", Work, () => ({ work: (text) => `other ${text}`, fail() {} }));
  const ref = system.spawn("hooked", Work, (ctx) => ({
    work(text) {
      seen.push(text);
      return text;
    },
    fail() {},
    async onStart() {
      ctx.self.tell("work", "to itself");
      const child = ctx.spawn("child", Work, () => ({
        work(text) {
          ctx.tell(ctx.self, "work", `${text}, by the child`);
          return text;
        },
        fail() {},
        onStop: () => void seen.push("child stopped"),
      }));
      seen.push(String(outcomeOf(await ctx.ask(other, "work", "a"))));
      seen.push(String(outcomeOf(await ctx.ask(child, "work", "b"))));
      seen.push(String(outcomeOf(await ctx.ask(ctx.self, "work", "c")))); // It would wait for itself.
    },
    async onStop() {
      seen.push(String(outcomeOf(await ctx.ask(other, "work", "d"))));
      ctx.tell(other, "work", "e");
    },
  }));
  await systems.clock.settle();
  expect(seen).toEqual(["other a", "b", "ask-cycle", "to itself", "b, by the child"]);
  seen.length = 0;
  await system.stop(ref);
  expect(seen).toEqual(["child stopped", "other d"]);
});

test("P10: an onStart that stops its own actor ends it, by way of onStop", async () => {
  const systems = createTestSystem();
  const seen: string[] = [];
  const ref = systems.system.spawn("hooked", Work, (ctx) => ({
    work: (text) => text,
    fail() {},
    onStart: () => ctx.stop(),
    onStop: () => void seen.push("onStop"),
  }));
  expect(outcomeOf(await ref.ask("work", "a"))).toBe("stopped");
  await systems.clock.settle();
  expect(seen).toEqual(["onStop"]);
  expect(systems.router.has(ref.address)).toBe(false);
});

test("P10: an onStop that stops, spawns or watches harms nobody", async () => {
  const systems = createTestSystem();
  const thrown: string[] = [];
  const attempt = (run: () => unknown): void => {
    try {
      run();
    } catch (error) {
      thrown.push((error as Error).message);
    }
  };
  const other = systems.system.spawn("other", Work, () => ({ work: (text) => text, fail() {} }));
  const ref = systems.system.spawn("hooked", Work, (ctx) => ({
    work: (text) => text,
    fail() {},
    onStop() {
      ctx.stop();
      attempt(() => ctx.spawn("child", Work, () => ({ work: (text) => text, fail() {} })));
      attempt(() => ctx.watch(other, () => {}));
      attempt(() => ctx.timers.once("late", 5, () => {}));
      attempt(() => ctx.timers.receiveTimeout(5, () => {}));
    },
  }));
  await ref.ask("work", "a");
  await systems.system.stop(ref);
  expect(thrown).toEqual([
    "@(hooked) is stopping and cannot spawn @(hooked/child).",
    expect.stringContaining("This instance of @(hooked) has ended, by a stop or a restart: what watches"),
    expect.stringContaining(`the timer "late" would never be called`),
    expect.stringContaining(`the timer "receiveTimeout" would never be called`),
  ]);
  expect(systems.clock.timers).toBe(0);
});

test("P10: the hooks stay those of the factory, whatever the actor becomes", async () => {
  const systems = createTestSystem({ supervision: {} });
  const seen: string[] = [];
  let instances = 0;
  const ref = systems.system.spawn("hooked", Work, (ctx) => {
    const instance = ++instances;
    const handlers = {
      work: (text: string) => text,
      fail() {
        throw new Error("broken");
      },
    };
    return {
      ...handlers,
      onStart: () => ctx.become({ ...handlers }),
      onStop: () => void seen.push(`${instance} onStop`),
    };
  });
  ref.tell("fail", "");
  await systems.clock.settle();
  await systems.system.stop(ref);
  expect(seen).toEqual(["1 onStop", "2 onStop"]);
  systems.takeLog();
});

test("a hook that is no function is refused at spawn, and on a restart it is a failure", async () => {
  const systems = createTestSystem({ supervision: { decide: () => "stop" } });
  for (const hook of ["onStart", "onRestart", "onStop"]) {
    const spawn = (): unknown =>
      systems.system.spawn("hooked", Work, () => ({ work: (text: string) => text, fail() {}, [hook]: 5 }) as never);
    expect(spawn).toThrow(new TypeError(`The factory of @(hooked) returns a ${hook} that is no function; got 5.`));
    expect(systems.router.has(address("hooked"))).toBe(false);
  }
});

test("an operation cannot be named like a hook", () => {
  for (const hook of ["onStart", "onRestart", "onStop"]) {
    expect(() => defineProtocol("work", { [hook]: {} })).toThrow(TypeError);
    expect(() => defineProtocol("work", { [hook]: {} })).toThrow(`named "${hook}", which is an actor's hook`);
  }
});

test("P10: hooks come before messages of any priority, and before what is stashed", async () => {
  const systems = createTestSystem({ supervision: {} });
  const seen: string[] = [];
  let instances = 0;
  const ref = systems.system.spawn(
    "hooked",
    Work,
    (ctx) => {
      const instance = ++instances;
      return {
        work(text) {
          if (instance === 1) return ctx.stash();
          seen.push(text);
          return text;
        },
        fail() {
          throw new Error("broken");
        },
        onStart: () => void seen.push(`${instance} onStart`),
        onRestart: () => void seen.push(`${instance} onRestart`),
      };
    },
    { priority: (operation) => (operation === "work" ? Number.POSITIVE_INFINITY : 0) },
  );
  const asks = [ref.ask("work", "a"), ref.ask("fail", ""), ref.ask("work", "b")];
  await Promise.all(asks);
  expect(seen).toEqual(["1 onStart", "2 onStart", "2 onRestart", "a", "b"]);
  systems.takeLog();
});
