import { describe, expect, test } from "bun:test";
import {
  type ActorOptions,
  type Clock,
  type Context,
  createSystem,
  defineProtocol,
  type RefTo,
  type SignaturesOf,
  spawnPool,
  Type,
} from "../../src/index";
import { createManualClock } from "../../src/testing/index";
import { said } from "./said";
import { expectBalance, reasonsOf, testSystems } from "./test-system";

// A restart waits for the handlers that run, and for the children to stop. Nobody of these may wait for the next instance.

const { createTestSystem } = testSystems();

const Node = defineProtocol("node", {
  visit: { reply: Type.String() },
  other: { reply: Type.String() },
  fail: {},
});
type NodeRef = RefTo<typeof Node>;
type NodeContext = Context<SignaturesOf<typeof Node>>;

const OPTIONS = { askTimeout: Number.POSITIVE_INFINITY, hookTimeout: Number.POSITIVE_INFINITY, supervision: {} };

interface Parts {
  /** Runs in the factory of each instance. */
  readonly make?: (ctx: NodeContext) => void;
  readonly visit?: (ctx: NodeContext) => Promise<string> | string;
  readonly fail?: () => Promise<void>;
  readonly onStop?: (ctx: NodeContext) => Promise<void>;
}

/** What a node does; "other" tells which instance answers, and "fail" restarts it. */
function node({ make, visit, fail, onStop }: Parts = {}): (ctx: NodeContext) => {
  visit(): Promise<string> | string;
  other(): string;
  fail(): Promise<void>;
  onStop?(): Promise<void>;
} {
  let instances = 0;
  return (ctx) => {
    const instance = ++instances;
    make?.(ctx);
    return {
      visit: () => visit?.(ctx) ?? "",
      other: () => `instance ${instance}`,
      async fail() {
        await fail?.();
        throw new Error("broken");
      },
      ...(onStop && { onStop: () => onStop(ctx) }),
    };
  };
}

/** A test's world: nodes at the top, and what they heard. */
function createWorld(options = {}) {
  const test = createTestSystem({ ...OPTIONS, ...options });
  const told: string[] = [];
  return {
    ...test,
    told,
    spawn: (name: string, parts: Parts = {}, options: ActorOptions = {}): NodeRef =>
      test.system.spawn(name, Node, node(parts), options),
    /** A handler that asks, and keeps what it heard. */
    asks: (to: () => NodeRef, before?: Promise<void>) => async (ctx: NodeContext) => {
      await before;
      const answer = said(await ctx.ask(to(), "other"));
      told.push(answer);
      return answer;
    },
  };
}

