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

describe("a mailbox that is open", () => {
  const counted = () => ({ accepted: 0, handled: 0 });
  const make = (name: string, payload: unknown) => new Letter(`${name}${String(payload)}`);
  /** As many put behind others as it takes. */
  const crowded = (counts = counted(), type = "x") => {
    const mailbox = new Mailbox<Letter>();
    for (let i = 0; i < 18; i++) {
      mailbox.put(new Letter("o"));
      mailbox.open(type, make, counts);
    }
    return { mailbox, counts };
  };

  test("is open for one type only, once many have come behind others", () => {
    const few = new Mailbox<Letter>();
    for (let i = 0; i < 17; i++) {
      expect(few.add("x", i)).toBe(false);
      few.put(new Letter("o"));
      few.open("x", make, counted());
    }
    expect(few.add("x", 0)).toBe(false);
    const { mailbox } = crowded();
    expect([mailbox.add("y", 0), mailbox.add("x", 1)]).toEqual([false, true]);
  });

  test("is not open for those that come and go one by one", () => {
    const mailbox = new Mailbox<Letter>();
    for (let i = 0; i < 100; i++) {
      mailbox.put(new Letter("o"));
      mailbox.open("x", make, counted());
      mailbox.take();
    }
    expect(mailbox.add("x", 0)).toBe(false);
  });

  test("is closed when it has run empty, or is told to, and can be opened again", () => {
    const { mailbox, counts } = crowded();
    mailbox.close();
    expect(mailbox.add("x", 0)).toBe(false);
    mailbox.open("x", make, counts);
    expect(mailbox.add("x", 0)).toBe(true);
    while (mailbox.take() !== null);
    expect([mailbox.isEmpty, mailbox.add("x", 0)]).toEqual([true, false]);
  });

  test("is empty once it has been looked at, where nothing was added", () => {
    const { mailbox } = crowded();
    for (let i = 0; i < 18; i++) expect(mailbox.take()?.name).toBe("o");
    expect([mailbox.take(), mailbox.isEmpty, mailbox.add("x", 0)]).toEqual([null, true, false]);
  });

  test("closed, it stays so, however many are put", () => {
    const { mailbox } = crowded();
    mailbox.close();
    for (let i = 0; i < 200; i++) mailbox.put(new Letter("o"));
    expect(mailbox.add("x", 0)).toBe(false);
  });

  test("P14: keeps nothing alive of what was taken", async () => {
    const taken: WeakRef<object>[] = [];
    const { mailbox } = crowded();
    (() => {
      for (let i = 0; i < 40; i++) {
        const payload = {};
        taken.push(new WeakRef(payload));
        mailbox.add("x", payload);
      }
      mailbox.add("x", "last");
      for (let i = 0; i < 18 + 40; i++) mailbox.take();
    })();
    await Bun.sleep(0); // What a WeakRef gave lives as long as the task that made it.
    Bun.gc(true);
    // A few may be found on the stack.
    expect(taken.filter((each) => each.deref() !== undefined).length).toBeLessThan(5);
    expect(mailbox.take()?.name).toBe("xlast");
  });

  test("leaves a burst that is held to whoever holds it", () => {
    const { mailbox } = crowded();
    mailbox.add("x", 0);
    const held = mailbox.tail?.next ?? null;
    if (held === null) throw new Error("It has no burst.");
    held.isHeld = true;
    while (mailbox.take() !== null);
    expect(mailbox.isEmpty).toBe(true);
    const others = [crowded(), crowded(), crowded()].map((other) => other.mailbox.tail);
    expect(others.some((burst) => burst === null || burst === held)).toBe(false);
  });

  test("P1: counts what was added when it is asked, and not what was put", () => {
    const { mailbox, counts } = crowded();
    for (let i = 0; i < 100; i++) mailbox.add("x", i);
    mailbox.put(new Letter("o"));
    mailbox.settle();
    mailbox.settle();
    const { accepted } = counts;
    expect(accepted).toBeGreaterThan(60);
    expect([...mailbox].length).toBe(18 + accepted + 1);
  });
});
