import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import fc from "fast-check";
import { Queue } from "../../src/runtime/queue";
import { runs } from "./runs";

test("a queue is first in, first out, however it grew and was emptied, and knows its size", () => {
  const operations = fc.array(fc.constantFrom("put", "put", "put", "take", "take", "clear"), {
    maxLength: 300,
    size: "max",
  });
  fc.assert(
    fc.property(operations, (all) => {
      const queue = new Queue<number>();
      let model: number[] = [];
      all.forEach((operation, number) => {
        if (operation === "put") {
          queue.put(number);
          model.push(number);
        } else if (operation === "take") expect(queue.take()).toBe(model.shift() as number);
        else if (number % 7 === 0) {
          queue.clear();
          model = [];
        }
        expect(queue.size).toBe(model.length);
      });
      for (const number of model) expect(queue.take()).toBe(number);
      expect(queue.take()).toBeUndefined();
    }),
    runs(300),
  );
});

test("P14: a queue keeps nothing alive of what was taken out of it", () => {
  class Taken {}
  const queue = new Queue<Taken>();
  for (let i = 0; i < 1_000; i++) queue.put(new Taken());
  while (queue.size > 0) queue.take();
  Bun.gc(true);
  expect(heapStats().objectTypeCounts["Taken"] ?? 0).toBeLessThan(100);
  expect(queue.size).toBe(0); // It is there still, with its ring of 1,024 places.
});
