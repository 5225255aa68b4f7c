import { expect, test } from "bun:test";
import {
  type Context,
  defineProtocol,
  type Ref,
  receive,
  type SignaturesOf,
  type Supervision,
  Type,
} from "../../src/index";
import { type TestSystem, testSystems } from "./test-system";

// The decision table of Supervision: one test for each row, named after it.

const { createTestSystem } = testSystems();

const Child = defineProtocol("child", {
  add: { payload: Type.Number(), reply: Type.Number() },
  fail: { payload: Type.Unknown() },
});
type Child = SignaturesOf<typeof Child>;

interface Row extends TestSystem {
  /** The children in the order in which they were spawned: those of the parent's present instance. */
  readonly children: Ref<Child>[];
  /** Fails the child at this place, and lets all that follows happen. */
  failAt(index: number, error?: unknown): Promise<void>;
  /** What each child has added up to so far: null where it is gone, 0 where it began anew. */
  totals(): Promise<(number | null)[]>;
  /** How often the parent began. */
  readonly parents: number;
}

/** Three children, each of which has added 1. */
async function row(supervision: Supervision, watch?: (ctx: Context<Child>, child: Ref<Child>) => void): Promise<Row> {
  const systems = createTestSystem({ supervision: {} });
  const children: Ref<Child>[] = [];
  let parents = 0;
  systems.system.spawn(
    "parent",
    Child,
    (ctx) => {
      parents++;
      for (let i = 0; i < 3; i++) {
        const child = ctx.spawn(`child-${i}`, Child, () => {
          let total = 0;
          return {
            add: (n) => (total += n),
            fail(error) {
              throw error;
            },
          };
        });
        children[i] = child;
        watch?.(ctx, child);
      }
      return { add: (n) => n, fail() {} };
    },
    { supervision },
  );
  for (const child of children) await child.ask("add", 1);
  return {
    ...systems,
    children,
    get parents() {
      return parents;
    },
    async failAt(index, error = new Error("broken")) {
      await children[index]?.ask("fail", error);
      await systems.clock.settle();
      systems.takeLog();
    },
    totals: () =>
      Promise.all(
        children.map(async (child) =>
          (await child.ask("add", 0)).match(
            (total) => total,
            () => null,
          ),
        ),
      ),
  };
}

test("a handler threw, and its state may be wrong: nothing, `restart` is the default", async () => {
  const family = await row({});
  await family.failAt(1);
  expect(await family.totals()).toEqual([1, 0, 1]);
  expect(family.parents).toBe(1);
});

test("a handler refused a bad input, and its state is well: `resume`, or a reply", async () => {
  const family = await row({ decide: () => "resume" });
  await family.failAt(1);
  expect(await family.totals()).toEqual([1, 1, 1]);

  const { system } = createTestSystem({ supervision: {} });
  const Answer = defineProtocol("answer", {
    divide: { payload: Type.Number(), reply: Type.Union([Type.Number(), Type.Null()]) },
  });
  const ref = system.spawn("answer", Answer, () => {
    let calls = 0;
    return { divide: (by) => (by === 0 ? null : ++calls / by) };
  });
  const answers = [await ref.ask("divide", 1), await ref.ask("divide", 0), await ref.ask("divide", 1)];
  expect(answers.map((answer) => answer._unsafeUnwrap())).toEqual([1, null, 2]);
});

test("the failure cannot be mended by beginning anew: `stop`; ctx.watch tells who needs to know", async () => {
  const told: unknown[] = [];
  const wrongKey = new Error("wrong key");
  const family = await row({ decide: (error) => (error === wrongKey ? "stop" : "restart") }, (ctx, child) =>
    ctx.watch(child, ({ address, error }) => told.push([address, error])),
  );
  await family.failAt(1, wrongKey);
  expect(await family.totals()).toEqual([1, null, 1]);
  expect(told).toEqual([[family.children[1]?.address, wrongKey]]);
});

test("what it needs is away for a while: `backoff`", async () => {
  const family = await row({ backoff: { initial: 100, jitter: 0 } });
  await family.failAt(1);
  const total = family.children[1]?.ask("add", 5);
  await family.clock.advance(99);
  expect(family.system.inspect()[0]?.children[1]).toMatchObject({ state: "restarting", queued: 1 });
  await family.clock.advance(1);
  expect((await total)?._unsafeUnwrap()).toBe(5);
  expect(await family.totals()).toEqual([1, 5, 1]);
});

test("the children share state, and none is right without the others: `one-for-all`", async () => {
  const family = await row({ strategy: "one-for-all" });
  await family.failAt(1);
  expect(await family.totals()).toEqual([0, 0, 0]);
  expect(family.parents).toBe(1);
});

test("each child builds on those spawned before it: `rest-for-one`", async () => {
  const family = await row({ strategy: "rest-for-one" });
  await family.failAt(1);
  expect(await family.totals()).toEqual([1, 0, 0]);
  expect(family.parents).toBe(1);
});

test("the parent's own state is in doubt: `escalate`", async () => {
  const family = await row({ decide: () => "escalate" });
  await family.failAt(1);
  expect(family.parents).toBe(2);
  expect(await family.totals()).toEqual([0, 0, 0]);
});

test("it restarts more often than `limit` in `within`: nothing, that escalates", async () => {
  const family = await row({ limit: 2, within: 1_000 });
  for (let i = 0; i < 2; i++) await family.failAt(1);
  expect(family.parents).toBe(1);
  await family.clock.advance(1_000);
  for (let i = 0; i < 2; i++) await family.failAt(1);
  expect(family.parents).toBe(1);
  await family.failAt(1);
  expect(family.parents).toBe(2);
});

test("it restarts more often than `limit` in `within`, and has no parent: nothing, it is held back", async () => {
  const { system, clock, takeLog } = createTestSystem({ supervision: { limit: 1 } });
  const ref = system.spawn("root", Child, () => {
    let total = 0;
    return {
      add: (n) => (total += n),
      fail(error) {
        throw error;
      },
    };
  });
  for (let i = 0; i < 2; i++) await ref.ask("fail", new Error("broken"));
  const total = ref.ask("add", 5);
  await clock.settle();
  expect(system.inspect()).toMatchObject([{ state: "held", queued: 1 }]);
  await clock.advance(100);
  expect((await total)._unsafeUnwrap()).toBe(5);
  expect(takeLog()).toHaveLength(2);
});

test("a message from outside made it throw: nothing, that message fails alone; or `outside`", async () => {
  for (const [supervision, total] of [
    [{}, 1],
    [{ outside: "restart" }, 0],
  ] satisfies [Supervision, number][]) {
    const family = await row(supervision);
    for (const child of family.children) expect((await receive(child).ask("fail", 1)).isErr()).toBe(true);
    await family.clock.settle();
    expect(await family.totals()).toEqual([total, total, total]);
    family.takeLog();
  }
});
