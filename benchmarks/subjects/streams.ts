import { createSystem, defineProtocol, Type } from "envoi";
import type { Prepared } from "../harness/suite";

const Source = defineProtocol("source", {
  ticks: { payload: Type.Number(), stream: Type.Number() },
  counts: { payload: Type.Number(), stream: Type.Number() },
});

/** Which handler yields the items: an asynchronous generator (`ticks`), or a synchronous one (`counts`). */
export type Handler = "ticks" | "counts";

/** Streams of `length` items each, one after the other; an operation is an item that came in its order. */
export function items(operations: number, length: number, handler: Handler, credit: number): Prepared {
  const system = createSystem();
  const source = system.spawn("source", Source, () => ({
    async *ticks(count) {
      for (let i = 0; i < count; i++) yield i;
    },
    *counts(count) {
      for (let i = 0; i < count; i++) yield i;
    },
  }));
  let completed = 0;
  const run = async () => {
    for (let begun = 0; begun < operations; begun += length) {
      let next = 0;
      for await (const item of source.stream(handler, length, { credit })) if (item === next++) completed++;
    }
  };
  return { run, completed: () => completed, teardown: () => system.shutdown() };
}
