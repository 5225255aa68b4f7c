import { expect, test } from "bun:test";
import fc from "fast-check";
import { Mailbox } from "../../src/runtime/mailbox";
import { runs } from "./runs";

class Letter {
  next: Letter | null = null;
  constructor(readonly number: number) {}
}

test("P2: a mailbox is a queue: first in, first out, and it knows its size", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("put", "put", "take"), { maxLength: 200, size: "max" }), (operations) => {
      const mailbox = new Mailbox<Letter>();
      const model: number[] = [];
      operations.forEach((operation, number) => {
        if (operation === "put") {
          mailbox.put(new Letter(number));
          model.push(number);
        } else {
          expect(mailbox.take()?.number).toBe(model.shift() as number);
        }
        expect([...mailbox].length).toBe(model.length);
        expect(mailbox.isEmpty).toBe(model.length === 0);
      });
      for (const number of model) expect(mailbox.take()?.number).toBe(number);
      expect(mailbox.take()).toBeNull();
    }),
    runs(300),
  );
});
