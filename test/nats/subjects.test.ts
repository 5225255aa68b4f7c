import { expect, test } from "bun:test";
import fc from "fast-check";
import { textOf, tokenOf } from "../../src/nats/subjects";

test("any text is one token of a subject, and is read back from it", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary", maxLength: 20 }).filter((text) => text.isWellFormed()),
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

test("a text whose token no consumer and no control line could have is refused, with its length", () => {
  expect(tokenOf("x".repeat(255))).toHaveLength(255);
  expect(tokenOf("ß".repeat(42))).toHaveLength(252);
  expect(() => tokenOf("x".repeat(256))).toThrow(RangeError);
  expect(() => tokenOf("ß".repeat(43))).toThrow(/which has 258\.$/);
});
