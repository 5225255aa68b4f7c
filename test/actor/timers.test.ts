import { expect, test } from "bun:test";
import { type Context, defineProtocol, type Ref, type SignaturesOf, Type } from "../../src/index";
import { expectBalance, type TestOptions, type TestSystem, testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const Work = defineProtocol("work", { note: { payload: Type.String() }, hold: {}, fail: {} });
type Work = SignaturesOf<typeof Work>;

interface Timed {
  readonly test: TestSystem;
  readonly ref: Ref<Work>;
  readonly ctx: Context<Work>;
  /** What happened, and when. */
  readonly seen: string[];
  readonly note: (text: string) => void;
  readonly open: () => void;
}

function spawnTimed(options: TestOptions = {}, more: Parameters<TestSystem["system"]["spawn"]>[3] = {}): Timed {
  const test = createTestSystem(options);
  const seen: string[] = [];
  const note = (text: string): void => {
    expectBalance(test.router.audit());
    seen.push(`${test.clock.monotonicTime()} ${text}`);
  };
  const gate = Promise.withResolvers<void>();
  let ctx: Context<Work> | undefined;
  const ref = test.system.spawn(
    "timed",
    Work,
    (own) => {
      ctx = own;
      return {
        note,
        hold: () => gate.promise,
        fail() {
          throw new Error("broken");
        },
      };
    },
    more,
  );
  return { test, ref, ctx: ctx as Context<Work>, seen, note, open: gate.resolve };
}

test("once: calls back once, after its delay, in the actor's turn and behind what waits", async () => {
  const { test, ref, ctx, seen, note } = spawnTimed();
  ctx.timers.once("t", 10, () => note("once"));
  expect(ctx.timers.has("t")).toBe(true);
  await test.clock.advance(9);
  test.clock.setTimer(() => ref.tell("note", "before"), 1);
  await test.clock.advance(1);
  await test.clock.advance(100);
  expect(seen.toSorted()).toEqual(["10 before", "10 once"]);
  expect(ctx.timers.has("t")).toBe(false);
  expect(test.clock.timers).toBe(0);
  expect(test.router.audit()).toMatchObject({ accepted: 1, handled: 1 }); // A tick is no message.
});

test("P3: a timer waits for the handler that runs, and messages wait for its callback", async () => {
  const { test, ref, ctx, seen, note, open } = spawnTimed();
  const gate = Promise.withResolvers<void>();
  ctx.timers.once("t", 10, async () => {
    note("begins");
    await gate.promise;
    note("ends");
  });
  ref.tell("hold");
  await test.clock.advance(15);
  expect(seen).toEqual([]);
  open();
  await test.clock.settle();
  ref.tell("note", "message");
  await test.clock.advance(5);
  gate.resolve();
  await test.clock.settle();
  expect(seen).toEqual(["15 begins", "20 ends", "20 message"]);
});

test("fixed delay: counts from when the last callback was done, its promise included", async () => {
  const { test, ctx, seen, note } = spawnTimed();
  let gates = 0;
  ctx.timers.fixedDelay("t", 10, async () => {
    note("begins");
    if (++gates === 2) await new Promise<void>((resolve) => test.clock.setTimer(resolve, 25));
  });
  await test.clock.advance(60);
  expect(seen).toEqual(["10 begins", "20 begins", "55 begins"]);
  await test.system.stop(ctx.self);
});

for (const [how, callback] of Object.entries({
  throws: () => {
    throw new Error("broken");
  },
  rejects: () => Promise.reject(new Error("broken")),
})) {
  test(`P9: a repeated timer whose callback ${how} goes on where its actor is resumed`, async () => {
    const { test, ctx, seen, note } = spawnTimed();
    ctx.timers.fixedDelay("delay", 10, () => {
      note("delay");
      return callback();
    });
    ctx.timers.fixedRate("rate", 15, () => {
      note("rate");
      return callback();
    });
    await test.clock.advance(30);
    expect(seen.toSorted()).toEqual(["10 delay", "15 rate", "20 delay", "30 delay", "30 rate"]);
    expect(test.takeLog()).toHaveLength(5);
    expect(test.system.inspect()).toMatchObject([{ failed: 5, handled: 0 }]);
    await test.system.stop(ctx.self);
  });
}

test("fixed rate: comes every period; where the actor is late, one call stands for several and their sum is right", async () => {
  const { test, ref, ctx, seen, note, open } = spawnTimed();
  let sum = 0;
  ctx.timers.fixedRate("t", 10, (ticks) => {
    sum += ticks;
    note(`${ticks}`);
  });
  await test.clock.advance(25);
  ref.tell("hold");
  await test.clock.advance(40); // To 65: due at 30, 40, 50 and 60.
  expect(seen).toEqual(["10 1", "20 1"]);
  open();
  await test.clock.settle();
  await test.clock.advance(15);
  expect(seen).toEqual(["10 1", "20 1", "65 4", "70 1", "80 1"]);
  expect(sum).toBe(8);
  await test.system.stop(ref);
});

test("fixed rate: a clock that jumps is caught up with, by one call", async () => {
  const { test, ctx, seen, note } = spawnTimed();
  const { clock } = test;
  let jump = 0;
  const real = clock.monotonicTime.bind(clock);
  Object.assign(clock, { monotonicTime: () => real() + jump });
  ctx.timers.fixedRate("t", 10, (ticks) => note(`${ticks}`));
  jump = 42; // The process slept.
  await clock.advance(20);
  expect(seen).toEqual(["52 5", "60 1"]);
  await test.system.stop(ctx.self);
});

test("fixed rate: a period that is no whole number does not drift", async () => {
  const { test, ctx } = spawnTimed();
  let sum = 0;
  ctx.timers.fixedRate("t", 1.7, (ticks) => {
    sum += ticks;
  });
  for (let i = 0; i < 100; i++) await test.clock.advance(1.7);
  expect(sum).toBeGreaterThanOrEqual(99);
  expect(sum).toBeLessThanOrEqual(100);
  await test.system.stop(ctx.self);
});

test("a timer replaces that of the same key, whatever its kind, also where it is due and waits in the mailbox", async () => {
  const { test, ref, ctx, seen, note, open } = spawnTimed();
  ctx.timers.once("t", 10, () => note("replaced"));
  ctx.timers.fixedRate("t", 5, () => note("replaced while due"));
  ctx.timers.once("u", 5, () => note("other"));
  ref.tell("hold");
  await test.clock.advance(7);
  ctx.timers.once("t", 3, () => note("last"));
  open();
  await test.clock.advance(100);
  expect(seen).toEqual(["7 other", "10 last"]);
});

test("cancel: ends a timer, also one that is due; false when there is none", async () => {
  const { test, ref, ctx, seen, note, open } = spawnTimed();
  ctx.timers.once("a", 10, () => note("a"));
  ctx.timers.fixedDelay("b", 10, () => note("b"));
  ctx.timers.fixedRate("c", 10, () => note("c"));
  ref.tell("hold");
  await test.clock.advance(25);
  expect(["a", "b", "c", "d"].map((key) => [ctx.timers.has(key), ctx.timers.cancel(key), ctx.timers.has(key)])).toEqual(
    [
      [true, true, false],
      [true, true, false],
      [true, true, false],
      [false, false, false],
    ],
  );
  open();
  await test.clock.advance(100);
  expect(seen).toEqual([]);
  expect(test.clock.timers).toBe(0);
});

test("a callback may cancel its own timer, and set it anew", async () => {
  const { test, ctx, seen, note } = spawnTimed();
  for (const kind of ["fixedDelay", "fixedRate"] as const) {
    let count = 0;
    ctx.timers[kind](kind, 10, () => {
      note(kind);
      if (++count === 2) ctx.timers.cancel(kind);
    });
  }
  const again = (): void => {
    note("once");
    if (seen.length < 8) ctx.timers.once("once", 10, again);
  };
  ctx.timers.once("once", 10, again);
  await test.clock.advance(100);
  expect(seen.toSorted()).toEqual([
    "10 fixedDelay",
    "10 fixedRate",
    "10 once",
    "20 fixedDelay",
    "20 fixedRate",
    "20 once",
    "30 once",
    "40 once",
  ]);
  expect(test.clock.timers).toBe(0);
});

for (const how of ["stop", "drain", "restart", "shutdown"] as const) {
  test(`P10: timers die with a ${how}, due ones and a callback that runs included`, async () => {
    const { test, ref, ctx, seen, note } = spawnTimed({ supervision: {} });
    const gate = Promise.withResolvers<void>();
    ctx.timers.once("once", 10, () => note("once"));
    ctx.timers.fixedRate("rate", 10, () => note("rate"));
    ctx.timers.receiveTimeout(10, () => note("receive"));
    ctx.timers.fixedDelay("delay", 5, async () => {
      note("delay");
      await gate.promise;
    });
    await test.clock.advance(30);
    const { system } = test;
    if (how === "restart") ref.tell("fail");
    else if (how === "shutdown") void system.shutdown();
    else void system.stop(ref, { drain: how === "drain" });
    await test.clock.settle();
    gate.resolve();
    await test.clock.settle();
    const before = [...seen];
    await test.clock.advance(100);
    expect(seen).toEqual(before);
    if (how === "stop" || how === "shutdown") expect(seen).toEqual(["5 delay"]);
    expect(test.clock.timers).toBe(0);
    test.takeLog();
  });
}

test("P13: a shutdown abandons a timer's callback that never ends, and leaves no timer", async () => {
  const { test, ctx } = spawnTimed();
  ctx.timers.fixedDelay("t", 5, () => new Promise(() => {}));
  await test.clock.advance(5);
  const shutdown = test.system.shutdown({ timeout: 10 });
  await test.clock.advance(10);
  expect((await shutdown).unfinished).toHaveLength(1);
  await test.clock.settle();
  expect(test.clock.timers).toBe(0);
  test.takeLog();
});

test("receive timeout: comes when nothing has come for so long, again and again", async () => {
  const { test, ref, ctx, seen, note } = spawnTimed();
  ref.tell("note", "message");
  ctx.timers.receiveTimeout(10, () => note("silence"));
  await test.clock.advance(25);
  ref.tell("note", "message");
  await test.clock.advance(9);
  ref.tell("note", "message");
  await test.clock.advance(10);
  expect(seen).toEqual(["0 message", "10 silence", "20 silence", "25 message", "34 message", "44 silence"]);
  ctx.timers.receiveTimeout(null);
  ref.tell("note", "end");
  await test.clock.advance(100);
  expect(seen.at(-1)).toBe("44 end");
  expect(test.clock.timers).toBe(0);
});

test("receive timeout: another timer is no silence, and a handler that waits is none either", async () => {
  const { test, ref, ctx, seen, note, open } = spawnTimed();
  ctx.timers.receiveTimeout(10, () => note("silence"));
  ctx.timers.fixedRate("t", 8, () => undefined);
  await test.clock.advance(50);
  expect(seen).toEqual([]);
  ctx.timers.cancel("t");
  ref.tell("hold");
  await test.clock.advance(50);
  expect(seen).toEqual([]);
  open();
  await test.clock.advance(10);
  expect(seen).toEqual(["110 silence"]);
  await test.system.stop(ref);
});

test("receive timeout: one that is due is ended by a message before it, and by one that sets it anew", async () => {
  const { test, ref, ctx, seen, note, open } = spawnTimed();
  ctx.timers.receiveTimeout(10, () => note("silence"));
  await test.clock.advance(9);
  test.clock.setTimer(() => {
    ref.tell("hold");
    ctx.timers.receiveTimeout(30, () => note("new"));
  }, 1);
  await test.clock.advance(1);
  open();
  await test.clock.advance(29);
  const early = seen.filter((line) => line.endsWith("new"));
  expect(early).toEqual([]);
  await test.clock.advance(1);
  expect(seen.at(-1)).toBe("40 new");
  await test.system.stop(ref);
});

test("receive timeout: `null` ends one that is due and waits in the mailbox too", async () => {
  const { test, ctx, seen, note } = spawnTimed();
  const endAt = (name: string): Ref<Work> =>
    test.system.spawn(name, Work, (own) => {
      own.timers.once("t", 10, () => ctx.timers.receiveTimeout(null));
      return { note() {}, hold() {}, fail() {} };
    });
  endAt("before"); // One of these has its turn before the timed actor has, whatever the order of timers that are due at once.
  ctx.timers.receiveTimeout(10, () => note("silence"));
  endAt("after");
  await test.clock.advance(50);
  expect(seen).toEqual([]);
});

test("receive timeout: with several handlers at once it is set once, however often the actor becomes idle", async () => {
  const test = createTestSystem();
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const seen: number[] = [];
  let next = 0;
  const ref = test.system.spawn(
    "timed",
    Work,
    (ctx) => {
      ctx.timers.receiveTimeout(10, () => seen.push(test.clock.monotonicTime()));
      return { note() {}, hold: () => gates[next++]?.promise as Promise<void>, fail() {} };
    },
    { concurrency: 3 },
  );
  ref.tell("hold");
  ref.tell("hold");
  await test.clock.advance(5);
  for (const gate of gates) {
    gate.resolve();
    await test.clock.settle();
  }
  await test.clock.advance(30);
  expect(seen).toEqual([15, 25, 35]);
  await test.system.stop(ref);
  await test.clock.settle();
  expect(test.clock.timers).toBe(0);
});

test("timers refuse what they cannot do", () => {
  const { ctx } = spawnTimed();
  const call = (): void => undefined;
  for (const kind of ["once", "fixedDelay", "fixedRate"] as const) {
    for (const delay of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, "5"]) {
      expect(() => ctx.timers[kind]("t", delay as number, call)).toThrow(RangeError);
    }
    expect(() => ctx.timers[kind]("", 5, call)).toThrow(/The key of a timer is a text; got ""/);
    expect(() => ctx.timers[kind]("t", 5, undefined as never)).toThrow(/needs a function to call back; got undefined/);
    expect(ctx.timers.has("t")).toBe(false);
  }
  expect(() => ctx.timers.receiveTimeout(0, call)).toThrow(RangeError);
  expect(() => ctx.timers.receiveTimeout(5, undefined as never)).toThrow(
    /needs a function to call back; got undefined/,
  );
});

