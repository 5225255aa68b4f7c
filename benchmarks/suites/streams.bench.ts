import { asyncGenerator, syncGenerator } from "../harness/floors";
import type { Row, Suite } from "../harness/suite";
import { type Handler, items } from "../subjects/streams";

const LONG = 10_000;

const stream = (name: string, length: number, credit: number, handler: Handler = "ticks"): Row => ({
  kind: "timed",
  name,
  operations: Math.min(LONG, length * 1_000),
  per: 1,
  floor: handler === "ticks" ? asyncGenerator(length) : syncGenerator(length),
  setup: () => items(Math.min(LONG, length * 1_000), length, handler, credit),
});

export const suite: Suite = {
  name: "streams",
  about: "Items from an actor to a loop outside of it, each checked for its order, until the last has been read.",
  rows: [
    stream("stream, an item, credit 1", LONG, 1),
    stream("stream, an item, credit 16", LONG, 16),
    stream("stream, an item, credit 256", LONG, 256),
    stream("stream of a synchronous generator, an item, credit 1", LONG, 1, "counts"),
    stream("stream of a synchronous generator, an item, credit 16", LONG, 16, "counts"),
    stream("stream of a synchronous generator, an item, credit 256", LONG, 256, "counts"),
    stream("stream of one item, begun and ended", 1, 16),
  ],
};
