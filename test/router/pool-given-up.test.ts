import { expect, test } from "bun:test";
import { type Clock, createSystem, defineProtocol, type RefTo, spawnPool, Type } from "../../src/index";
import { createManualClock } from "../../src/testing/index";
import { expectBalance, testSystems } from "../actor/test-system";

// An ask that went to all workers of a pool ends in all of them, and 10,000 workers hold up nobody else.

const { createTestSystem } = testSystems();

const Work = defineProtocol("work", { wait: { reply: Type.Number() }, quick: { reply: Type.Number() } });
const FOR_EVER = { askTimeout: Number.POSITIVE_INFINITY };

for (const routing of ["broadcast", "first-answer"] as const) {
  test(`P5: of a pool with the routing "${routing}", telling the workers that an ask is given up is spent from the turn`, async () => {
    let now = 0;
    const clock: Clock = {
      ...createManualClock(),
      monotonicTime: () => {
        now += 0.01; // A turn is over after the same number of messages on any machine.
        return now;
      },
      macrotask: (callback) => void setImmediate(callback),
    };
    const system = createSystem({ ...FOR_EVER, clock, logger: { warn() {}, error() {} } });
    const size = 3_000;
    const begun = Promise.withResolvers<void>();
    const isOver = Promise.withResolvers<void>();
    let waiting = 0;
    let told = 0;
    const answer = Promise.withResolvers<number>();
    const pool = spawnPool(
      system,
      "pool",
      Work,
      (ctx) => ({
        wait() {
          if (++waiting === size) begun.resolve();
          // The first one answers, where one answer is enough.
          if (routing === "first-answer" && waiting === 1) return answer.promise;
          return new Promise<number>((resolve) => {
            ctx.onAbort(() => {
              resolve(0);
              if (++told === (routing === "first-answer" ? size - 1 : size)) isOver.resolve();
            });
          });
        },
        quick: () => 1,
      }),
      { size, routing },
    );
    const controller = new AbortController();
    const reply = pool.ask("wait", { signal: controller.signal });
    await begun.promise;
    if (routing === "first-answer") answer.resolve(1);
    else controller.abort();
    const result = await reply;
    expect(result.isOk() ? result.value : result.error.kind).toBe(routing === "first-answer" ? 1 : "cancelled");
    while (told === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(told).toBeLessThan(size - 1); // The event loop has had its turn meanwhile.
    await isOver.promise;
    await new Promise((resolve) => setImmediate(resolve));
    expect((await pool.ask("quick")).unwrapOr(0)).toBe(1);
    expectBalance(system.router.audit());
    await system.shutdown();
  });
}

test("P7: no worker begins on an ask that was given up, before it is told or after", async () => {
  const { system, clock, router, deadLetters } = createTestSystem(FOR_EVER);
  const gate = Promise.withResolvers<number>();
  let begun = 0;
  const pool = spawnPool(
    system,
    "pool",
    Work,
    () => ({
      wait: () => gate.promise,
      quick: () => ++begun,
    }),
    { size: 100, routing: "broadcast" },
  );
  const first = pool.ask("wait");
  await clock.settle();
  const controller = new AbortController();
  const given = pool.ask("quick", { signal: controller.signal });
  await clock.settle();
  gate.resolve(7);
  controller.abort();
  await clock.settle();
  expect((await first).unwrapOr(0)).toBe(7);
  expect((await given)._unsafeUnwrapErr().kind).toBe("cancelled");
  expect(begun).toBe(0);
  expect(deadLetters).toHaveLength(100);
  expect(router.audit()).toMatchObject({ accepted: 200, handled: 100, dead: 100, queued: 0, running: 0 });
});

test("P5: a handler asks a pool of many workers, and each answer is looked at once", async () => {
  const { system } = createTestSystem(FOR_EVER);
  // With a look at all the others for each answer, these took more than a minute.
  const size = 20_000;
  const wait = async (): Promise<number> => 1;
  const pool = spawnPool(system, "pool", Work, () => ({ wait, quick: wait }), { size, routing: "broadcast" });
  const asker: RefTo<typeof Work> = system.spawn("asker", Work, (ctx) => ({
    wait: async () => (await ctx.ask(pool, "quick")).unwrapOr(0),
    quick: () => 0,
  }));
  expect((await asker.ask("wait")).unwrapOr(0)).toBe(1);
});
