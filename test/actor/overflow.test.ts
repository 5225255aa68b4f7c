import { expect, test } from "bun:test";
import { OVERFLOWS } from "../../src/actor/options";
import {
  address,
  type Context,
  createMessage,
  type DeadLetter,
  defineProtocol,
  type Overflow,
  type OverflowEvent,
  type RefTo,
  type Result,
  type SignaturesOf,
  StreamError,
  type System,
  Type,
} from "../../src/index";
import { Gated, spawnGated } from "./gated";
import { expectBalance, reasonsOf, type TestSystem, testSystems } from "./test-system";

const { createTestSystem, createTestRouter } = testSystems();

/** What a sender is told: "ok", the kind of an error, or null where it is told nothing. */
type Told = Promise<string> | null;

const kindOf = async (result: Promise<Result<unknown, { kind: string }>>): Promise<string> =>
  (await result).match(
    () => "ok",
    ({ kind }) => kind,
  );

async function lastOf(items: AsyncIterable<unknown>): Promise<string> {
  try {
    for await (const _ of items);
    return "ok";
  } catch (thrown) {
    if (thrown instanceof StreamError) return thrown.kind;
    throw thrown;
  }
}

const Sender = defineProtocol("sender", { send: {} });

/** Every way to send, from outside and from within. */
const WAYS: Record<string, (test: TestSystem, label: string) => Told> = {
  "ref.tell": ({ system }, label) => {
    gatedOf(system).tell("work", label);
    return null;
  },
  "router.tell": ({ router }, label) => {
    router.tell(createMessage(address("gated"), "work", label));
    return null;
  },
  "ctx.tell": ({ system }, label) => {
    const sender = system.spawn("sender", Sender, (ctx) => ({
      send: () => ctx.tell(gatedOf(system), "work", label),
    }));
    sender.tell("send");
    return null;
  },
  "ref.ask": ({ system }, label) => kindOf(gatedOf(system).ask("work", label)),
  "router.ask": ({ router }, label) => kindOf(router.ask(createMessage(address("gated"), "work", label))),
  "ctx.ask": ({ system }, label) => within(system, (ctx) => kindOf(ctx.ask(gatedOf(system), "work", label))),
  "ref.stream": ({ system }, label) => lastOf(gatedOf(system).stream("items", label)),
  "router.stream": ({ router }, label) => lastOf(router.stream(createMessage(address("gated"), "items", label))),
  "ctx.stream": ({ system }, label) => within(system, (ctx) => lastOf(ctx.stream(gatedOf(system), "items", label))),
  "ref.offer": ({ system }, label) => kindOf(gatedOf(system).offer("work", label)),
  "router.offer": ({ router }, label) => kindOf(router.offer(createMessage(address("gated"), "work", label))),
};

const refs = new WeakMap<System, RefTo<typeof Gated>>();
function gatedOf(system: System): RefTo<typeof Gated> {
  const ref = refs.get(system);
  if (ref === undefined) throw new Error("spawn it first");
  return ref;
}

function within(system: System, send: (ctx: Context<SignaturesOf<typeof Sender>>) => Promise<string>): Promise<string> {
  const told = Promise.withResolvers<string>();
  const sender = system.spawn("sender", Sender, (ctx) => ({ send: async () => told.resolve(await send(ctx)) }));
  sender.tell("send");
  return told.promise;
}

const TELLS = ["ref.tell", "router.tell", "ctx.tell"];

/** An actor that handles "running", with "q1" and "q2" in a mailbox that has room for no third. */
async function full(overflow: Overflow) {
  const test = createTestSystem();
  const gated = spawnGated(test, { capacity: 2, overflow });
  refs.set(test.system, gated.ref);
  const events: OverflowEvent[] = [];
  test.system.events.subscribe((event) => {
    if (event.kind === "overflow") events.push(event);
  });
  gated.ref.tell("work", "running");
  await test.clock.settle();
  gated.ref.tell("work", "q1");
  gated.ref.tell("work", "q2");
  return { test, gated, events };
}

const labelOf = (letter: DeadLetter): unknown => letter.message.payload;

