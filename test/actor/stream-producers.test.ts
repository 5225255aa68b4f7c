import { describe, expect, test } from "bun:test";
import { address, createMessage, defineProtocol, StreamError, type System, Type } from "../../src/index";
import { testSystems } from "./test-system";

const { createTestRouter, createTestSystem } = testSystems();

const Source = defineProtocol("source", { items: { stream: Type.Number() }, ping: { reply: Type.String() } });

const spawn = (system: System, items: () => Iterable<number> | AsyncIterable<number>) =>
  system.spawn("source", Source, () => ({ items, ping: () => "pong" }));

async function collect<Item>(stream: AsyncIterable<Item>): Promise<(Item | string)[]> {
  const seen: (Item | string)[] = [];
  try {
    for await (const item of stream) seen.push(item);
  } catch (thrown) {
    seen.push(thrown instanceof StreamError ? thrown.kind : String(thrown));
  }
  return seen;
}

describe("what a handler of a stream may return:", () => {
  test("a synchronous generator, which runs at most its credit ahead, and whose finally runs when it is left", async () => {
    for (const credit of [1, 2, 3, 16]) {
      const { system, clock } = createTestSystem();
      const seen = { produced: 0, ended: 0 };
      const source = spawn(system, function* () {
        try {
          for (;;) yield ++seen.produced;
        } finally {
          seen.ended++;
        }
      });
      const stream = source.stream("items", { credit });
      for (let read = 1; read <= 40; read++) {
        expect((await stream.next()).value).toBe(read);
        await clock.settle();
        expect(seen.produced - read).toBeLessThanOrEqual(credit);
        expect(seen.produced - read).toBeGreaterThanOrEqual(Math.floor(credit / 2)); // It is woken in time.
      }
      expect(seen.ended).toBe(0);
      await stream.return();
      await clock.settle();
      expect(seen.ended).toBe(1);
      expect((await source.ask("ping")).isOk()).toBe(true);
    }
  });

  test("a generator that ends its own stream is not driven on", async () => {
    const { system, clock } = createTestSystem();
    const controller = new AbortController();
    let produced = 0;
    let ended = 0;
    const source = spawn(system, function* () {
      try {
        for (;;) {
          if (++produced === 3) controller.abort("from within");
          yield produced;
        }
      } finally {
        ended++;
      }
    });
    expect(await collect(source.stream("items", { signal: controller.signal }))).toEqual([1, "cancelled"]);
    await clock.settle();
    expect([produced, ended]).toEqual([3, 1]);
  });

  test("iterables that are no generators: their return() is called once when they are left, and not at their end", async () => {
    for (const isAsync of [false, true]) {
      const { system, clock } = createTestSystem();
      let returned = 0;
      const next = (i: number): IteratorResult<number> =>
        i < 100 ? { value: i, done: false } : { value: undefined, done: true };
      const iterator = (count = 0) => ({
        next: () => (isAsync ? Promise.resolve(next(count++)) : next(count++)),
        return: () => {
          returned++;
          return isAsync ? Promise.resolve({ value: undefined, done: true }) : { value: undefined, done: true };
        },
      });
      const symbol = isAsync ? Symbol.asyncIterator : Symbol.iterator;
      // One of the two, as its symbol says.
      const source = spawn(system, () => ({ [symbol]: () => iterator() }) as unknown as Iterable<number>);
      expect(await collect(source.stream("items"))).toEqual(Array.from({ length: 100 }, (_, i) => i));
      expect(returned).toBe(0);
      for await (const item of source.stream("items")) if (item === 3) break;
      await clock.settle();
      expect(returned).toBe(1);
    }
  });

  test("an array, a set, a promise of an iterable, and promises within one, which are awaited as the language does", async () => {
    const { router, clock } = createTestRouter();
    const to = address("source");
    let result: () => unknown = () => [];
    router.register(to, () => result());
    const read = () => collect(router.stream(createMessage(to, "items", null)));
    for (const [returned, items] of [
      [
        [1, 2],
        [1, 2],
      ],
      [new Set([1, undefined, null]), [1, undefined, null]],
      [Promise.resolve([3]), [3]],
      [
        [Promise.resolve(4), 5],
        [4, 5],
      ],
      [[], []],
    ]) {
      result = () => returned;
      expect(await read()).toEqual(items as unknown[]);
    }
    result = () => [1, Promise.reject(new Error("not this one")), 3];
    expect(await read()).toEqual([1, "handler-failed"]);
    for (const nothing of [undefined, null, 7, "text", {}]) {
      result = () => nothing;
      expect(await read()).toEqual(["handler-failed"]);
    }
    await clock.settle();
    expect(router.audit()).toMatchObject({ accepted: 11, handled: 5, failed: 6 });
  });

  test("another actor's stream: leaving the outer one ends the inner one", async () => {
    const { system, clock } = createTestSystem();
    let ended = 0;
    const inner = spawn(system, async function* () {
      try {
        for (let i = 0; ; i++) yield i;
      } finally {
        ended++;
      }
    });
    const outer = system.spawn("outer", Source, (ctx) => ({
      items: () => ctx.stream(inner, "items", { credit: 2 }),
      ping: () => "pong",
    }));
    for await (const item of outer.stream("items", { credit: 2 })) if (item === 5) break;
    await clock.settle();
    expect(ended).toBe(1);
    expect((await outer.ask("ping")).isOk()).toBe(true);
    expect((await inner.ask("ping")).isOk()).toBe(true);
  });
});