test("a refused timer leaves the one of its key as it was", async () => {
  const { test, ctx, seen, note } = spawnTimed();
  ctx.timers.once("t", 10, () => note("kept"));
  expect(() => ctx.timers.once("t", -1, () => {})).toThrow(RangeError);
  ctx.timers.receiveTimeout(10, () => {
    note("kept too");
    ctx.timers.receiveTimeout(null);
  });
  expect(() => ctx.timers.receiveTimeout(-1, () => {})).toThrow(RangeError);
  await test.clock.advance(20);
  expect(seen.toSorted()).toEqual(["10 kept", "10 kept too"]);
});

test("timers of many actors with many keys are told apart", async () => {
  const test = createTestSystem();
  const seen: string[] = [];
  const refs: Ref<Work>[] = [];
  for (let actor = 0; actor < 20; actor++) {
    refs.push(
      test.system.spawn(`timed-${actor}`, Work, (ctx) => {
        for (let key = 0; key < 20; key++) {
          ctx.timers.once(`${key}`, 10 + key, () => seen.push(`${actor}/${key}`));
          if (key % 2 === 0) ctx.timers.cancel(`${key}`);
        }
        return { note() {}, hold() {}, fail() {} };
      }),
    );
  }
  await test.clock.advance(15);
  await Promise.all(refs.slice(0, 10).map((ref) => test.system.stop(ref)));
  await test.clock.advance(100);
  expect(seen).toHaveLength(20 * 3 + 10 * 7);
});