for (const overflow of OVERFLOWS) {
  for (const [way, send] of Object.entries(WAYS)) {
    test(`P11: ${overflow}: what becomes of a ${way} that finds the mailbox full`, async () => {
      const { test: system, gated } = await full(overflow);
      const { clock, deadLetters, takeLog, router } = system;
      const told = send(system, "extra");
      await clock.settle();
      expectBalance(router.audit());
      const isTell = TELLS.includes(way);
      const isWaiting = overflow === "wait" && !isTell;
      const isDropped = overflow !== "drop-oldest" && !isWaiting;
      const dropped = isWaiting ? [] : [overflow === "drop-oldest" ? "q1" : "extra"];
      expect(deadLetters.map(labelOf)).toEqual(dropped);
      expect(reasonsOf(deadLetters)).toEqual(dropped.map(() => "mailbox-full"));
      expect(deadLetters.map((letter) => letter.asked)).toEqual(dropped.map((label) => label === "extra" && !isTell));
      // What was meant to be dropped, and what its sender was told of, is not logged.
      const isLogged = isTell && (overflow === "reject" || overflow === "wait");
      expect(takeLog().map(({ level, message }) => [level, message])).toEqual(
        isLogged
          ? [
              [
                "warn",
                'envoi: dead letter (mailbox-full): "work" to @(gated) found a full mailbox (capacity 2); send again later.',
              ],
            ]
          : [],
      );
      await gated.drain();
      if (told !== null) expect(await told).toBe(isDropped ? "mailbox-full" : "ok");
      expect(gated.begun).toEqual(["running", "q1", "q2", "extra"].filter((label) => !dropped.includes(label)));
    });
  }
}

test("P11: the table of Overflow: reject: a tell becomes a dead letter, and is logged", async () => {
  const { test, gated } = await full("reject");
  gated.ref.tell("work", "late");
  expect(reasonsOf(test.deadLetters)).toEqual(["mailbox-full"]);
  expect(test.takeLog()).toHaveLength(1);
  await gated.drain();
  expect(gated.begun).toEqual(["running", "q1", "q2"]);
});

test("P11: the table of Overflow: reject: an ask, a stream, an offer come back mailbox-full at once", async () => {
  const { test, gated } = await full("reject");
  const told = [
    kindOf(gated.ref.ask("work", "a")),
    lastOf(gated.ref.stream("items", "b")),
    kindOf(gated.ref.offer("work", "c")),
  ];
  await test.clock.settle(); // And no time has passed.
  expect(await Promise.all(told)).toEqual(["mailbox-full", "mailbox-full", "mailbox-full"]);
  expect(test.deadLetters.map((letter) => [labelOf(letter), letter.asked])).toEqual([
    ["a", true],
    ["b", true],
    ["c", true],
  ]);
  await gated.drain();
});

test("P11: the table of Overflow: drop-newest: a tell becomes a dead letter", async () => {
  const { test, gated } = await full("drop-newest");
  gated.ref.tell("work", "late");
  expect(test.deadLetters.map(labelOf)).toEqual(["late"]);
  expect(test.takeLog()).toEqual([]);
  await gated.drain();
});

test("P11: the table of Overflow: drop-newest: an ask, a stream, an offer come back mailbox-full at once", async () => {
  const { test, gated } = await full("drop-newest");
  const told = [
    kindOf(gated.ref.ask("work", "a")),
    lastOf(gated.ref.stream("items", "b")),
    kindOf(gated.ref.offer("work", "c")),
  ];
  await test.clock.settle();
  expect(await Promise.all(told)).toEqual(["mailbox-full", "mailbox-full", "mailbox-full"]);
  await gated.drain();
  expect(gated.begun).toEqual(["running", "q1", "q2"]);
});

test("P11: the table of Overflow: drop-oldest: it takes the place of what waited longest, whose asker gets mailbox-full", async () => {
  const test = createTestSystem();
  const gated = spawnGated(test, { capacity: 1, overflow: "drop-oldest" });
  gated.ref.tell("work", "running");
  await test.clock.settle();
  const oldest = gated.ref.ask("work", "oldest");
  gated.ref.tell("work", "told"); // As a tell does, so does
  expect(await kindOf(oldest)).toBe("mailbox-full");
  const asked = gated.ref.ask("work", "asked"); // an ask.
  expect(test.deadLetters.map((letter) => [labelOf(letter), letter.asked])).toEqual([
    ["oldest", true],
    ["told", false],
  ]);
  await gated.drain();
  expect((await asked)._unsafeUnwrap()).toBe("asked done");
  expect(gated.begun).toEqual(["running", "asked"]);
});

