import { describe, expect, test } from "bun:test";
import { type Mail, Mailbox } from "../../src/runtime/mailbox";

class Letter implements Mail {
  next: Mail | null = null;
  declare timedFrom?: number;
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
    for (const name of names) mailbox.put(new Letter(name));
    return { mailbox };
  };
  const namesOf = (mailbox: Mailbox<Letter>): string => [...mailbox].map(({ name }) => name).join("");

  test("gives the oldest of those that may be taken, wherever it is, and goes on at both ends", () => {
    for (const [oldest, left] of [
      ["a", "bcx"],
      ["b", "acx"],
      ["c", "abx"],
    ] as const) {
      const { mailbox } = filled("abc");
      const letter = mailbox.takeOldest(({ name }) => name >= oldest);
      expect([letter?.name, letter?.next]).toEqual([oldest, null]);
      expect(mailbox.takeOldest(({ name }) => name === oldest)).toBeNull();
      mailbox.put(new Letter("x"));
      expect(namesOf(mailbox)).toBe(left);
    }
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
  const make = (name: string, payload: unknown) => new Letter(`${name}${String(payload)}`);
  const append = (mailbox: Mailbox<Letter>, name: string, payload: unknown, counts = { accepted: 0 }) =>
    mailbox.append(name, payload, make, counts);
  /** As many put behind others as it takes, and one more without an envelope. */
  const crowded = (counts = { accepted: 0 }) => {
    const mailbox = new Mailbox<Letter>();
    for (let i = 0; !append(mailbox, "x", 0, counts); i++) mailbox.put(new Letter(`o${i}`));
    return { mailbox, counts, before: [...mailbox].length };
  };
  const drain = (mailbox: Mailbox<Letter>): string[] => {
    const names: string[] = [];
    for (let letter = mailbox.take(); letter !== null; letter = mailbox.take()) names.push(letter.name);
    return names;
  };

  test("is open once many have come behind others, for the types that were appended", () => {
    const few = new Mailbox<Letter>();
    for (let i = 0; i < 17; i++) {
      expect(append(few, "x", i)).toBe(false);
      few.put(new Letter("o"));
    }
    expect([few.add("x", 0), append(few, "x", 0), few.add("x", 1), few.add("y", 0)]).toEqual([
      false,
      true,
      true,
      false,
    ]);
    expect([append(few, "y", 2), few.add("x", 3), few.add("y", 4), few.add("z", 0)]).toEqual([true, true, true, false]);
    expect([append(few, "z", 5), few.add("x", 6), few.add("z", 7), few.add("y", 0)]).toEqual([true, true, true, false]);
    expect(drain(few).slice(17)).toEqual(["x0", "x1", "y2", "x3", "y4", "z5", "x6", "z7"]);
  });

  test("is not open for those that come and go one by one", () => {
    const mailbox = new Mailbox<Letter>();
    for (let i = 0; i < 100; i++) {
      expect(append(mailbox, "x", 0)).toBe(false);
      mailbox.put(new Letter("o"));
      mailbox.take();
    }
  });

  test("is closed when it has run empty, or is told to, and can be opened again", () => {
    const { mailbox } = crowded();
    expect(mailbox.add("x", 1)).toBe(true);
    mailbox.close();
    expect(mailbox.add("x", 2)).toBe(false);
    expect([append(mailbox, "x", 2), mailbox.add("x", 3)]).toEqual([true, true]);
    expect(drain(mailbox).slice(-4)).toEqual(["x0", "x1", "x2", "x3"]);
    expect([mailbox.isEmpty, mailbox.add("x", 0)]).toEqual([true, false]);
  });

  test("P2: is closed by what is put behind, and what comes next is behind that", () => {
    const { mailbox } = crowded();
    for (let i = 1; i < 40; i++) mailbox.add("x", i);
    mailbox.put(new Letter("ask"));
    expect([mailbox.add("x", 0), append(mailbox, "x", 40)]).toEqual([false, true]);
    expect(drain(mailbox).slice(-3)).toEqual(["x39", "ask", "x40"]);
  });

  test("takes envelopes again for a while, where few came before another one", () => {
    const { mailbox } = crowded();
    mailbox.put(new Letter("ask"));
    for (let i = 0; i < 16; i++) {
      expect(append(mailbox, "x", i)).toBe(false);
      mailbox.put(new Letter("o"));
    }
    expect(append(mailbox, "x", 16)).toBe(true);
  });

  test("P2: takes more than one burst holds, and gives what is put first before all of them", () => {
    const { mailbox, before } = crowded();
    for (let i = 1; i < 200; i++) if (!mailbox.add("x", i)) expect(append(mailbox, "x", i)).toBe(true);
    const numbers = Array.from({ length: 200 }, (_, i) => `x${i}`);
    expect([...mailbox].map(({ name }) => name).slice(before - 1)).toEqual(numbers);
    for (let i = 0; i < before + 9; i++) mailbox.take();
    mailbox.putFirst([new Letter("first")]);
    expect(drain(mailbox)).toEqual(["first", ...numbers.slice(10)]);
  });

  test("gives each its envelope when one is looked for", () => {
    const { mailbox } = crowded();
    for (let i = 1; i < 9; i++) mailbox.add("x", i);
    expect(mailbox.takeOldest(({ name }) => name === "x3")?.name).toBe("x3");
    expect(mailbox.removeAll(({ name }) => name.startsWith("o") || name === "x8")).toHaveLength(18);
    expect(drain(mailbox)).toEqual(["x0", "x1", "x2", "x4", "x5", "x6", "x7"]);
  });

  test("times the messages that are chosen, by the time when they came, and takes all others as before", () => {
    const mailbox = new Mailbox<Letter>();
    const gaps = [2, 0, 1, 200];
    let time = 0;
    const sampling = { interval: () => gaps.shift() ?? 0, now: () => time };
    while (!append(mailbox, "o", 0)) mailbox.put(new Letter("o"));
    mailbox.close();
    for (; time < 90; time++) {
      const type = time === 3 || time === 4 ? "y" : "x";
      if (!mailbox.add(type, time)) mailbox.append(type, time, make, { accepted: 0 }, false, sampling);
    }
    const taken: [string, number | undefined][] = [];
    for (let letter = mailbox.take(); letter !== null; letter = mailbox.take()) {
      if (!letter.name.startsWith("o")) taken.push([letter.name, letter.timedFrom]);
    }
    const names = Array.from({ length: 90 }, (_, i) => (i === 3 || i === 4 ? `y${i}` : `x${i}`));
    expect(taken.map(([name]) => name)).toEqual(names);
    // The first burst has 64 messages, and the next one chooses anew.
    expect(taken.filter(([, from]) => from !== undefined).slice(0, 3)).toEqual([
      ["x2", 2],
      ["y3", 3],
      ["x5", 5],
    ]);
  });

  test("P14: keeps nothing alive of what was taken", async () => {
    const taken: WeakRef<object>[] = [];
    const { mailbox, before } = crowded();
    (() => {
      for (let i = 0; i < 40; i++) {
        const payload = {};
        taken.push(new WeakRef(payload));
        mailbox.add("x", payload);
      }
      mailbox.add("x", "last");
      for (let i = 0; i < before + 40; i++) mailbox.take();
    })();
    await Bun.sleep(0); // What a WeakRef gave lives as long as the task that made it.
    Bun.gc(true);
    // A few may be found on the stack.
    expect(taken.filter((each) => each.deref() !== undefined).length).toBeLessThan(5);
    expect(mailbox.take()?.name).toBe("xlast");
  });

  test("P1: counts what was added when it is taken, once, and not what was put", () => {
    const { mailbox, counts, before } = crowded();
    for (let i = 1; i < 100; i++) if (!mailbox.add("x", i)) append(mailbox, "x", i, counts);
    mailbox.put(new Letter("o"));
    expect([mailbox.uncounted, counts.accepted]).toEqual([100, 0]);
    for (let i = 0; i < before; i++) mailbox.take();
    expect(mailbox.uncounted + counts.accepted).toBe(100);
    drain(mailbox);
    expect([mailbox.uncounted, counts.accepted]).toEqual([0, 100]);
  });
});
