import { describe, expect, test } from "bun:test";
import { systemClock } from "../../src/runtime/clock";
import { captureContext } from "../../src/runtime/contexts";
import { FairDispatcher } from "../../src/runtime/dispatcher";
import { FeedSource } from "../../src/runtime/feed";
import { Settling } from "../../src/runtime/settling";
import { differences } from "../differences";

const BACKLOG = 1_000;

const quiet = (thrown: unknown): never => {
  throw thrown;
};
const settling = new Settling(new FairDispatcher(systemClock, () => undefined));
/** A feed on which a throwing subscriber fails the test. */
const feedOf = <Item>(): FeedSource<Item> => new FeedSource<Item>(settling, captureContext(), quiet);

describe("a subscriber of a feed", () => {
  test("is called back for each item from then on, in order", () => {
    const feed = feedOf<number>();
    const seen: number[] = [];
    feed.publish(1);
    feed.subscribe((item) => seen.push(item));
    feed.publish(2);
    feed.publish(3);
    expect(seen).toEqual([2, 3]);
  });

  test("is not called back after its subscription ended, and may end it twice", () => {
    const feed = feedOf<number>();
    const seen: number[] = [];
    const end = feed.subscribe((item) => seen.push(item));
    feed.publish(1);
    end();
    end();
    feed.publish(2);
    expect(seen).toEqual([1]);
    expect(feed.hasSubscribers).toBe(false);
  });

  test("is kept by nothing once its subscription ended", async () => {
    const feed = feedOf<number>();
    const callbacks: WeakRef<object>[] = [];
    for (let i = 0; i < 100; i++) {
      const callback = (): number => i;
      callbacks.push(new WeakRef(callback));
      feed.subscribe(callback);
    }
    const ends = Array.from({ length: 100 }, () => {
      const big = { big: true };
      callbacks.push(new WeakRef(big));
      return feed.subscribe(() => big);
    });
    feed.publish(1);
    for (const end of ends.splice(0)) end();
    await new Promise(setImmediate); // Until then, the language keeps alive what was made a WeakRef of.
    Bun.gc(true);
    const alive = callbacks.map((callback) => callback.deref() !== undefined);
    expect(alive.slice(0, 100)).toEqual(Array(100).fill(true));
    expect(alive.slice(100).filter(Boolean).length).toBeLessThan(20);
  });

  test("may subscribe twice with the same function, and end one of the two", () => {
    const feed = feedOf<number>();
    const seen: number[] = [];
    const callback = (item: number): void => void seen.push(item);
    const end = feed.subscribe(callback);
    feed.subscribe(callback);
    feed.publish(1);
    end();
    feed.publish(2);
    expect(seen).toEqual([1, 1, 2]);
  });

  test("may end its own subscription and another's while it is called back", () => {
    const feed = feedOf<number>();
    const seen: string[] = [];
    const endFirst = feed.subscribe((item) => {
      seen.push(`first ${item}`);
      endFirst();
      endSecond();
    });
    const endSecond = feed.subscribe((item) => seen.push(`second ${item}`));
    feed.subscribe((item) => seen.push(`third ${item}`));
    feed.publish(1);
    feed.publish(2);
    expect(seen).toEqual(["first 1", "third 1", "third 2"]);
  });

  test("that throws is reported, stays subscribed, and keeps no other from the item", () => {
    const reported: unknown[] = [];
    const seen: number[] = [];
    const feed = new FeedSource<number>(settling, captureContext(), (thrown) => reported.push(thrown));
    const error = new Error("boom");
    feed.subscribe(() => {
      throw error;
    });
    feed.subscribe((item) => seen.push(item));
    feed.publish(1);
    feed.publish(2);
    expect(seen).toEqual([1, 2]);
    expect(reported).toEqual([error, error]);
  });

  test("whose promise rejects is reported, stays subscribed, and does not end the process", async () => {
    const reported: unknown[] = [];
    const feed = new FeedSource<number>(settling, captureContext(), (thrown) => reported.push(thrown));
    let seen = 0;
    feed.subscribe(async (item) => {
      seen++;
      await undefined;
      throw `async ${item}`;
    });
    const THEN = "then"; // By this name a linter does not take it for a mistake.
    const then = (_: unknown, reject: (thrown: unknown) => void): void => reject("thenable");
    feed.subscribe(() => Object.assign(() => 0, { [THEN]: then }));
    feed.publish(1);
    feed.publish(2);
    await new Promise((resolve) => setImmediate(resolve));
    expect(reported.sort()).toEqual(["async 1", "async 2", "thenable", "thenable"]);
    expect(seen).toBe(2);
  });

  test("is what tells whether anyone listens", () => {
    const feed = feedOf<number>();
    expect(feed.hasSubscribers).toBe(false);
    const end = feed.subscribe(() => undefined);
    expect(feed.hasSubscribers).toBe(true);
    end();
    expect(feed.hasSubscribers).toBe(false);
  });
});

