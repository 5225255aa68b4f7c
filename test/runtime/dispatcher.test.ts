import { beforeEach, describe, expect, test } from "bun:test";
import { systemClock } from "../../src/runtime/clock";
import { type Dispatcher, FairDispatcher, type Runnable } from "../../src/runtime/dispatcher";
import { HandClock } from "./hand-clock";

/** Most messages of one actor before the next one's turn. */
const MOST = 32;

let clock: HandClock;
let dispatcher: FairDispatcher;
/** Who handled each message, in order. */
let handled: string[];
let bursts: { readonly afterMessages: number; readonly isAwake: boolean }[];

/** An actor whose messages take their time. */
class Worker implements Runnable {
  nextReady: Runnable | null = null;
  left = 0;
  #isScheduled = false;

  constructor(
    readonly name: string,
    readonly cost: number | (() => number) = 0,
    readonly on: Dispatcher = dispatcher,
  ) {}

  send(count = 1): this {
    this.left += count;
    if (this.#isScheduled) return this;
    this.#isScheduled = true;
    this.on.schedule(this);
    return this;
  }

  run(limit: number): number {
    this.#isScheduled = false;
    let done = 0;
    for (; done < limit && this.left > 0; done++) {
      this.left--;
      clock.now += typeof this.cost === "number" ? this.cost : this.cost();
      handled.push(this.name);
    }
    if (this.left > 0) this.send(0);
    return done;
  }
}

/** How many messages were handled in a row by one actor, at most. */
const longestRow = (names: readonly string[]): number => {
  let longest = 0;
  let row = 0;
  names.forEach((name, i) => {
    row = name === names[i - 1] ? row + 1 : 1;
    longest = Math.max(longest, row);
  });
  return longest;
};

beforeEach(() => {
  clock = new HandClock();
  handled = [];
  bursts = [];
  dispatcher = new FairDispatcher(clock, () =>
    bursts.push({ afterMessages: handled.length, isAwake: dispatcher.isAwake }),
  );
});

describe("the dispatcher", () => {
  test("P4: never runs anything on the caller's stack", () => {
    new Worker("a").send(3);
    expect([handled.length, dispatcher.isAwake]).toEqual([0, true]);
    clock.runMicrotasks();
    expect([handled.length, dispatcher.isAwake]).toEqual([3, false]);
  });

  test("runs many actors in one microtask, in the order in which they became ready", () => {
    const names = Array.from({ length: 100 }, (_, i) => `actor ${i}`);
    for (const name of names) new Worker(name).send();
    expect(clock.microtasks.length).toBe(1);
    clock.runMicrotasks();
    expect(handled).toEqual(names);
  });

  test("runs what became ready while it ran, in the same microtask", () => {
    const b = new Worker("b");
    const a = new Worker("a", () => {
      b.send();
      return 0;
    });
    a.send();
    clock.microtasks.shift()?.();
    expect(handled).toEqual(["a", "b"]);
    expect(clock.microtasks).toEqual([]);
  });

  test("sleeps once nothing is ready, and wakes for the next message", () => {
    const a = new Worker("a").send();
    clock.settle();
    expect([dispatcher.isAwake, clock.isIdle]).toEqual([false, true]);
    a.send();
    clock.settle();
    expect(handled).toEqual(["a", "a"]);
  });

  test("P9: a runnable that throws takes no other with it, and what it threw is told in a macrotask of its own", () => {
    const thrown = new Error("a fault of ours");
    dispatcher.schedule({
      nextReady: null,
      run() {
        throw thrown;
      },
    });
    const other = new Worker("other").send();
    clock.runMicrotasks();
    expect([handled, dispatcher.isAwake]).toEqual([["other"], false]);
    other.send();
    clock.runMicrotasks();
    expect(handled).toEqual(["other", "other"]);
    expect(() => clock.turn()).toThrow(thrown);
  });

  test("P5: time at rest is no time spent: what comes after it is handled in the next microtask", () => {
    const a = new Worker("a");
    for (let message = 1; message <= 3; message++) {
      a.send();
      clock.runMicrotasks();
      expect(handled.length).toBe(message);
      clock.turn(); // The event loop turns, and then rests.
      clock.now += 1_000;
    }
  });

  test("P5: nor is it where no macrotask came in between: all that comes after it is handled in the next microtask", () => {
    const a = new Worker("a").send();
    clock.runMicrotasks();
    expect([handled.length, clock.macrotasks.length]).toEqual([1, 0]);
    clock.now += 1_000;
    a.send(100);
    clock.runMicrotasks();
    expect(handled.length).toBe(101);
  });

  test("P5: messages that come one by one, with time between them, need one macrotask in many", () => {
    const a = new Worker("a");
    let macrotasks = 0;
    for (let message = 1; message <= 160; message++) {
      a.send();
      clock.runMicrotasks();
      expect(handled.length).toBe(message);
      macrotasks += clock.macrotasks.length;
      clock.turn();
      clock.now += 0.005;
    }
    expect(macrotasks).toBeGreaterThan(0);
    expect(macrotasks).toBeLessThanOrEqual(160 / 8);
  });

  test("P5: a chain of bursts, each ready when the one before it is done, lets the event loop turn", () => {
    for (const cost of [0, 0.01, 0.2, 3]) {
      const link = new Worker("link", cost, new FairDispatcher(clock, () => undefined));
      const start = clock.now;
      let links = 0;
      const go = (): void => {
        links++;
        link.send();
        // The chain ends where the event loop would have its turn next.
        clock.microtask(() => {
          if (clock.macrotasks.length === 0 && links < 1_000) go();
        });
      };
      go();
      clock.runMicrotasks();
      expect([cost, clock.macrotasks.length]).toEqual([cost, 1]);
      expect(links).toBeLessThanOrEqual(32);
      expect(clock.now - start).toBeLessThanOrEqual(Math.max(1, cost));
      clock.settle();
    }
  });

  test("P5: work outside of actors counts too, and is told when the turn is over", () => {
    let items = 0;
    const produce = (): void => {
      while (items < 1_000_000) {
        items++;
        clock.now += 0.01;
        if (dispatcher.spend(1)) return;
      }
    };
    produce();
    expect(items).toBeGreaterThan(50);
    expect(items).toBeLessThan(150 + MOST);
    const first = items;
    expect(dispatcher.spend(1)).toBe(true);
    clock.turn();
    produce();
    expect(items - first).toBeGreaterThan(50);
    expect(items - first).toBeLessThan(150 + MOST);
  });

  test("P5: lets one actor handle 32 messages at most before the next one's turn", () => {
    new Worker("busy").send(10_000);
    new Worker("b").send(100);
    new Worker("c").send(1);
    clock.settle();
    expect(handled.length).toBe(10_101);
    expect(handled.indexOf("b")).toBeLessThanOrEqual(MOST);
    expect(handled.indexOf("c")).toBeLessThanOrEqual(2 * MOST);
    const whileBothWork = handled.slice(0, handled.lastIndexOf("b")).filter((name) => name !== "c");
    expect(longestRow(whileBothWork)).toBeLessThanOrEqual(MOST);
  });

  test("P5: an actor that always has more does not keep another from being handled", () => {
    const endless: Worker = new Worker("endless", () => {
      endless.left = 1_000;
      return 0.01;
    });
    endless.send();
    new Worker("b", 0.01).send(200);
    for (let turn = 0; turn < 20 && handled.filter((name) => name === "b").length < 200; turn++) clock.turn();
    expect(handled.filter((name) => name === "b").length).toBe(200);
  });
});

describe("P5: the dispatcher yields to the event loop", () => {
  /** How long each turn took, in milliseconds of the clock, until nothing was left. */
  const turns = (): number[] => {
    const lengths: number[] = [];
    while (!clock.isIdle) {
      const start = clock.now;
      clock.turn();
      lengths.push(clock.now - start);
    }
    return lengths.filter((length) => length > 0);
  };

  test.each([0.001, 0.01, 0.03, 0.1, 0.25, 0.4, 0.9])(
    "after about a millisecond of messages that take %d ms each",
    (cost) => {
      new Worker("busy", cost).send(Math.ceil(20 / cost));
      clock.runMicrotasks(); // The first turn began when the dispatcher was made.
      const [, ...whole] = [clock.now, ...turns().slice(0, -1)];
      expect(whole.length).toBeGreaterThanOrEqual(9);
      expect(Math.max(...whole)).toBeLessThan(1 + cost + 1e-6);
      expect(Math.min(...whole)).toBeGreaterThan(0.9);
      expect(handled.length).toBe(Math.ceil(20 / cost));
    },
  );

  test("after each message of a slow actor: they are looked at one by one", () => {
    new Worker("slow", 5).send(10);
    const perTurn: number[] = [];
    while (!clock.isIdle) {
      const before = handled.length;
      clock.turn();
      if (handled.length > before) perTurn.push(handled.length - before);
    }
    // The loop of the first turn has a microtask and a macrotask, one message each.
    expect(perTurn).toEqual([2, 1, 1, 1, 1, 1, 1, 1, 1]);
  });

  describe("when a slow actor and a quick one have much to do:", () => {
    const share = (name: string): number => handled.filter((each) => each === name).length;

    test("the pace of the quick one is not taken for that of the slow one", () => {
      new Worker("slow", 1).send(200);
      new Worker("quick", 0.001).send(10_000);
      const [, ...later] = turns();
      expect(later.length).toBeGreaterThan(60);
      expect(Math.max(...later)).toBeLessThan(3.1);
    });

    test("nor that of several quick ones in a row", () => {
      new Worker("slow", 1).send(200);
      for (const name of ["quick", "other", "third"]) new Worker(name, 0.001).send(10_000);
      const [, ...later] = turns();
      expect(later.length).toBeGreaterThan(60);
      expect(Math.max(...later)).toBeLessThan(3.1);
    });

    test("the quick one is not held to one message for each of the other's turns", () => {
      new Worker("slow", 1).send(200);
      new Worker("quick", 0.001).send(10_000);
      while (share("slow") < 100) clock.turn();
      expect(share("quick")).toBeGreaterThan(MOST * 30);
    });

    test("two slow ones go on in turn", () => {
      new Worker("quick", 0.001).send(10_000);
      for (const name of ["slow", "slower"]) new Worker(name, 1).send(100);
      while (share("slow") < 50) clock.turn();
      expect(share("slower")).toBeWithin(44, 57);
      expect(share("quick")).toBeGreaterThan(MOST * 10);
    });
  });

  test("when many actors with one message each take it together, not each for itself", () => {
    for (let i = 0; i < 100; i++) new Worker(`actor ${i}`, 0.1).send();
    clock.runMicrotasks();
    expect(handled.length).toBeGreaterThanOrEqual(9);
    expect(handled.length).toBeLessThanOrEqual(12);
    expect(clock.macrotasks.length).toBe(1);
  });

  test("in a chain of messages, each a microtask after the one before it", () => {
    const chain: Worker = new Worker("chain", () => {
      clock.microtask(() => chain.send());
      return 0.1;
    });
    chain.send();
    clock.runMicrotasks(); // Would never end if it did not yield.
    expect(handled.length).toBeGreaterThanOrEqual(9);
    expect(handled.length).toBeLessThanOrEqual(12);
    for (let turn = 0; turn < 10; turn++) {
      const before = handled.length;
      clock.turn();
      expect(handled.length - before).toBeGreaterThanOrEqual(9);
      expect(handled.length - before).toBeLessThanOrEqual(12);
    }
  });

  test("in a chain whose messages cost next to nothing", () => {
    const chain: Worker = new Worker("chain", () => {
      clock.microtask(() => chain.send());
      return 0.001;
    });
    chain.send();
    clock.runMicrotasks();
    expect(handled.length).toBeGreaterThan(900);
    expect(handled.length).toBeLessThan(1_100);
  });

  test("without looking at the clock for each message: once for 32 that cost next to nothing", () => {
    let looks = 0;
    const watched = new (class extends HandClock {
      override monotonicTime(): number {
        looks++;
        return clock.now;
      }
    })();
    const own = new FairDispatcher(watched, () => undefined);
    for (const before of [0, 0.6]) {
      looks = 0;
      new Worker("quick", 1 / 4096, own).send(1_000);
      clock.now += before; // The time of whoever sent them is not theirs.
      watched.settle();
      clock.now += 1_000;
      expect(looks).toBeGreaterThanOrEqual(1_000 / MOST);
      expect(looks).toBeLessThanOrEqual(1_000 / MOST + 6);
    }
    expect(handled.length).toBe(2_000);
  });

  test("before others go on: what became ready in the meantime waits for the next turn", () => {
    new Worker("busy", 0.5).send(4);
    clock.runMicrotasks();
    expect(handled.length).toBe(2);
    new Worker("late").send();
    clock.runMicrotasks();
    expect(handled.length).toBe(2);
    clock.turn();
    expect(handled).toContain("late");
  });

  test("and goes on afterwards, losing nothing, in the order of before", () => {
    const workers = ["a", "b", "c"].map((name) => new Worker(name, 0.7).send(10));
    clock.settle();
    expect(workers.map(({ left }) => left)).toEqual([0, 0, 0]);
    expect(handled.slice(0, 3)).toEqual(["a", "b", "c"]);
    expect(handled.length).toBe(30);
  });

  test("on the real clock: an actor that never rests lets the event loop turn", async () => {
    let isServed = false;
    let messages = 0;
    const own = new FairDispatcher(systemClock, () => undefined);
    const restless: Runnable = {
      nextReady: null,
      run(limit) {
        messages += limit;
        // The bound is the test's own, a hundred times what fits into a turn here: a starved loop must not hang it.
        if (!isServed && messages < 100_000_000) own.schedule(restless);
        return limit;
      },
    };
    const served = new Promise<void>((resolve) =>
      setImmediate(() => {
        isServed = true;
        resolve();
      }),
    );
    own.schedule(restless);
    await served;
    expect(messages).toBeGreaterThan(0);
    expect(messages).toBeLessThan(100_000_000);
  });
});

describe("the end of a burst", () => {
  test("is told once nothing is ready, when the dispatcher sleeps already", () => {
    new Worker("a").send(3);
    new Worker("b").send(2);
    expect(bursts).toEqual([]);
    clock.settle();
    expect(bursts).toEqual([{ afterMessages: 5, isAwake: false }]);
    new Worker("c").send();
    clock.settle();
    expect(bursts.length).toBe(2);
  });

  test("is told before each yield too, while the dispatcher stays awake", () => {
    new Worker("slow", 2).send(3);
    clock.runMicrotasks();
    expect(bursts).toEqual([{ afterMessages: 1, isAwake: true }]);
    clock.settle();
    expect(bursts).toEqual([
      { afterMessages: 1, isAwake: true },
      { afterMessages: 2, isAwake: true },
      { afterMessages: 3, isAwake: false },
    ]);
  });

  test("may make an actor ready, which then runs", () => {
    let isFirst = true;
    const own: FairDispatcher = new FairDispatcher(clock, () => {
      if (isFirst) new Worker("late", 0, own).send();
      isFirst = false;
    });
    new Worker("a", 0, own).send();
    clock.settle();
    expect(handled).toEqual(["a", "late"]);
  });
});