for (const [overflow, told] of [
  ["reject", "mailbox-full"],
  ["drop-newest", "mailbox-full"],
  ["drop-oldest", "ok"],
  ["wait", "mailbox-full"],
] as const) {
  test(`P11: ${overflow}: an interceptor of a tell hears whether the mailbox took it`, async () => {
    const { test, gated } = await full(overflow);
    const heard: string[] = [];
    test.router.use(async (_, next) => {
      const result = await next();
      heard.push(result.isOk() ? "ok" : result.error.kind);
      return result;
    });
    test.router.tell(createMessage(gated.ref.address, "work", "extra"));
    await test.clock.settle();
    expect(heard).toEqual([told]);
    test.takeLog(); // Of a tell that is rejected.
    await gated.drain();
  });
}

test("P11: the table of Overflow: wait: a tell cannot wait, and is treated as with reject", async () => {
  const { test, gated } = await full("wait");
  gated.ref.tell("work", "late");
  expect(test.deadLetters.map(labelOf)).toEqual(["late"]);
  expect(test.takeLog()).toHaveLength(1);
  await gated.drain();
});

test("P11: the table of Overflow: wait: an ask, a stream, an offer wait for room in order, as long as their timeouts let them", async () => {
  const { test, gated } = await full("wait");
  const told = [
    kindOf(gated.ref.ask("work", "a", { timeout: 100 })),
    kindOf(gated.ref.offer("work", "b", { timeout: 10 })),
    kindOf(gated.ref.ask("work", "c", { timeout: 10 })),
    kindOf(gated.ref.offer("work", "d", { timeout: 100 })),
  ];
  const streamed = lastOf(gated.ref.stream("items", "e", { timeout: 100 }));
  await test.clock.advance(10);
  await gated.drain();
  expect(await Promise.all(told)).toEqual(["ok", "timeout", "timeout", "ok"]);
  expect(await streamed).toBe("ok");
  expect(gated.begun).toEqual(["running", "q1", "q2", "a", "d", "e"]);
  expect(test.deadLetters.map(labelOf).sort()).toEqual(["b", "c"]);
  expect(reasonsOf(test.deadLetters)).toEqual(["timeout", "timeout"]);
});

test("P11: the running message is not among those that the capacity counts", async () => {
  const test = createTestSystem();
  const gated = spawnGated(test, { capacity: 1 });
  gated.ref.tell("work", "a");
  await test.clock.settle();
  gated.ref.tell("work", "b");
  await gated.drain();
  expect(gated.begun).toEqual(["a", "b"]);
});

for (const overflow of OVERFLOWS) {
  test(`P11: ${overflow}: the bound holds at every moment, also for who looks at it from a dead letter`, async () => {
    const test = createTestSystem();
    const gated = spawnGated(test, { capacity: 3, overflow });
    const seen: number[] = [];
    test.router.deadLetters.subscribe((letter) => {
      expectBalance(test.router.audit());
      seen.push(test.system.inspect()[0]?.queued ?? 0);
      if (labelOf(letter) !== "again") gated.ref.tell("work", "again"); // While the mailbox makes room for another one.
      expectBalance(test.router.audit());
      seen.push(test.system.inspect()[0]?.queued ?? 0);
    });
    for (let i = 0; i < 7; i++) gated.ref.tell("work", String(i));
    await test.clock.settle();
    expect(seen.length).toBeGreaterThan(0);
    expect(Math.max(...seen)).toBe(3);
    test.takeLog();
    await gated.drain();
    test.takeLog();
  });
}

test("P11: asks that were given up in a full mailbox make room for who comes next", async () => {
  for (const overflow of OVERFLOWS) {
    const test = createTestSystem();
    const gated = spawnGated(test, { capacity: 2, overflow });
    gated.ref.tell("work", "running");
    await test.clock.settle();
    const stop = new AbortController();
    const asks = [
      gated.ref.ask("work", "a", { signal: stop.signal }),
      gated.ref.ask("work", "b", { signal: stop.signal }),
    ];
    stop.abort();
    for (const ask of asks) expect(await kindOf(ask)).toBe("cancelled");
    expectBalance(test.router.audit());
    expect(test.router.audit().queued).toBe(2);
    let isBalanced = true;
    test.router.deadLetters.subscribe(() => {
      const { accepted, handled, failed, dead, queued, running } = test.router.audit();
      isBalanced &&= accepted === handled + failed + dead + queued + running;
    });
    gated.ref.tell("work", "c");
    expect(reasonsOf(test.deadLetters)).toEqual(["cancelled", "cancelled"]);
    expect(isBalanced).toBe(true);
    expect(test.router.audit().queued).toBe(1);
    await gated.drain();
    expect(gated.begun).toEqual(["running", "c"]);
  }
});

