import { afterEach, describe, expect, test } from "bun:test";
import { address, type DeadLetter, defineProtocol, Type } from "../../src/index";
import { Bytes, createLink, transfer } from "../../src/link/index";
import { createPair, type Pair } from "./pair";

const Log = defineProtocol("log", {
  note: { payload: Type.Number() },
  notes: { reply: Type.Array(Type.Number()) },
  count: { payload: Type.Number(), stream: Type.Number() },
  back: { payload: Type.Number(), reply: Type.Null() },
});

let pair: Pair;
afterEach(() => pair?.end());

function log(options: Parameters<typeof createPair>[0] = {}) {
  pair = createPair(options);
  const notes: number[] = [];
  const there = pair.there.spawn("log", Log, () => ({
    note: (number) => void notes.push(number),
    notes: () => notes,
    async *count(to) {
      for (let n = 1; n <= to; n++) yield n;
    },
    back: () => null,
  }));
  const dead: DeadLetter[] = [];
  pair.here.events.subscribe((event) => void (event.kind === "dead-letter" && dead.push(event.letter)));
  return { ref: pair.reach(there, Log), notes, dead };
}
/** Resolves once all that has left was read, and what that sends back, too. */
async function quiet(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
}

describe("messages that the other side has not read, with a bound", () => {
  test("are not more than that: a tell is a dead letter, and all else comes back mailbox-full at once", async () => {
    const { ref, notes, dead } = log({ mostUnread: 4 });
    for (let n = 0; n < 6; n++) ref.tell("note", n);
    const results = await Promise.all([ref.ask("notes"), ref.offer("note", 6)]);
    const read = await Array.fromAsync(ref.stream("count", 1)).catch((thrown: unknown) => thrown);
    for (const result of results) {
      const error = result._unsafeUnwrapErr();
      expect(error).toMatchObject({ kind: "mailbox-full", capacity: 4, retryable: true });
      expect(error.message).toContain("found 4 messages that the other side has not read yet, which is the most;");
    }
    expect(read).toMatchObject({ kind: "mailbox-full" });
    await quiet();
    expect(dead.filter(({ asked }) => !asked)).toMatchObject([
      { operation: "note", reason: "mailbox-full" },
      { operation: "note", reason: "mailbox-full" },
    ]);
    expect(notes).toEqual([0, 1, 2, 3]);
    expect(pair.link.waiting).toBe(0);
  });

  test("leave room as they are read, for each kind of message, for as long as one likes", async () => {
    const { ref, notes } = log({ mostUnread: 10 });
    for (let round = 0; round < 20; round++) {
      for (let n = 0; n < 7; n++) ref.tell("note", n); // Of 10, up to 3 that were read may count.
      await quiet();
    }
    expect(notes).toHaveLength(140);
    for (let round = 0; round < 40; round++) {
      expect((await ref.ask("back", round)).isOk()).toBe(true);
      expect((await ref.offer("note", round)).isOk()).toBe(true);
      expect(await Array.fromAsync(ref.stream("count", 3))).toEqual([1, 2, 3]);
      await quiet();
    }
  });

  test("do not count when they were refused for another reason", async () => {
    const { ref } = log({ mostUnread: 1 });
    for (let n = 0; n < 3; n++)
      expect((await ref.offer("note", 1n as never))._unsafeUnwrapErr().kind).toBe("invalid-payload");
    expect((await ref.ask("notes")).isOk()).toBe(true);
  });

  test("are none for the other side that comes after a loss", async () => {
    const { ref, notes } = log({ mostUnread: 2 });
    for (let n = 0; n < 3; n++) ref.tell("note", n);
    for (const link of [pair.link, pair.far]) {
      link.lost(new Error("the cable is out"), "timeout");
      link.resume();
    }
    await quiet();
    notes.length = 0;
    for (let n = 0; n < 3; n++) ref.tell("note", n);
    await quiet();
    expect(notes).toEqual([0, 1]);
  });

  test("are none either after a loss by the very sending of one", async () => {
    pair = createPair();
    const texts: string[] = [];
    const link = createLink({
      system: pair.here,
      prefix: "closing/",
      mostUnread: 1,
      carriesBytes: true,
      send(text) {
        texts.push(text);
        if (text.includes("note")) link.lost(new Error("the cable is out"), "unreachable");
        return true;
      },
      exposed: () => undefined,
    });
    const ref = link.ref(address("log"), Log);
    for (const bytes of [transfer(new Uint8Array(1)), transfer(new Uint8Array(2))]) {
      expect((await ref.offer("note", bytes as never))._unsafeUnwrapErr().kind).toBe("unreachable");
      link.resume();
    }
    expect(texts.filter((text) => text.includes("note"))).toHaveLength(2);
  });

  test("P18: are not believed to be read by a side that was not asked", async () => {
    const { ref, notes } = log({ mostUnread: 2 });
    await ref.ask("notes");
    await quiet();
    expect(pair.link.take("[[18,1000000],[18,-5],[18,0],[18,9007199254740991]]")).toBe(true);
    for (let n = 0; n < 5; n++) ref.tell("note", n);
    await quiet();
    expect(notes).toEqual([0, 1]);
    for (const wrong of ['[[18,"1"]]', "[[18]]", "[[17,null]]", "[[17,0.5]]"])
      expect(pair.link.take(wrong)).toBe(false);
  });
});

test.each([1, 2, 5])(
  "P11: asks with bytes, one after the other's answer, find room with a bound of %d",
  async (mostUnread) => {
    const Echo = defineProtocol("echo", { echo: { payload: Bytes, reply: Bytes } });
    pair = createPair({ mostUnread, carriesBytes: true, far: { carriesBytes: true } });
    const echo = pair.reach(
      pair.there.spawn("echo", Echo, () => ({ echo: (bytes) => transfer(bytes) })),
      Echo,
    );
    for (let n = 0; n < 10; n++) {
      expect((await echo.ask("echo", transfer(Uint8Array.of(n))))._unsafeUnwrap()).toEqual(Uint8Array.of(n));
    }
  },
);

test("a sender behind a further link is told so, too, and a full mailbox is still called one", async () => {
  pair = createPair();
  let full: number | { unread: number } = { unread: 4 };
  const nothing = (): void => undefined;
  const third = pair.there.attach(address("third/log"), Log, {
    send: (out) => out.fail("mailbox-full", full),
    cancel: nothing,
    credit: nothing,
    close: nothing,
  });
  const ref = pair.reach(third.ref, Log);
  const unread = (await ref.ask("notes"))._unsafeUnwrapErr();
  expect(unread).toMatchObject({ kind: "mailbox-full", capacity: 4 });
  expect(unread.message).toContain("found 4 messages that the other side has not read yet");
  full = 7;
  const mailbox = (await ref.ask("notes"))._unsafeUnwrapErr();
  expect(mailbox).toMatchObject({ kind: "mailbox-full", capacity: 7 });
  expect(mailbox.message).toContain("found a full mailbox (capacity 7)");
});

test("without a bound, nothing is said of what was read", async () => {
  const { ref, notes } = log();
  for (let n = 0; n < 2_000; n++) ref.tell("note", n);
  await ref.ask("notes");
  expect(notes).toHaveLength(2_000);
  for (const text of [...pair.sent.toThere, ...pair.sent.toHere]) expect(text).not.toMatch(/\[1[78],/);
});
