import { expect, test } from "bun:test";
import {
  type AnyRef,
  type Context,
  defineProtocol,
  type RefTo,
  type SignaturesOf,
  spawnPool,
  Type,
} from "../../src/index";
import { createBehaviourKit } from "../../src/testing/index";
import { said } from "./said";
import { testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const Node = defineProtocol("node", { run: { reply: Type.String() }, other: { reply: Type.String() }, go: {} });
type NodeRef = RefTo<typeof Node>;
type NodeContext = Context<SignaturesOf<typeof Node>>;
type Code = (ctx: NodeContext) => unknown;

const FOR_EVER = { timeout: Number.POSITIVE_INFINITY };

/** Handlers that do what the test says. */
const node = (code: { run?: Code; go?: Code; make?: Code; onStop?: Code }) => (ctx: NodeContext) => {
  code.make?.(ctx);
  return {
    run: async () => String(await code.run?.(ctx)),
    other: () => `${ctx.self} answers`,
    go: () => code.go?.(ctx),
    ...(code.onStop && { onStop: () => code.onStop?.(ctx) }),
  };
};

/** A parent that runs what the test says, and its child. */
function family(run: (ctx: NodeContext, child: NodeRef) => unknown, ofChild: Parameters<typeof node>[0]) {
  const test = createTestSystem();
  let child!: NodeRef; // By the factory of its parent.
  const parent = test.system.spawn(
    "parent",
    Node,
    node({
      make: (ctx) => {
        child = ctx.spawn("child", Node, node(ofChild));
      },
      run: (ctx) => run(ctx, child),
    }),
  );
  return { ...test, parent, child };
}

test("P13: an awaited stop goes on once the child, its hook and all below it have ended", async () => {
  const gate = Promise.withResolvers<void>();
  const ended: string[] = [];
  const below = { onStop: () => void ended.push("grandchild") };
  const { parent, clock } = family(
    async (ctx, child) => {
      await ctx.stop(child);
      ended.push("awaited");
      return ctx.children.length;
    },
    {
      make: (ctx) => ctx.spawn("below", Node, node(below)),
      onStop: async () => {
        await gate.promise;
        ended.push("child");
      },
    },
  );
  const reply = parent.ask("run");
  await clock.settle();
  expect(ended).toEqual(["grandchild"]);
  gate.resolve();
  expect(said(await reply)).toBe("0");
  expect(ended).toEqual(["grandchild", "child", "awaited"]);
});

test("P13: the stop of a child that has stopped is over at once, however often it is awaited", async () => {
  const { parent } = family(async (ctx, child) => {
    const stops = [ctx.stop(child), ctx.stop(child)];
    await Promise.all([...stops, ...stops]);
    await ctx.stop(child);
    return "done";
  }, {});
  expect(said(await parent.ask("run"))).toBe("done");
});

test("P13: the stop of an actor itself gives nothing that it could await", async () => {
  const { parent, clock } = family((ctx) => `${ctx.stop()} ${ctx.stop(ctx.self)}`, {});
  const reply = parent.ask("run");
  await clock.settle();
  expect(said(await reply)).toBe("undefined undefined");
});

test("P13: the wait ends as well when the child is abandoned", async () => {
  const told: string[] = [];
  const { parent, child, system, clock, takeLog } = family(
    async (ctx, it) => {
      await ctx.stop(it);
      told.push("over");
    },
    { go: () => new Promise(() => undefined) },
  );
  child.tell("go");
  const reply = parent.ask("run", FOR_EVER);
  await clock.settle();
  const report = system.shutdown({ timeout: 10 });
  await clock.advance(10);
  expect((await report).unfinished).toHaveLength(2);
  await clock.settle();
  expect([said(await reply), ...told]).toEqual(["stopped", "over"]);
  takeLog();
});

test("P8: a child that asks the parent that awaits its stop is refused, and the stop goes on", async () => {
  const gate = Promise.withResolvers<void>();
  const heard: string[] = [];
  const { parent, child, clock } = family(
    async (ctx, it) => {
      await ctx.stop(it);
      return "stopped it";
    },
    {
      go: async (ctx) => {
        await gate.promise;
        heard.push(said(await ctx.ask(parent, "other", FOR_EVER)));
      },
    },
  );
  child.tell("go");
  await clock.settle();
  const reply = parent.ask("run", FOR_EVER);
  await clock.settle();
  gate.resolve();
  await clock.settle(); // No time passes.
  expect(heard).toEqual(["ask-cycle @(parent/child) → @(parent) → @(parent/child)"]);
  expect(said(await reply)).toBe("stopped it");
});

test("P8: an ask of the child that waits for the parent already is refused once the parent awaits the stop", async () => {
  const gate = Promise.withResolvers<void>();
  const heard: string[] = [];
  const { parent, child, clock } = family(
    async (ctx, it) => {
      await gate.promise;
      await ctx.stop(it);
      return "stopped it";
    },
    {
      go: async (ctx) => void heard.push(said(await ctx.ask(parent, "other", FOR_EVER))),
    },
  );
  const reply = parent.ask("run", FOR_EVER);
  await clock.settle();
  child.tell("go");
  await clock.settle();
  expect(heard).toEqual([]);
  gate.resolve();
  await clock.settle();
  expect(heard).toEqual(["ask-cycle @(parent/child) → @(parent) → @(parent/child)"]);
  expect(said(await reply)).toBe("stopped it");
});

test("P8: a child that asks its parent to stop it, and awaits the reply, is refused", async () => {
  const heard: string[] = [];
  const { parent, child, clock, takeLog } = family(
    async (ctx, it) => {
      await ctx.stop(it);
      heard.push("stopped it");
      return "";
    },
    { go: async (ctx) => void heard.push(said(await ctx.ask(parent, "run", FOR_EVER))) },
  );
  child.tell("go");
  await clock.settle(); // No time passes.
  expect(heard).toEqual(["ask-cycle @(parent/child) → @(parent) → @(parent/child)", "stopped it"]);
  takeLog(); // Its reply was late.
});

for (const where of ["child", "grandchild"] as const) {
  test(`P8: the onStop of a ${where} that asks the actor that awaits its stop is refused`, async () => {
    const heard: string[] = [];
    const asks = {
      onStop: async (ctx: NodeContext) => void heard.push(said(await ctx.ask(parent, "other", FOR_EVER))),
    };
    const { parent, clock } = family(
      async (ctx, it) => {
        await ctx.stop(it);
        return "stopped it";
      },
      where === "child" ? asks : { make: (ctx) => ctx.spawn("below", Node, node(asks)) },
    );
    const reply = parent.ask("run", FOR_EVER);
    await clock.settle();
    expect(heard).toEqual([expect.stringMatching(/^ask-cycle/)]);
    expect(said(await reply)).toBe("stopped it");
  });
}

test("P8: it is refused as well when the sender of the handler that awaits the stop has given up", async () => {
  const gate = Promise.withResolvers<void>();
  const heard: string[] = [];
  const { parent, child, clock, takeLog } = family(
    async (ctx, it) => {
      await ctx.stop(it);
      heard.push("stopped it");
    },
    {
      go: async (ctx) => {
        await gate.promise;
        heard.push(said(await ctx.ask(parent, "other", FOR_EVER)));
      },
    },
  );
  child.tell("go");
  const reply = parent.ask("run", { timeout: 10 });
  await clock.advance(10);
  expect(said(await reply)).toBe("timeout");
  gate.resolve();
  await clock.settle();
  expect(heard).toEqual([expect.stringMatching(/^ask-cycle/), "stopped it"]);
  takeLog(); // Its reply was late.
});

test("P8: it is refused as well when the parent handles several at once, and all of these await the stop", async () => {
  const { system, clock } = createTestSystem();
  const gate = Promise.withResolvers<void>();
  const heard: string[] = [];
  const go: Code = async (ctx) => {
    await gate.promise;
    heard.push(said(await ctx.ask(parent, "other", FOR_EVER)));
  };
  let child!: NodeRef; // By the factory of its parent.
  const parent: NodeRef = system.spawn(
    "parent",
    Node,
    node({
      make: (ctx) => {
        child = ctx.spawn("child", Node, node({ go }));
      },
      run: async (ctx) => {
        await ctx.stop(child);
        return "stopped it";
      },
    }),
    { concurrency: 2 },
  );
  child.tell("go");
  const replies = [parent.ask("run", FOR_EVER), parent.ask("run", FOR_EVER)];
  await clock.settle();
  gate.resolve();
  await clock.settle();
  expect(heard).toEqual([expect.stringMatching(/^ask-cycle/)]);
  expect((await Promise.all(replies)).map(said)).toEqual(["stopped it", "stopped it"]);
});

test("P8: a stop that is not awaited is no wait: the parent answers the child that it stops", async () => {
  const gate = Promise.withResolvers<void>();
  const heard: string[] = [];
  const { parent, child, clock } = family(
    async (ctx, it) => {
      ctx.stop(it);
      await gate.promise;
      return "done";
    },
    { go: async (ctx) => void heard.push(said(await ctx.ask(parent, "other", FOR_EVER))) },
  );
  child.tell("go");
  const reply = parent.ask("run", FOR_EVER);
  await clock.settle();
  gate.resolve();
  expect(said(await reply)).toBe("done");
  await clock.settle();
  expect(heard).toEqual(["@(parent) answers"]);
});

test("P8: what is no circle is not refused: a child may ask another actor, or race its ask, while its stop is awaited", async () => {
  const gate = Promise.withResolvers<string>();
  const heard: string[] = [];
  const { parent, child, system, clock } = family(
    async (ctx, it) => {
      await ctx.stop(it);
      return "stopped it";
    },
    {
      go: async (ctx) => {
        heard.push(said(await ctx.ask(gated, "other", FOR_EVER)));
        const race = Promise.race([ctx.ask(parent, "other", FOR_EVER), ctx.ask(gated, "run", FOR_EVER)]);
        heard.push(said(await race));
      },
    },
  );
  const gated = system.spawn("gated", Node, node({ run: () => gate.promise }));
  child.tell("go");
  const reply = parent.ask("run", FOR_EVER);
  await clock.settle();
  expect(heard).toEqual(["@(gated) answers"]);
  gate.resolve("it is open");
  expect(said(await reply)).toBe("stopped it");
  expect(heard).toEqual(["@(gated) answers", "it is open"]);
});

test("P8: the stop of a pool is awaited as that of an actor, also when a worker asks back", async () => {
  const heard: string[] = [];
  const { system, clock } = createTestSystem();
  const parent: NodeRef = system.spawn(
    "parent",
    Node,
    node({
      run: async (ctx) => {
        const onStop = async (of: NodeContext) => void heard.push(said(await of.ask(parent, "other", FOR_EVER)));
        const pool = spawnPool(ctx, "pool", Node, node({ onStop }), { size: 2 });
        await pool.ask("other");
        await ctx.stop(pool);
        return "stopped it";
      },
    }),
  );
  const reply = parent.ask("run", FOR_EVER);
  await clock.settle();
  expect(heard).toHaveLength(2);
  for (const each of heard) expect(each).toMatch(/^ask-cycle/);
  expect(said(await reply)).toBe("stopped it");
});

test("ctx.children: the references of those that have not stopped, in the order of their spawning", async () => {
  const { parent, child } = family(async (ctx, it) => {
    const before = ctx.children;
    const second = ctx.spawn("second", Node, node({}));
    expect(before.map(String)).toEqual([String(it)]);
    expect(ctx.children.map(String)).toEqual([it, second].map(String));
    expect(ctx.children[0] as AnyRef).toBe(it);
    await ctx.stop(it);
    return ctx.children.map(String).join(" ");
  }, {});
  expect(String(child)).toBe("@(parent/child)");
  expect(said(await parent.ask("run"))).toBe("@(parent/second)");
  expect(said(await parent.ask("other"))).toBe("@(parent) answers");
});

test("a kit has the children that its actor spawned, and their stops can be awaited", async () => {
  const kit = createBehaviourKit(Node, (ctx) => ({
    async run() {
      const child = ctx.spawn("child", Node, node({}));
      expect(ctx.children.map(String)).toEqual([String(child)]);
      await ctx.stop(child);
      return `${ctx.children.length} ${ctx.stop()}`;
    },
    other: () => "",
    go() {},
  }));
  expect(await kit.run("run").reply).toBe("0 undefined");
});
