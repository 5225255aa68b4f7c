import { expect, test } from "bun:test";
import {
  type AskResult,
  address,
  type Context,
  createSystem,
  type Directive,
  defineProtocol,
  type FailedEvent,
  type Ref,
  type SignaturesOf,
  type Strategy,
  type Supervision,
  type SystemEvent,
  Type,
} from "../../src/index";
import { expectBalance, reasonsOf, recordIn, type TestSystem, testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const Work = defineProtocol("work", {
  count: { reply: Type.Number() },
  fail: { payload: Type.Unknown() },
  stream: { payload: Type.Unknown(), stream: Type.Number() },
});
type Work = SignaturesOf<typeof Work>;
const Parent = defineProtocol("parent", { make: { reply: Type.Number() } });

const outcomeOf = (answer: AskResult): unknown => (answer.isOk() ? answer.value : answer.error.kind);

/** Handlers that count what they get: a restart begins at 0. */
function counting(fail: (error: unknown) => unknown = (error) => Promise.reject(error)) {
  let count = 0;
  return {
    count: () => ++count,
    async fail(error: unknown) {
      await fail(error);
    },
    async *stream(error: unknown) {
      yield 1;
      await undefined;
      throw error;
    },
  };
}

/** A parent with children a, b and c, which begin anew with each of its instances. */
function family(
  test: TestSystem,
  supervision: Supervision | undefined,
  make: (ctx: Context<Work>, name: string) => ReturnType<typeof counting> = () => counting(),
) {
  const children: Record<string, Ref<Work>> = {};
  let instances = 0;
  const parent = test.system.spawn(
    "parent",
    Parent,
    (ctx) => {
      const instance = ++instances;
      for (const name of ["a", "b", "c"]) children[name] = ctx.spawn(name, Work, (own) => make(own, name));
      return { make: () => instance };
    },
    supervision === undefined ? {} : { supervision },
  );
  const events: SystemEvent[] = [];
  test.system.events.subscribe((event) => {
    expectBalance(test.router.audit());
    events.push(event);
  });
  const child = (name: string): Ref<Work> => children[name] as Ref<Work>; // The factory made it.
  return { parent, child, events };
}

/** How a child fails: from outside, by its own doing. */
const FAILURES: Record<string, (ref: Ref<Work>) => unknown> = {
  "a handler rejects": (ref) => ref.tell("fail", new Error("broken")),
  "a handler that was asked rejects": (ref) => ref.ask("fail", new Error("broken")),
  "a stream's producer throws": async (ref) => {
    try {
      for await (const _ of ref.stream("stream", new Error("broken")));
    } catch {
      // The reader is told; what becomes of the actor is looked at here.
    }
  },
};

/** Who has begun anew (1), goes on with its state (2) or is gone, after a failed, b failed and c. */
const EXPECTED: Record<Strategy, Record<Directive, [a: unknown, b: unknown, c: unknown, parent: unknown]>> = {
  "one-for-one": {
    resume: [2, 2, 2, 1],
    restart: [2, 1, 2, 1],
    stop: [2, "stopped", 2, 1],
    escalate: [1, 1, 1, 2],
  },
  "one-for-all": {
    resume: [2, 2, 2, 1],
    restart: [1, 1, 1, 1],
    stop: ["stopped", "stopped", "stopped", 1],
    escalate: [1, 1, 1, 2],
  },
  "rest-for-one": {
    resume: [2, 2, 2, 1],
    restart: [2, 1, 1, 1],
    stop: [2, "stopped", "stopped", 1],
    escalate: [1, 1, 1, 2],
  },
};

for (const [strategy, directives] of Object.entries(EXPECTED) as [Strategy, (typeof EXPECTED)[Strategy]][]) {
  for (const [directive, expected] of Object.entries(directives) as [Directive, unknown[]][]) {
    for (const [how, fail] of Object.entries(FAILURES)) {
      test(`P9: ${strategy}, ${directive}, when ${how}`, async () => {
        const systems = createTestSystem({ supervision: {} });
        const { parent, child, events } = family(systems, { strategy, decide: () => directive });
        await Promise.all(["a", "b", "c"].map((name) => child(name).ask("count")));
        await fail(child("b"));
        await systems.clock.settle();
        const answers = await Promise.all(["a", "b", "c"].map((name) => child(name).ask("count")));
        expect([...answers.map(outcomeOf), outcomeOf(await parent.ask("make"))]).toEqual(expected);
        const failures = events.filter((event): event is FailedEvent => event.kind === "failed");
        expect(failures[0]).toMatchObject({ address: "@(parent/b)", directive, isUnhandled: false });
        expect(failures).toHaveLength(directive === "escalate" ? 2 : 1);
        expect(systems.takeLog().length).toBe(
          directive === "resume" && how !== "a handler rejects" ? 0 : failures.length,
        );
      });
    }
  }
}

const OWN_DOING: Record<string, (ctx: Context<Work>, systems: TestSystem) => void> = {
  "a timer throws": (ctx) =>
    ctx.timers.once("t", 5, () => {
      throw new Error("broken");
    }),
  "a timer rejects": (ctx) => ctx.timers.fixedDelay("t", 5, () => Promise.reject(new Error("broken"))),
  "a fixed rate throws": (ctx) =>
    ctx.timers.fixedRate("t", 5, () => {
      throw new Error("broken");
    }),
  "a receive timeout throws": (ctx) =>
    ctx.timers.receiveTimeout(5, () => {
      throw new Error("broken");
    }),
  "a terminated callback throws": (ctx, { system, clock }) => {
    const other = system.spawn(`other-${clock.monotonicTime()}`, Parent, () => ({ make: () => 1 }));
    ctx.watch(other, () => {
      throw new Error("broken");
    });
    clock.setTimer(() => void system.stop(other), 5);
  },
  "a terminated callback rejects": (ctx, { system, clock }) => {
    const other = system.spawn(`other-${clock.monotonicTime()}`, Parent, () => ({ make: () => 1 }));
    ctx.watch(other, async () => {
      await undefined;
      throw new Error("broken");
    });
    clock.setTimer(() => void system.stop(other), 5);
  },
};

for (const [how, begin] of Object.entries(OWN_DOING)) {
  for (const directive of ["resume", "restart", "stop", "escalate"] as const) {
    test(`P9: ${directive}, when ${how}: it is logged, because nobody else is told`, async () => {
      const systems = createTestSystem({ supervision: {} });
      let isBegun = false;
      const { child, events } = family(systems, { decide: () => directive }, (ctx, name) => {
        if (name === "b" && !isBegun) {
          isBegun = true; // Once: the next instance is well.
          begin(ctx, systems);
        }
        return counting();
      });
      await child("b").ask("count");
      await systems.clock.advance(5);
      const [, expected] = EXPECTED["one-for-one"][directive];
      expect(outcomeOf(await child("b").ask("count"))).toBe(expected);
      const failures = events.filter(({ kind }) => kind === "failed");
      expect(failures[0]).toMatchObject({ address: "@(parent/b)", directive });
      const [first, ...more] = systems.takeLog();
      expect(first).toMatchObject({ level: "error", details: { address: "@(parent/b)" } });
      expect(more).toHaveLength(directive === "escalate" ? 1 : 0);
      await systems.system.shutdown();
    });
  }
}

test("P9: decide gets what was thrown and who threw it, and chooses by that", async () => {
  const systems = createTestSystem({ supervision: {} });
  const decided: unknown[] = [];
  const { child } = family(systems, {
    decide(error, ref) {
      decided.push([error, ref.address]);
      return error instanceof TypeError ? "resume" : "restart";
    },
  });
  await child("a").ask("count");
  const errors = [new TypeError("input"), new Error("state")];
  for (const error of errors) await child("a").ask("fail", error);
  expect(decided).toEqual(errors.map((error) => [error, address("parent/a")]));
  expect(Object.is((decided[1] as unknown[])[0], errors[1])).toBe(true);
  expect(outcomeOf(await child("a").ask("count"))).toBe(1);
  systems.takeLog();
});

for (const [what, decide, why] of [
  [
    "throws",
    (): never => {
      throw new RangeError("no idea");
    },
    "decide threw RangeError: no idea",
  ],
  ["returns nonsense", () => "explode", `decide returned "explode", which is no directive`],
  ["returns nothing", () => undefined, "decide returned undefined, which is no directive"],
  ["returns a promise", async () => "stop", "decide returned an object, which is no directive"],
  ["returns what cannot be shown", () => Object.create(null), "decide returned an object, which is no directive"],
  ["returns a symbol", () => Symbol("x"), "decide returned Symbol(x), which is no directive"],
] as const) {
  test(`P9: a decide that ${what} escalates, and the log says why`, async () => {
    const systems = createTestSystem({ supervision: {} });
    const { parent, child } = family(systems, { decide: decide as () => Directive });
    await child("a").ask("fail", new Error("broken"));
    expect(outcomeOf(await parent.ask("make"))).toBe(2);
    const [first, second, ...more] = systems.takeLog();
    expect(first?.message).toContain(`${why}, so the supervisor of @(parent) decides.`);
    expect(second?.message).toEndWith("; @(parent) restarts.");
    expect(more).toEqual([]);
  });
}

test("P10: by default a child restarts five times in ten seconds, and its sixth failure escalates", async () => {
  const systems = createTestSystem({ supervision: {} });
  const { parent, child } = family(systems, undefined);
  for (let i = 0; i < 5; i++) {
    await child("a").ask("fail", new Error("broken"));
    await systems.clock.advance(1_000);
  }
  expect(outcomeOf(await parent.ask("make"))).toBe(1);
  await child("b").ask("fail", new Error("broken")); // Counted per child.
  expect(outcomeOf(await parent.ask("make"))).toBe(1);
  await systems.clock.advance(4_999 - 1);
  systems.takeLog();
  await child("a").ask("fail", new Error("broken"));
  expect(outcomeOf(await parent.ask("make"))).toBe(2);
  expect(systems.takeLog().map(({ message }) => message)).toEqual([
    `envoi: "fail" to @(parent/a) failed in its handler: Error: broken; it has been restarted 5 times within 10000 ms, so the supervisor of @(parent) decides.`,
    `envoi: "fail" to @(parent/a) failed in its handler: Error: broken; @(parent) restarts.`,
  ]);
});

test("P10: the window of the limit slides: what is older than `within` is not counted", async () => {
  const systems = createTestSystem({ supervision: {} });
  const { parent, child } = family(systems, { limit: 2, within: 100 });
  const fail = (): Promise<unknown> => child("a").ask("fail", new Error("broken"));
  for (const step of [0, 60, 40, 60, 40, 60]) {
    await systems.clock.advance(step); // At 0, 60, 100, 160, 200, 260: never three within 100 ms.
    await fail();
    expect({ at: systems.clock.monotonicTime(), instance: outcomeOf(await parent.ask("make")) }).toEqual({
      at: systems.clock.monotonicTime(),
      instance: 1,
    });
  }
  await systems.clock.advance(39);
  await fail();
  expect(outcomeOf(await parent.ask("make"))).toBe(2);
  systems.takeLog();
});

test("P10: a limit of 0 escalates at once, one of Infinity never", async () => {
  const systems = createTestSystem({ supervision: {} });
  const none = family(systems, { limit: 0 });
  await none.child("a").ask("fail", new Error("broken"));
  expect(outcomeOf(await none.parent.ask("make"))).toBe(2);
  systems.takeLog();
  const other = createTestSystem({ supervision: {} });
  const endless = family(other, { limit: Number.POSITIVE_INFINITY });
  for (let i = 0; i < 100; i++) await endless.child("a").ask("fail", new Error("broken"));
  expect(outcomeOf(await endless.parent.ask("make"))).toBe(1);
  expect(other.takeLog()).toHaveLength(100);
});

test("P10: restarts that a sibling caused do not count against an actor's own limit", async () => {
  const systems = createTestSystem({ supervision: {} });
  const { parent, child } = family(systems, { strategy: "one-for-all", limit: 2 });
  await child("a").ask("fail", new Error("broken"));
  await child("b").ask("fail", new Error("broken"));
  await child("c").ask("fail", new Error("broken"));
  expect(outcomeOf(await parent.ask("make"))).toBe(1);
  systems.takeLog();
});

/** Actors one below the other, each of which hands on what its child failed with. */
function chain(systems: TestSystem, directives: Directive[]) {
  const refs: Ref<Work>[] = [];
  const spawnAt = (ctx: Context<Work> | null, depth: number): void => {
    const decide = directives[depth];
    const options = decide === undefined ? {} : { supervision: { decide: (): Directive => decide } };
    const factory = (own: Context<Work>) => {
      if (depth < directives.length) spawnAt(own, depth + 1);
      return counting();
    };
    refs[depth] =
      ctx === null ? systems.system.spawn("x", Work, factory, options) : ctx.spawn("x", Work, factory, options);
  };
  spawnAt(null, 0);
  return refs;
}

test("P9: what every supervisor escalates reaches the system: the tree stops, it is logged, and an event says so", async () => {
  const systems = createTestSystem({ supervision: { decide: () => "escalate" } });
  const events: SystemEvent[] = [];
  systems.system.events.subscribe((event) => events.push(event));
  const refs = chain(systems, ["escalate", "escalate", "escalate"]);
  const broken = new Error("broken");
  await (refs[3] as Ref<Work>).ask("fail", broken);
  await systems.clock.settle();
  for (const ref of refs) expect(systems.router.has(ref.address)).toBe(false);
  const failed = events.filter((event): event is FailedEvent => event.kind === "failed");
  expect(failed.map((event) => [event.address, event.isUnhandled, event.directive, event.error])).toEqual([
    [address("x/x/x/x"), false, "escalate", broken],
    [address("x/x/x"), false, "escalate", broken],
    [address("x/x"), false, "escalate", broken],
    [address("x"), true, "escalate", broken],
  ]);
  const stopped = events.filter(({ kind }) => kind === "stopped");
  expect(stopped.map((event) => [event.address, "error" in event && event.error])).toEqual([
    [address("x/x/x/x"), broken],
    [address("x/x/x"), broken],
    [address("x/x"), broken],
    [address("x"), broken],
  ]);
  const logged = systems.takeLog();
  expect(logged).toHaveLength(4);
  expect(logged.at(-1)?.message).toBe(
    `envoi: "fail" to @(x/x/x/x) failed in its handler: Error: broken; @(x) is stopped: no supervisor is left to decide.`,
  );
});

test("P9: an escalation ends where a supervisor decides: what is above goes on, what is below begins anew", async () => {
  for (const [directive, expected] of [
    ["restart", [2, 1, 1, 1]],
    ["resume", [2, 2, 2, 2]],
    ["stop", [2, "stopped", "stopped", "stopped"]],
  ] as const) {
    const systems = createTestSystem({ supervision: {} });
    const refs = chain(systems, [directive, "escalate", "escalate"]);
    for (const ref of refs) await ref.ask("count");
    await (refs[3] as Ref<Work>).ask("fail", new Error("broken"));
    await systems.clock.settle();
    expect({ directive, counts: (await Promise.all(refs.map((ref) => ref.ask("count")))).map(outcomeOf) }).toEqual({
      directive,
      counts: [...expected],
    });
    systems.takeLog();
  }
});

test("P9: a start that fails, escalates and finds its parent resumed ends: it never began", async () => {
  const systems = createTestSystem();
  let child: Ref<Work> | undefined;
  systems.system.spawn(
    "parent",
    Parent,
    (ctx) => {
      child = ctx.spawn("a", Work, () => ({
        ...counting(),
        onStart() {
          throw new Error("no start");
        },
      }));
      return { make: () => 1 };
    },
    { supervision: { decide: () => "escalate" } },
  );
  expect(outcomeOf(await (child as Ref<Work>).ask("count"))).toBe("stopped");
  expect(systems.takeLog()).toHaveLength(1);
});

test("P9: a handler that fails because its asker gave up is no failure of its actor", async () => {
  const systems = createTestSystem({ supervision: {} });
  const ref = systems.system.spawn("worker", Work, (ctx) => ({
    ...counting(),
    fail: () =>
      new Promise<void>((_, reject) => {
        const { signal } = ctx;
        signal.addEventListener("abort", () => reject(signal.reason));
      }),
  }));
  await ref.ask("count");
  const ask = ref.ask("fail", 1, { timeout: 10 });
  await systems.clock.advance(10);
  expect(outcomeOf(await ask)).toBe("timeout");
  expect(outcomeOf(await ref.ask("count"))).toBe(2);
  expect(systems.system.inspect()).toMatchObject([{ restarts: 0 }]);
});

test("P9: a handler of a router is never restarted; it goes on, or stops", async () => {
  const systems = createTestSystem({ supervision: {} });
  let calls = 0;
  const ref = systems.router.register(address("plumbing"), () => {
    calls++;
    throw new Error("broken");
  });
  for (let i = 0; i < 10; i++) await ref.ask("x" as never);
  expect(calls).toBe(10);
  expect(systems.system.inspect()).toMatchObject([{ restarts: 0, failed: 10 }]);
  ref.tell("x" as never);
  await systems.clock.settle();
  expect(systems.takeLog()).toHaveLength(1);
});

for (const strategy of ["one-for-one", "one-for-all", "rest-for-one"] as const) {
  test(`P9: ${strategy} at the root concerns actors, and of a router's handlers only the one that failed`, async () => {
    const systems = createTestSystem({ supervision: { strategy, decide: () => "stop" } });
    const { router, system } = systems;
    system.spawn("before", Work, () => counting());
    const failing = router.register(address("failing"), () => {
      throw new Error("broken");
    });
    router.register(address("other"), () => 1);
    system.spawn("after", Work, () => counting());
    await failing.ask("x" as never);
    await systems.clock.settle();
    const left = ["before", "failing", "other", "after"].filter((name) => router.has(address(name)));
    expect(left).toEqual(
      { "one-for-one": ["before", "other", "after"], "one-for-all": ["other"], "rest-for-one": ["before", "other"] }[
        strategy
      ],
    );
    systems.takeLog();
  });
}

test("P9: a factory that throws at spawn throws on, leaves no actor, and what it was told is dead", async () => {
  const systems = createTestSystem({ supervision: {} });
  const { system, router } = systems;
  const events: SystemEvent[] = [];
  system.events.subscribe((event) => events.push(event));
  let ask: Promise<AskResult> | undefined;
  expect(() =>
    system.spawn("worker", Work, (ctx) => {
      ctx.spawn("child", Work, () => counting());
      ctx.timers.fixedRate("t", 10, () => {});
      ask = ctx.self.ask("count");
      ctx.self.tell("fail", 1);
      throw new Error("no start");
    }),
  ).toThrow("no start");
  expect(router.has(address("worker"))).toBe(false);
  expect(router.has(address("worker/child"))).toBe(false);
  expect(outcomeOf(await (ask as Promise<AskResult>))).toBe("stopped");
  expect(reasonsOf(systems.deadLetters)).toEqual(["stopped", "stopped"]);
  expect(systems.takeLog()).toHaveLength(1); // The tell, as a dead letter.
  await systems.clock.settle();
  expect(events.filter(({ address }) => address === "@(worker)").map(({ kind }) => kind)).toEqual([
    "dead-letter",
    "dead-letter",
  ]);
  expect(outcomeOf(await system.spawn("worker", Work, () => counting()).ask("count"))).toBe(1);
});

test("P13: the children of a factory that throws at spawn stop as any do, with their onStop, before it is gone", async () => {
  const systems = createTestSystem({ supervision: {} });
  const { system, router, clock } = systems;
  const seen: string[] = [];
  const gate = Promise.withResolvers<void>();
  const spawnBroken = () =>
    system.spawn("parent", Work, (ctx) => {
      ctx.spawn("quick", Work, () => ({ ...counting(), onStop: () => void seen.push("quick") }));
      ctx.spawn("slow", Work, (child) => {
        child.spawn("below", Work, () => ({ ...counting(), onStop: () => void seen.push("below") }));
        return {
          ...counting(),
          async onStop() {
            await gate.promise;
            seen.push("slow");
          },
        };
      });
      ctx.spawn("unstarted", Work, () => ({ ...counting(), onStart() {}, onStop: () => void seen.push("unstarted") }));
      throw new Error("no start");
    });
  expect(spawnBroken).toThrow("no start");
  await clock.settle();
  expect(seen.sort()).toEqual(["below", "quick"]); // Of the one that had not started, no onStop is due (P10).
  expect(router.has(address("parent"))).toBe(true);
  expect(spawnBroken).toThrow("@(parent) is in use; stop that actor first and wait for it");
  gate.resolve();
  await clock.settle();
  expect(seen).toEqual(["below", "quick", "slow"]);
  expect(system.inspect()).toEqual([]);
});

test("P13: the children of a factory that throws at a restart stop as any do, with their onStop", async () => {
  const systems = createTestSystem({ supervision: {} });
  const { system, clock } = systems;
  const seen: string[] = [];
  let made = 0;
  const parent = system.spawn("parent", Work, (ctx) => {
    const instance = ++made;
    ctx.spawn("child", Work, () => ({ ...counting(), onStop: () => void seen.push(`child of ${instance}`) }));
    if (instance === 2) throw new Error("no restart");
    return counting();
  });
  parent.tell("fail", 1);
  await clock.settle();
  expect(seen).toEqual(["child of 1", "child of 2"]);
  await system.stop(parent);
  expect([made, seen]).toEqual([3, ["child of 1", "child of 2", "child of 3"]]);
  systems.takeLog();
});

for (const [directive, expected] of [
  ["resume", "stopped"],
  ["restart", 1],
  ["stop", "stopped"],
  ["escalate", "stopped"],
] as const) {
  test(`P9: a factory that throws on a restart is a failure too: ${directive}`, async () => {
    let instances = 0;
    const systems = createTestSystem({
      supervision: { decide: (error) => ((error as Error).message === "first" ? "restart" : directive) },
    });
    const ref = systems.system.spawn("worker", Work, () => {
      if (++instances === 2) throw new Error("no factory");
      return counting();
    });
    await ref.ask("fail", new Error("first"));
    expect(outcomeOf(await ref.ask("count"))).toBe(expected);
    expect(systems.router.has(ref.address)).toBe(directive === "restart");
    expect(systems.takeLog().map(({ message }) => message)[1]).toStartWith(
      "envoi: @(worker) could not be made anew: Error: no factory; it",
    );
  });
}

test("P9: a factory that throws on every restart ends its actor by the limit, where it is to stop beyond that", async () => {
  const systems = createTestSystem({ supervision: { beyondLimit: "stop" } });
  let instances = 0;
  const ref = systems.system.spawn("worker", Work, () => {
    if (++instances > 1) throw new Error("no factory");
    return counting();
  });
  const asks = [ref.ask("fail", new Error("first")), ref.ask("count")];
  expect((await Promise.all(asks)).map(outcomeOf)).toEqual(["handler-failed", "stopped"]);
  expect(instances).toBe(6);
  expect(systems.takeLog()).toHaveLength(6);
});

test("P5: a factory that throws for ever, without a limit, starves nobody and can be stopped", async () => {
  const entries: Parameters<typeof recordIn>[0] = [];
  const system = createSystem({ supervision: { limit: Number.POSITIVE_INFINITY }, logger: recordIn(entries) });
  let instances = 0;
  const ref = system.spawn("worker", Work, () => {
    if (++instances > 1) throw new Error("no factory");
    return counting();
  });
  const other = system.spawn("other", Work, () => counting());
  ref.tell("fail", new Error("first"));
  for (let i = 1; i <= 20; i++) {
    expect(outcomeOf(await other.ask("count"))).toBe(i);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(instances).toBeGreaterThan(2);
  const before = instances;
  await system.stop(ref);
  expect(system.router.has(ref.address)).toBe(false);
  await new Promise((resolve) => setImmediate(resolve));
  expect(instances - before).toBeLessThan(10_000);
  await system.shutdown();
  expectBalance(system.router.audit());
});

for (const how of ["ctx.stop()", "system.stop(ctx.self)"] as const) {
  test(`P9: a factory that is told to stop by ${how} and throws at a restart ends its actor, and its supervisor is not asked`, async () => {
    const systems = createTestSystem({ supervision: {} });
    let instances = 0;
    let decisions = 0;
    const decide = (): Directive => {
      decisions++;
      return "restart";
    };
    const { parent, child, events } = family(systems, { decide, limit: 1 }, (ctx, name) => {
      if (name === "b" && ++instances > 1) {
        if (how === "ctx.stop()") ctx.stop();
        else void systems.system.stop(ctx.self);
        throw new Error("no factory");
      }
      return counting();
    });
    const asks = [child("b").ask("fail", new Error("first")), child("b").ask("count")];
    expect((await Promise.all(asks)).map(outcomeOf)).toEqual(["handler-failed", "stopped"]);
    await systems.clock.settle();
    expect([decisions, instances, outcomeOf(await parent.ask("make"))]).toEqual([1, 2, 1]);
    expect(events.filter(({ kind }) => kind === "failed")).toMatchObject([
      { operation: "fail", directive: "restart" },
      { operation: "factory", directive: "stop" },
    ]);
    expect(systems.takeLog().map(({ message }) => message)[1]).toBe(
      "envoi: @(parent/b) could not be made anew: Error: no factory",
    );
  });
}

for (const concurrency of [1, 2]) {
  for (const directive of ["restart", "stop"] as const) {
    test(`P9: rest-for-one concerns the siblings behind one that decide itself stops: ${directive}, concurrency ${concurrency}`, async () => {
      const systems = createTestSystem({ supervision: {} });
      const refs: Ref<Work>[] = [];
      systems.system.spawn(
        "parent",
        Parent,
        (ctx) => {
          for (const name of ["a", "b", "c", "d"]) refs.push(ctx.spawn(name, Work, () => counting(), { concurrency }));
          return { make: () => 1 };
        },
        {
          supervision: {
            strategy: "rest-for-one",
            decide(_error, child) {
              void systems.system.stop(child);
              return directive;
            },
          },
        },
      );
      await Promise.all(refs.map((ref) => ref.ask("count")));
      await refs[1]?.ask("fail", new Error("broken"));
      await systems.clock.settle();
      const behind = directive === "restart" ? 1 : "stopped";
      const counts = await Promise.all(refs.map((ref) => ref.ask("count")));
      expect(counts.map(outcomeOf)).toEqual([2, "stopped", behind, behind]);
      expect(systems.takeLog().map(({ message }) => message)).toEqual([
        `envoi: "fail" to @(parent/b) failed in its handler: Error: broken; it is stopped${directive === "restart" ? " already, by decide" : ""}.`,
      ]);
    });
  }
}
