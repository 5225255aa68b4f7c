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

test("P14: a queue keeps nothing alive of what was taken out of it", async () => {
  const queue = new Queue<object>();
  const taken: WeakRef<object>[] = [];
  for (let i = 0; i < 1_000; i++) queue.put({ i });
  for (let item = queue.take(); item !== undefined; item = queue.take()) taken.push(new WeakRef(item));
  await new Promise(setImmediate); // Until then, the language keeps alive what was made a WeakRef of.
  Bun.gc(true);
  expect(taken).toHaveLength(1_000);
  expect(taken.filter((item) => item.deref() !== undefined).length).toBeLessThan(100);
  expect(queue.size).toBe(0); // It is there still, with its ring of 1,024 places.
});
