import { heapStats } from "bun:jsc";
import { describe, expect, test } from "bun:test";
import {
  type AskResult,
  address,
  createSystem,
  defineProtocol,
  expose,
  type RefTo,
  refSchema,
  StreamError,
  type System,
  Type,
} from "../../src/index";
import { createLink, createManualClock, type Link, type LinkOptions, type ManualClock } from "../../src/testing/index";
import { expectBalance } from "../actor/test-system";

const Store = defineProtocol("store", {
  put: { payload: Type.Number() },
  get: { payload: Type.Number(), reply: Type.Number() },
  wait: { reply: Type.Number() },
  count: { payload: Type.Number(), stream: Type.Number() },
  fail: { payload: Type.Boolean() },
});

interface Pair {
  readonly clock: ManualClock;
  readonly a: System;
  readonly b: System;
  readonly link: Link;
  /** The store of b, and the reference to it in a. */
  readonly store: RefTo<typeof Store>;
  readonly far: RefTo<typeof Store>;
  readonly handled: number[];
  readonly aborted: string[];
  produced: number;
  end(): Promise<void>;
}

const at = address("b/store");

function pair(options: Partial<LinkOptions> = {}, room: object = {}): Pair {
  const clock = createManualClock();
  const silent = { clock, logger: { warn() {}, error() {} } };
  const [a, b] = [createSystem(silent), createSystem(silent)];
  const link = createLink(a, b, { clock, ...options });
  const handled: number[] = [];
  const aborted: string[] = [];
  const made = { produced: 0 };
  const store = b.spawn(
    "store",
    Store,
    (ctx) => ({
      put: (n) => void handled.push(n),
      get(n) {
        handled.push(n);
        return n;
      },
      wait: () => new Promise((resolve) => void ctx.onAbort(() => resolve(aborted.push("wait")))),
      async *count(n) {
        try {
          for (let i = 0; i < n; i++) {
            made.produced++;
            yield i;
          }
        } finally {
          aborted.push("count");
        }
      },
      fail(isExposed) {
        throw isExposed ? expose(new Error("no such city")) : new Error("the password is 1234");
      },
    }),
    room,
  );
  const far = link.a.attach(at, Store, store);
  return Object.assign(made, {
    clock,
    a,
    b,
    link,
    store,
    far,
    handled,
    aborted,
    async end() {
      await clock.advance(10_000);
      await Promise.all([a.shutdown(), b.shutdown()]);
      await clock.advance(10_000);
      for (const { router } of [a, b]) expectBalance(router.audit());
      expect(clock.heldTimers).toBe(0); // P6
    },
  });
}

const kindOf = (result: AskResult): string => (result.isOk() ? "ok" : result.error.kind);

async function readAll(items: AsyncIterable<unknown>): Promise<{ items: unknown[]; kind: string }> {
  const seen: unknown[] = [];
  try {
    for await (const item of items) seen.push(item);
    return { items: seen, kind: "end" };
  } catch (thrown) {
    return { items: seen, kind: thrown instanceof StreamError ? thrown.kind : String(thrown) };
  }
}

