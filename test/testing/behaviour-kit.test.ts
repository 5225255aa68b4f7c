import { describe, expect, test } from "bun:test";
import { address, type Context, type Factory } from "../../src/index";
import { createBehaviourKit, createTestSystem } from "../../src/testing/index";
import { Counter, type Counting, counting } from "./counter";

describe("a run", () => {
  test("is over at once where the handler is synchronous", () => {
    const kit = createBehaviourKit(Counter, counting());
    expect(kit.run("add", 2)).toEqual({ reply: undefined, effects: [] });
    kit.run("add", 3);
    expect(kit.run("total").reply).toBe(5);
    expect(kit.run("ticks", 2).reply).toEqual([6, 7]);
  });

  test("gives the promise of the reply where the handler is not, and no other run begins before (P3)", async () => {
    const kit = createBehaviourKit(Counter, counting());
    const run = kit.run("later", 2);
    expect(() => kit.run("total")).toThrow(`@(counter) still handles 'later'; await its reply before 'total' (P3).`);
    expect(() => kit.runHook("onStop")).toThrow("P3");
    expect(await run.reply).toBe(2);
    expect(kit.run("total").reply).toBe(2);
  });

  test("throws what the handler throws, and the actor goes on", async () => {
    const kit = createBehaviourKit(
      Counter,
      counting((ctx) => ({
        async later(n) {
          ctx.self.tell("add", n);
          await null;
          throw new Error("too late");
        },
      })),
    );
    kit.run("add", 1);
    expect(() => kit.run("add", -1)).toThrow("cannot add -1");
    const run = kit.run("later", 1);
    await expect(run.reply).rejects.toThrow("too late");
    expect(run.effects).toEqual([{ kind: "told", to: address("counter"), operation: "add", payload: 1 }]);
    expect(kit.run("total").reply).toBe(1);
  });

  test("gives no reply of an operation that has none, whatever its handler returns", async () => {
    const kit = createBehaviourKit(
      Counter,
      counting(() => ({ add: () => 7 })),
    );
    expect(kit.run("add", 1).reply).toBeUndefined();
    const later = createBehaviourKit(
      Counter,
      counting(() => ({ add: async () => 7 })),
    );
    expect(await later.run("add", 1).reply).toBeUndefined();
  });

  test("P12: reads a stream to its end, or as far as it is told, and ends the producer then", async () => {
    const ended: string[] = [];
    const endless = counting(() => ({
      *ticks() {
        try {
          for (let i = 0; ; i++) yield i;
        } finally {
          ended.push("sync");
        }
      },
    }));
    const endlessAsync = counting(() => ({
      async *ticks() {
        try {
          for (let i = 0; ; i++) yield i;
        } finally {
          ended.push("async");
        }
      },
    }));
    expect(createBehaviourKit(Counter, endless).run("ticks", 1, { take: 3 }).reply).toEqual([0, 1, 2]);
    const kit = createBehaviourKit(Counter, endlessAsync);
    expect(await kit.run("ticks", 1, { take: 2 }).reply).toEqual([0, 1]);
    expect(await kit.run("ticks", 1, { take: 0 }).reply).toEqual([]);
    expect(ended).toEqual(["sync", "async"]);
  });

  test("has its message, its sender and its signal in the context, and only then", async () => {
    const seen: unknown[] = [];
    let context: Context<Counting> | null = null;
    const kit = createBehaviourKit(
      Counter,
      counting((ctx) => {
        context = ctx;
        return {
          async later(n) {
            seen.push(ctx.message, ctx.sender, ctx.signal.aborted);
            ctx.onAbort(() => seen.push("forgotten"))();
            await new Promise<void>((resolve) => void ctx.onAbort(resolve));
            seen.push(ctx.signal.reason);
            ctx.onAbort(() => seen.push("at once"));
            return n;
          },
        };
      }),
    );
    const asker = kit.ref("asker");
    const run = kit.run("later", 2, { sender: asker });
    kit.abort("gave up");
    expect(await run.reply).toBe(2);
    const [message, sender, isAborted, reason, after] = seen;
    expect(message).toMatchObject({ pattern: "ask", to: "@(counter)", from: "@(asker)", type: "later", payload: 2 });
    expect([sender === asker, isAborted, reason, after]).toEqual([true, false, "gave up", "at once"]);
    // It was set by the factory.
    const ctx = context as unknown as Context<Counting>;
    expect(() => ctx.message).toThrow("@(counter) handles no message now");
    expect([ctx.sender, ctx.signal.aborted]).toEqual([undefined, false]);
    expect(() => kit.abort()).toThrow("handles no message that could be given up");
  });

  test("refuses an operation that is none, and a factory that lacks one", () => {
    const kit = createBehaviourKit(Counter, counting());
    expect(() => kit.run("remove" as "total")).toThrow("@(counter) has no operation 'remove'");
    const lacking = (() => ({ add() {} })) as unknown as Factory<Counting>;
    expect(() => createBehaviourKit(Counter, lacking)).toThrow(`The factory of @(counter) has no handler for "total"`);
    const late = (async () => ({})) as unknown as Factory<Counting>;
    expect(() => createBehaviourKit(Counter, late)).toThrow("at once");
  });

  test.each([
    ["onStrat", `"onStrat" is neither an operation of @(counter) nor a hook; did you mean "onStart"?`],
    ["totl", `"totl" is neither an operation of @(counter) nor a hook; did you mean "total"?`],
    ["helper", `"helper" is neither an operation of @(counter) nor a hook; it has add, total, later, ticks, onStart`],
  ])("refuses %s as spawn does, and as a handler of become", (name, sentence) => {
    const misspelt = counting(() => ({ [name]() {} }));
    expect(() => createBehaviourKit(Counter, misspelt)).toThrow(sentence);
    const kit = createBehaviourKit(
      Counter,
      counting((ctx) => ({ add: () => ctx.become(misspelt(ctx)) })),
    );
    expect(() => kit.run("add", 1)).toThrow(sentence);
  });
});