test("P11: asks that are given up in a full mailbox let those in that wait already", async () => {
  const test = createTestSystem();
  const gated = spawnGated(test, { capacity: 2, overflow: "wait" });
  gated.ref.tell("work", "running");
  await test.clock.settle();
  const first = gated.ref.ask("work", "first", { timeout: 10 });
  const second = gated.ref.ask("work", "second", { timeout: 10 });
  const offers = ["a", "b", "c"].map((label) => gated.ref.offer("work", label, { timeout: 20 }).then(() => label));
  const admitted: string[] = [];
  for (const offer of offers) void offer.then((label) => admitted.push(label));
  await test.clock.advance(10); // The actor stands still all the while.
  expect([await kindOf(first), await kindOf(second)]).toEqual(["timeout", "timeout"]);
  expect(admitted).toEqual(["a", "b"]);
  expect(reasonsOf(test.deadLetters)).toEqual(["timeout", "timeout"]);
  expectBalance(test.router.audit());
  await gated.drain();
  expect(gated.begun).toEqual(["running", "a", "b", "c"]);
});

test("P11: overflow is told once, and again only after there has been room", async () => {
  for (const overflow of OVERFLOWS) {
    const { test, gated, events } = await full(overflow);
    for (let i = 0; i < 5; i++) gated.ref.tell("work", `late ${i}`);
    await test.clock.settle();
    expect(events).toEqual([{ kind: "overflow", address: address("gated"), operation: "work", capacity: 2, overflow }]);
    await gated.release(); // One place is free,
    gated.ref.tell("work", "fits");
    await test.clock.settle();
    expect(events).toHaveLength(1);
    gated.ref.tell("work", "late"); // and taken.
    await test.clock.settle();
    expect(events).toHaveLength(2);
    await gated.drain();
    test.takeLog();
  }
});

test("P11: a place that a waiting sender takes at once is no room: its overflow is not told anew", async () => {
  const { test, gated, events } = await full("wait");
  const offers = Array.from({ length: 4 }, (_, i) => gated.ref.offer("work", `offer ${i}`));
  await test.clock.settle();
  expect(events).toHaveLength(0); // Whoever waits has not been refused.
  for (let i = 0; i < 4; i++) {
    gated.ref.tell("work", `late ${i}`);
    await gated.release();
  }
  expect(events).toHaveLength(1);
  expect((await Promise.all(offers)).every((offer) => offer.isOk())).toBe(true);
  await gated.drain();
  test.takeLog();
});

for (const overflow of OVERFLOWS) {
  test(`P11: ${overflow}: signals travel in a lane that the bound does not touch`, async () => {
    const test = createTestSystem();
    const gate = Promise.withResolvers<void>();
    const seen: string[] = [];
    const Watcher = defineProtocol("watcher", { work: { payload: Type.String() } });
    const friend = spawnGated(test, {}, "friend");
    const watcher = test.system.spawn(
      "watcher",
      Watcher,
      (ctx) => ({
        onStart() {
          ctx.watch(friend.ref, () => seen.push("terminated"));
          ctx.timers.once("timer", 5, () => seen.push("timer"));
        },
        async work(label) {
          seen.push(label);
          await gate.promise;
        },
        onStop: () => void seen.push("onStop"),
      }),
      { capacity: 1, overflow },
    );
    watcher.tell("work", "running");
    await test.clock.settle();
    watcher.tell("work", "queued");
    const offered = overflow === "wait" ? watcher.offer("work", "offered") : null;
    await test.clock.advance(5); // The timer is due with a full mailbox,
    await test.system.stop(friend.ref); // and so is the end of a friend.
    expect(test.deadLetters).toEqual([]);
    gate.resolve();
    await test.clock.settle();
    // P2: behind all that waited before them, senders included.
    expect(seen).toEqual(["running", "queued", ...(offered === null ? [] : ["offered"]), "timer", "terminated"]);
    await test.system.stop(watcher);
    expect(seen.at(-1)).toBe("onStop");
    await offered;
  });
}

