import { expect, test } from "bun:test";
import { type Clock, createSystem, defineProtocol, Type } from "../../src/index";
import { createManualClock } from "../../src/testing/index";
import { seededRandom } from "../savina/random";

const Source = defineProtocol("source", {
  asynchronous: { stream: Type.Number() },
  synchronous: { stream: Type.Number() },
});
const Reader = defineProtocol("reader", { read: { payload: Type.Number(), reply: Type.Number() } });

/**
 * Streams 400 items from one actor to another, on a clock that goes on as the two say; gives how long the event loop
 * had to wait each time, in milliseconds.
 */
async function waits(handler: "asynchronous" | "synchronous", credit: number, yielding: number, reading: number) {
  let now = 0;
  const waits: number[] = [];
  let isOver = false;
  const watch = (since: number): void => {
    if (now > since) waits.push(now - since);
    const seen = now;
    if (!isOver) setImmediate(() => watch(seen));
  };
  const clock: Clock = {
    ...createManualClock(),
    monotonicTime: () => now,
    macrotask: (callback) => void setImmediate(callback),
  };
  const system = createSystem({ clock });
  const source = system.spawn("source", Source, () => ({
    async *asynchronous() {
      for (let i = 1; i <= 400; i++) {
        now += yielding;
        yield i;
      }
    },
    *synchronous() {
      for (let i = 1; i <= 400; i++) {
        now += yielding;
        yield i;
      }
    },
  }));
  const reader = system.spawn("reader", Reader, (ctx) => ({
    async read(count) {
      let sum = 0;
      for await (const item of ctx.stream(source, handler, { credit })) {
        now += reading;
        sum += item;
      }
      return sum - count;
    },
  }));
  watch(0);
  const sum = await reader.ask("read", 0, { timeout: Number.POSITIVE_INFINITY });
  isOver = true;
  expect(sum).toMatchObject({ value: 80_200 });
  expect(now).toBeCloseTo(400 * (yielding + reading));
  return waits;
}

for (const handler of ["asynchronous", "synchronous"] as const) {
  for (const credit of [1, 16, 256, 100_000]) {
    test(`P5: a stream from one actor to another leaves the event loop its turn: ${handler} handler, credit ${credit}`, async () => {
      for (const [yielding, reading] of [
        [0.1, 0],
        [0, 0.1],
        [5, 0],
        [0, 5],
        [5, 5],
      ] as const) {
        const cost = yielding + reading;
        const all = await waits(handler, credit, yielding, reading);
        // The first turns go by what messages cost before; then one lasts a few milliseconds, or one item where that is more.
        expect(Math.max(...all.slice(0, 3))).toBeLessThanOrEqual(64 * cost);
        expect(Math.max(...all.slice(3))).toBeLessThanOrEqual(Math.max(5, cost));
      }
    });
  }
}

for (const handler of ["asynchronous", "synchronous"] as const) {
  for (const credit of [1, 2, 16]) {
    test(`P2: reads that are called ahead are answered in order where turns end between them: ${handler} handler, credit ${credit}`, async () => {
      let now = 0;
      let length = 0;
      const below = seededRandom(credit);
      const clock: Clock = {
        ...createManualClock(),
        monotonicTime: () => now,
        macrotask: (callback) => void setImmediate(callback),
      };
      const source = createSystem({ clock }).spawn("source", Source, () => ({
        async *asynchronous() {
          for (let i = 0; i < length; i++) {
            now += below(4) / 20;
            for (let hops = below(8); hops > 0; hops--) await null;
            if (below(40) === 0) await new Promise(setImmediate);
            yield i;
          }
        },
        *synchronous() {
          for (let i = 0; i < length; i++) {
            now += below(4) / 20;
            yield i;
          }
        },
      }));
      for (length = 1; length <= 200; length++) {
        const stream = source.stream(handler, { credit });
        const answers: unknown[] = [];
        const reads: Promise<unknown>[] = [];
        while (reads.length < length + 4) {
          const first = reads.length;
          for (let count = below(6); count >= 0; count--) {
            reads.push(stream.next().then(({ value }) => answers.push(value)));
            if (below(3) === 0) await null;
          }
          now += below(3) / 20;
          await (below(3) === 0 ? Promise.all(reads) : reads[first]);
        }
        await Promise.all(reads);
        expect(answers).toEqual(reads.map((_, i) => (i < length ? i : undefined)));
      }
    });
  }
}
