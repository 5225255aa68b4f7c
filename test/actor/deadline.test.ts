import { expect, test } from "bun:test";
import {
  type AskResult,
  type Context,
  createSystem,
  defineProtocol,
  type RefTo,
  type SignaturesOf,
  type System,
  Type,
} from "../../src/index";
import { createManualClock } from "../../src/testing/index";
import { expectBalance, reasonsOf, recordIn, type TestSystem, testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const Step = defineProtocol("step", { run: { payload: Type.String(), reply: Type.String() } });
type StepRef = RefTo<typeof Step>;
type StepContext = Context<SignaturesOf<typeof Step>>;

const said = (result: AskResult<string>): string => (result.isOk() ? result.value : result.error.kind);

const spawnStep = (
  { system }: Pick<TestSystem, "system">,
  name: string,
  run: (ctx: StepContext, payload: string) => Promise<string>,
): StepRef => system.spawn(name, Step, (ctx) => ({ run: (payload) => run(ctx, payload) }));

const sleep = ({ clock }: TestSystem, milliseconds: number): Promise<void> =>
  new Promise((resolve) => clock.setTimer(resolve, milliseconds));

/** One that ends when its signal is aborted, and says when that was. */
function spawnLast(test: TestSystem) {
  const ended: { at: number; reason: unknown }[] = [];
  const last = spawnStep(test, "last", (ctx) => {
    const { signal } = ctx;
    return new Promise((_, reject) => {
      signal.addEventListener("abort", () => {
        ended.push({ at: test.clock.monotonicTime(), reason: signal.reason });
        reject(signal.reason);
      });
    });
  });
  return { last, ended };
}

test("P7: an inner ask has no more time than the outer one has left", async () => {
  const test = createTestSystem();
  const { last, ended } = spawnLast(test);
  const inner: { kind: string; timeout: number | undefined; at: number }[] = [];
  const outer = spawnStep(test, "outer", async (ctx, it) => {
    await sleep(test, 30);
    const result = await ctx.ask(last, "run", it, { timeout: 1_000 });
    const error = result._unsafeUnwrapErr();
    inner.push({
      kind: error.kind,
      timeout: error.kind === "timeout" ? error.timeout : undefined,
      at: test.clock.monotonicTime(),
    });
    return "too late";
  });
  const asked = outer.ask("run", "it", { timeout: 100 });
  await test.clock.advance(100);
  expect(said(await asked)).toBe("timeout");
  expect(inner).toEqual([{ kind: "timeout", timeout: 70, at: 100 }]);
  expect(ended.map(({ at }) => at)).toEqual([100]);
  expect(test.router.audit()).toMatchObject({ running: 0, queued: 0 });
  expect(test.clock.timers).toBe(1); // The window of the log, for the late reply.
  expect(test.takeLog()).toHaveLength(1);
});

test("P7: a shorter timeout of its own stays", async () => {
  const test = createTestSystem();
  const { last, ended } = spawnLast(test);
  const outer = spawnStep(test, "outer", async (ctx, it) => said(await ctx.ask(last, "run", it, { timeout: 10 })));
  const asked = outer.ask("run", "it", { timeout: 100 });
  await test.clock.advance(10);
  expect(said(await asked)).toBe("timeout");
  expect(ended).toHaveLength(1);
});

test("P7: where the outer ask waits for ever, or there is none, the inner one has its own time", async () => {
  const test = createTestSystem();
  const { last } = spawnLast(test);
  const times: number[] = [];
  const outer = spawnStep(test, "outer", async (ctx, it) => {
    const result = await ctx.ask(last, "run", it);
    times.push(test.clock.monotonicTime());
    return said(result);
  });
  const endless = outer.ask("run", "it", { timeout: Number.POSITIVE_INFINITY });
  outer.tell("run", "told");
  await test.clock.advance(10_000);
  expect(said(await endless)).toBe("timeout");
  expect(times).toEqual([5_000, 10_000]);
});

for (const how of ["timeout", "cancelled"] as const) {
  test(`P7: three levels deep, all is given up together by a ${how}, at once`, async () => {
    const test = createTestSystem();
    const { last, ended } = spawnLast(test);
    const told: string[] = [];
    const pass = (name: string, to: StepRef): StepRef =>
      spawnStep(test, name, async (ctx, it) => {
        const result = said(await ctx.ask(to, "run", it));
        told.push(`${name}: ${result} at ${test.clock.monotonicTime()}, ${ctx.signal.aborted ? "aborted" : "wanted"}`);
        return "";
      });
    const first = pass("first", pass("second", pass("third", last)));
    const stop = new AbortController();
    const asked = first.ask("run", "it", { timeout: 50, signal: stop.signal });
    await test.clock.advance(49);
    expect(test.router.audit()).toMatchObject({ running: 4 });
    if (how === "timeout") await test.clock.advance(1);
    else stop.abort("enough");
    expect(said(await asked)).toBe(how);
    await test.clock.settle();
    const at = how === "timeout" ? 50 : 49;
    expect(told.toSorted()).toEqual(["first", "second", "third"].map((name) => `${name}: ${how} at ${at}, aborted`));
    expect(ended).toHaveLength(1);
    expect(ended[0]?.reason).toMatchObject({ kind: how }); // The reason of a signal is the delivery error.
    expect(test.router.audit()).toMatchObject({ running: 0, queued: 0 });
    test.takeLog();
  });
}

test("P7: an inner ask that still waits in a queue is never handled once the outer one was given up", async () => {
  const test = createTestSystem();
  const seen: string[] = [];
  const busy = spawnStep(test, "busy", async (_, it) => {
    seen.push(it);
    await sleep(test, 100);
    return it;
  });
  const outer = spawnStep(test, "outer", async (ctx, it) => said(await ctx.ask(busy, "run", it)));
  busy.tell("run", "first");
  const asked = outer.ask("run", "inner", { timeout: 10 });
  await test.clock.advance(200);
  expect(said(await asked)).toBe("timeout");
  expect(seen).toEqual(["first"]);
  expect(reasonsOf(test.deadLetters).sort()).toEqual(["late-reply", "timeout"]);
  test.takeLog();
});

test("P7: an ask that a handler begins after it was given up comes back at once, and is not sent", async () => {
  const test = createTestSystem();
  const seen: string[] = [];
  const target = spawnStep(test, "target", async (_, it) => {
    seen.push(it);
    return it;
  });
  const told: string[] = [];
  const outer = spawnStep(test, "outer", async (ctx, it) => {
    await sleep(test, 20);
    told.push(said(await ctx.ask(target, "run", it)));
    told.push(`at ${test.clock.monotonicTime()}`);
    told.push(said(await target.ask("run", "by reference"))); // That is bound to nothing.
    return "";
  });
  const stop = new AbortController();
  const asks = [outer.ask("run", "a", { timeout: 10 }), outer.ask("run", "b", { signal: stop.signal })];
  await test.clock.advance(25);
  stop.abort();
  await test.clock.advance(15);
  expect((await Promise.all(asks)).map(said)).toEqual(["timeout", "cancelled"]);
  expect(told).toEqual(["timeout", "at 20", "by reference", "cancelled", "at 40", "by reference"]);
  expect(seen).toEqual(["by reference", "by reference"]);
  expectBalance(test.router.audit());
  test.takeLog();
});

test("P7: asks in parallel are given up together", async () => {
  const test = createTestSystem();
  const lasts = [1, 2, 3].map((n) =>
    spawnStep(test, `last-${n}`, (ctx) => {
      const { signal } = ctx;
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error(`${n}`))));
    }),
  );
  const told: string[] = [];
  const outer = spawnStep(test, "outer", async (ctx, it) => {
    const results = await Promise.all(lasts.map((last) => ctx.ask(last, "run", it)));
    told.push(...results.map(said));
    return "";
  });
  const asked = outer.ask("run", "it", { timeout: 10 });
  await test.clock.advance(10);
  expect(said(await asked)).toBe("timeout");
  expect(told).toEqual(["timeout", "timeout", "timeout"]);
  expect(test.router.audit()).toMatchObject({ running: 0 });
  test.takeLog();
});

