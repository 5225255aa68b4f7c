import { expect, test } from "bun:test";
import {
  address,
  type Clock,
  createMessage,
  createSystem,
  defineProtocol,
  type Interceptor,
  type RefTo,
  type SignaturesOf,
  StreamError,
  Type,
} from "../../src/index";
import { FairDispatcher } from "../../src/runtime/dispatcher";
import { type BehaviourKit, createBehaviourKit, createManualClock } from "../../src/testing/index";
import { seededRandom } from "../savina/random";
import { type TestOptions, testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const Source = defineProtocol("source", {
  count: { payload: Type.Number(), stream: Type.Number() },
  broken: { payload: Type.Number(), stream: Type.Number() },
});

function setUp(options: TestOptions = {}) {
  const test = createTestSystem(options);
  const produced: number[] = [];
  const source = test.system.spawn("source", Source, () => ({
    async *count(most) {
      for (let i = 0; i < most; i++) {
        produced.push(i);
        yield i;
      }
    },
    *broken(most) {
      for (let i = 0; i < most; i++) yield i;
      throw new Error("it broke");
    },
  }));
  return { ...test, produced, source };
}

const upTo = (count: number, from = 0): number[] => Array.from({ length: count }, (_, i) => from + i);

/** All items, read as a door does: one waits for the next item and takes what has come beside it. */
async function inRows(stream: ReturnType<RefTo<typeof Source>["stream"]>, most?: number): Promise<number[][]> {
  const rows: number[][] = [];
  for (let step = await stream.next(); step.done !== true; step = await stream.next()) {
    rows.push([step.value, ...stream.ready(most)]);
  }
  return rows;
}

test("P12: ready gives what has come, at most so many, in order, and the rest of the stream after it", async () => {
  const { source, clock } = setUp();
  const stream = source.stream("count", 20, { credit: 8 });
  expect(await stream.next()).toEqual({ value: 0, done: false });
  await clock.settle();
  expect(stream.ready(3)).toEqual([1, 2, 3]);
  expect(stream.ready()).toEqual(upTo(5, 4));
  expect(stream.ready()).toEqual([]);
  expect(await stream.next()).toEqual({ value: 9, done: false });
  const left: number[] = [];
  for await (const item of stream) left.push(item, ...stream.ready(2));
  expect(left).toEqual(upTo(10, 10));
});

test("P12: every item comes once and in order by ready and next, at any credit", async () => {
  for (const credit of [1, 2, 16, 256]) {
    for (const most of [1, 3, undefined]) {
      const { source } = setUp();
      expect((await inRows(source.stream("count", 500, { credit }), most)).flat()).toEqual(upTo(500));
    }
  }
});

test("P12: what ready takes is credit for the producer, which runs no further ahead than that", async () => {
  for (const credit of [1, 4, 16]) {
    const { source, clock, produced } = setUp();
    const stream = source.stream("count", 1_000, { credit });
    await stream.next();
    let read = 1;
    for (let round = 0; round < 10; round++) {
      await clock.settle();
      expect(produced.length).toBeGreaterThan(read);
      expect(produced.length - read).toBeLessThanOrEqual(credit);
      read += stream.ready(credit).length;
    }
    await stream.return();
    await clock.settle();
    expect(stream.ready()).toEqual([]);
  }
});

test("P12: a stream that was not begun is begun by ready, which gives nothing yet", async () => {
  const { source, clock, produced } = setUp();
  const stream = source.stream("count", 3);
  await clock.settle();
  expect(produced).toEqual([]);
  expect(stream.ready()).toEqual([]);
  await clock.settle();
  expect(stream.ready()).toEqual([0, 1, 2]);
  expect(await stream.next()).toEqual({ value: undefined, done: true });
  expect(stream.ready()).toEqual([]);
  const left = source.stream("count", 3);
  await left.return();
  expect(left.ready()).toEqual([]);
  await clock.settle();
  expect(produced).toHaveLength(3);
});

test("P9: an error comes out of the read behind the last item, not of ready", async () => {
  const { source, clock, takeLog } = setUp();
  const stream = source.stream("broken", 5);
  stream.ready();
  await clock.settle();
  expect(stream.ready(3)).toEqual([0, 1, 2]);
  expect(stream.ready()).toEqual([3, 4]);
  expect(stream.ready()).toEqual([]);
  await expect(stream.next()).rejects.toMatchObject({ kind: "handler-failed" });
  expect(await stream.next()).toEqual({ value: undefined, done: true });
  takeLog();
});

test("P9: a stream that ready could not begin rejects at the next read", async () => {
  const { router, clock } = setUp();
  const stream = router.stream(createMessage(address("nobody"), "count", 1));
  expect(stream.ready()).toEqual([]);
  expect(stream.ready()).toEqual([]);
  await clock.settle();
  await expect(stream.next()).rejects.toBeInstanceOf(StreamError);
  expect(await stream.next()).toEqual({ value: undefined, done: true });
  expect(router.audit()).toMatchObject({ accepted: 1, dead: 1 });
});

test("P2: ready gives nothing while an earlier read waits, so no item overtakes another", async () => {
  const { source, clock } = setUp();
  const stream = source.stream("count", 6);
  const first = stream.next();
  const second = stream.next();
  expect(stream.ready()).toEqual([]);
  await clock.settle();
  expect([await first, await second].map(({ value }) => value)).toEqual([0, 1]);
  expect(stream.ready()).toEqual([2, 3, 4, 5]);
});

for (const credit of [1, 2, 16]) {
  test(`P2: reads and ready mixed keep the order where turns end between them, credit ${credit}`, async () => {
    let now = 0;
    const below = seededRandom(credit);
    const clock: Clock = {
      ...createManualClock(),
      monotonicTime: () => now,
      macrotask: (callback) => void setImmediate(callback),
    };
    let length = 0;
    const source = createSystem({ clock }).spawn("source", Source, () => ({
      async *count() {
        for (let i = 0; i < length; i++) {
          now += below(4) / 20;
          for (let hops = below(8); hops > 0; hops--) await null;
          yield i;
        }
      },
      *broken() {},
    }));
    for (length = 1; length <= 150; length++) {
      const stream = source.stream("count", 0, { credit });
      const rows: (number[] | Promise<number[]>)[] = [];
      const next = (): Promise<number[]> =>
        stream.next().then(({ value, done }) => (done === true ? [] : [value as number]));
      for (let step = 0; step < 4 * length + 4; step++) {
        if (below(2) === 0) rows.push(stream.ready(1 + below(4)));
        const read = next();
        rows.push(read);
        if (below(3) === 0) await null;
        if (below(4) === 0) await read;
        now += below(3) / 20;
      }
      expect((await Promise.all(rows)).flat()).toEqual(upTo(length));
    }
  });
}

test("P2: ready gives nothing while an earlier read is answered in the next turn", async () => {
  let isTurnOver = false;
  class Dispatcher extends FairDispatcher {
    override spend(messages: number): boolean {
      return super.spend(messages) || isTurnOver;
    }
  }
  const { source, clock } = setUp({ dispatcher: (parts) => new Dispatcher(parts.clock, parts.afterTurn) });
  const stream = source.stream("count", 6);
  await stream.next();
  await clock.settle();
  expect(stream.ready(1)).toEqual([1]);
  isTurnOver = true;
  const read = stream.next();
  expect(stream.ready()).toEqual([]);
  isTurnOver = false;
  await clock.settle();
  expect(await read).toEqual({ value: 2, done: false });
  expect(stream.ready()).toEqual([3, 4, 5]);
});

test("P5: reading in rows leaves the event loop its turn", async () => {
  let now = 0;
  const clock: Clock = {
    ...createManualClock(),
    monotonicTime: () => now,
    macrotask: (callback) => void setImmediate(callback),
  };
  const source = createSystem({ clock }).spawn("source", Source, () => ({
    *count(most) {
      yield* upTo(most);
    },
    *broken() {},
  }));
  const waits: number[] = [];
  let isOver = false;
  const watch = (since: number): void => {
    if (now > since) waits.push(now - since);
    const seen = now;
    if (!isOver) setImmediate(() => watch(seen));
  };
  watch(0);
  const stream = source.stream("count", 8_000, { credit: 100_000 });
  const items: number[] = [];
  for (let step = await stream.next(); step.done !== true; step = await stream.next()) {
    const isRow = items.length % 1_000 > 200; // Else one by one, at no cost.
    const row = isRow ? [step.value, ...stream.ready(15)] : [step.value];
    if (isRow) now += row.length * 0.05; // What the reader does with them.
    items.push(...row);
  }
  isOver = true;
  expect(items).toEqual(upTo(8_000));
  expect(Math.max(...waits.slice(3))).toBeLessThan(5); // Of 320 ms; the first turns go by what messages cost before.
});

test("ready refuses a number of items that is none", () => {
  const stream = setUp().source.stream("count", 1);
  for (const most of [0, -1, 1.5, Number.NaN, "3" as unknown as number]) {
    expect(() => stream.ready(most)).toThrow("ready(max) takes a whole number of items from 1, or Infinity; got");
  }
});

test("ready behind interceptors gives what has come of a stream that they let through as it is", async () => {
  const { router, clock, takeLog } = setUp();
  const through: Interceptor = (_, next) => next();
  const end = router.use(through);
  const message = createMessage(address("source"), "count", 5);
  const stream = router.stream(message);
  expect(stream.ready()).toEqual([]);
  await clock.settle();
  expect(stream.ready(1)).toEqual([0]);
  const second = stream.next();
  expect(stream.ready()).toEqual([]);
  expect(await second).toEqual({ value: 1, done: false });
  expect(stream.ready(2)).toEqual([2, 3]);
  expect(() => stream.ready(0)).toThrow(RangeError);
  const left: unknown[] = [];
  for await (const item of stream) left.push(item);
  expect(left).toEqual([4]);
  expect(stream.ready()).toEqual([]);
  end();
  router.use(async (_, next) => (await next()).map((items) => doubled(items as AsyncIterable<number>))); // Numbers, by Source.
  const made = router.stream(message);
  expect(await made.next()).toEqual({ value: 0, done: false });
  await clock.settle();
  expect(made.ready()).toEqual([]); // Nobody knows what an interceptor's own items are before they are read.
  expect(await made.next()).toEqual({ value: 2, done: false });
  await made.return();
  const lost = router.stream(createMessage(address("nobody"), "count", 1));
  expect(lost.ready()).toEqual([]);
  await new Promise(setImmediate); // An error that nobody has read yet is no unhandled rejection.
  await expect(lost.next()).rejects.toMatchObject({ kind: "no-recipient" });
  takeLog();
});

async function* doubled(items: AsyncIterable<number>) {
  for await (const item of items) yield item * 2;
}

test("a kit's stream has come as far as the test prepared it without a wait", async () => {
  const Reader = defineProtocol("reader", { read: { reply: Type.Array(Type.Number()) } });
  const kit: BehaviourKit<SignaturesOf<typeof Reader>> = createBehaviourKit(Reader, (ctx) => ({
    async read() {
      const stream = ctx.stream(source, "count", 5);
      const rows = [stream.ready()];
      for (let step = await stream.next(); step.done !== true; step = await stream.next()) {
        rows.push([step.value, ...stream.ready(2)]);
      }
      return rows.flat();
    },
  }));
  const source = kit.ref(Source, "source");
  kit.answer(source, "count", upTo);
  expect(await kit.run("read").reply).toEqual(upTo(5));
  kit.answer(source, "count", async function* (most) {
    yield* upTo(most);
  });
  expect(await kit.run("read").reply).toEqual(upTo(5));
  kit.answer(source, "count", function* () {
    yield 1;
    throw new Error("it broke");
  });
  await expect(kit.run("read").reply).rejects.toThrow("it broke");
});

test("P12: a ready that begins the stream gives nothing, and loses nothing that a transport sends at once", async () => {
  const { system } = createTestSystem();
  const { ref } = system.attach(address("far"), Source, {
    send(out) {
      out.produce([0, 1]);
      out.end();
    },
    cancel() {},
    credit() {},
    close() {},
  });
  const stream = ref.stream("count", 2);
  expect(stream.ready()).toEqual([]);
  expect(await stream.next()).toEqual({ value: 0, done: false });
  expect(stream.ready()).toEqual([1]);
  expect(await stream.next()).toEqual({ value: undefined, done: true });
});
