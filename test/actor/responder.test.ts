import { describe, expect, test } from "bun:test";
import {
  type Address,
  type AnswerFrame,
  address,
  createResponder,
  createSystem,
  defineProtocol,
  type MessageFrame,
  type RefTo,
  type RequestFrame,
  type Responder,
  type ResponderOptions,
  receive,
  refSchema,
  Type,
} from "../../src/index";
import { createManualClock } from "../../src/testing/index";
import { isLong } from "../property/runs";
import { expectBalance, type TestOptions, testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const Store = defineProtocol("store", {
  get: { payload: Type.Number(), reply: Type.Number() },
  put: { payload: Type.Number() },
  wait: { reply: Type.Null() },
  count: { payload: Type.Number(), stream: Type.Number() },
  big: { reply: Type.BigInt() },
  bigs: { stream: Type.BigInt() },
  work: { reply: Type.Number() },
  look: { reply: Type.Unknown() },
  keep: { payload: refSchema(), reply: Type.Boolean() },
});
const at = address("store");

/** A store with a responder before it. `sent` are the frames that it gave, as JSON carries them. */
function served(options: Partial<ResponderOptions> = {}, system: TestOptions = {}) {
  const made = createTestSystem(system);
  const seen = { produced: 0, aborted: 0, put: [] as number[] };
  const store: RefTo<typeof Store> = made.system.spawn(
    "store",
    Store,
    (ctx) => ({
      get: (n) => n,
      put: (n) => void seen.put.push(n),
      wait() {
        const { signal } = ctx;
        return new Promise<null>((_, reject) => {
          signal.addEventListener("abort", () => {
            seen.aborted++;
            reject(signal.reason);
          });
        });
      },
      async *count(n) {
        try {
          for (let i = 0; i < n; i++) {
            seen.produced++;
            yield i;
          }
        } finally {
          seen.aborted++;
        }
      },
      big: () => 1n,
      *bigs() {
        yield 1n;
      },
      async work() {
        ctx.progress(1, 2, "half");
        await new Promise<void>((resolve) => void ctx.clock.setTimer(resolve, 10));
        return 2;
      },
      look: () => [ctx.metadata, ctx.deadline],
      keep: (ref): boolean => ref.address === at,
    }),
    { concurrency: 16 },
  );
  const door = receive(store, { metadata: { user: "Ada" }, expose: (of) => of === at });
  const sent: AnswerFrame[] = [];
  const responder = createResponder({
    doorTo: (to) => (to === at ? door : undefined),
    send: (frame) => void sent.push(JSON.parse(JSON.stringify(frame))),
    ...options,
  });
  return { ...made, seen, store, sent, responder };
}

const message = (id: string, type: string, beside: Partial<MessageFrame> = {}): MessageFrame => ({
  kind: "message",
  id,
  to: at,
  pattern: "ask",
  type,
  ...beside,
});
const stream = (id: string, n: number, credit: unknown): MessageFrame =>
  message(id, "count", { pattern: "stream", payload: n, credit: credit as number });

/** Frames as they may come: the compiler has not seen them. */
const takeAny = (responder: Responder, frame: unknown): boolean => responder.take(frame as RequestFrame);
const itemsOf = (frames: readonly AnswerFrame[], id: string): unknown[] =>
  frames.flatMap((frame) => (frame.kind === "items" && frame.id === id ? frame.items : []));

describe("it hands each message to its door, and answers", () => {
  test("asks, offers and tells", async () => {
    const { responder, sent, settle, seen } = served();
    for (const frame of [
      message("1", "get", { payload: 7 }),
      message("2", "put", { pattern: "tell", isAwaited: true, payload: 8 }),
      message("3", "put", { pattern: "tell", payload: 9 }),
    ])
      expect(responder.take(frame)).toBe(true);
    expect([responder.size, responder.has("1"), responder.has("3")]).toEqual([2, true, false]);
    await settle();
    expect(sent.toSorted((a, b) => a.id.localeCompare(b.id))).toEqual([
      { kind: "reply", id: "1", index: 0, payload: 7 },
      { kind: "reply", id: "2", index: 0 },
    ]);
    expect([responder.size, seen.put]).toEqual([0, [8, 9]]);
  });

  test("P12: a stream, never beyond the credit of its reader, and a producer one item ahead of it", async () => {
    const { responder, sent, settle, seen } = served();
    responder.take(stream("s", 10, 2));
    await settle();
    expect([itemsOf(sent, "s"), seen.produced]).toEqual([[0, 1], 3]);
    responder.take({ kind: "credit", id: "s", count: 3 });
    await settle();
    expect([itemsOf(sent, "s").length, seen.produced]).toEqual([5, 6]);
    responder.take({ kind: "credit", id: "s", count: 100 });
    await settle();
    expect(itemsOf(sent, "s")).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(sent.at(-1)).toEqual({ kind: "reply", id: "s", index: 10 });
    expect(sent.map((frame) => "index" in frame && frame.index)).toEqual(Array.from({ length: 11 }, (_, i) => i));
    expect(responder.size).toBe(0);
  });

  test("P12: where the producer may be further ahead, one frame has several items, and still no more than the credit", async () => {
    const { responder, sent, settle } = served({ streams: { credit: 8 } });
    responder.take(stream("s", 64, 6));
    for (let left = 58; left > 0; left -= 2) {
      await settle();
      expect(itemsOf(sent, "s").length).toBe(64 - left);
      responder.take({ kind: "credit", id: "s", count: 2 });
    }
    await settle();
    expect(itemsOf(sent, "s")).toEqual(Array.from({ length: 64 }, (_, i) => i));
    expect(sent.length).toBeLessThan(50);
  });

  test("P12: no items are sent while a promise of send() is pending", async () => {
    const sending: (() => void)[] = [];
    const items: unknown[] = [];
    const { responder, settle } = served({
      send(frame) {
        if (frame.kind === "items") items.push(...frame.items);
        return new Promise<void>((resolve) => sending.push(resolve));
      },
    });
    responder.take(stream("s", 10, Number.MAX_VALUE));
    for (let count = 1; count < 5; count++) {
      await settle();
      expect(items.length).toBe(count);
      sending.shift()?.();
    }
    responder.close();
  });

  test("progress, where somebody listens", async () => {
    const { responder, sent, advance } = served();
    responder.take(message("1", "work", { wantsProgress: true }));
    responder.take(message("2", "work"));
    await advance(20);
    expect(sent.filter(({ kind }) => kind === "progress")).toEqual([
      { kind: "progress", id: "1", done: 1, total: 2, note: "half" },
    ]);
  });

  test("metadata, what is left of the time, at most the longest, and references that the door exposes", async () => {
    const { responder, sent, settle, advance } = served({ longest: 500 });
    responder.take(message("1", "look", { metadata: { trace: "x" }, timeLeft: 100 }));
    responder.take(message("2", "look", { timeLeft: null }));
    responder.take(message("3", "look", { timeLeft: 9_000 }));
    responder.take(message("4", "keep", { payload: at }));
    responder.take(message("5", "keep", { payload: "@(other)" }));
    await settle();
    const replies = new Map(sent.map((frame) => [frame.id, frame.kind === "reply" ? frame.payload : frame.kind]));
    expect(replies.get("1")).toEqual([{ user: "Ada", trace: "x" }, 100]);
    expect([replies.get("2"), replies.get("3")]).toEqual(Array.from({ length: 2 }, () => [{ user: "Ada" }, 500]));
    expect([replies.get("4"), replies.get("5")]).toEqual([true, "failure"]);
    responder.take(message("6", "wait", { timeLeft: -5 }));
    await advance(2);
    expect(sent.at(-1)).toMatchObject({ id: "6", kind: "failure", error: "timeout", detail: 1 });
  });

  test("P18: metadata of a message replace none of its door, in no pattern", async () => {
    const { system, settle } = createTestSystem();
    const heard: unknown[] = [];
    const Ear = defineProtocol("ear", {
      say: {},
      ask: { reply: Type.Null() },
      all: { stream: Type.Null() },
    });
    const ear = system.spawn("ear", Ear, (ctx) => {
      const hear = () => void heard.push(ctx.metadata);
      return {
        say: hear,
        ask() {
          hear();
          return null;
        },
        *all() {
          hear();
          yield null;
        },
      };
    });
    const door = receive(ear, { metadata: { user: "Ada" } });
    expect(door.metadata).toEqual({ user: "Ada" });
    const responder = createResponder({ doorTo: () => door, send: () => undefined });
    const beside = { to: ear.address, metadata: { user: "root", trace: "x" } };
    responder.take(message("1", "say", { pattern: "tell", ...beside }));
    responder.take(message("2", "say", { pattern: "tell", isAwaited: true, ...beside }));
    responder.take(message("3", "ask", beside));
    responder.take(message("4", "all", { pattern: "stream", credit: 1, ...beside }));
    await settle();
    expect(heard).toEqual(Array.from({ length: 4 }, () => ({ user: "Ada", trace: "x" })));
  });

  test("P18: a failure tells its kind and what its sender can mend, and nothing of the inside", async () => {
    const { responder, sent, settle } = served();
    responder.take(message("1", "get", { payload: "seven" }));
    responder.take(message("2", "nothing"));
    responder.take(message("3", "get", { to: address("secret"), payload: 7 }));
    responder.take(message("4", "put", { to: address("secret"), pattern: "tell", payload: 7 }));
    responder.take(message("5", "get", { pattern: "stream", payload: 7, credit: 1 }));
    await settle();
    const byId = Object.fromEntries(sent.map((frame) => [frame.id, frame]));
    expect(byId["1"]).toMatchObject({ error: "invalid-payload", detail: [{ path: "" }] });
    expect(byId["2"]).toMatchObject({ error: "unknown-operation" });
    expect(byId["3"]).toEqual({ kind: "failure", id: "3", index: 0, error: "no-recipient" });
    expect(byId["4"]).toBeUndefined();
    expect(byId["5"]).toMatchObject({ error: "unknown-operation" });
    expect(JSON.stringify(sent)).not.toContain("@(store)");
  });

  test("detailOf words what the sender is told of each failure of a door, and sees the error itself", async () => {
    const seen: string[] = [];
    const { responder, sent, settle } = served({
      detailOf(error, { id, type }) {
        seen.push(`${id} ${type} ${error.kind} at ${error.address}`);
        if (id === "3") throw new Error("a mistake of the owner");
        return { sentence: `no ${type}` };
      },
    });
    responder.take(message("1", "get", { payload: "seven" }));
    responder.take(message("2", "get", { pattern: "stream", payload: 7, credit: 1 }));
    responder.take(message("3", "get", { payload: "seven" }));
    responder.take(message("4", "get", { to: address("secret"), payload: 7 })); // It has no door.
    await settle();
    const byId = Object.fromEntries(sent.map((frame) => [frame.id, frame]));
    expect(byId["1"]).toMatchObject({ error: "invalid-payload", detail: { sentence: "no get" } });
    expect(byId["2"]).toMatchObject({ error: "unknown-operation", detail: { sentence: "no get" } });
    expect(byId["3"]).toMatchObject({ error: "handler-failed", detail: "its outcome could not be sent" });
    expect(byId["4"]).not.toHaveProperty("detail");
    expect(seen.sort()).toEqual([
      "1 get invalid-payload at @(store)",
      "2 get unknown-operation at @(store)",
      "3 get invalid-payload at @(store)",
    ]);
  });

  test("what send() cannot carry fails its message alone, and ends its stream", async () => {
    const { responder, sent, settle } = served();
    responder.take(message("1", "big"));
    responder.take(message("2", "bigs", { pattern: "stream", credit: 5 }));
    responder.take(message("3", "get", { payload: 1 }));
    await settle();
    const failure = { kind: "failure", index: 0, error: "handler-failed", detail: "its outcome could not be sent" };
    expect<unknown[]>(sent.filter(({ kind }) => kind === "failure").map(({ id, ...rest }) => rest)).toEqual([
      failure,
      failure,
    ]);
    expect([sent.length, responder.size]).toEqual([3, 0]);
    const broken = served({ send: () => Promise.reject(new Error("closed")) });
    broken.responder.take(message("1", "get", { payload: 1 }));
    broken.responder.take(stream("2", 5, 5));
    await broken.settle();
    expect([broken.responder.size, broken.seen.aborted]).toEqual([0, 1]);
  });
});

describe("P7: what was given up is forgotten:", () => {
  test("a cancelled ask and a cancelled stream end their handlers, and nothing of them is sent any more", async () => {
    const { responder, sent, settle, seen } = served();
    responder.take(message("1", "wait"));
    responder.take(stream("2", 10, 2));
    responder.take(stream("3", 10, 0));
    await settle();
    const before = sent.length;
    for (const id of ["1", "2", "3"]) responder.take({ kind: "cancel", id });
    expect(responder.size).toBe(0);
    responder.take({ kind: "credit", id: "2", count: 5 });
    await settle();
    expect([sent.length, seen.aborted]).toEqual([before, 3]);
    responder.take(message("1", "get", { payload: 5 })); // The id is free again.
    await settle();
    expect(sent.at(-1)).toEqual({ kind: "reply", id: "1", index: 0, payload: 5 });
  });

  test("what an asynchronous send() cannot carry leaves no gap in the numbers of the outcomes", async () => {
    const sent: AnswerFrame[] = [];
    const { responder, settle } = served({ send: async (frame) => void sent.push(JSON.parse(JSON.stringify(frame))) });
    responder.take(message("1", "big"));
    responder.take(message("2", "bigs", { pattern: "stream", credit: 2 }));
    responder.take(stream("3", 2, 5));
    await settle();
    const numbers = sent.map((frame) => `${frame.id} ${frame.kind} ${frame.kind === "progress" ? "" : frame.index}`);
    expect(numbers.sort()).toEqual(["1 failure 0", "2 failure 0", "3 items 0", "3 items 1", "3 reply 2"]);
  });

  test("nothing is sent after the end of a connection, and nothing begins, also when it ends while a frame is taken", async () => {
    const { responder, sent, settle } = served({ most: 1 });
    responder.take(message("1", "wait"));
    responder.take(message("2", "wait")); // mailbox-full
    responder.take(message("3", "get", { to: address("nobody") })); // no-recipient
    responder.close();
    await settle();
    expect(sent).toEqual([]);

    for (const pattern of ["tell", "ask", "stream"] as const) {
      const { store, system, settle } = served();
      const late: AnswerFrame[] = [];
      const closing: Responder = createResponder({
        doorTo() {
          closing.close();
          return receive(store);
        },
        send: (frame) => late.push(frame),
      });
      const type = { tell: "put", ask: "wait", stream: "count" }[pattern];
      closing.take(message("1", type, { pattern, payload: pattern === "ask" ? undefined : 1 }));
      await settle();
      expect([closing.size, late, system.router.audit().accepted]).toEqual([0, [], 0]);
    }
  });

  test("replies of one turn are sent after it, in order, and none of them once send() has ended the connection", async () => {
    const said: string[] = [];
    for (const isEnding of [false, true]) {
      const { store, settle } = served();
      const responder: Responder = createResponder({
        doorTo: () => receive(store),
        send({ id }) {
          said.push(id);
          if (isEnding) responder.close();
          else if (id === "2") throw new Error("it is too large");
        },
      });
      for (const id of ["1", "2", "3"]) responder.take(message(id, "get", { payload: Number(id) }));
      await settle();
      expect(responder.size).toBe(0);
    }
    expect(said).toEqual(["1", "2", "2", "3", "1"]); // The second one failed, and that is told.
  });

  test("a lost connection ends all, and later frames are ignored", async () => {
    const { responder, sent, settle, seen, router, clock } = served();
    responder.take(message("1", "wait"));
    responder.take(stream("2", 10, 0));
    await settle();
    responder.close(new Error("reset by peer"));
    responder.close();
    responder.take(message("3", "get", { payload: 1 }));
    responder.take(message("4", "put", { pattern: "tell", payload: 1 }));
    responder.take({ kind: "credit", id: "2", count: 5 });
    await settle();
    expect([sent, seen.put, seen.aborted, responder.size]).toEqual([[], [], 2, 0]);
    expect(clock.heldTimers).toBe(0); // P6
    expectBalance(router.audit());
  });
});

describe("P18: hostile frames:", () => {
  test.each<[string, unknown]>([
    ["null", null],
    ["a text", "message"],
    ["a list", []],
    ["no id", { kind: "cancel" }],
    ["a number as its id", { kind: "message", id: 1, to: at, pattern: "ask", type: "get" }],
    ["an unknown kind", { kind: "hello", id: "1" }],
    ["an unknown pattern", message("1", "get", { pattern: "reply" as "ask" })],
    ["metadata that are none", message("1", "get", { metadata: [1] as never })],
  ])("%s is no frame, and nothing else", async (_, frame) => {
    const { responder, sent, settle } = served();
    expect(takeAny(responder, frame)).toBe(false);
    await settle();
    expect([sent, responder.size]).toEqual([[], 0]);
  });

  test("P18: a reference in place of a door lets nothing in, and says what to return", () => {
    const { system } = createTestSystem();
    const taken: unknown[] = [];
    const ref = system.spawn("store", defineProtocol("any", { put: { payload: Type.Number() } }), () => ({
      put: (payload) => void taken.push(payload),
    }));
    const responder = createResponder({ doorTo: () => ref as never, send: () => undefined });
    expect(() => responder.take(message("1", "put", { pattern: "tell", payload: "no number" }))).toThrow(
      new TypeError(
        "doorTo gives a door for @(store), and not the reference, which validates nothing: return receive(ref).",
      ),
    );
    expect(taken).toEqual([]);
  });

  test("unknown ids, a cancel after the end and an answer as a request change nothing", async () => {
    const { responder, sent, settle } = served();
    responder.take(message("1", "get", { payload: 1 }));
    await settle();
    for (const id of ["1", "2", "__proto__", "constructor"]) {
      expect(responder.take({ kind: "cancel", id })).toBe(true);
      expect(responder.take({ kind: "credit", id, count: 1 })).toBe(true);
    }
    expect(takeAny(responder, { kind: "reply", id: "1", index: 0 })).toBe(false);
    await settle();
    expect(sent.length).toBe(1);
  });

  test("P17: a message with the id of one that is under way is not handled, and the first one is answered", async () => {
    const { responder, sent, settle, seen } = served();
    responder.take(message("1", "wait"));
    responder.take(message("1", "put", { pattern: "tell", isAwaited: true, payload: 1 }));
    responder.take(stream("1", 5, 5));
    await settle();
    expect([sent, seen.put, seen.produced, responder.size]).toEqual([[], [], 0, 1]);
    responder.take({ kind: "cancel", id: "1" });
    await settle();
    expect(seen.aborted).toBe(1);
  });

  test.each([0, -1, Number.NaN, 0.5, null, "9", {}, Number.NEGATIVE_INFINITY])(
    "a credit of %p is none, at the beginning and later",
    async (credit) => {
      const { responder, sent, settle, advance } = served({ streams: { abandonedAfter: 1_000 } });
      responder.take(stream("s", 5, credit));
      takeAny(responder, { kind: "credit", id: "s", count: credit });
      await settle();
      expect([sent, responder.size]).toEqual([[], 1]);
      responder.take({ kind: "credit", id: "s", count: 1.9 });
      await settle();
      expect(itemsOf(sent, "s")).toEqual([0]);
      await advance(2_000); // Its actor does not wait for ever for a reader that grants nothing.
      responder.take({ kind: "credit", id: "s", count: 1 });
      await settle();
      expect(sent.at(-1)).toMatchObject({ kind: "failure", error: "cancelled" });
    },
  );

  test("a stream without credit has its deadline all the same", async () => {
    const { responder, sent, advance, seen } = served();
    responder.take({ ...stream("s", 5, 0), timeLeft: 100 });
    await advance(200);
    expect(seen.aborted).toBe(1);
    responder.take({ kind: "credit", id: "s", count: 1 });
    await advance(1);
    expect(sent).toEqual([{ kind: "failure", id: "s", index: 0, error: "timeout", detail: 100 }]);
  });

  test("a huge credit, again and again, is one that never ends", async () => {
    const { responder, sent, settle } = served();
    responder.take(stream("s", 50, Number.MAX_VALUE));
    for (let i = 0; i < 10; i++) responder.take({ kind: "credit", id: "s", count: Number.POSITIVE_INFINITY });
    await settle();
    expect(itemsOf(sent, "s").length).toBe(50);
    expect(responder.size).toBe(0);
  });

  test("any address and any operation are answered, also where the owner's function throws", async () => {
    const asked: Address[] = [];
    const { responder, sent, settle } = served({
      doorTo(to) {
        asked.push(to);
        throw new Error("the password is 1234");
      },
    });
    const hostile: unknown[] = ["store", "@()", 7, null, `@(${"x".repeat(1_000_000)})`, {}];
    for (const [index, to] of [...hostile, at].entries())
      responder.take(message(`${index}`, "get", { to: to as Address }));
    takeAny(responder, message("op", 7 as never));
    await settle();
    expect(asked).toEqual([at, at]);
    expect(sent.length).toBe(8);
    expect(sent.every((frame) => frame.kind === "failure" && frame.error === "no-recipient")).toBe(true);
    const other = served();
    for (const type of [7, null, "", {}, "__proto__"]) takeAny(other.responder, message(String(type), type as never));
    await other.settle();
    expect(other.sent.map((frame) => frame.kind === "failure" && frame.error)).toEqual(
      Array.from({ length: 5 }, () => "unknown-operation"),
    );
  });

  test("more than `most` messages at one time come back as mailbox-full, and a tell does not count", async () => {
    const { responder, sent, settle, seen } = served({ most: 2 });
    for (const id of ["1", "2", "3"]) responder.take(message(id, "wait"));
    responder.take(message("4", "put", { pattern: "tell", payload: 1 }));
    await settle();
    expect(sent).toEqual([{ kind: "failure", id: "3", index: 0, error: "mailbox-full", detail: 2 }]);
    expect(seen.put).toEqual([1]);
    responder.take({ kind: "cancel", id: "1" });
    responder.take(message("3", "get", { payload: 3 }));
    await settle();
    expect(sent.at(-1)).toEqual({ kind: "reply", id: "3", index: 0, payload: 3 });
    responder.close();
  });

  test(`P6: ${isLong ? 100_000 : 10_000} open streams are answered, given up and forgotten`, async () => {
    const clock = createManualClock(); // A system of its own: the tests' one looks at the audit at each dead letter.
    const system = createSystem({ clock, logger: { warn() {}, error() {} } });
    let ended = 0;
    const store = system.spawn(
      "store",
      defineProtocol("streams", { count: { stream: Type.Number() } }),
      () => ({
        async *count() {
          try {
            yield 1;
            yield 2;
          } finally {
            ended++;
          }
        },
      }),
      { concurrency: 16 },
    );
    const door = receive(store);
    let sent = 0;
    const responder = createResponder({
      doorTo: () => door,
      send: () => void sent++,
      most: Number.POSITIVE_INFINITY,
    });
    const count = isLong ? 100_000 : 10_000;
    for (let i = 0; i < count; i++) responder.take(message(`${i}`, "count", { pattern: "stream", credit: 1 }));
    await clock.settle();
    expect([responder.size, sent]).toEqual([count, 16]); // The others wait for these.
    for (let i = 0; i < count / 2; i++) responder.take({ kind: "cancel", id: `${i}` });
    responder.close();
    await clock.settle();
    expect([responder.size, sent, ended]).toEqual([0, 16, 16]);
    expectBalance(system.router.audit());
    await system.shutdown();
  }, 30_000);
});

test("what no responder can be is refused with what to write", () => {
  const options: ResponderOptions = { doorTo: () => undefined, send() {} };
  const wrong: [Record<string, unknown>, string][] = [
    [{ doorTo: undefined }, "The doorTo of a responder is a function"],
    [{ send: "socket" }, "The send of a responder is a function"],
    [{ most: 0 }, "The most of a responder is a whole number from 1"],
    [{ longest: 0 }, "The longest of a responder is a number of milliseconds above 0"],
    [{ most: Number.NaN }, "The most of a responder is a whole number from 1, or Infinity"],
    [{ streams: { credit: 0 } }, "The credit of the streams of a responder is a whole number from 1"],
    [{ streams: 4 }, "The options of the streams of a responder are an object, such as { credit: 4 }"],
    [{ streams: { abandoned: 4 } }, 'There is no option "abandoned" for the streams of a responder'],
    [{ limit: 4 }, 'There is no option "limit" for a responder'],
  ];
  for (const [changes, text] of wrong)
    expect(() => createResponder({ ...options, ...changes } as ResponderOptions)).toThrow(text);
});