test("P7: what a handler asked for and did not wait for is given up when it replies, and its sender may give up later", async () => {
  const test = createTestSystem();
  const told: string[] = [];
  const slow = spawnStep(test, "slow", async (_, it) => {
    await sleep(test, 20);
    return it;
  });
  const outer = spawnStep(test, "outer", async (ctx, it) => {
    void ctx.ask(slow, "run", it).then((result) => told.push(said(result)));
    return "at once";
  });
  const stop = new AbortController();
  const asked = outer.ask("run", "it", { timeout: 50, signal: stop.signal });
  expect(said(await asked)).toBe("at once");
  await test.clock.settle();
  expect(told).toEqual(["cancelled"]);
  stop.abort();
  await test.clock.advance(20);
  expect(told).toEqual(["cancelled"]);
});

test("P6: an ask with an aborted signal is not sent, not even as one that closes a circle", async () => {
  const test = createTestSystem();
  const told: string[] = [];
  const self: StepRef = spawnStep(test, "self", async (ctx) => {
    told.push(said(await ctx.ask(self, "run", "", { signal: AbortSignal.abort() })));
    return "";
  });
  await self.ask("run", "it");
  expect(told).toEqual(["cancelled"]);
  expect({ audit: test.router.audit(), dead: test.deadLetters }).toMatchObject({ audit: { accepted: 1 }, dead: [] });
});

test("P7: a deadline holds from one system to another, whichever was made first", async () => {
  const clock = createManualClock();
  const entries: Parameters<typeof recordIn>[0] = [];
  const systems: System[] = [];
  for (let i = 0; i < 2; i++) {
    systems.push(createSystem({ clock, logger: recordIn(entries) }));
    await clock.advance(1_000); // Each has a time of its own.
  }
  for (const [nearAt, farAt] of [
    [0, 1],
    [1, 0],
  ] as const) {
    const [near, far] = [systems[nearAt], systems[farAt]] as [System, System]; // There are two.
    const last = spawnStep({ system: far }, "last", (ctx) => {
      const { signal } = ctx;
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    });
    const begun = clock.monotonicTime();
    const inner: unknown[] = [];
    const outer = spawnStep({ system: near }, "outer", async (ctx, it) => {
      await new Promise<void>((resolve) => clock.setTimer(resolve, 10));
      const error = (await ctx.ask(last, "run", it))._unsafeUnwrapErr();
      inner.push(error.kind === "timeout" ? error.timeout : error.kind, clock.monotonicTime() - begun);
      throw error;
    });
    const asked = outer.ask("run", "it", { timeout: 50 });
    await clock.advance(49);
    expect(inner).toEqual([]);
    await clock.advance(1);
    expect(said(await asked)).toBe("timeout");
    expect(inner).toEqual([40, 50]);
  }
  await Promise.all(systems.map((system) => system.shutdown()));
  await clock.settle();
  expect({ entries, timers: clock.timers }).toEqual({ entries: [], timers: 0 });
});