describe("a link carries", () => {
  test("asks, tells, offers and streams, in the order of their sender", async () => {
    const pair_ = pair({ delay: [1, 20] });
    const { far, clock, handled } = pair_;
    for (let i = 0; i < 20; i++) far.tell("put", i);
    const asked = far.ask("get", 20);
    const offered = far.offer("put", 21);
    const read = readAll(far.stream("count", 40, { credit: 4 }));
    await clock.advance(2_000);
    expect((await asked)._unsafeUnwrap()).toBe(20);
    expect((await offered).isOk()).toBe(true);
    expect(handled).toEqual(Array.from({ length: 22 }, (_, i) => i));
    expect(await read).toEqual({ items: Array.from({ length: 40 }, (_, i) => i), kind: "end" });
    await pair_.end();
  });

  test("P18: a failure with its kind, and the text of an error only if it was exposed", async () => {
    const pair_ = pair();
    const { far, clock } = pair_;
    const asked = [far.ask("fail", false), far.ask("fail", true), far.ask("get", "one" as never)];
    await clock.settle();
    const [secret, open, invalid] = (await Promise.all(asked)).map((result) => result._unsafeUnwrapErr());
    expect(secret?.message).not.toContain("1234");
    expect(open?.message).toContain("no such city");
    expect(invalid).toMatchObject({ kind: "invalid-payload", issues: [{ path: "" }] });
    await pair_.end();
  });

  test("P12: no more items than the reader has room for", async () => {
    const pair_ = pair();
    const { far, clock } = pair_;
    const stream = far.stream("count", 100, { credit: 4 });
    await Promise.all([stream.next(), clock.settle()]);
    expect(pair_.produced).toBeLessThanOrEqual(1 + 4 + 2); // What was read, the credit, and one at each end of the link.
    for (let i = 0; i < 20; i++) await Promise.all([stream.next(), clock.settle()]);
    expect(pair_.produced).toBeLessThanOrEqual(21 + 4 + 2);
    await stream.return();
    await clock.settle();
    expect(pair_.aborted).toEqual(["count"]);
    await pair_.end();
  });

  test("P7: that an asker gave up", async () => {
    const pair_ = pair({ delay: 5 });
    const { far, clock, aborted } = pair_;
    const asked = far.ask("wait", { timeout: 20 });
    await clock.advance(40);
    expect(kindOf(await asked)).toBe("timeout");
    expect(aborted).toEqual(["wait"]);
    await pair_.end();
  });

  test("metadata, and what is left of a deadline", async () => {
    const pair_ = pair({ delay: 10 });
    const { a, b, link, clock } = pair_;
    const Seen = defineProtocol("seen", { look: { reply: Type.Array(Type.Unknown()) } });
    const seen = b.spawn("seen", Seen, (ctx) => ({ look: () => [ctx.metadata, ctx.deadline] }));
    const far = link.a.attach(address("b/seen"), Seen, seen);
    const asked = far.ask("look", { timeout: 500, metadata: { trace: "1" } });
    await clock.advance(100);
    expect((await asked)._unsafeUnwrap()).toEqual([{ trace: "1" }, 500]);
    expect(a.router.audit().sent).toBe(1);
    await pair_.end();
  });

  test("progress, where somebody listens", async () => {
    const pair_ = pair({ delay: 5 });
    const { b, link, clock } = pair_;
    const Long = defineProtocol("long", { work: { reply: Type.Number() } });
    const long = b.spawn("long", Long, (ctx) => ({
      async work() {
        for (let done = 1; done <= 3; done++) {
          ctx.progress(done, 3);
          await new Promise<void>((resolve) => void ctx.clock.setTimer(resolve, 20));
        }
        return 3;
      },
    }));
    const far = link.a.attach(address("b/long"), Long, long);
    const seen: unknown[] = [];
    const asked = far.ask("work", { onProgress: ({ done, total }) => seen.push(`${done} of ${total}`) });
    await clock.advance(200);
    expect((await asked)._unsafeUnwrap()).toBe(3);
    expect(seen).toEqual(["1 of 3", "2 of 3", "3 of 3"]);
    await pair_.end();
  });

  test("P18: references in payloads and replies, among what is exposed", async () => {
    const pair_ = pair();
    const { a, b, link, clock, store, far: farStore } = pair_;
    const Broker = defineProtocol("broker", {
      find: { reply: refSchema(Store) },
      keep: { payload: refSchema(Store), reply: Type.Boolean() },
    });
    const broker = b.spawn("broker", Broker, () => ({ find: () => store, keep: (ref) => ref === store }));
    const expose = (given: string) => (given === store.address ? farStore : undefined);
    const open = { expose: (given: string) => (given === at ? store : undefined), exposeReplies: expose };
    const far = link.a.attach(address("b/broker"), Broker, broker, open);
    const closed = link.a.attach(address("b/closed"), Broker, broker);
    const asked = [far.ask("find"), far.ask("keep", farStore), closed.ask("find"), closed.ask("keep", farStore)];
    await clock.settle();
    const [found, kept, hidden, refused] = await Promise.all<AskResult>(asked);
    expect(found?._unsafeUnwrap()).toBe(farStore);
    expect(kept?._unsafeUnwrap()).toBe(true);
    expect(hidden?._unsafeUnwrapErr().kind).toBe("handler-failed");
    expect(refused?._unsafeUnwrapErr().kind).toBe("invalid-payload");
    expect(a.router.has(at)).toBe(true);
    await pair_.end();
  });

  test("that an actor there has stopped", async () => {
    const pair_ = pair({ delay: 5 });
    const { a, b, store, far, clock } = pair_;
    const asked = far.ask("wait");
    await clock.advance(10);
    await b.stop(store);
    await clock.advance(10);
    expect(kindOf(await asked)).toBe("ok"); // It ends when it is told, and its reply is the last thing it says.
    expect(a.router.has(at)).toBe(false);
    await pair_.end();
  });

  test("P17: to an address there, whoever is at it: the actor may be stopped for idleness, and opened again", async () => {
    const pair_ = pair({ delay: 5 });
    const { a, b, link, clock } = pair_;
    const Room = defineProtocol("room", { visits: { reply: Type.Number() } });
    const room = address("rooms/7");
    let opened = 0;
    b.resolve(
      "rooms/",
      (_, id) => {
        opened++;
        return b.spawn(id, Room, () => ({ visits: () => opened }));
      },
      { idle: 1_000 },
    );
    const far = link.a.attach(room, Room, b.ref(room, Room));
    for (let time = 1; time <= 3; time++) {
      const asked = far.ask("visits");
      await clock.advance(5_000);
      expect(b.router.has(room)).toBe(false);
      expect((await asked).unwrapOr(kindOf(await asked))).toBe(time);
    }
    expect(a.router.has(room)).toBe(true);
    await pair_.end();
  });
});

