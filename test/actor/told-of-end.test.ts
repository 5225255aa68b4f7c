import { expect, test } from "bun:test";
import { type AskError, type AskResult, defineProtocol, StreamError, Type } from "../../src/index";
import { testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const Work = defineProtocol("work", {
  work: { payload: Type.Number(), reply: Type.Number() },
  quick: { reply: Type.Number() },
});

const kindOf = (answer: AskResult): string => (answer.isOk() ? "ok" : answer.error.kind);

/** What a handler that was given up may throw, and whether that says no more than that it was given up. */
const THROWN: Record<
  string,
  { readonly isGivingUp: boolean; readonly from: (signal: AbortSignal, lost: unknown) => unknown }
> = {
  "the signal's reason": { isGivingUp: true, from: (signal) => signal.reason },
  "an AbortError": { isGivingUp: true, from: () => new DOMException("left", "AbortError") },
  "the error of its ask": { isGivingUp: true, from: (_, lost) => lost },
  "the error of a stream": { isGivingUp: true, from: (_, lost) => new StreamError(lost as AskError) }, // That of an ask.
  "an error that the reason caused": { isGivingUp: true, from: ({ reason }) => new Error("no", { cause: reason }) },
  "an error of its own": { isGivingUp: false, from: () => new TypeError("a mistake") },
  "an error that another caused": { isGivingUp: false, from: () => new Error("no", { cause: new TypeError("why") }) },
  "an error that caused itself": {
    isGivingUp: false,
    from: () => {
      const error = new Error("round");
      error.cause = error;
      return error;
    },
  },
  "a value that refuses to be looked at": {
    isGivingUp: false,
    from: () =>
      new Proxy(
        {},
        {
          getPrototypeOf() {
            throw new Error("no look");
          },
        },
      ),
  },
  nothing: { isGivingUp: false, from: () => undefined },
};

for (const [what, { isGivingUp, from }] of Object.entries(THROWN)) {
  test(`P9: of a handler that was told that its asker gave up, ${what} is ${isGivingUp ? "no failure" : "logged and published, and restarts nothing"}`, async () => {
    const { system, clock, takeLog, events } = createTestSystem({ supervision: { limit: 0, beyondLimit: "stop" } });
    let made = 0;
    const inner = system.spawn("inner", Work, () => ({ work: () => new Promise<number>(() => {}), quick: () => 1 }), {
      concurrency: 9,
    });
    const ref = system.spawn("worker", Work, (ctx) => {
      made++;
      return {
        async work() {
          const { signal } = ctx;
          const reply = await ctx.ask(inner, "work", 0);
          throw from(signal, reply.isErr() ? reply.error : "a reply");
        },
        quick: () => 1,
      };
    });
    for (let i = 0; i < 2; i++) {
      const asked = ref.ask("work", i, { timeout: 10 });
      await clock.advance(10);
      expect(kindOf(await asked)).toBe("timeout");
      await clock.settle();
    }
    const failures = events.flatMap((event) => (event.kind === "failed" ? [event.directive] : []));
    expect(failures).toEqual(isGivingUp ? [] : ["resume", "resume"]);
    expect(takeLog().map(({ level }) => level)).toEqual(isGivingUp ? [] : ["warn", "warn"]);
    expect([made, kindOf(await ref.ask("quick"))]).toEqual([1, "ok"]);
    await Promise.all([system.shutdown({ timeout: 1 }), clock.advance(1)]);
    takeLog(); // What inner was asked never ends.
  });
}
