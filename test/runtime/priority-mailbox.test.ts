import { describe, expect, test } from "bun:test";
import { PriorityMailbox } from "../../src/runtime/priority-mailbox";

class Letter {
  next: Letter | null = null;
  constructor(
    readonly name: string,
    readonly urgency: number | null = 0,
  ) {}
}

const make = () => new PriorityMailbox<Letter>((letter) => letter.urgency);

function namesOf(mailbox: PriorityMailbox<Letter>): string[] {
  const names: string[] = [];
  for (let letter = mailbox.take(); letter !== null; letter = mailbox.take()) names.push(letter.name);
  return names;
}

describe("a priority mailbox", () => {
  test("is empty at first, and gives nothing", () => {
    const mailbox = make();
    expect([mailbox.isEmpty, [...mailbox].length, mailbox.take(), mailbox.takeOldest(() => true)]).toEqual([
      true,
      0,
      null,
      null,
    ]);
    expect(mailbox.removeAll(() => true)).toEqual([]);
  });

  test("gives the most urgent first, and equals in their order", () => {
    const mailbox = make();
    for (const [name, urgency] of Object.entries({ a: 1, b: 2, c: 1, d: 3, e: 2, f: -1 })) {
      mailbox.put(new Letter(name, urgency));
    }
    expect([...mailbox]).toHaveLength(6);
    expect(namesOf(mailbox)).toEqual(["d", "b", "e", "a", "c", "f"]);
    expect(mailbox.isEmpty).toBe(true);
  });

  test("puts first what is put first, before the most urgent and before what was put first earlier", () => {
    const mailbox = make();
    mailbox.put(new Letter("urgent", Number.POSITIVE_INFINITY));
    mailbox.putFirst([new Letter("a", -1), new Letter("b", 5)]);
    mailbox.putFirst([new Letter("c"), new Letter("d")]);
    mailbox.put(new Letter("also urgent", Number.POSITIVE_INFINITY));
    expect(namesOf(mailbox)).toEqual(["c", "d", "a", "b", "urgent", "also urgent"]);
  });

  test("puts what has no priority behind all that is in, and lets only what is more urgent before it", () => {
    const mailbox = make();
    mailbox.put(new Letter("low", -3));
    mailbox.put(new Letter("high", 3));
    mailbox.put(new Letter("signal", null));
    mailbox.put(new Letter("later, low", -3));
    mailbox.put(new Letter("later, lower", -4));
    mailbox.put(new Letter("later, higher", -2));
    mailbox.put(new Letter("signal 2", null));
    expect(namesOf(mailbox)).toEqual([
      "high",
      "later, higher",
      "low",
      "signal",
      "later, low",
      "later, lower",
      "signal 2",
    ]);
  });

  test("puts a signal into an empty one before what comes later", () => {
    const mailbox = make();
    mailbox.put(new Letter("signal", null));
    mailbox.put(new Letter("urgent", Number.POSITIVE_INFINITY));
    mailbox.put(new Letter("signal 2", null));
    expect(namesOf(mailbox)).toEqual(["signal", "urgent", "signal 2"]);
  });

  test("spares what may not be taken, and takes the oldest of the least urgent", () => {
    const mailbox = make();
    for (const [name, urgency] of Object.entries({ a: 2, s: null, b: 1, c: 1, d: 0 })) {
      mailbox.put(new Letter(name, urgency));
    }
    const isLetter = (letter: Letter): boolean => letter.name !== "s" && letter.name !== "d";
    expect(mailbox.takeOldest(isLetter)?.name).toBe("b");
    expect(mailbox.takeOldest(isLetter)?.name).toBe("c");
    expect(mailbox.takeOldest(isLetter)?.name).toBe("a");
    expect(mailbox.takeOldest(isLetter)).toBeNull();
    expect(namesOf(mailbox)).toEqual(["s", "d"]);
  });

  test("takes out what it is told to, and keeps the order of the rest", () => {
    const mailbox = make();
    const letters = Array.from({ length: 40 }, (_, i) => new Letter(String(i), i % 5));
    for (const letter of letters) mailbox.put(letter);
    expect(mailbox.removeAll((letter) => letter === letters[7])).toHaveLength(1);
    const removed = mailbox.removeAll((letter) => Number(letter.name) % 3 === 0);
    expect(removed.map(({ name }) => Number(name)).toSorted((a, b) => a - b)).toEqual(
      letters.map((_, i) => i).filter((i) => i % 3 === 0),
    );
    const expected = letters
      .filter((_, i) => i % 3 !== 0 && i !== 7)
      .toSorted((a, b) => Number(b.urgency) - Number(a.urgency))
      .map(({ name }) => name);
    expect(namesOf(mailbox)).toEqual(expected);
  });

  test("grows by little more than its messages: of eight times as many, it compares far less than 64 times as many", () => {
    const comparisonsOf = (messages: number): number => {
      let compared = 0;
      // A number to whoever compares it, which counts how often.
      const counted = (urgency: number) => {
        const count = () => {
          compared++;
          return urgency;
        };
        return { valueOf: count } as unknown as number;
      };
      const mailbox = new PriorityMailbox<Letter>(({ urgency }) => counted(urgency ?? 0));
      // No two are equal: 7,919 is a prime, and divides neither count.
      for (let i = 0; i < messages; i++) mailbox.put(new Letter(String(i), (i * 7_919) % messages));
      for (let expected = messages - 1; expected >= 0; expected--) {
        if (mailbox.take()?.urgency !== expected) throw new Error("out of order");
      }
      return compared;
    };
    const few = comparisonsOf(12_500);
    expect(few).toBeGreaterThan(12_500);
    expect(comparisonsOf(100_000) / few).toBeLessThan(16);
  });
});