test("P12: a reader that leaves while an asynchronous handler prepares: its iterable is not begun", async () => {
  const { router, clock } = createTestRouter();
  const to = address("source");
  const prepared = Promise.withResolvers<void>();
  let begun = 0;
  router.register(to, async () => {
    await prepared.promise;
    return (function* () {
      yield ++begun;
    })();
  });
  const stream = router.stream(createMessage(to, "items", null));
  const next = stream.next();
  await clock.settle();
  await stream.return();
  expect((await next).done).toBe(true);
  prepared.resolve();
  await clock.settle();
  expect(begun).toBe(0);
  expect(router.audit()).toMatchObject({ accepted: 1, handled: 1, running: 0 });
});

describe("producers that fail", () => {
  const fail = (): void => {
    throw new Error("in finally");
  };

  test("P9: a finally that throws at the end of the items fails the stream behind them", async () => {
    for (const isAsync of [false, true]) {
      const { system } = createTestSystem();
      const source = spawn(
        system,
        isAsync
          ? async function* () {
              try {
                yield 1;
              } finally {
                await null;
                fail();
              }
            }
          : function* () {
              try {
                yield 1;
              } finally {
                fail();
              }
            },
      );
      expect(await collect(source.stream("items"))).toEqual([1, "handler-failed"]);
      expect(system.router.audit()).toMatchObject({ accepted: 1, failed: 1 });
    }
  });

  test("P1, P9: a finally that throws when the reader leaves has failed, and is logged; the actor goes on", async () => {
    const { system, clock, takeLog } = createTestSystem();
    let isOver = false;
    const source = spawn(system, async function* () {
      try {
        for (let i = 0; ; i++) yield i;
      } finally {
        isOver = true;
        fail();
      }
    });
    for await (const _ of source.stream("items")) break;
    await clock.settle();
    expect(isOver).toBe(true);
    expect(takeLog()).toHaveLength(1);
    expect(system.router.audit()).toMatchObject({ accepted: 1, failed: 1, running: 0 });
    expect((await source.ask("ping")).isOk()).toBe(true);
  });

  test("P9: errors keep their kind and their cause, and come behind the items before them, read or not", async () => {
    const { system, clock } = createTestSystem();
    const cause = new RangeError("no more");
    const source = spawn(system, function* () {
      yield 1;
      yield 2;
      throw cause;
    });
    const stream = source.stream("items");
    expect((await stream.next()).value).toBe(1);
    await clock.settle(); // It has thrown by now.
    expect((await stream.next()).value).toBe(2);
    expect(await stream.next().catch((thrown) => thrown)).toMatchObject({ kind: "handler-failed", cause });
    expect((await stream.next()).done).toBe(true);
  });

  test("P12: a signal that aborts is what its reader is told, also where the producer has failed and that was not read yet", async () => {
    const { system, clock } = createTestSystem();
    const source = spawn(system, function* () {
      yield 1;
      yield 2;
      throw new RangeError("no more");
    });
    const controller = new AbortController();
    const stream = source.stream("items", { signal: controller.signal });
    expect((await stream.next()).value).toBe(1);
    await clock.settle(); // It has thrown by now.
    controller.abort();
    expect(await stream.next().catch((thrown) => thrown)).toMatchObject({ kind: "cancelled" });
  });
});

