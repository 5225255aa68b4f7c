import { expect, test } from "bun:test";
import fc from "fast-check";
import { type AskResult, type Audit, address, createMessage, defineProtocol, type RefTo, Type } from "../../src/index";
import { expectBalance, reasonsOf, testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const Job = defineProtocol("job", {
  work: { reply: Type.Number() },
  fail: {},
  wait: { payload: Type.Number(), reply: Type.Number() },
});

test("P1: what waits and what runs is counted where it is", async () => {
  const { system, router } = createTestSystem();
  const gate = Promise.withResolvers<number>();
  const job = system.spawn("job", Job, () => ({ work: () => 1, fail() {}, wait: () => gate.promise }));
  expect(router.audit()).toEqual({ accepted: 0, handled: 0, failed: 0, dead: 0, queued: 0, running: 0 });
  const asked = job.ask("wait", 0);
  job.tell("work");
  job.tell("work");
  expect(router.audit()).toMatchObject({ accepted: 3, queued: 3, running: 0 });
  await Promise.resolve();
  expect(router.audit()).toMatchObject({ accepted: 3, handled: 0, queued: 2, running: 1 });
  gate.resolve(7);
  expect((await asked)._unsafeUnwrap()).toBe(7);
  expect((await job.ask("work"))._unsafeUnwrap()).toBe(1);
  expect(router.audit()).toEqual({ accepted: 4, handled: 4, failed: 0, dead: 0, queued: 0, running: 0 });
});

test("P1: each message has one outcome, and a dead one a reason", async () => {
  const { system, router, clock, deadLetters, takeLog } = createTestSystem();
  const gates: (() => void)[] = [];
  const job = system.spawn("job", Job, () => ({
    work: () => 1,
    fail() {
      throw new Error("no");
    },
    wait: (n) => new Promise((resolve) => gates.push(() => resolve(n))),
  }));

  job.tell("work"); // handled
  await job.ask("work"); // handled
  await job.ask("fail"); // failed
  job.tell("fail"); // failed, and logged
  await job.ask("subtract" as "work"); // dead: unknown-operation
  router.tell(createMessage(address("nobody"), "work", undefined)); // dead: no-recipient
  const late = job.ask("wait", 1, { timeout: 10 }); // handled, and its reply is dead: late-reply
  const queued = job.ask("work", { timeout: 10 }); // dead: timeout
  await clock.advance(10);
  expect((await late)._unsafeUnwrapErr().kind).toBe("timeout");
  expect((await queued)._unsafeUnwrapErr().kind).toBe("timeout");
  gates[0]?.();
  await clock.settle();
  await system.stop(job);
  job.tell("work"); // dead: stopped

  expect(router.audit()).toEqual({ accepted: 10, handled: 3, failed: 2, dead: 5, queued: 0, running: 0 });
  expect(reasonsOf(deadLetters)).toEqual(["unknown-operation", "no-recipient", "late-reply", "timeout", "stopped"]);
  expect(takeLog().map((entry) => entry.level)).toEqual(["error", "warn", "warn", "warn"]);
});

type Step =
  | { readonly do: "tell" | "ask"; readonly operation: "work" | "fail" | "reject" | "wait" | "unknown" }
  | { readonly do: "release" | "advance" | "stop" | "drain" | "spawn" };

const Any = defineProtocol("any", { work: {}, fail: {}, reject: {}, wait: {}, unknown: {} });
const Fewer = defineProtocol("fewer", { work: {}, fail: {}, reject: {}, wait: {} });

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom("tell", "ask"), operation: operation() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("release", "advance", "stop", "drain", "spawn") }) },
);
function operation() {
  return fc.constantFrom("work" as const, "fail" as const, "reject" as const, "wait" as const, "unknown" as const);
}

