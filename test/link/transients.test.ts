import { heapStats } from "bun:jsc";
import { afterEach, describe, expect, test } from "bun:test";
import { address, defineProtocol, Type } from "../../src/index";
import { createPair, type Pair } from "./pair";

const Item = defineProtocol("item", {
  put: { payload: Type.Number() },
  all: { reply: Type.Array(Type.Number()) },
  wait: { reply: Type.Number() },
  count: { payload: Type.Number(), stream: Type.Number() },
});
/** The references that are kept, and what else a system has. */
const BOUND = 1_000 + 10;

let pair: Pair;
afterEach(() => pair?.end());

/** Items at `item/ID`, each made by its first message. */
function items() {
  const waiting: (() => void)[] = [];
  pair = createPair({ far: { exposed: (at) => (at.startsWith("@(item/") ? pair.there.ref(at, Item) : undefined) } });
  pair.there.resolve("item/", (_, id) =>
    pair.there.spawn(id, Item, () => {
      const all: number[] = [];
      return {
        put: (number) => void all.push(number),
        all: () => all,
        wait: () => new Promise<number>((resolve) => waiting.push(() => resolve(7))),
        async *count(most) {
          for (let number = 0; number < most; number++) yield number;
        },
      };
    }),
  );
  const to = (id: number) => pair.link.transient(address(`item/${id}`), Item);
  const kept = (): number => [...pair.here.actors()].length;
  return { to, kept, waiting };
}

describe("references for one message", () => {
  test("are bounded, though all addresses are reached, in order for each", async () => {
    const { to, kept } = items();
    for (let id = 0; id < 3_000; id++) {
      to(id).tell("put", 1);
      to(id).tell("put", 2);
    }
    for (let id = 0; id < 3_000; id++) to(id).tell("put", 3);
    for (let id = 0; id < 3_000; id += 100) expect((await to(id).ask("all"))._unsafeUnwrap()).toEqual([1, 2, 3]);
    expect(kept()).toBeLessThan(BOUND);
  });

  test("do not end while something is under way, and shrink in number afterwards", async () => {
    const { to, kept, waiting } = items();
    const asked = Array.from({ length: 2_500 }, (_, id) => to(id).ask("wait", { timeout: 60_000 }));
    expect(kept()).toBeGreaterThanOrEqual(2_500);
    while (waiting.length < 2_500) await new Promise(setImmediate);
    for (const answer of waiting) answer();
    for (const reply of asked) expect((await reply)._unsafeUnwrap()).toBe(7);
    for (let id = 0; id < 2_500; id++) to(id).tell("put", 1);
    await to(0).ask("all");
    expect(kept()).toBeLessThan(BOUND);
  });

  test("leave nothing behind on either side", async () => {
    pair = createPair({ far: { exposed: () => item } });
    const item = pair.there.spawn("item", Item, () => ({ put() {}, all: () => [], wait: () => 7, async *count() {} }));
    let id = 0;
    const objectsAfter = async (most: number): Promise<number> => {
      for (; id < most; id++) {
        pair.link.transient(address(`item/${id}`), Item).tell("put", 1);
        if (id % 500 === 0) await pair.link.transient(address(`item/${id}`), Item).ask("all");
      }
      await pair.link.transient(address("item/0"), Item).ask("all");
      pair.sent.toThere.length = pair.sent.toHere.length = pair.taken.length = 0;
      Bun.gc(true);
      return heapStats().objectCount;
    };
    const before = await objectsAfter(3_000);
    // 10,000 more that left one object each would be twice as much.
    expect((await objectsAfter(13_000)) - before).toBeLessThan(5_000);
  });

  test("carry streams to their ends", async () => {
    const { to } = items();
    const reading = to(0).stream("count", 500, { credit: 8 })[Symbol.asyncIterator]();
    await reading.next();
    for (let id = 1; id < 1_500; id++) to(id).tell("put", 1);
    let read = 1;
    while (!(await reading.next()).done) read++;
    expect(read).toBe(500);
  });

  test("that were given and not sent by yet do not end", async () => {
    const { to } = items();
    const given = Array.from({ length: 2_500 }, (_, id) => to(id));
    for (const ref of given) ref.tell("put", 1);
    for (const id of [0, 1, 2_499]) expect((await to(id).ask("all"))._unsafeUnwrap()).toEqual([1]);
  });

  test("to an address that is not exposed reach nobody", async () => {
    items();
    const found = await pair.link.transient(address("secret"), Item).ask("all");
    expect(found._unsafeUnwrapErr().kind).toBe("no-recipient");
  });
});