describe("an iteration over a feed", () => {
  test("gets each item from its start on, those that came while it was busy too", async () => {
    const feed = feedOf<number>();
    feed.publish(0);
    const iteration = feed[Symbol.asyncIterator]();
    feed.publish(1);
    feed.publish(2);
    expect(await iteration.next()).toEqual({ value: 1, done: false });
    expect(await iteration.next()).toEqual({ value: 2, done: false });
    const third = iteration.next();
    feed.publish(3);
    feed.publish(4);
    expect(await third).toEqual({ value: 3, done: false });
    expect(await iteration.next()).toEqual({ value: 4, done: false });
  });

  test("ends its subscription when the loop is left", async () => {
    const feed = feedOf<number>();
    const seen: number[] = [];
    const loop = (async () => {
      for await (const item of feed) {
        seen.push(item);
        if (item === 2) break;
      }
    })();
    expect(feed.hasSubscribers).toBe(true);
    for (const item of [1, 2, 3]) feed.publish(item);
    await loop;
    expect(seen).toEqual([1, 2]);
    expect(feed.hasSubscribers).toBe(false);
  });

  test("ends its subscription when the loop throws", async () => {
    const feed = feedOf<number>();
    const loop = (async () => {
      for await (const item of feed) throw new Error(`boom ${item}`);
    })();
    feed.publish(1);
    await expect(loop).rejects.toThrow("boom 1");
    await loop.catch(() => undefined);
    expect(feed.hasSubscribers).toBe(false);
  });

  test("that is returned while it waits is done, and stays so", async () => {
    const feed = feedOf<number>();
    const iteration = feed[Symbol.asyncIterator]();
    const waiting = iteration.next();
    expect(await iteration.return?.()).toEqual({ value: undefined, done: true });
    expect(await waiting).toEqual({ value: undefined, done: true });
    feed.publish(1);
    expect(await iteration.next()).toEqual({ value: undefined, done: true });
  });

  test("that is returned with items left gives none of them", async () => {
    const feed = feedOf<number>();
    const iteration = feed[Symbol.asyncIterator]();
    feed.publish(1);
    await iteration.return?.();
    expect(await iteration.next()).toEqual({ value: undefined, done: true });
  });

  test("gives an item to each of several calls that wait at once, in their order", async () => {
    const feed = feedOf<number>();
    const iteration = feed[Symbol.asyncIterator]();
    const settled: (number | undefined)[] = [];
    for (let i = 0; i < 3; i++) void iteration.next().then(({ value }) => settled.push(value));
    feed.publish(1);
    feed.publish(2);
    await iteration.return?.();
    expect(settled).toEqual([1, 2, undefined]);
  });

  test("lags 1,000 items at most: the oldest are left out beyond it", async () => {
    const feed = feedOf<number>();
    const iteration = feed[Symbol.asyncIterator]();
    for (let item = 0; item < BACKLOG + 5; item++) feed.publish(item);
    const seen: number[] = [];
    for (let i = 0; i < BACKLOG; i++) seen.push((await iteration.next()).value);
    expect(
      differences<unknown>(
        seen,
        seen.map((_, i) => i + 5),
      ),
    ).toEqual([]);
  });

  test("is one of several, each with all items", async () => {
    const feed = feedOf<number>();
    const [one, two] = [feed[Symbol.asyncIterator](), feed[Symbol.asyncIterator]()];
    feed.publish(1);
    await one.return?.();
    feed.publish(2);
    expect([(await two.next()).value, (await two.next()).value]).toEqual([1, 2]);
  });
});
