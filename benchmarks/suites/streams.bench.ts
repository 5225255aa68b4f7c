import { createSystem, defineProtocol, Type } from "envoi";
import { counted, type Most, suiteOf, timed } from "../harness/rows";
import type { Floor, Prepared } from "../harness/suite";

const LONG = 10_000;

const Source = defineProtocol("source", {
  ticks: { payload: Type.Number(), stream: Type.Number() },
  counts: { payload: Type.Number(), stream: Type.Number() },
});

/** Streams of `length` items each, one after the other; an operation is an item that came in its order. */
const inOrder = (
  operations: number,
  length: number,
  stream: () => AsyncIterable<number> | Iterable<number>,
  teardown?: () => unknown,
): Prepared =>
  counted(async () => {
    let done = 0;
    for (let begun = 0; begun < operations; begun += length) {
      let next = 0;
      for await (const item of stream()) if (item === next++) done++;
    }
    return done;
  }, teardown && { teardown });

function items(operations: number, length: number, handler: "ticks" | "counts", credit: number): Prepared {
  const system = createSystem();
  const source = system.spawn("source", Source, () => ({
    async *ticks(count) {
      for (let i = 0; i < count; i++) yield i;
    },
    *counts(count) {
      for (let i = 0; i < count; i++) yield i;
    },
  }));
  return inOrder(
    operations,
    length,
    () => source.stream(handler, length, { credit }),
    () => system.shutdown(),
  );
}

async function* ticks(count: number) {
  for (let i = 0; i < count; i++) yield i;
}
function* counts(count: number) {
  for (let i = 0; i < count; i++) yield i;
}

const generator = (length: number, generate: typeof ticks | typeof counts): Floor => {
  const isAsync = generate === ticks;
  return {
    name: `${isAsync ? "async generator" : "generator"} of ${length}`,
    about: `\`for await\` over ${isAsync ? "an asynchronous" : "a synchronous"} generator of ${length}`,
    setup: (operations) => inOrder(operations, length, () => generate(length)),
  };
};

const ITEM = "an item costs the generator that makes it, and the promise of the read that takes it";
const FILLED = "a synchronous generator fills the credit without a promise for each item";

const stream = (name: string, credit: number, most: Most, handler: "ticks" | "counts" = "ticks", length = LONG) =>
  timed(
    name,
    generator(length, handler === "ticks" ? ticks : counts),
    (operations) => items(operations, length, handler, credit),
    most,
    { operations: Math.min(LONG, length * 1_000) },
  );

export const suite = suiteOf(
  "streams",
  "Items from an actor to a loop outside of it, each checked for its order, until the last has been read.",
  [
    stream("stream, an item, credit 1", 1, [2.4, 1.9, ITEM]),
    stream("stream, an item, credit 16", 16, [2.3, 1.8, ITEM]),
    stream("stream, an item, credit 256", 256, [2.3, 1.8, ITEM]),
    stream("stream of a synchronous generator, an item, credit 1", 1, [1.5, 1, FILLED], "counts"),
    stream("stream of a synchronous generator, an item, credit 16", 16, [1.25, 0.7, FILLED], "counts"),
    stream("stream of a synchronous generator, an item, credit 256", 256, [1.1, 0.7, FILLED], "counts"),
    stream("stream of one item, begun and ended", 16, [6.5, 2, ITEM], "ticks", 1),
  ],
);
