import { expect, test } from "bun:test";
import {
  type AskError,
  type AskResult,
  type Context,
  defineProtocol,
  type RefTo,
  type SignaturesOf,
  StreamError,
  type System,
  Type,
} from "../../src/index";
import { reasonsOf, testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const Inner = defineProtocol("inner", {
  hang: { reply: Type.String() },
  quick: { reply: Type.String() },
  items: { stream: Type.Number() },
});
const Outer = defineProtocol("outer", { run: { reply: Type.String() }, other: { reply: Type.String() } });

type Run = (ctx: Context<SignaturesOf<typeof Outer>>) => unknown;
const FOR_EVER = { timeout: Number.POSITIVE_INFINITY };
const kindOf = (answer: AskResult): string => (answer.isOk() ? "ok" : answer.error.kind);

/** An actor that is asked and read by another one, and tells what it is told. */
function createInner(system: System, concurrency = 1) {
  const begun: string[] = [];
  const aborted: string[] = [];
  const gate = Promise.withResolvers<string>();
  const ref = system.spawn(
    "inner",
    Inner,
    (ctx) => {
      const begin = (operation: string): void => {
        begun.push(operation);
        ctx.onAbort(() => aborted.push(operation));
      };
      return {
        hang() {
          begin("hang");
          ctx.onAbort(() => gate.reject(new DOMException("ended early", "AbortError")));
          return gate.promise;
        },
        quick() {
          begin("quick");
          return "quick";
        },
        async *items() {
          begin("items");
          for (let i = 0; ; i++) yield i;
        },
      };
    },
    { concurrency },
  );
  return { ref, begun, aborted };
}

/** An actor whose `run` is up to the test; its asks are noted. */
function createOuter(system: System, run: Run, concurrency = 1): RefTo<typeof Outer> {
  return system.spawn("outer", Outer, (ctx) => ({ run: () => run(ctx) as string, other: () => "other" }), {
    concurrency,
  });
}

for (const concurrency of [1, 4]) {
  test(`P7: a handler that fails ends what it still waits for, with concurrency ${concurrency}`, async () => {
    const { system, clock, takeLog } = createTestSystem();
    const inner = createInner(system);
    const told: AskResult[] = [];
    const outer = createOuter(
      system,
      async (ctx) => {
        const asked = ctx.ask(inner.ref, "hang", FOR_EVER).then((answer) => told.push(answer));
        await Promise.all([asked, new Promise((_, reject) => clock.setTimer(() => reject(new Error("no")), 5))]);
      },
      concurrency,
    );
    const answer = outer.ask("run");
    await clock.advance(5);
    expect(kindOf(await answer)).toBe("handler-failed");
    expect(told.map(kindOf)).toEqual(["cancelled"]);
    expect(inner.aborted).toEqual(["hang"]);
    const error = told[0]?._unsafeUnwrapErr();
    expect(error?.message).toBe(
      '"hang" to @(inner) was given up: the handler that waited for it has ended; ' +
        "await it there, or use the reference itself (ref.ask, ref.stream).",
    );
    expect(takeLog()).toEqual([]); // The inner handler ended as it was told to.
  });

  test(`P7: a handler that replies ends what it did not wait for, with concurrency ${concurrency}`, async () => {
    const { system, clock } = createTestSystem();
    const inner = createInner(system);
    const told: AskResult[] = [];
    const outer = createOuter(
      system,
      async (ctx) => {
        void ctx.ask(inner.ref, "hang", FOR_EVER).then((answer) => told.push(answer));
        await new Promise<void>((resolve) => clock.setTimer(resolve, 1));
        void ctx.ask(inner.ref, "quick", FOR_EVER).then((answer) => told.push(answer));
        return "done";
      },
      concurrency,
    );
    const answer = outer.ask("run");
    await clock.advance(1);
    expect((await answer)._unsafeUnwrap()).toBe("done");
    expect(told.map(kindOf)).toEqual(["cancelled", "cancelled"]);
    expect({ begun: inner.begun, aborted: inner.aborted }).toEqual({ begun: ["hang"], aborted: ["hang"] });
  });
}

test("P7: an ask that a synchronous handler leaves is given up before it is handled", async () => {
  const { system, clock, deadLetters } = createTestSystem();
  const inner = createInner(system);
  const outer = createOuter(system, (ctx) => {
    void ctx.ask(inner.ref, "quick");
    return "done";
  });
  expect((await outer.ask("run"))._unsafeUnwrap()).toBe("done");
  await clock.settle();
  expect(inner.begun).toEqual([]);
  expect(reasonsOf(deadLetters)).toEqual(["cancelled"]);
});

test("P7: the loser of a race is given up with its handler, and its late reply is not logged", async () => {
  const { system, clock, deadLetters } = createTestSystem();
  const gate = Promise.withResolvers<string>();
  const slow = system.spawn("slow", Outer, () => ({ run: () => gate.promise, other: () => "" }));
  const inner = createInner(system);
  const outer = createOuter(system, async (ctx) => {
    const first = await Promise.race([ctx.ask(slow, "run"), ctx.ask(inner.ref, "quick")]);
    return first.unwrapOr("");
  });
  expect((await outer.ask("run"))._unsafeUnwrap()).toBe("quick");
  gate.resolve("late");
  await clock.settle();
  expect(reasonsOf(deadLetters)).toEqual(["late-reply"]);
});

for (const way of ["stash", "forward"] as const) {
  test(`P7: a handler that passes its message on by ${way} ends what it waits for`, async () => {
    const { system, clock, takeLog } = createTestSystem();
    const inner = createInner(system);
    const next = system.spawn("next", Outer, () => ({ run: () => "next", other: () => "" }));
    const told: string[] = [];
    let isPassedOn = false;
    const outer = createOuter(system, (ctx) => {
      if (isPassedOn) return "again";
      isPassedOn = true;
      void ctx.ask(inner.ref, "hang", FOR_EVER).then((answer) => told.push(kindOf(answer)));
      ctx.timers.once("unstash", 1, () => ctx.unstash());
      return way === "stash" ? ctx.stash() : ctx.forward(next);
    });
    const answer = outer.ask("run", FOR_EVER);
    await clock.advance(1);
    expect((await answer)._unsafeUnwrap()).toBe(way === "stash" ? "again" : "next");
    expect({ told, begun: inner.begun }).toEqual({ told: ["cancelled"], begun: [] });
    expect(takeLog()).toEqual([]);
  });
}

test("P7: what a handler waits for ends when a restart abandons it, and so does what it asks afterwards", async () => {
  const { system, clock, takeLog } = createTestSystem({ hookTimeout: 50, supervision: { decide: () => "restart" } });
  const inner = createInner(system);
  const told: AskError[] = [];
  const gate = Promise.withResolvers<void>();
  let made = 0;
  const outer = system.spawn(
    "outer",
    Outer,
    (ctx) => {
      made++;
      return {
        async run() {
          const first = await ctx.ask(inner.ref, "hang", FOR_EVER);
          if (first.isErr()) told.push(first.error);
          await gate.promise; // It does not end.
          const second = await ctx.ask(inner.ref, "quick", FOR_EVER);
          if (second.isErr()) told.push(second.error);
          const items = ctx.stream(inner.ref, "items");
          await items.next().catch((thrown) => thrown instanceof StreamError && told.push(thrown.error));
          return "late";
        },
        other() {
          throw new Error("it fails");
        },
      };
    },
    { concurrency: 2 },
  );
  const answer = outer.ask("run", FOR_EVER);
  await clock.settle();
  expect(kindOf(await outer.ask("other"))).toBe("handler-failed");
  await clock.advance(49);
  expect({ made, told, aborted: inner.aborted }).toEqual({ made: 1, told: [], aborted: [] });
  await clock.advance(1);
  expect({ made, kinds: told.map(({ kind }) => kind), aborted: inner.aborted }).toEqual({
    made: 2,
    kinds: ["cancelled"],
    aborted: ["hang"],
  });
  expect(told[0]?.message).toBe('"hang" to @(inner) was given up with the message that it served (stopped).');
  expect(kindOf(await answer)).toBe("stopped");
  gate.resolve();
  await clock.settle();
  expect(told.map(({ kind }) => kind)).toEqual(["cancelled", "cancelled", "cancelled"]);
  expect(inner.begun).toEqual(["hang"]);
  takeLog(); // The failure, and what was abandoned.
});

test("P7: what a handler waits for ends when a shutdown abandons it", async () => {
  const { system, clock, takeLog } = createTestSystem();
  const inner = createInner(system);
  const told: string[] = [];
  const outer = createOuter(system, async (ctx) => {
    told.push(kindOf(await ctx.ask(inner.ref, "hang", FOR_EVER)));
    return "";
  });
  outer.tell("run");
  await clock.settle();
  const down = system.shutdown({ timeout: 10 });
  await clock.advance(10);
  await down;
  expect(told).toHaveLength(1);
  takeLog();
});

test("P7: a stream that a handler leaves open ends with the handler, and its actor is free", async () => {
  const { system, clock } = createTestSystem();
  const inner = createInner(system);
  const outer = createOuter(system, async (ctx) => {
    const step = await ctx.stream(inner.ref, "items").next();
    return String(step.value);
  });
  expect((await outer.ask("run"))._unsafeUnwrap()).toBe("0");
  expect((await inner.ref.ask("quick"))._unsafeUnwrap()).toBe("quick");
  expect(inner.aborted).toEqual(["items"]);
  await clock.settle();
});

test("P7: a read that waits when its handler ends is told so, and ends no process where nobody awaits it", async () => {
  const { system, clock, deadLetters } = createTestSystem();
  const hung = system.spawn("hung", Inner, () => ({
    hang: () => "",
    quick: () => "quick",
    async *items() {
      yield 1;
      await new Promise<never>(() => {});
    },
  }));
  const unhandled: unknown[] = [];
  const listener = (reason: unknown): void => void unhandled.push(reason);
  process.on("unhandledRejection", listener);
  const told: unknown[] = [];
  const outer = createOuter(system, async (ctx) => {
    const items = ctx.stream(hung, "items");
    await items.next();
    void items.next();
    void items.next().then((step) => told.push(step)); // Behind one that is told.
    return "done";
  });
  expect((await outer.ask("run"))._unsafeUnwrap()).toBe("done");
  await clock.settle();
  process.off("unhandledRejection", listener);
  expect({ unhandled, told, died: deadLetters.length }).toEqual({
    unhandled: [],
    told: [{ value: undefined, done: true }],
    died: 0,
  });
});

test("P7: a stream that is read for the first time after its handler has ended is cancelled, and not sent", async () => {
  const { system, clock } = createTestSystem();
  const inner = createInner(system);
  const kinds: string[] = [];
  const outer = createOuter(system, (ctx) => {
    const items = ctx.stream(inner.ref, "items");
    clock.setTimer(() => {
      items.next().catch((thrown) => thrown instanceof StreamError && kinds.push(thrown.kind));
    }, 1);
    return "done";
  });
  await outer.ask("run");
  await clock.advance(1);
  expect({ kinds, begun: inner.begun }).toEqual({ kinds: ["cancelled"], begun: [] });
});

test("P7: what a hook or a timer asks ends with its callback", async () => {
  const { system, clock } = createTestSystem();
  const inner = createInner(system);
  const told: string[] = [];
  system
    .spawn("outer", Outer, (ctx) => {
      const ask = async (operation: "quick" | "hang", who: string): Promise<void> => {
        const answer = await ctx.ask(inner.ref, operation, FOR_EVER);
        told.push(`${who}: ${kindOf(answer)}`);
      };
      return {
        async onStart() {
          await ask("quick", "awaited by onStart");
          void ask("hang", "left by onStart");
        },
        run: () => {
          ctx.timers.once("awaited", 1, () => ask("quick", "awaited by a timer"));
          ctx.timers.once("left", 2, () => void ask("hang", "left by a timer"));
          return "";
        },
        other: () => "",
      };
    })
    .tell("run");
  await clock.advance(2);
  expect(told).toEqual([
    "awaited by onStart: ok",
    "left by onStart: cancelled",
    "awaited by a timer: ok",
    "left by a timer: cancelled",
  ]);
});

for (const end of ["stops", "restarts"] as const) {
  test(`P7: what a factory asks, and what is asked between two messages, ends when the actor ${end}`, async () => {
    const { system, clock, takeLog } = createTestSystem({ supervision: { decide: () => "restart" } });
    const inner = createInner(system);
    const told: string[] = [];
    let made = 0;
    const ask = (who: string, ctx: Context<SignaturesOf<typeof Outer>>): void =>
      void ctx.ask(inner.ref, "hang", FOR_EVER).then((answer) => void told.push(`${who}: ${kindOf(answer)}`));
    const outer = system.spawn("outer", Outer, (ctx) => {
      if (++made === 1) {
        ask("by the factory", ctx);
        clock.setTimer(() => ask("between two messages", ctx), 1);
      }
      return {
        run: () => "run",
        other() {
          throw new Error("it fails");
        },
      };
    });
    await clock.advance(1);
    expect((await outer.ask("run"))._unsafeUnwrap()).toBe("run"); // That does not end it.
    expect(told).toEqual([]);
    if (end === "stops") await system.stop(outer);
    else await outer.ask("other");
    await clock.settle();
    expect(told.sort()).toEqual(["between two messages: cancelled", "by the factory: cancelled"]);
    expect(inner.aborted).toEqual(["hang"]);
    takeLog();
  });
}

test("P7: a handler that always waits for something remembers only what it still waits for", async () => {
  const { system, clock } = createTestSystem();
  const Keeper = defineProtocol("keeper", { keep: { payload: Type.Unknown() } });
  const gates: (() => void)[] = [];
  const keep = (): Promise<void> => new Promise((resolve) => gates.push(resolve));
  const keeper = system.spawn("keeper", Keeper, () => ({ keep }), { concurrency: 4 });
  const payloads: WeakRef<object>[] = [];
  const outer = createOuter(system, async (ctx) => {
    const ask = (): Promise<AskResult<void>> => {
      const payload = {};
      payloads.push(new WeakRef(payload));
      return ctx.ask(keeper, "keep", payload, FOR_EVER);
    };
    let before = ask();
    for (let i = 0; i < 500; i++) {
      const next = ask(); // Before the last one has come back.
      while (gates.length < 2) await new Promise<void>((resolve) => clock.macrotask(resolve));
      gates.shift()?.();
      await before;
      before = next;
    }
    gates.shift()?.();
    await new Promise<void>((resolve) => clock.setTimer(resolve, 1));
    // A WeakRef keeps its target for the job that looks at it, and one stray word on the stack keeps a chain: so, several times.
    for (let i = 0; i < 4; i++) {
      Bun.gc(true);
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    return String(payloads.filter((payload) => payload.deref() !== undefined).length);
  });
  const left = outer.ask("run");
  await clock.advance(1);
  expect(Number((await left)._unsafeUnwrap())).toBeLessThan(100); // All 501 where each is remembered.
});