describe("P17: at most once:", () => {
  test("what comes twice is handled once", async () => {
    const pair_ = pair({ duplicate: 1, delay: [1, 9] });
    const { far, clock, handled, link } = pair_;
    for (let i = 0; i < 10; i++) far.tell("put", i);
    const read = readAll(far.stream("count", 10));
    const asked = far.ask("get", 10);
    await clock.advance(500);
    expect(handled).toEqual(Array.from({ length: 11 }, (_, i) => i));
    expect((await read).items.length).toBe(10);
    expect(kindOf(await asked)).toBe("ok");
    expect(link.frames.duplicated).toBe(link.frames.sent);
    await pair_.end();
  });

  test("a lost message, or a lost reply, is a timeout: nobody knows", async () => {
    const kinds = new Set<string>();
    let unknown = 0;
    for (let seed = 1; seed <= 20; seed++) {
      const pair_ = pair({ drop: 0.3, seed });
      const { far, clock, handled } = pair_;
      const asked = Array.from({ length: 10 }, (_, i) => far.ask("get", i, { timeout: 100 }));
      await clock.advance(100);
      for (const [i, each] of (await Promise.all(asked)).entries()) {
        kinds.add(kindOf(each));
        if (each.isErr() && handled.includes(i)) unknown++;
      }
      await pair_.end();
    }
    expect(kinds).toEqual(new Set(["ok", "timeout"]));
    expect(unknown).toBeGreaterThan(5);
  });

  test("items that overtake each other come to the reader in order", async () => {
    const pair_ = pair({ reorder: 0.5, delay: [0, 5] });
    const { far, clock } = pair_;
    const read = readAll(far.stream("count", 50, { credit: 8 }));
    await clock.advance(5_000);
    expect(await read).toEqual({ items: Array.from({ length: 50 }, (_, i) => i), kind: "end" });
    await pair_.end();
  });

  test("messages that overtake each other come in another order, and the same one for the same seed", async () => {
    const orders = [];
    for (const seed of [1, 1, 2]) {
      const pair_ = pair({ reorder: 0.5, seed });
      for (let i = 0; i < 30; i++) pair_.far.tell("put", i);
      await pair_.clock.advance(1_000);
      orders.push(pair_.handled);
      await pair_.end();
    }
    expect(orders[0]).toEqual(orders[1] as number[]);
    expect(orders[0]).not.toEqual(orders[2] as number[]);
    expect(orders[0]?.toSorted((x, y) => x - y)).toEqual(Array.from({ length: 30 }, (_, i) => i));
  });
});

