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
