import { expect, test } from "bun:test";
import { address, createPool, defineProtocol, type Pool, type SignaturesOf, Type } from "../../src/index";
import { expectBalance, reasonsOf, testSystems } from "../actor/test-system";

const { createTestSystem } = testSystems();

const Node = defineProtocol("node", {
  go: { reply: Type.String() },
  note: {},
  items: { stream: Type.String() },
});
type NodePool = Pool<SignaturesOf<typeof Node>>;

for (const routing of ["round-robin", "least-busy", "broadcast", "first-answer"] as const) {
  test(`P4: a pool whose worker is its own address refuses each message, with the routing "${routing}"`, async () => {
    const { system, clock, deadLetters, takeLog } = createTestSystem();
    const pool = createPool(system, "pool", Node, [system.ref(address("pool"), Node)], { routing });
    const asker = system.spawn("asker", Node, (ctx) => ({
      go: async () => {
        const reply = await ctx.ask(pool.ref, "go");
        return reply.isOk() ? reply.value : reply.error.kind;
      },
      note: () => ctx.forward(pool.ref),
      *items() {},
    }));
    pool.ref.tell("note");
    asker.tell("note");
    const asked = pool.ref.ask("go");
    const offered = pool.ref.offer("note");
    const read = pool.ref.stream("items").next();
    read.catch(() => {});
    const within = asker.ask("go");
    await clock.settle();
    for (const reply of [await asked, await offered]) {
      expect(reply.isErr() && reply.error.kind).toBe("no-recipient");
      expect(reply.isErr() && reply.error.message).toContain("a pool has itself as a worker, by its address");
    }
    expect(read).rejects.toMatchObject({ error: { kind: "no-recipient" } });
    expect((await within).unwrapOr("failed")).toBe("no-recipient");
    expect(reasonsOf(deadLetters)).toEqual(Array(6).fill("no-recipient"));
    expectBalance(system.router.audit());
    takeLog();
  });
}

test("P4: two pools that are each other's worker by address refuse what no other worker takes", async () => {
  const { system, clock, takeLog } = createTestSystem();
  const one = createPool(system, "one", Node, [system.ref(address("two"), Node)]);
  const two: NodePool = createPool(system, "two", Node, [one.ref]);
  one.ref.tell("note");
  const asked = two.ref.ask("go");
  await clock.settle();
  const reply = await asked;
  expect(reply.isErr() && reply.error.kind).toBe("no-recipient");
  two.add(system.spawn("worker", Node, () => ({ go: () => "worked", note() {}, *items() {} })));
  const again = one.ref.ask("go");
  await clock.settle();
  expect((await again).unwrapOr("refused")).toBe("worked");
  takeLog();
});

test("a pool does not take the address of itself, or of a pool that leads to it, as a worker", () => {
  const { system } = createTestSystem();
  const pool = createPool(system, "pool", Node, []);
  expect(() => pool.add(system.ref(address("pool"), Node))).toThrow("hands its messages to the pool @(pool)");
  const around = createPool(system, "around", Node, [system.ref(address("pool"), Node)]);
  expect(() => pool.add(around.ref)).toThrow("@(around) hands its messages to the pool @(pool)");
  expect(() => pool.add(system.ref(address("around"), Node))).toThrow("@(around) hands its messages to the pool");
  pool.add(system.ref(address("later"), Node));
  expect(pool.size).toBe(1);
});
