import { expect, test } from "bun:test";
import { defineProtocol, StreamError, type StreamOptions, Type } from "../../src/index";
import { testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const Busy = defineProtocol("busy", {
  ticks: { stream: Type.Number() },
  waits: { stream: Type.Number() },
  slow: { reply: Type.Number() },
});
const MINUTES = 60_000;

/** An actor that streams without end, and what its producers came to. */
function setUp() {
  const made = createTestSystem({ askTimeout: Number.POSITIVE_INFINITY });
  const seen = { ended: 0, aborted: 0 };
  const source = made.system.spawn("busy", Busy, (ctx) => ({
    async *ticks() {
      ctx.onAbort(() => seen.aborted++);
      try {
        for (let i = 0; ; i++) yield i;
      } finally {
        seen.ended++;
      }
    },
    async *waits() {
      yield 1;
      await new Promise<void>((resolve) => made.clock.setTimer(resolve, 60 * MINUTES));
      yield 2;
    },
    slow: () => 1,
  }));
  return { ...made, source, seen };
}

for (const [options, time] of [
  [{}, 5 * MINUTES],
  [{ abandonedAfter: 1_000 }, 1_000],
  [{ abandonedAfter: 1_000, credit: 1 }, 1_000],
] as const satisfies readonly (readonly [StreamOptions, number])[]) {
  test(`P12: a reader that never comes back is given up after ${time} ms, with ${JSON.stringify(options)}`, async () => {
    const { source, seen, clock } = setUp();
    const reader = source.stream("ticks", options);
    await reader.next();
    const behind = source.ask("slow");
    await clock.advance(time - 1);
    expect(seen).toEqual({ ended: 0, aborted: 0 });
    await clock.advance(1);
    expect(seen).toEqual({ ended: 1, aborted: 1 });
    expect((await behind)._unsafeUnwrap()).toBe(1);
    expect(clock.timers).toBe(0);
    const late = await reader.next().then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(late).toBeInstanceOf(StreamError);
    expect(late).toMatchObject({
      kind: "cancelled",
      message:
        `"ticks" to @(busy) was given up: its reader read nothing for ${time} ms; read sooner, or stream with a longer ` +
        "abandonedAfter.",
    });
    expect(await reader.next()).toEqual({ value: undefined, done: true });
  });
}

test("P12: a reader that takes long over each item is not given up, however few it reads at a time", async () => {
  const { source, seen, clock } = setUp();
  const reader = source.stream("ticks", { abandonedAfter: 1_000 });
  const read: unknown[] = [];
  for (let i = 0; i < 40; i++) {
    read.push((await reader.next()).value);
    await clock.advance(i % 3 === 0 ? 740 : 10);
  }
  expect(read).toEqual(Array.from({ length: 40 }, (_, i) => i));
  expect(seen).toEqual({ ended: 0, aborted: 0 });
  await clock.advance(1_250); // At most a quarter late.
  expect(seen).toEqual({ ended: 1, aborted: 1 });
});

test("P12: a reader that waits for its producer is not given up", async () => {
  const { source, clock } = setUp();
  const reader = source.stream("waits", { abandonedAfter: 1_000 });
  expect((await reader.next()).value).toBe(1);
  const next = reader.next();
  await clock.advance(60 * MINUTES);
  expect((await next).value).toBe(2);
  await reader.return();
  await clock.settle();
});

test("P12: a reader is given up never where it says Infinity, nor in a handler, which ends it", async () => {
  const { system, source, seen, clock } = setUp();
  const Outer = defineProtocol("outer", { run: { reply: Type.Number() } });
  const outer = system.spawn("outer", Outer, (ctx) => ({
    async run() {
      const reader = ctx.stream(source, "ticks");
      await reader.next();
      await new Promise<void>((resolve) => clock.setTimer(resolve, 20 * MINUTES));
      return Number((await reader.next()).value);
    },
  }));
  const run = outer.ask("run");
  await clock.advance(20 * MINUTES);
  expect((await run)._unsafeUnwrap()).toBe(1);
  expect(seen.ended).toBe(1);
  const reader = source.stream("ticks", { abandonedAfter: Number.POSITIVE_INFINITY });
  await reader.next();
  await clock.advance(600 * MINUTES);
  expect((await reader.next()).value).toBe(1);
  expect(clock.timers).toBe(0);
  await reader.return();
  await clock.settle();
});

test("P6: a stream that waits for its reader keeps no process alive", async () => {
  const { source, clock } = setUp();
  const reader = source.stream("ticks");
  await reader.next();
  await clock.settle();
  expect({ held: clock.heldTimers, set: clock.timers }).toEqual({ held: 0, set: 1 });
  await reader.return();
  await clock.settle();
  expect(clock.timers).toBe(0);
});

test("P12: an abandonedAfter that is no time throws at once", () => {
  const { source } = setUp();
  for (const abandonedAfter of [0, -1, Number.NaN, "1" as unknown as number]) {
    expect(() => source.stream("ticks", { abandonedAfter })).toThrow(RangeError);
  }
});

for (const concurrency of [1, 2]) {
  test(`P12: an ask that times out behind a stream names it, with concurrency ${concurrency}`, async () => {
    const { system, clock, takeLog } = createTestSystem();
    const gate = Promise.withResolvers<void>();
    const ref = system.spawn(
      "busy",
      Busy,
      () => ({
        async *ticks() {
          for (let i = 0; ; i++) yield i;
        },
        *waits() {},
        async slow() {
          await gate.promise;
          return 1;
        },
      }),
      { concurrency },
    );
    const readers = Array.from({ length: concurrency }, () => ref.stream("ticks"));
    const first = readers[0]?.next(); // Its slot is the only one, or one of two.
    await first;
    if (concurrency === 2) {
      const beside = ref.ask("slow", { timeout: 10 });
      await clock.advance(10);
      expect((await beside)._unsafeUnwrapErr().message).not.toContain("stream"); // It was being handled.
      gate.resolve();
      await clock.settle();
      takeLog(); // Of its late reply.
    }
    await readers[1]?.next();
    const behind = ref.ask("slow", { timeout: 20 });
    await clock.advance(20);
    expect((await behind)._unsafeUnwrapErr()).toMatchObject({
      kind: "timeout",
      timeout: 20,
      message:
        '"slow" to @(busy) got no reply within 20 ms: it waited behind the stream "ticks", which occupies the actor until ' +
        "it ends; read that stream to its end or leave it, or spawn the actor with a concurrency above 1.",
    });
    for (const reader of readers) await reader.return();
    await clock.settle();
  });
}