test("P1, P6: whatever is sent, stopped and waited for, the audit balances and each ask settles once", async () => {
  const property = fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
    const { system, router, clock, deadLetters, takeLog } = createTestSystem();
    const gates: (() => void)[] = [];
    const spawn = () =>
      // It has one operation fewer than the senders believe.
      system.spawn("one", Fewer, () => ({
        work() {},
        fail() {
          throw new Error("failed");
        },
        async reject() {
          throw new Error("rejected");
        },
        wait: () => new Promise<void>((resolve) => gates.push(resolve)),
      })) as RefTo<typeof Fewer> as unknown as RefTo<typeof Any>;
    let ref = spawn();
    let asked = 0;
    const answers: AskResult[] = [];
    for (const each of steps) {
      if (each.do === "tell") ref.tell(each.operation);
      else if (each.do === "ask") {
        asked++;
        void ref.ask(each.operation, { timeout: 10 }).then((answer) => answers.push(answer));
      } else if (each.do === "release") gates.shift()?.();
      else if (each.do === "advance") await clock.advance(6);
      else if (each.do !== "spawn") void system.stop(ref, { drain: each.do === "drain" });
      else if (!router.has(address("one"))) ref = spawn();
      expectBalance(router.audit());
    }
    await clock.advance(20);
    expect(answers).toHaveLength(asked);
    while (gates.length > 0) {
      for (const release of gates.splice(0)) release();
      await clock.settle();
    }
    const audit = router.audit();
    expectBalance(audit);
    expect(audit).toMatchObject({ queued: 0, running: 0, dead: deadLetters.length });
    expect(answers).toHaveLength(asked);
    takeLog();
    await clock.advance(1_000);
    takeLog();
  });
  await fc.assert(property, { numRuns: 200 });
});

const Bulk = defineProtocol("bulk", { take: { payload: Type.Number() }, also: { payload: Type.Number() } });
/** Rows of one operation, and operations in turns. */
const operationOf = (n: number): "take" | "also" => (n % 64 < 32 && n % 3 === 0 ? "also" : "take");
/** What the handler of a message does. */
const doing = fc.oneof(
  { weight: 6, arbitrary: fc.constant("return" as const) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "look",
      "throw",
      "promise",
      "message",
      "ask",
      "stash",
      "tell",
      "become",
      "stop",
      "drain",
      "fail",
    ),
  },
);

test("P1, P2: what many tells at once come to is told at each moment, and none is lost or passes another", async () => {
  const property = fc.asyncProperty(fc.array(doing, { minLength: 40, maxLength: 300, size: "max" }), async (plan) => {
    const { system, router, clock, takeLog, deadLetters } = createTestSystem({
      supervision: { decide: (thrown) => (thrown === "restart" ? "restart" : "resume") },
    });
    const seen: number[] = [];
    const audits: Audit[] = []; // What is thrown in a handler is its failure, and not that of the test.
    const echo = system.spawn("echo", Job, () => ({ work: () => 1, fail() {}, wait: (n) => n }));
    const bulk = system.spawn("bulk", Bulk, (ctx) => {
      const handlers = {
        take: (n: number) => handle(n, "take"),
        also: (n: number) => handle(n, "also"),
      } as { take: (n: number) => void; also: (n: number) => void }; // What is returned is waited for, if it can be.
      const handle = (n: number, operation: string): unknown => {
        seen.push(operation === operationOf(n) ? n : -3);
        if (n % 5 === 0) audits.push(router.audit()); // Not always: to look is to count.
        switch (plan[n]) {
          case "throw":
            throw new Error("failed");
          case "fail":
            throw "restart";
          case "promise":
            return Promise.resolve();
          case "message":
            seen.push(
              ctx.message.payload === n && ctx.message.type === operation && ctx.sender === undefined ? -2 : -3,
            );
            return undefined;
          case "ask":
            return ctx.ask(echo, "work");
          case "tell":
            ctx.self.tell(operationOf(plan.length + n), plan.length + n);
            return undefined;
          case "become":
            ctx.become(handlers);
            return undefined;
          case "stop":
          case "drain":
            if (n < plan.length / 2) return undefined;
            void system.stop(bulk, { drain: plan[n] === "drain" });
            bulk.tell(operationOf(-1), -1);
            break;
          case "look":
            audits.push(router.audit());
            break;
          case "stash":
            return ctx.stash();
        }
        return undefined;
      };
      return handlers;
    });
    for (let n = 0; n < plan.length; n++) bulk.tell(operationOf(n), n);
    expect(router.audit()).toMatchObject({ accepted: plan.length, queued: plan.length });
    await clock.settle();
    for (const audit of [...audits, router.audit()]) expectBalance(audit);
    const firsts = seen.filter((n) => n >= 0 && n < plan.length);
    expect(seen).not.toContain(-3); // Another message than its own.
    // A restart puts what was stashed before the rest.
    if (!plan.includes("fail")) expect(firsts).toEqual([...firsts].sort((a, b) => a - b));
    expect(seen).not.toContain(-1);
    await system.stop(bulk);
    expect(router.audit()).toMatchObject({ queued: 0, running: 0, dead: deadLetters.length });
    takeLog();
    await clock.advance(1_000); // Tells of the dead letters that were not logged one by one.
    takeLog();
  });
  await fc.assert(property, { numRuns: 150 });
}, 240_000);
