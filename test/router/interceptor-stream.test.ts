import { expect, test } from "bun:test";
import {
  type ActorStream,
  address,
  createMessage,
  drop,
  type Interceptor,
  type Message,
  ok,
  StreamError,
} from "../../src/index";
import { reasonsOf, testSystems } from "../actor/test-system";

const { createTestRouter, createTestSystem } = testSystems();

const ticks = address("ticks");
const from = (count: unknown) => createMessage(ticks, "tick", count);

/** A router with an endless producer, and what it did. */
function createTicks() {
  const made = createTestRouter();
  const events: string[] = [];
  made.router.register(ticks, async function* (message: Message) {
    try {
      for (let i = 0; i < Number(message.payload); i++) {
        events.push(`made ${i}`);
        yield i;
      }
    } finally {
      events.push("ended");
    }
  });
  return { ...made, events };
}

async function read(stream: ActorStream<unknown>, most = Number.POSITIVE_INFINITY): Promise<unknown[]> {
  const items: unknown[] = [];
  for await (const item of stream) if (items.push(item) >= most) break;
  return items;
}

const kindOf = (stream: ActorStream<unknown>): Promise<unknown> =>
  read(stream).then(
    () => "none",
    (thrown) => (thrown instanceof StreamError ? thrown.kind : thrown),
  );

async function* doubled(items: AsyncIterable<number>) {
  for await (const item of items) yield item * 2;
}

const double: Interceptor = async (_, next) => (await next()).map((items) => doubled(items as AsyncIterable<number>)); // Its producer yields numbers.

test("P12: a stream passes interceptors when it is first read, and its items come through", async () => {
  const { router, events } = createTicks();
  const patterns: string[] = [];
  router.use((message, next) => {
    patterns.push(message.pattern);
    return next({ ...message, payload: 3 });
  });
  const stream = router.stream(from(1));
  expect({ patterns, accepted: router.audit().accepted }).toEqual({ patterns: [], accepted: 0 });
  expect(await read(stream)).toEqual([0, 1, 2]);
  expect(await stream.next()).toEqual({ value: undefined, done: true });
  expect(patterns).toEqual(["stream"]);
  expect(events.at(-1)).toBe("ended");
  expect(router.audit()).toMatchObject({ accepted: 1, handled: 1 });
});

test("P12: an interceptor may change the items, and the producer stays within its credit", async () => {
  const { router, events, clock } = createTicks();
  router.use(double);
  const stream = router.stream(from(100), { credit: 2 });
  expect(await stream.next()).toEqual({ value: 0, done: false });
  await clock.settle();
  expect(events.length).toBeLessThanOrEqual(4);
  expect(await stream.next()).toEqual({ value: 2, done: false });
  await stream.return();
  await clock.settle();
  expect(events.at(-1)).toBe("ended");
});

for (const [name, interceptor] of [
  ["lets the items through", (_, next) => next()],
  ["changes them", double],
  [
    "answers otherwise",
    async (_, next) => {
      await next();
      return ok([7, 8, 9]);
    },
  ],
] as const satisfies [string, Interceptor][]) {
  test(`P12: leaving the loop ends the producer when an interceptor ${name}`, async () => {
    const { router, events, clock } = createTicks();
    router.use(interceptor);
    expect(await read(router.stream(from(1_000)), 2)).toHaveLength(2);
    await clock.settle();
    expect(events.at(-1)).toBe("ended");
    expect(router.audit()).toMatchObject({ accepted: 1, handled: 1, running: 0 });
  });
}

test("P12: a stream that is left in the same turn, or in an interceptor, is not produced", async () => {
  const { router, events, clock, deadLetters } = createTicks();
  const gate = Promise.withResolvers<void>();
  router.use(async (_, next) => {
    await gate.promise;
    return next();
  });
  const stream = router.stream(from(3));
  const waiting = stream.next();
  await clock.settle();
  await stream.return();
  gate.resolve();
  expect(await waiting).toEqual({ value: undefined, done: true });
  await clock.settle();
  expect(events).toEqual([]);
  expect(reasonsOf(deadLetters)).toEqual(["cancelled"]);
  expect(router.audit()).toMatchObject({ accepted: 1, dead: 1 });
  const unread = router.stream(from(3));
  await unread.return();
  expect(await unread.next()).toEqual({ value: undefined, done: true });
  expect(router.audit().accepted).toBe(1);
});