describe("P8: a circle through a restart is refused at once, with its path:", () => {
  for (const when of ["before", "after"] as const) {
    test(`a child asks its parent ${when} that fails`, async () => {
      const { clock, told, spawn, asks, deadLetters, router, takeLog } = createWorld();
      const gate = Promise.withResolvers<void>();
      const failing = Promise.withResolvers<void>();
      const make = (ctx: NodeContext): void => {
        child = ctx.spawn("child", Node, node({ visit: asks(() => parent, gate.promise) }));
      };
      let child!: NodeRef; // By the factory of its parent.
      const parent = spawn("parent", { make, fail: () => failing.promise });
      child.tell("visit");
      parent.tell("fail");
      await clock.settle();
      for (const { resolve } of when === "before" ? [gate, failing] : [failing, gate]) {
        resolve();
        await clock.settle(); // No time passes.
      }
      expect(told).toEqual(["ask-cycle @(parent/child) → @(parent) → @(parent/child)"]);
      expect(reasonsOf(deadLetters)).toEqual(["ask-cycle"]);
      expect(said(await parent.ask("other"))).toBe("instance 2");
      expectBalance(router.audit());
      takeLog();
    });

    test(`a handler beside the one that fails asks its own actor ${when} that`, async () => {
      const { clock, told, spawn, asks, takeLog } = createWorld();
      const gate = Promise.withResolvers<void>();
      const failing = Promise.withResolvers<void>();
      const self: NodeRef = spawn(
        "self",
        { visit: asks(() => self, gate.promise), fail: () => failing.promise },
        { concurrency: 3 },
      );
      const full = [self.ask("visit"), self.ask("visit")];
      self.tell("fail");
      await clock.settle();
      for (const { resolve } of when === "before" ? [gate, failing] : [failing, gate]) {
        resolve();
        await clock.settle();
      }
      await Promise.all(full);
      expect(told).toEqual(new Array(2).fill("ask-cycle @(self) → @(self)"));
      expect(said(await self.ask("other"))).toBe("instance 2");
      takeLog();
    });
  }

  test("a grandchild asks the actor whose end its parent's parent waits for", async () => {
    const { clock, told, spawn, asks, takeLog } = createWorld();
    const gate = Promise.withResolvers<void>();
    let grandchild!: NodeRef; // By the factory of its parent.
    const top = spawn("top", {
      make: (ctx) =>
        void ctx.spawn(
          "middle",
          Node,
          node({
            make: (of) => {
              grandchild = of.spawn("leaf", Node, node({ visit: asks(() => top, gate.promise) }));
            },
          }),
        ),
    });
    grandchild.tell("visit");
    top.tell("fail");
    await clock.settle();
    gate.resolve();
    await clock.settle();
    expect(told).toEqual(["ask-cycle @(top/middle/leaf) → @(top) → @(top/middle) → @(top/middle/leaf)"]);
    expect(said(await top.ask("other"))).toBe("instance 2");
    takeLog();
  });

  test("a grandchild asks an actor that begins to restart when its parent restarts already", async () => {
    const { clock, told, spawn, asks, takeLog } = createWorld();
    const failing = Promise.withResolvers<void>();
    let middle!: NodeRef; // By the factory of its parent, as the grandchild.
    let grandchild!: NodeRef;
    const top = spawn("top", {
      make: (ctx) => {
        const make = (of: NodeContext): void => {
          grandchild = of.spawn("leaf", Node, node({ visit: asks(() => top) }));
        };
        middle = ctx.spawn("middle", Node, node({ make }));
      },
      fail: () => failing.promise,
    });
    top.tell("fail");
    grandchild.tell("visit");
    middle.tell("fail");
    await clock.settle();
    expect(told).toEqual([]); // The top may still answer, as far as is known.
    failing.resolve();
    await clock.settle();
    expect(told).toEqual(["ask-cycle @(top/middle/leaf) → @(top) → @(top/middle) → @(top/middle/leaf)"]);
    expect(said(await top.ask("other"))).toBe("instance 2");
    takeLog();
  });

  test("by way of another actor, from a child", async () => {
    const { clock, told, spawn, asks, takeLog } = createWorld();
    const gate = Promise.withResolvers<void>();
    let child!: NodeRef; // By the factory of its parent.
    const outside: NodeRef = spawn("outside", { visit: asks(() => parent, gate.promise) });
    const parent = spawn("parent", {
      make: (ctx) => {
        const visit = async (of: NodeContext): Promise<string> => said(await of.ask(outside, "visit"));
        child = ctx.spawn("child", Node, node({ visit }));
      },
    });
    const visited = child.ask("visit");
    parent.tell("fail");
    await clock.settle();
    gate.resolve();
    await clock.settle();
    expect(told).toEqual(["ask-cycle @(outside) → @(parent) → @(parent/child) → @(outside)"]);
    expect(said(await visited)).toBe(told[0] as string); // The one that there is.
    takeLog();
  });

  test("the onStop of a child asks its parent", async () => {
    const { clock, told, spawn, asks, takeLog } = createWorld();
    const parent: NodeRef = spawn("parent", {
      make: (ctx) => void ctx.spawn("child", Node, node({ onStop: async (of) => void (await asks(() => parent)(of)) })),
    });
    parent.tell("fail");
    await clock.settle();
    expect(told).toEqual(["ask-cycle @(parent/child) → @(parent) → @(parent/child)"]);
    expect(said(await parent.ask("other"))).toBe("instance 2");
    takeLog();
  });

  test("two that restart together ask each other", async () => {
    const { clock, told, spawn, asks, takeLog } = createWorld({ supervision: { strategy: "one-for-all" } });
    const gate = Promise.withResolvers<void>();
    const left: NodeRef = spawn("left", { visit: asks(() => right, gate.promise) }, { concurrency: 2 });
    const right: NodeRef = spawn("right", { visit: asks(() => left, gate.promise) }, { concurrency: 2 });
    left.tell("visit");
    right.tell("visit");
    await clock.settle();
    left.tell("fail");
    await clock.settle();
    gate.resolve();
    await clock.settle();
    // One is refused; the other one is answered by the next instance of who was.
    expect(told.toSorted()).toEqual(["ask-cycle @(right) → @(left) → @(right)", "instance 2"]);
    takeLog();
  });

  test("a worker asks its pool", async () => {
    const { system, clock, told, asks, takeLog } = createWorld();
    const gate = Promise.withResolvers<void>();
    const pool: NodeRef = spawnPool(system, "pool", Node, node({ visit: asks(() => pool, gate.promise) }), {
      size: 2,
      supervision: { limit: 0 },
    });
    pool.tell("visit");
    pool.tell("fail");
    await clock.settle();
    gate.resolve();
    await clock.settle();
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(/^ask-cycle @\(pool\/\d\) → @\(pool\) → @\(pool\/\d\)$/);
    expect(said(await pool.ask("other"))).toMatch(/^instance/);
    takeLog();
  });
});

