import { describe, expect, test } from "bun:test";
import { Mailbox } from "../../src/runtime/mailbox";

class Letter {
  next: Letter | null = null;
  constructor(readonly name: string) {}
}

describe("a mailbox", () => {
  test("is empty at first, and gives nothing", () => {
    const mailbox = new Mailbox<Letter>();
    expect([mailbox.isEmpty, [...mailbox].length, mailbox.take()]).toEqual([true, 0, null]);
  });

  test("P2: gives first what came first, also when it ran empty in between", () => {
    const mailbox = new Mailbox<Letter>();
    mailbox.put(new Letter("a"));
    mailbox.put(new Letter("b"));
    expect(mailbox.take()?.name).toBe("a");
    mailbox.put(new Letter("c"));
    expect([mailbox.take()?.name, mailbox.take()?.name]).toEqual(["b", "c"]);
    expect(mailbox.isEmpty).toBe(true);
    mailbox.put(new Letter("d"));
    expect([[...mailbox].length, mailbox.take()?.name, mailbox.take()]).toEqual([1, "d", null]);
  });

  test("keeps no link from what it gave to what is behind it", () => {
    const mailbox = new Mailbox<Letter>();
    const [a, b] = [new Letter("a"), new Letter("b")];
    mailbox.put(a);
    mailbox.put(b);
    mailbox.take();
    expect(a.next).toBeNull();
    mailbox.put(a);
    expect([mailbox.take(), mailbox.take(), mailbox.take()]).toEqual([b, a, null]);
  });
});

describe("a mailbox that something is taken out of", () => {
  const filled = (names: string) => {
    const mailbox = new Mailbox<Letter>();
    const letters = [...names].map((name) => new Letter(name));
    for (const letter of letters) mailbox.put(letter);
    return { mailbox, letters };
  };
  const namesOf = (mailbox: Mailbox<Letter>): string => [...mailbox].map(({ name }) => name).join("");

  test("loses one, wherever it is, and goes on at both ends", () => {
    for (const [index, left] of [
      [0, "bcx"],
      [1, "acx"],
      [2, "abx"],
    ] as const) {
      const { mailbox, letters } = filled("abc");
      const letter = letters[index] as Letter;
      expect(mailbox.remove(letter)).toBe(true);
      expect([mailbox.remove(letter), letter.next]).toEqual([false, null]);
      mailbox.put(new Letter("x"));
      expect(namesOf(mailbox)).toBe(left);
    }
  });

  test("gives the oldest of those that may be taken", () => {
    const { mailbox } = filled("abc");
    expect(mailbox.takeOldest(({ name }) => name !== "a")?.name).toBe("b");
    expect(mailbox.takeOldest(({ name }) => name === "x")).toBeNull();
    expect(namesOf(mailbox)).toBe("ac");
  });

  test("loses all that a test picks, and keeps the order of the rest", () => {
    for (const [picked, left] of [
      ["abc", "x"],
      ["a", "bcx"],
      ["c", "abx"],
      ["b", "acx"],
      ["", "abcx"],
    ] as const) {
      const { mailbox } = filled("abc");
      const removed = mailbox.removeAll(({ name }) => picked.includes(name));
      expect(removed.map(({ name }) => name).join("")).toBe(picked);
      expect(removed.every(({ next }) => next === null)).toBe(true);
      mailbox.put(new Letter("x"));
      expect(namesOf(mailbox)).toBe(left);
    }
  });

  test("takes several before all others, also when it is empty", () => {
    const { mailbox } = filled("ab");
    mailbox.putFirst([new Letter("x"), new Letter("y")]);
    expect(namesOf(mailbox)).toBe("xyab");
    const empty = new Mailbox<Letter>();
    empty.putFirst([new Letter("x"), new Letter("y")]);
    empty.put(new Letter("z"));
    expect(namesOf(empty)).toBe("xyz");
  });
});