test("P11: a stop is not subject to the bound, and dead-letters what waits and who waits for room", async () => {
  const { test, gated } = await full("wait");
  const offer = gated.ref.offer("work", "offered");
  const ask = gated.ref.ask("work", "asked");
  const stopped = test.system.stop(gated.ref);
  expect([await kindOf(offer), await kindOf(ask)]).toEqual(["stopped", "stopped"]);
  expect(test.deadLetters.map((letter) => [labelOf(letter), letter.reason])).toEqual([
    ["q1", "stopped"],
    ["q2", "stopped"],
    ["offered", "stopped"],
    ["asked", "stopped"],
  ]);
  await gated.release();
  await stopped;
  test.takeLog();
});

test("P11: a stop that drains handles what waits for room, too", async () => {
  const { test, gated } = await full("wait");
  const offer = gated.ref.offer("work", "offered");
  const ask = gated.ref.ask("work", "asked");
  const stopped = test.system.stop(gated.ref, { drain: true });
  expect(await kindOf(gated.ref.offer("work", "too late"))).toBe("stopped");
  await gated.drain();
  await stopped;
  expect([await kindOf(offer), await kindOf(ask)]).toEqual(["ok", "ok"]);
  expect(gated.begun).toEqual(["running", "q1", "q2", "offered", "asked"]);
});

test("P11: a handler of a router has a bound, too", async () => {
  const { router, clock, deadLetters } = createTestRouter();
  const gate = Promise.withResolvers<void>();
  const seen: unknown[] = [];
  const to = address("worker");
  router.register(
    to,
    async (message) => {
      seen.push(message.payload);
      await gate.promise;
    },
    { capacity: 1, overflow: "drop-oldest" },
  );
  router.tell(createMessage(to, "work", 1));
  await clock.settle();
  router.tell(createMessage(to, "work", 2));
  router.tell(createMessage(to, "work", 3));
  expect(deadLetters.map(labelOf)).toEqual([2]);
  gate.resolve();
  await clock.settle();
  expect(seen).toEqual([1, 3]);
});

test("P11: what an actor keeps while it restarts is held to the bound", async () => {
  const test = createTestSystem({ supervision: { backoff: { initial: 100, jitter: 0 } } });
  const seen: string[] = [];
  const fragile = test.system.spawn(
    "fragile",
    Gated,
    () => ({
      work(label) {
        seen.push(label);
        if (label === "break") throw new Error("broken");
        return label;
      },
      poke: () => "",
      items: () => [],
    }),
    { capacity: 2, overflow: "wait" },
  );
  fragile.tell("work", "break");
  await test.clock.settle();
  fragile.tell("work", "a");
  fragile.tell("work", "b");
  fragile.tell("work", "c");
  const offer = fragile.offer("work", "d", { timeout: 1_000 });
  await test.clock.advance(99);
  expect({ seen, dead: test.deadLetters.map(labelOf) }).toEqual({ seen: ["break"], dead: ["c"] });
  await test.clock.advance(1);
  expect(seen).toEqual(["break", "a", "b", "d"]);
  expect(await kindOf(offer)).toBe("ok");
  expect(test.takeLog()).toHaveLength(2);
});

test("P11: options of an actor that cannot be ones throw at once, and say what to write", () => {
  const { system } = createTestSystem();
  const spawn = (options: object) => () => spawnGated({ system, clock: createTestSystem().clock }, options);
  for (const capacity of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "3"]) {
    expect(spawn({ capacity })).toThrow(/^The capacity of @\(gated\) is a whole number from 1; got /);
  }
  expect(spawn({ capacity: 1, overflow: "drop" })).toThrow(
    "The overflow of @(gated) is one of reject, drop-newest, drop-oldest, wait; got",
  );
  expect(spawn({ overflow: "wait" })).toThrow(
    'The overflow of @(gated) needs a capacity: write { capacity: 100, overflow: "wait" }.',
  );
  expect(spawn({ priority: 1 })).toThrow("The priority of @(gated) is a function of an operation and its payload");
  expect(spawn({ concurrency: 0 })).toThrow("The concurrency of @(gated) is a whole number from 1");
  expect(spawn({ capcity: 1 })).toThrow('There is no option "capcity" for @(gated); write one of');
  expect(system.inspect()).toEqual([]);
});