describe("P8: no circle, though it restarts:", () => {
  test("a child that waits for something else as well, which may be enough", async () => {
    const { clock, spawn, deadLetters, takeLog } = createWorld();
    const open = Promise.withResolvers<string>();
    const answers: string[] = [];
    const gated = spawn("gated", { visit: () => open.promise });
    let child!: NodeRef; // By the factory of its parent.
    const parent = spawn("parent", {
      make: (ctx) => {
        const visit = async (of: NodeContext): Promise<string> => {
          const first = await Promise.race([of.ask(parent, "other"), of.ask(gated, "visit")]);
          answers.push(said(first));
          return "";
        };
        child = ctx.spawn("child", Node, node({ visit }));
      },
      fail: () => clock.settle(),
    });
    child.tell("visit");
    parent.tell("fail");
    await clock.settle();
    expect(deadLetters).toEqual([]);
    open.resolve("open");
    await clock.settle();
    expect(answers).toEqual(["open"]);
    expect(said(await parent.ask("other"))).toBe("instance 2");
    takeLog();
  });

  for (const isBusy of [false, true]) {
    const which = isBusy ? "whose parent waits for its own handlers first" : "of a parent that fails";
    test(`a child that goes on once it is told of its stop, ${which}`, async () => {
      const { clock, spawn, deadLetters, takeLog } = createWorld();
      const open = Promise.withResolvers<string>();
      const answers: string[] = [];
      let child!: NodeRef; // By the factory of its parent.
      const parent = spawn(
        "parent",
        {
          make: (ctx) => {
            const visit = async (of: NodeContext): Promise<string> => {
              const isStopped = new Promise<string>((resolve) => void of.onAbort(() => resolve("stopped")));
              answers.push(await Promise.race([of.ask(parent, "visit").then(said), isStopped]));
              return "";
            };
            child = ctx.spawn("child", Node, node({ visit }));
          },
          visit: () => open.promise,
        },
        { concurrency: isBusy ? 3 : 1 },
      );
      if (isBusy) parent.tell("visit");
      parent.tell("fail");
      child.tell("visit");
      await clock.settle();
      expect(answers).toEqual(isBusy ? [] : ["stopped"]);
      open.resolve("open");
      await clock.settle();
      expect(answers).toEqual(["stopped"]);
      expect(deadLetters.filter(({ reason }) => reason === "ask-cycle")).toEqual([]);
      takeLog();
    });
  }

  test("an actor that is not waited for asks one that restarts, and hears from its next instance", async () => {
    const { clock, told, spawn, asks, takeLog } = createWorld({ supervision: { backoff: { initial: 50, jitter: 0 } } });
    const open = Promise.withResolvers<string>();
    let child!: NodeRef; // By the factory of its parent.
    const outside: NodeRef = spawn("outside", { visit: asks(() => parent) });
    const parent = spawn("parent", {
      make: (ctx) => {
        child = ctx.spawn("child", Node, node({ visit: () => open.promise }));
      },
    });
    child.tell("visit");
    parent.tell("fail");
    await clock.settle();
    outside.tell("visit");
    await clock.settle();
    expect(told).toEqual([]); // It waits for the child, then for its backoff.
    open.resolve("open");
    await clock.settle();
    outside.tell("visit");
    await clock.advance(60);
    expect(told).toEqual(["instance 2", "instance 2"]);
    takeLog();
  });
});

test("P5: to look for circles is spent from the turn, of however many children that wait for who restarts", async () => {
  let now = 0;
  const clock: Clock = {
    ...createManualClock(),
    monotonicTime: () => {
      now += 0.01; // A turn is over after the same number of looks on any machine.
      return now;
    },
    macrotask: (callback) => void setImmediate(callback),
  };
  const children = 3_000;
  let refused = 0;
  const system = createSystem({ ...OPTIONS, clock, logger: { warn() {}, error() {} } });
  const failing = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const isOver = Promise.withResolvers<void>();
  let asking = 0;
  const first: NodeRef[] = [];
  const visit = async (ctx: NodeContext): Promise<string> => {
    const answer = ctx.ask(parent, "other");
    if (++asking === children) asked.resolve();
    if (said(await answer).startsWith("ask-cycle") && ++refused === children) isOver.resolve();
    return "";
  };
  const parent: NodeRef = system.spawn(
    "parent",
    Node,
    node({
      make: (ctx) => {
        if (first.length > 0) return;
        for (let i = 0; i < children; i++) first.push(ctx.spawn(`n${i}`, Node, node({ visit })));
      },
      fail: () => failing.promise,
    }),
  );
  parent.tell("fail");
  for (const child of first) child.tell("visit");
  await asked.promise;
  failing.resolve();
  while (refused === 0) await new Promise((resolve) => setImmediate(resolve));
  expect(refused).toBeLessThan(children); // The event loop has had its turn meanwhile.
  await isOver.promise;
  expect(said(await parent.ask("other"))).toBe("instance 2");
  await system.shutdown();
});
