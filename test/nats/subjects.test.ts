import { expect, test } from "bun:test";
import fc from "fast-check";
import { textOf, tokenOf } from "../../src/nats/subjects";

test("any text is one token of a subject, and is read back from it", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary" }).filter((text) => text.isWellFormed()),
      (text) => {
        const token = tokenOf(text);
        expect(token).toMatch(/^[\w=-]+$/);
        expect(textOf(token)).toBe(text);
      },
    ),
  );
});

test("different texts are different tokens", () => {
  expect(new Set(["", "=", "a.b", "a=2eb", "a b", "*", ">"].map(tokenOf)).size).toBe(7);
});
