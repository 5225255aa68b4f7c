import { describe, expect, test } from "bun:test";
import {
  type AskResult,
  defineProtocol,
  type Ref,
  type RefTo,
  type SignaturesOf,
  spawnPool,
  Type,
} from "../../src/index";
import { type TestOptions, testSystems } from "../actor/test-system";

// What the workers of a pool have handed on outlives the pool: by its stop, or by its restart.

const { createTestSystem } = testSystems();
const Node = defineProtocol("node", { go: { reply: Type.String() }, fail: {} });
type NodeRef = Ref<SignaturesOf<typeof Node>>;

const OPTIONS: TestOptions = { askTimeout: Number.POSITIVE_INFINITY, supervision: { decide: () => "restart" } };
const told = (reply: AskResult<string>): string => (reply.isOk() ? reply.value : reply.error.kind);

/** A pool whose workers hand each ask on, and what ends that pool, or makes it anew. */
function spawnForwarding(
  test: ReturnType<typeof createTestSystem>,
  routing: "broadcast" | "first-answer",
  next: NodeRef,
): { pool: NodeRef; stops: () => Promise<unknown>; restarts: () => Promise<unknown> } {
  const pool = spawnPool(
    test.system,
    "pool",
    Node,
    (ctx) => ({
      go: () => ctx.forward(next),
      fail() {
        throw new Error("broken");
      },
    }),
    { size: 2, routing, supervision: { decide: () => "escalate" } },
  );
  return {
    pool,
    stops: () => test.system.stop(pool),
    async restarts() {
      pool.tell("fail");
      await test.expectFailure(undefined, "broken");
      test.takeFailures();
      test.takeLog();
      const report = test.system.inspect().find(({ address }) => address === pool.address);
      expect(report?.restarts).toBeGreaterThan(0);
    },
  };
}

for (const routing of ["broadcast", "first-answer"] as const) {
  for (const end of ["stops", "restarts"] as const) {
    describe(`of a pool with the routing "${routing}" that ${end},`, () => {
      test("P7: giving up reaches the actor to which its workers had forwarded an ask", async () => {
        const setting = createTestSystem(OPTIONS);
        let waiting = 0;
        let aborted = 0;
        const slow = setting.system.spawn(
          "slow",
          Node,
          (ctx) => ({
            go() {
              waiting++;
              return new Promise<string>((resolve) => {
                ctx.onAbort(() => {
                  aborted++;
                  resolve("late");
                });
              });
            },
            fail() {},
          }),
          { concurrency: 2 },
        );
        const forwarding = spawnForwarding(setting, routing, slow);
        const controller = new AbortController();
        const reply = forwarding.pool.ask("go", { signal: controller.signal });
        await setting.settle();
        await forwarding[end]();
        await setting.settle();
        expect({ waiting, aborted }).toEqual({ waiting: 2, aborted: 0 });
        controller.abort();
        await setting.settle();
        expect(told(await reply)).toBe("cancelled");
        expect(aborted).toBe(2);
        for (let part = 0; part < 2; part++) await setting.expectLogged("late-reply");
        expect(setting.router.audit()).toMatchObject({ queued: 0, running: 0 });
      });

      test("P8: the actor to which its workers had forwarded an ask closes a circle when it asks the asker", async () => {
        const setting = createTestSystem(OPTIONS);
        const gate = Promise.withResolvers<void>();
        const other: RefTo<typeof Node> = setting.system.spawn("other", Node, (ctx) => ({
          async go() {
            await gate.promise;
            return told(await ctx.ask(asker, "go"));
          },
          fail() {},
        }));
        const forwarding = spawnForwarding(setting, routing, other);
        const asker: RefTo<typeof Node> = setting.system.spawn("asker", Node, (ctx) => ({
          go: async () => told(await ctx.ask(forwarding.pool, "go")),
          fail() {},
        }));
        const reply = asker.ask("go");
        await setting.settle();
        await forwarding[end]();
        await setting.settle();
        gate.resolve();
        await setting.settle();
        expect(told(await reply)).toBe("ask-cycle");
      });
    });
  }
}
