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