test("P12: items that come after their reader left are not read, and are no late reply", async () => {
  const { router, clock, deadLetters } = createTicks();
  const gate = Promise.withResolvers<void>();
  router.use(async () => {
    await gate.promise;
    return ok([1]);
  });
  const stream = router.stream(from(3));
  const waiting = stream.next();
  await stream.return();
  gate.resolve();
  expect(await waiting).toEqual({ value: undefined, done: true });
  await clock.settle();
  expect(reasonsOf(deadLetters)).toEqual(["cancelled"]);
});

test("P12: a stream is answered with an iterable, dropped, or failed, and each ends the loop with its kind", async () => {
  const { router, events, deadLetters } = createTicks();
  async function* three() {
    yield 3;
  }
  const answers: unknown[] = [ok([1, 2]), ok(three()), ok(7), drop("why"), undefined];
  router.use((() => answers.shift()) as unknown as Interceptor);
  expect(await read(router.stream(from(1)))).toEqual([1, 2]);
  expect(await read(router.stream(from(1)))).toEqual([3]);
  expect(await kindOf(router.stream(from(1)))).toBe("handler-failed");
  expect(await kindOf(router.stream(from(1)))).toBe("cancelled");
  expect(await kindOf(router.stream(from(1)))).toBe("handler-failed");
  expect(events).toEqual([]);
  expect(reasonsOf(deadLetters)).toEqual(["dropped"]);
  expect(router.audit()).toMatchObject({ accepted: 5, handled: 3, failed: 1, dead: 1 });
});

test("P12: items that an interceptor fails to make end the loop with `handler-failed`, and the producer", async () => {
  const { router, events, clock } = createTicks();
  const cause = new Error("broken");
  router.use(async (_, next) =>
    (await next()).map(async function* (items) {
      for await (const item of items as AsyncIterable<number>) {
        if (item === 1) throw cause;
        yield item;
      }
    }),
  );
  const stream = router.stream(from(100));
  expect(await stream.next()).toEqual({ value: 0, done: false });
  const thrown = await stream.next().catch((error) => error);
  expect(thrown).toBeInstanceOf(StreamError);
  expect(thrown).toMatchObject({ kind: "handler-failed", cause });
  expect(await stream.next()).toEqual({ value: undefined, done: true });
  await clock.settle();
  expect(events.at(-1)).toBe("ended");
});

test("P6: a stream to nobody, or of another pattern, ends with its kind; next() gives it as a value", async () => {
  const { system, router } = createTestSystem();
  const given: unknown[] = [];
  router.use(async (_, next) => {
    const items = await next();
    given.push(items.isErr() && items.error.kind);
    return items;
  });
  expect(await kindOf(router.stream(from(1)))).toBe("no-recipient");
  router.register(ticks, () => 1);
  expect(await kindOf(router.stream(from(1)))).toBe("handler-failed");
  await system.shutdown();
  expect(given).toEqual(["no-recipient", false]);
});

test("P6: the timeout and the signal of a stream hold in interceptors, too", async () => {
  const { router, clock, deadLetters } = createTicks();
  const remove = router.use(() => new Promise(() => undefined));
  const byTime = kindOf(router.stream(from(1), { timeout: 20 }));
  await clock.advance(20);
  expect(await byTime).toBe("timeout");
  const abort = new AbortController();
  const bySignal = kindOf(router.stream(from(1), { signal: abort.signal }));
  await clock.settle();
  abort.abort();
  expect(await bySignal).toBe("cancelled");
  remove();
  expect(reasonsOf(deadLetters)).toEqual(["timeout", "cancelled"]);
  expect(await read(router.stream(from(2)))).toEqual([0, 1]);
});

test("P9: an interceptor's items that fail to be left are logged", async () => {
  const { router, clock, takeLog } = createTicks();
  const cause = new Error("broken");
  router.use(() =>
    ok(
      (function* () {
        try {
          yield 1;
        } finally {
          // biome-ignore lint/correctness/noUnsafeFinally: this is what is tested.
          throw cause;
        }
      })(),
    ),
  );
  expect(await read(router.stream(from(1)), 1)).toEqual([1]);
  await clock.settle();
  expect(takeLog()).toEqual([expect.objectContaining({ level: "error", details: { address: ticks, cause } })]);
});
