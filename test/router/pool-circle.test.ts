import { describe, expect, test } from "bun:test";
import { type AskResult, defineProtocol, type RefTo, StreamError, spawnPool, Type } from "../../src/index";
import { testSystems } from "../actor/test-system";

const { createTestSystem } = testSystems();
const Node = defineProtocol("node", { go: { reply: Type.String() }, back: { reply: Type.String() } });

const told = (reply: AskResult<string>): string => (reply.isOk() ? reply.value : reply.error.kind);

for (const routing of ["broadcast", "first-answer"] as const) {
  describe(`P8: of a pool with the routing "${routing}",`, () => {
    test("a worker with room for more that asks the asker back closes a circle", async () => {
      const { system, clock } = createTestSystem();
      const asker: RefTo<typeof Node> = system.spawn("asker", Node, (ctx) => ({
        go: async () => told(await ctx.ask(pool, "go")),
        back: () => "back",
      }));
      const pool = spawnPool(
        system,
        "pool",
        Node,
        (ctx) => ({ go: async () => told(await ctx.ask(asker, "back")), back: () => "back" }),
        { size: 1, routing, concurrency: 2 },
      );
      const reply = asker.ask("go");
      await clock.settle();
      expect(told(await reply)).toBe("ask-cycle");
    });

    test("a worker does not pass its part on to an actor that waits for the asker", async () => {
      const { system, clock } = createTestSystem();
      const gate = Promise.withResolvers<void>();
      const asker: RefTo<typeof Node> = system.spawn("asker", Node, (ctx) => ({
        go: async () => told(await ctx.ask(pool, "go")),
        back: () => "back",
      }));
      const other = system.spawn("other", Node, (ctx) => ({
        go: async () => told(await ctx.ask(asker, "back")),
        back: () => "back",
      }));
      const pool = spawnPool(
        system,
        "pool",
        Node,
        (ctx) => ({
          async go() {
            await gate.promise;
            return ctx.forward(other);
          },
          back: () => "back",
        }),
        { size: 1, routing },
      );
      const reply = asker.ask("go");
      await clock.settle();
      const second = other.ask("go");
      await clock.settle();
      gate.resolve();
      await clock.settle();
      expect(told(await reply)).toBe("ask-cycle");
      expect(told(await second)).toBe("back");
    });
  });
}

test("P9: a handler that is told that its sender gave up by an ask that comes back at once, and ends for that, has not failed", async () => {
  const { system, clock } = createTestSystem();
  let failures = 0;
  system.events.subscribe(({ kind }) => {
    if (kind === "failed") failures++;
  });
  const other = system.spawn("other", Node, () => ({ go: () => "", back: () => "back" }));
  const gate = Promise.withResolvers<void>();
  const worker = system.spawn("worker", Node, (ctx) => ({
    async go() {
      await gate.promise;
      const reply = await ctx.ask(other, "back");
      if (reply.isErr()) throw reply.error;
      return reply.value;
    },
    back: () => "",
  }));
  const reply = worker.ask("go", { timeout: 10 });
  await clock.advance(11);
  expect(told(await reply)).toBe("timeout");
  gate.resolve();
  await clock.settle();
  expect(failures).toBe(0);
});

for (const routing of ["broadcast", "first-answer"] as const) {
  test(`P8: one that could have answered fails, behind a pool with the routing "${routing}": what is left is a circle`, async () => {
    const { system, clock, expectFailure } = createTestSystem({ askTimeout: Number.POSITIVE_INFINITY });
    const gate = Promise.withResolvers<void>();
    const asker: RefTo<typeof Node> = system.spawn("asker", Node, (ctx) => ({
      go: async () => told(await ctx.ask(outer, "go")),
      back: () => "back",
    }));
    const inner = spawnPool(
      system,
      "inner",
      Node,
      (ctx) => ({
        async go() {
          if (ctx.self.address.endsWith("/1)")) return told(await ctx.ask(asker, "back"));
          await gate.promise;
          throw new Error("broken");
        },
        back: () => "back",
      }),
      { size: 2, routing: "first-answer" },
    );
    const outer = spawnPool(system, "outer", Node, (ctx) => ({ go: () => ctx.forward(inner), back: () => "back" }), {
      size: 1,
      routing,
    });
    const reply = asker.ask("go");
    await clock.settle();
    gate.resolve();
    await clock.settle();
    expect(told(await reply)).toBe("ask-cycle");
    await expectFailure(undefined, "broken");
  });
}

const Reader = defineProtocol("reader", { read: { reply: Type.String() }, items: { stream: Type.String() } });

for (const routing of ["broadcast", "first-answer"] as const) {
  test(`P8: a stream that is forwarded to a pool with the routing "${routing}" closes a circle where its one worker is the reader, and only there`, async () => {
    const { system, clock } = createTestSystem({ askTimeout: Number.POSITIVE_INFINITY });
    const workers: RefTo<typeof Reader>[] = [];
    const front: RefTo<typeof Reader> = system.spawn("front", Reader, (ctx) => ({
      read: () => "",
      items: () => ctx.forward(pool),
    }));
    const pool = spawnPool(
      system,
      "pool",
      Reader,
      (ctx) => {
        workers.push(ctx.self);
        return {
          async read() {
            try {
              const { value } = await ctx.stream(front, "items").next();
              return value ?? "nothing";
            } catch (thrown) {
              return thrown instanceof StreamError ? thrown.error.kind : "something else";
            }
          },
          *items() {
            yield "item";
          },
        };
      },
      { size: 2, routing },
    );
    const replies: string[] = [];
    for (let time = 0; time < 2; time++) {
      const reply = workers[0]?.ask("read");
      await clock.settle();
      expect(reply).toBeDefined();
      void reply?.then((result) => replies.push(told(result)));
      await clock.settle();
    }
    expect(replies).toEqual(["item", "ask-cycle"]);
  });
}
