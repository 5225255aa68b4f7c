import { expect, test } from "bun:test";
import {
  type Context,
  defineProtocol,
  type RefTo,
  type SignaturesOf,
  type System,
  spawnPool,
  Type,
} from "../../src/index";
import { said } from "./said";
import { testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const Node = defineProtocol("node", {
  visit: { reply: Type.String() },
  other: { reply: Type.String() },
  items: { payload: Type.Number(), stream: Type.Number() },
});
type NodeRef = RefTo<typeof Node>;
type Visit = (ctx: Context<SignaturesOf<typeof Node>>) => unknown;

const FOR_EVER = { timeout: Number.POSITIVE_INFINITY };

function spawnNode(system: System, name: string, visit: Visit): NodeRef {
  return system.spawn(name, Node, (ctx) => ({
    visit: () => visit(ctx) as Promise<string>, // Each test returns a text, or a promise of one.
    other: () => `${name} answers`,
    *items(count) {
      for (let i = 0; i < count; i++) yield i;
    },
  }));
}

/** An actor that answers `visit` when the test lets it. */
function spawnGated(system: System, name: string): { ref: NodeRef; open: () => void } {
  const gate = Promise.withResolvers<string>();
  return { ref: spawnNode(system, name, () => gate.promise), open: () => gate.resolve(`${name} is open`) };
}

test("P8: a producer that waits for its reader is waiting: to ask it meanwhile is a circle", async () => {
  const { system, clock } = createTestSystem();
  const b = spawnNode(system, "b", () => "");
  const told: string[] = [];
  const a = spawnNode(system, "a", async (ctx) => {
    for await (const item of ctx.stream(b, "items", 40)) {
      if (item < 3) told.push(said(await ctx.ask(b, "other", FOR_EVER)));
    }
    return said(await ctx.ask(b, "other", FOR_EVER)); // It has ended.
  });
  const reply = a.ask("visit", FOR_EVER);
  await clock.settle(); // No time passes.
  expect(told).toEqual(new Array(3).fill("ask-cycle @(a) → @(b) → @(a)"));
  expect(said(await reply)).toBe("b answers");
});

test("P8: a producer that has credit left is not waiting: it answers once it has come to its end", async () => {
  const { system, clock } = createTestSystem();
  const b = spawnNode(system, "b", () => "");
  const told: string[] = [];
  const a = spawnNode(system, "a", async (ctx) => {
    for await (const _ of ctx.stream(b, "items", 10)) told.push(said(await ctx.ask(b, "other", FOR_EVER)));
    return "done";
  });
  const reply = a.ask("visit", FOR_EVER);
  await clock.settle();
  expect(said(await reply)).toBe("done");
  expect(told).toEqual(new Array(10).fill("b answers"));
});

test("P8: a circle by way of another actor, and of a producer that waits for its reader", async () => {
  const { system, clock } = createTestSystem();
  const b = spawnNode(system, "b", () => "");
  const c = spawnNode(system, "c", async (ctx) => said(await ctx.ask(b, "other", FOR_EVER)));
  const a = spawnNode(system, "a", async (ctx) => {
    for await (const _ of ctx.stream(b, "items", 40)) return said(await ctx.ask(c, "visit", FOR_EVER));
    return "nothing";
  });
  const reply = a.ask("visit", FOR_EVER);
  await clock.settle();
  expect(said(await reply)).toBe("ask-cycle @(c) → @(b) → @(a) → @(c)");
});

test("P8: a handler that waits for one of several waits for none of them in particular", async () => {
  const { system, clock } = createTestSystem();
  const gated = spawnGated(system, "gated");
  const first = Promise.withResolvers<void>();
  const told: string[] = [];
  const b: NodeRef = spawnNode(system, "b", async (ctx) => {
    await first.promise;
    told.push(said(await ctx.ask(a, "other", FOR_EVER)));
    return "b was visited";
  });
  const a: NodeRef = spawnNode(system, "a", async (ctx) => {
    const race = Promise.race([ctx.ask(b, "other", FOR_EVER), ctx.ask(gated.ref, "visit", FOR_EVER)]);
    first.resolve(); // b, which has a message of its own, asks back now.
    return said(await race);
  });
  const visited = b.ask("visit", FOR_EVER);
  await clock.settle();
  const reply = a.ask("visit", FOR_EVER);
  await clock.settle();
  expect(told).toEqual([]); // Not refused: the gate may open.
  gated.open();
  await clock.settle();
  expect([said(await reply), ...told, said(await visited)]).toEqual(["gated is open", "a answers", "b was visited"]);
});

test("P8: an ask that closes a circle is not refused where it is raced with one that does not", async () => {
  const { system, clock } = createTestSystem();
  const gated = spawnGated(system, "gated");
  const b: NodeRef = spawnNode(system, "b", async (ctx) => said(await ctx.ask(a, "visit", FOR_EVER)));
  const a: NodeRef = spawnNode(system, "a", async (ctx) => {
    const back = ctx.ask(b, "other", FOR_EVER); // b waits for this very handler.
    return said(await Promise.race([back, ctx.ask(gated.ref, "visit", FOR_EVER)]));
  });
  const reply = b.ask("visit", FOR_EVER);
  await clock.settle();
  gated.open();
  await clock.settle();
  expect(said(await reply)).toBe("gated is open");
});

test("P8: where all of several are awaited, those that wait for their asker are refused once the others have ended", async () => {
  const { system, clock } = createTestSystem();
  const gated = spawnGated(system, "gated");
  const b: NodeRef = spawnNode(system, "b", async (ctx) => said(await ctx.ask(a, "visit", FOR_EVER)));
  const a: NodeRef = spawnNode(system, "a", async (ctx) => {
    const asked = [ctx.ask(b, "other", FOR_EVER), ctx.ask(gated.ref, "visit", FOR_EVER)];
    return (await Promise.all(asked)).map(said).join(", ");
  });
  const reply = b.ask("visit", FOR_EVER);
  await clock.settle();
  gated.open();
  await clock.settle();
  expect(said(await reply)).toBe("ask-cycle @(a) → @(b) → @(a), gated is open");
});

test("P8: a handler that waits for itself in several ways is told of each", async () => {
  const { system, clock } = createTestSystem();
  const a: NodeRef = spawnNode(system, "a", async (ctx) => {
    const asked = [1, 2, 3].map(() => ctx.ask(ctx.self, "other", FOR_EVER));
    return (await Promise.all(asked)).map(said).join(", ");
  });
  const reply = a.ask("visit", FOR_EVER);
  await clock.settle();
  expect(said(await reply)).toBe(new Array(3).fill("ask-cycle @(a) → @(a)").join(", "));
});

test("P8: when the first worker of a pool fails, the other one, which waits for the asker, closes a circle", async () => {
  const { system, clock, takeLog } = createTestSystem();
  const gate = Promise.withResolvers<void>();
  let workers = 0;
  const a: NodeRef = spawnNode(system, "a", async (ctx) => said(await ctx.ask(pool, "visit", FOR_EVER)));
  const pool = spawnPool(
    system,
    "pool",
    Node,
    (ctx) => {
      const isFirst = workers++ === 0;
      return {
        async visit() {
          if (!isFirst) return said(await ctx.ask(a, "other", FOR_EVER));
          await gate.promise;
          throw new Error("it fails");
        },
        other: () => "",
        *items() {},
      };
    },
    { size: 2, routing: "first-answer" },
  );
  const reply = a.ask("visit", FOR_EVER);
  await clock.settle();
  gate.resolve();
  await clock.settle();
  expect(said(await reply)).toBe("ask-cycle @(pool/2) → @(a) → @(pool/2)");
  takeLog();
});

test("P8: a handler that is in several circles at once is freed of all of them", async () => {
  const { system, clock } = createTestSystem();
  const gated = spawnGated(system, "gated");
  const told: string[] = [];
  const a: NodeRef = spawnNode(system, "a", async (ctx) => {
    const asked = [ctx.ask(gated.ref, "visit", FOR_EVER), ctx.ask(pool, "visit", FOR_EVER)];
    return (await Promise.all(asked)).map(said).join(", ");
  });
  const pool = spawnPool(
    system,
    "pool",
    Node,
    (ctx) => ({
      async visit() {
        told.push(said(await ctx.ask(a, "other", FOR_EVER)));
        return "all have answered";
      },
      other: () => "",
      *items() {},
    }),
    { size: 3, routing: "broadcast" },
  );
  const reply = a.ask("visit", FOR_EVER);
  await clock.settle();
  expect(told).toEqual([]);
  gated.open();
  await clock.settle();
  expect(told.sort()).toEqual([1, 2, 3].map((i) => `ask-cycle @(pool/${i}) → @(a) → @(pool/${i})`));
  expect(said(await reply)).toBe("gated is open, all have answered");
});