describe("hooks in a kit", () => {
  test("run when the test says so", async () => {
    const seen: unknown[] = [];
    const kit = createBehaviourKit(
      Counter,
      counting((ctx) => ({
        onStart: () => {
          seen.push("onStart");
          ctx.self.tell("add", 1);
        },
        onRestart: (error: unknown) => void seen.push(error),
        onStop: async () => void seen.push("onStop"),
      })),
    );
    expect(kit.effects).toEqual([]);
    expect(kit.runHook("onStart").effects).toHaveLength(1);
    kit.runHook("onRestart", "broke");
    await kit.runHook("onStop").reply;
    expect(seen).toEqual(["onStart", "broke", "onStop"]);
    expect(createBehaviourKit(Counter, counting()).runHook("onStart").effects).toEqual([]);
  });
});

test("what a kit shows of one message is what a system does with it", async () => {
  const factory = counting((ctx) => ({ add: (n) => ctx.sender?.tell("added", n * 2) }));
  const kit = createBehaviourKit(Counter, factory);
  const { effects } = kit.run("add", 2, { sender: kit.ref("asker") });
  expect(effects).toEqual([{ kind: "told", to: address("asker"), operation: "added", payload: 4 }]);
  await using real = createTestSystem();
  const asker = real.createProbe("asker");
  asker.tell(real.system.spawn("counter", Counter, factory), "add", 2);
  await asker.expectMessage("added", 4);
});

describe("what travels beside a payload", () => {
  test("is given to a run, and recorded with what the actor sends", async () => {
    const seen: unknown[] = [];
    const kit = createBehaviourKit(
      Counter,
      counting((ctx) => ({
        async add(n) {
          seen.push(ctx.metadata, ctx.deadline, ctx.message.metadata);
          ctx.tell(ctx.self, "add", n, { metadata: { by: "ctx" } });
          ctx.self.tell("total", { metadata: { by: "ref" } });
          await ctx.offer(ctx.self, "add", n, { metadata: { by: "offer" } });
          ctx.tell(ctx.self, "add", n, { deadline: 5 });
        },
      })),
    );
    const { reply, effects } = kit.run("add", 2, { metadata: { user: "Ada" }, deadline: 50 });
    await reply;
    kit.run("total");
    const to = address("counter");
    expect(effects).toEqual([
      { kind: "told", to, operation: "add", payload: 2, metadata: { by: "ctx" } },
      { kind: "told", to, operation: "total", payload: undefined, metadata: { by: "ref" } },
      { kind: "offered", to, operation: "add", payload: 2, metadata: { by: "offer" } },
      { kind: "told", to, operation: "add", payload: 2 },
    ]);
    expect(seen).toEqual([{ user: "Ada" }, 50, { user: "Ada" }]);
  });

  test("is nothing where a run gives nothing", () => {
    const seen: unknown[] = [];
    const kit = createBehaviourKit(
      Counter,
      counting((ctx) => ({ add: () => void seen.push(ctx.metadata, ctx.deadline) })),
    );
    kit.run("add", 2);
    expect(seen).toEqual([{}, Number.POSITIVE_INFINITY]);
  });
});