describe("reading", () => {
  test("P2: reads that are called ahead come in the order of their calls, each with its own item", async () => {
    for (const isAsync of [false, true]) {
      const { system, clock } = createTestSystem();
      const count = 1_000;
      const source = spawn(
        system,
        isAsync
          ? async function* () {
              for (let i = 0; i < count; i++) yield i;
            }
          : function* () {
              for (let i = 0; i < count; i++) yield i;
            },
      );
      const stream = source.stream("items", { credit: 3 });
      const order: unknown[] = [];
      for (let i = 0; i < count + 2; i++) void stream.next().then(({ value }) => order.push(value));
      await clock.settle();
      expect(order).toEqual([...Array(count).keys(), undefined, undefined]);
    }
  });

  test("a timeout counts each wait anew, also of reads that are called ahead", async () => {
    const { system, clock } = createTestSystem();
    let yieldNext = (): void => {};
    const source = spawn(system, async function* () {
      for (let i = 0; ; i++) {
        await new Promise<void>((resolve) => {
          yieldNext = resolve;
        });
        yield i;
      }
    });
    const stream = source.stream("items", { timeout: 100 });
    const seen: unknown[] = [];
    for (let i = 0; i < 4; i++) {
      void stream.next().then(
        ({ value }) => seen.push(value),
        ({ kind }) => seen.push(kind),
      );
    }
    for (let i = 0; i < 2; i++) {
      await clock.advance(90);
      yieldNext();
      await clock.settle();
    }
    expect(seen).toEqual([0, 1]);
    await clock.advance(99);
    expect(seen).toEqual([0, 1]);
    await clock.advance(1);
    expect(seen).toEqual([0, 1, "timeout", undefined]);
    yieldNext();
    await clock.settle();
    expect(clock.timers).toBe(0);
  });

  test("a stream is an asynchronous iterator of the language, with all that the runtime gives to those", () => {
    const { system } = createTestSystem();
    const stream = spawn(system, () => []).stream("items");
    const ofAsyncGenerators = Object.getPrototypeOf(async function* () {}.prototype);
    const languages: object = Object.getPrototypeOf(ofAsyncGenerators);
    expect(Object.hasOwn(languages, Symbol.asyncIterator)).toBe(true);
    expect(Object.prototype.isPrototypeOf.call(languages, stream)).toBe(true);
    expect(stream[Symbol.asyncIterator]()).toBe(stream);
  });

  test("take and map are written as generators, and end the producer as a loop does", async () => {
    const { system, clock } = createTestSystem();
    let ended = 0;
    const source = spawn(system, function* () {
      try {
        for (let i = 0; ; i++) yield i;
      } finally {
        ended++;
      }
    });
    async function* map<From, To>(items: AsyncIterable<From>, change: (item: From) => To) {
      for await (const item of items) yield change(item);
    }
    async function* take<Item>(items: AsyncIterable<Item>, count: number) {
      if (count === 0) return;
      for await (const item of items) {
        yield item;
        if (--count === 0) return;
      }
    }
    const squares = map(source.stream("items"), (item) => item * item);
    expect(await collect(take(squares, 4))).toEqual([0, 1, 4, 9]);
    await clock.settle();
    expect(ended).toBe(1);
  });
});
