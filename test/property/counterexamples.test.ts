import { expect, test } from "bun:test";
import fc from "fast-check";

const failureOf = (run: () => void): Error => {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof Error) return thrown;
  }
  throw new Error("It did not fail.");
};

test("a property that fails tells its smallest counterexample, and how to run it again", () => {
  const { message } = failureOf(() => fc.assert(fc.property(fc.array(fc.nat()), ({ length }) => length < 3)));
  expect(message).toMatch(/again by \{"seed":-?\d+,"path":"[\d:]+"\}\nCounterexample: \[\[0,0,0\]\]$/);
});

test("one that cannot be small is cut, and so is what it failed by", () => {
  const texts = fc.array(fc.string({ minLength: 1_000, maxLength: 1_000 }), { minLength: 100, maxLength: 100 });
  const failure = failureOf(() =>
    fc.assert(
      fc.property(texts, (all) => expect(all).toEqual([])),
      { endOnFailure: true },
    ),
  );
  expect(failure.message).toContain("characters are left out");
  expect(Bun.inspect(failure).length).toBeLessThan(15_000);
  expect(failure.cause).toBeInstanceOf(Error);
});
