import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Call, checkLinearizable, counter, type RegisterInput, register } from "./linearizable";

const call = <Input, Output>(input: Input, output: Output | undefined, start: number, end: number, key = "k") => ({
  key,
  input,
  output,
  start,
  end,
});

describe("the checker of linearizable histories", () => {
  test("takes calls one after another whose answers follow from each other", () => {
    expect(checkLinearizable(counter, [call(1, 1, 0, 1), call(2, 3, 2, 3), call(0, 3, 4, 5)])).toBeNull();
  });

  test("takes calls at the same time in any order that explains their answers", () => {
    expect(checkLinearizable(counter, [call(1, 3, 0, 10), call(2, 2, 1, 9), call(0, 0, 0, 3)])).toBeNull();
  });

  test("refuses a count that was lost", () => {
    const history = [call(1, 1, 0, 1), call(1, 1, 2, 3)];
    expect(checkLinearizable(counter, history)).toEqual({
      key: "k",
      explained: 1,
      stuck: [history[1] as Call<number, number>],
    });
  });

  test("refuses a read of an old value after a newer one was seen", () => {
    const read: RegisterInput = { kind: "read" };
    const write: RegisterInput = { kind: "write", value: 7 };
    const during = call(write, true, 0, 10);
    expect(checkLinearizable(register, [during, call(read, 7, 1, 2), call(read, 7, 3, 4)])).toBeNull();
    expect(checkLinearizable(register, [during, call(read, 7, 1, 2), call(read, 0, 3, 4)])).not.toBeNull();
  });

  test("refuses two swaps from the same value, as two owners that both wrote would show", () => {
    const swap = (value: number): RegisterInput => ({ kind: "swap", expected: 0, value });
    expect(checkLinearizable(register, [call(swap(1), true, 0, 5), call(swap(2), false, 0, 5)])).toBeNull();
    expect(checkLinearizable(register, [call(swap(1), true, 0, 5), call(swap(2), true, 0, 5)])).not.toBeNull();
  });

  test("lets a call without an answer take effect later, once, or never", () => {
    const lost = call(5, undefined, 0, 1);
    expect(checkLinearizable(counter, [lost, call(0, 0, 2, 3), call(0, 5, 4, 5)])).toBeNull();
    expect(checkLinearizable(counter, [lost, call(0, 0, 2, 3)])).toBeNull();
    expect(checkLinearizable(counter, [lost, call(0, 5, 2, 3), call(0, 10, 4, 5)])).not.toBeNull();
  });

  test("lets no call take effect before it was sent", () => {
    expect(checkLinearizable(counter, [call(0, 5, 0, 1), call(5, undefined, 2, 3)])).not.toBeNull();
    expect(checkLinearizable(counter, [call(0, 5, 0, 1), call(5, 5, 2, 3)])).not.toBeNull();
  });

  test("checks each key alone, and names the one that is wrong", () => {
    const history = [call(1, 1, 0, 1, "a"), call(1, 1, 2, 3, "b"), call(1, 3, 4, 5, "b")];
    expect(checkLinearizable(counter, history)).toMatchObject({ key: "b", explained: 1 });
  });

  /** Calls of a real counter: each takes effect at a moment between its start and its end. */
  const histories = fc
    .array(
      fc.record({ at: fc.integer({ min: 0, max: 400 }), before: fc.nat(40), after: fc.nat(40), added: fc.nat(3) }),
      {
        minLength: 1,
        maxLength: 60,
      },
    )
    .map((calls) => {
      let count = 0;
      return calls
        .toSorted((one, other) => one.at - other.at)
        .map(({ at, before, after, added }, index) => {
          count += added;
          return call(added, count, at - before + index * 1e-4, at + after + index * 1e-4);
        });
    });

  test("takes each history of an object that does handle one call at a time", () => {
    fc.assert(fc.property(histories, (history) => checkLinearizable(counter, history) === null));
  });

  test("refuses each of them with an answer that no state has", () => {
    fc.assert(
      fc.property(histories, fc.nat(), (history, at) => {
        const wrong = history.with(at % history.length, {
          ...(history[at % history.length] as Call<number, number>),
          output: -1,
        });
        return checkLinearizable(counter, wrong) !== null;
      }),
    );
  });

  test("searches a long history of many callers", () => {
    const history = Array.from({ length: 20_000 }, (_, index) => call(1, index + 1, index, index + 7.5));
    expect(checkLinearizable(counter, history)).toBeNull();
  });
});