describe("a link that is cut", () => {
  test("loses what is on its way and what is sent later, until it is healed", async () => {
    const pair_ = pair({ delay: 10 });
    const { far, clock, link, handled } = pair_;
    far.tell("put", 1);
    await clock.advance(5);
    link.cut();
    const asked = far.ask("get", 2, { timeout: 50 });
    await clock.advance(50);
    expect(kindOf(await asked)).toBe("timeout");
    link.heal();
    const again = far.ask("get", 3);
    await clock.advance(50);
    expect(kindOf(await again)).toBe("ok");
    expect(handled).toEqual([3]);
    await pair_.end();
  });

  test("P17: disconnected, it says timeout for what was sent, and unreachable for all that comes later", async () => {
    const pair_ = pair({ delay: 10 }, { concurrency: 2 });
    const { a, far, store, clock, link, handled, aborted } = pair_;
    const waiting = far.ask("wait");
    const stream = far.stream("count", 100, { credit: 2 });
    const first = stream.next();
    await clock.advance(50);
    await first;
    far.tell("put", 1);
    link.disconnect(new Error("cable"));
    await clock.settle();
    expect((await waiting)._unsafeUnwrapErr()).toMatchObject({ kind: "timeout", cause: new Error("cable") });
    expect((await readAll(stream)).kind).toBe("timeout");
    expect((await far.ask("get", 2))._unsafeUnwrapErr()).toMatchObject({
      kind: "unreachable",
      cause: new Error("cable"),
    });
    expect(aborted).toEqual(["wait", "count"]);
    link.heal();
    const again = link.a.attach(at, Store, store);
    const asked = again.ask("get", 3);
    await clock.advance(50);
    expect(kindOf(await asked)).toBe("ok");
    expect(handled).toEqual([3]);
    expect(a.router.has(at)).toBe(true);
    await pair_.end();
  });
});

test("what no JSON can carry is unreachable, and what no link can be is refused with what to write", async () => {
  const pair_ = pair();
  const { far, a, b, clock, link, store } = pair_;
  expect(kindOf(await far.ask("get", 1n as never))).toBe("unreachable");
  expect(() => createLink(a, b, {} as LinkOptions)).toThrow("createLink(a, b, { clock })");
  expect(() => createLink(a, b, { clock, lose: 1 } as LinkOptions)).toThrow("write one of clock, seed");
  expect(() => createLink(a, b, { clock, drop: 2 })).toThrow("drop is a probability from 0 to 1");
  expect(() => createLink(a, b, { clock, delay: [2, 1] })).toThrow("a number of milliseconds from 0");
  expect(() => link.a.attach(at, Store, store)).toThrow("is in use");
  expect(() => link.a.attach(address("c"), Store, {} as typeof store)).toThrow("no reference");
  await pair_.end();
});

test("P6: asks that were given up leave no more behind than a fixed number of them", async () => {
  const { clock, far, end } = pair();
  const giveUp = async (count: number): Promise<number> => {
    for (let i = 0; i < count; i++) {
      const asker = new AbortController();
      void far.ask("get", i, { signal: asker.signal });
      asker.abort();
      if (i % 50 === 0) await clock.settle();
    }
    await clock.settle();
    Bun.gc(true);
    return heapStats().objectCount;
  };
  const before = await giveUp(1_500);
  expect((await giveUp(3_000)) - before).toBeLessThan(15_000); // 36,000 when each was kept.
  await end();
});
