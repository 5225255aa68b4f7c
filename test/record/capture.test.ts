import { expect, test } from "bun:test";
import { address, createMessage, createTopic, defineProtocol, receive, spawnPool, Type } from "../../src/index";
import { createLink } from "../../src/testing/index";
import { testSystems } from "../actor/test-system";
import { folders, record, story } from "./recorded";

const { createTestSystem } = testSystems();
const folder = folders();

const Counter = defineProtocol("counter", {
  add: { payload: Type.Number(), reply: Type.Number() },
  note: { payload: Type.String() },
  count: { payload: Type.Number(), stream: Type.Number() },
});
const counter = () => {
  let total = 0;
  return {
    add: (more: number) => {
      total += more;
      return total;
    },
    note() {},
    *count(to: number) {
      for (let at = 1; at <= to; at++) yield at;
    },
  };
};

test("a tell and an ask from plain code have their payload, reply and outcome, and no cause", async () => {
  const { system, clock } = createTestSystem();
  const { lines } = record(system, folder());
  const ref = system.spawn("counter", Counter, counter);
  ref.tell("note", "hello");
  await ref.ask("add", 2);
  await clock.settle();
  const all = await lines();
  expect(story(all)).toEqual(['1 tell @(counter) note "hello": handled', "2 ask @(counter) add 2: handled 2"]);
  expect(all[0]).toMatchObject({ kind: "header", format: 1, part: 1, system: "envoi" });
  expect(all.at(-1)).toMatchObject({ kind: "close" });
});

test("a handler's messages are caused by the message that it handles, also behind its awaits and within concurrency", async () => {
  const { system, clock } = createTestSystem();
  const { lines } = record(system, folder());
  const back = system.spawn("back", Counter, counter);
  const front = system.spawn(
    "front",
    Counter,
    (ctx) => ({
      async add(more) {
        await ctx.ask(back, "add", more);
        ctx.tell(back, "note", `after ${more}`);
        return more;
      },
      note() {},
      *count() {},
    }),
    { concurrency: 4 },
  );
  await Promise.all([front.ask("add", 1), front.ask("add", 2)]);
  await clock.settle();
  expect(story(await lines()).sort()).toEqual([
    "1 ask @(front) add 1: handled 1",
    "2 ask @(front) add 2: handled 2",
    "3 ask @(back) add 1 from @(front) <1: handled 1",
    "4 ask @(back) add 2 from @(front) <2: handled 3",
    '5 tell @(back) note "after 1" from @(front) <1: handled',
    '6 tell @(back) note "after 2" from @(front) <2: handled',
  ]);
});

test("a stream has its items, and ends with its producer; one that is left early ends, too", async () => {
  const { system, clock } = createTestSystem();
  const { lines } = record(system, folder());
  const ref = system.spawn("counter", Counter, counter);
  const items: number[] = [];
  for await (const item of ref.stream("count", 2)) items.push(item);
  for await (const item of ref.stream("count", 1_000, { credit: 1 })) if (item === 2) break;
  await clock.settle();
  const [first, second] = story(await lines());
  expect(first).toBe("1 stream @(counter) count 2: item 1, item 2, handled");
  expect(second).toMatch(/^2 stream @\(counter\) count 1000: item 1, item 2(, item 3)?(, item 4)?, handled left$/);
});

test("what is forwarded has a line for each hop, and the last one has the reply", async () => {
  const { system } = createTestSystem();
  const { lines } = record(system, folder());
  const last = system.spawn("last", Counter, counter);
  const first = system.spawn("first", Counter, (ctx) => ({
    add() {
      const passed = ctx.forward(last);
      ctx.tell(last, "note", "behind the forward");
      return passed;
    },
    note: () => ctx.forward(last),
    *count() {},
  }));
  await first.ask("add", 5);
  first.tell("note", "told");
  await last.ask("add", 1);
  expect(story(await lines())).toEqual([
    "1 ask @(first) add 5: forwarded",
    "2 ask @(last) add 5 <1 forwarded: handled 5",
    '3 tell @(last) note "behind the forward" from @(first) <1: handled',
    '4 tell @(first) note "told": forwarded',
    "5 ask @(last) add 1: handled 6",
    '6 tell @(last) note "told" <4 forwarded: handled',
  ]);
});

test("what is stashed says so, and ends when it is handled after all", async () => {
  const { system, clock } = createTestSystem();
  const { lines } = record(system, folder());
  let isOpen = false;
  const ref = system.spawn("counter", Counter, (ctx) => ({
    add: (more) => (isOpen ? more : ctx.stash()),
    note() {
      isOpen = true;
      ctx.unstash();
    },
    *count() {},
  }));
  const asked = ref.ask("add", 1);
  ref.tell("note", "open");
  await asked;
  await clock.settle();
  expect(story(await lines())).toEqual([
    "1 ask @(counter) add 1: stashed, handled 1",
    '2 tell @(counter) note "open": handled',
  ]);
});

test("a failure has its error, and a dead letter its reason", async () => {
  const { system, clock, takeLog } = createTestSystem();
  const { lines } = record(system, folder());
  const ref = system.spawn("counter", Counter, () => ({
    add() {
      throw new RangeError("too much");
    },
    note() {},
    *count() {},
  }));
  await ref.ask("add", 1);
  await system.stop(ref);
  ref.tell("note", "late");
  await system.router.ask(createMessage(address("nobody"), "say", "hi"));
  await clock.settle();
  takeLog();
  expect(story(await lines())).toEqual([
    "1 ask @(counter) add 1: failed too much",
    '2 tell @(counter) note "late": dead stopped',
    '3 tell @(nobody) say "hi": dead no-recipient',
  ]);
});

test("an ask that times out in the mailbox is dead, and one that times out while it is handled ends with its handler", async () => {
  const { system, clock, takeLog } = createTestSystem();
  const { lines } = record(system, folder());
  const gate = Promise.withResolvers<number>();
  const ref = system.spawn("counter", Counter, () => ({ add: () => gate.promise, note() {}, *count() {} }));
  const asks = [ref.ask("add", 1, { timeout: 10 }), ref.ask("add", 2, { timeout: 10 })];
  await clock.advance(10);
  await Promise.all(asks);
  gate.resolve(7);
  await clock.settle();
  takeLog();
  expect(story(await lines())).toEqual(["1 ask @(counter) add 1: handled 7", "2 ask @(counter) add 2: dead timeout"]);
});

test("a message from a door says so", async () => {
  const { system } = createTestSystem();
  const { lines } = record(system, folder());
  const ref = system.spawn("counter", Counter, counter);
  await receive(ref, { metadata: { user: "Ada" } }).ask("add", 3);
  await receive(ref).ask("nothing", 3);
  const all = await lines();
  expect(story(all)).toEqual([
    "1 ask @(counter) add 3 door: handled 3",
    "2 ask @(counter) nothing 3 door: dead unknown-operation",
  ]);
  expect(all[1]).toMatchObject({ metadata: { user: "Ada" } });
});

test("a pool's message is handled by a worker; a broadcast has a line for each further worker", async () => {
  const { system } = createTestSystem();
  const { lines } = record(system, folder());
  const pool = spawnPool(system, "pool", Counter, counter, { size: 2 });
  await pool.ask("add", 1);
  const all = spawnPool(system, "all", Counter, counter, { size: 2, routing: "broadcast" });
  await all.ask("add", 1);
  expect(story(await lines())).toEqual([
    expect.stringMatching(/^1 ask @\(pool\) add 1: handled 1 by @\(pool\/[12]\)$/),
    "2 ask @(all) add 1: handled 1 by @(all/1)",
    "3 ask @(all/2) add 1 <2: handled 1",
  ]);
});

test("a topic's item is a message for each subscriber", async () => {
  const { system, clock } = createTestSystem();
  const { lines } = record(system, folder());
  const topic = createTopic<string>("news");
  topic.subscribe(system.spawn("a", Counter, counter), "note");
  topic.subscribe(system.spawn("b", Counter, counter), "note");
  topic.publish("item");
  await clock.settle();
  expect(story(await lines())).toEqual(['1 tell @(a) note "item": handled', '2 tell @(b) note "item": handled']);
});

test("an actor that is opened by its address is recorded as any", async () => {
  const { system } = createTestSystem();
  const { lines } = record(system, folder());
  system.resolve("sessions/", (_, id) => system.spawn(id, Counter, counter));
  await system.ref(address("sessions/7"), Counter).ask("add", 1);
  await system.router.ask(createMessage(address("sessions/8"), "add", 2));
  expect(story(await lines())).toEqual([
    "1 ask @(sessions/7) add 1: handled 1",
    "2 ask @(sessions/8) add 2: handled 2",
  ]);
});

test("include: what listed actors get and send is recorded, and a cause is found through actors that are not", async () => {
  const { system, clock } = createTestSystem();
  const last = system.spawn("tools/last", Counter, counter);
  const middle = system.spawn("middle", Counter, (ctx) => ({
    async add(more) {
      return (await ctx.ask(last, "add", more)).unwrapOr(0);
    },
    note: () => ctx.forward(last),
    *count() {},
  }));
  const first = system.spawn("first", Counter, (ctx) => ({
    async add(more) {
      return (await ctx.ask(middle, "add", more)).unwrapOr(0);
    },
    note: (text) => ctx.tell(middle, "note", text),
    *count() {},
  }));
  const { lines } = record(system, folder(), { include: [first, "@(tools/*)"] });
  await first.ask("add", 1);
  await middle.ask("add", 2);
  first.tell("note", "x");
  await clock.settle();
  expect(story(await lines())).toEqual([
    "1 ask @(first) add 1: handled 1",
    "2 ask @(middle) add 1 from @(first) <1: handled 1",
    "3 ask @(tools/last) add 1 from @(middle) <2: handled 1",
    "4 ask @(tools/last) add 2 from @(middle): handled 3",
    '5 tell @(first) note "x": handled',
    '6 tell @(middle) note "x" from @(first) <5: forwarded',
    '7 tell @(tools/last) note "x" from @(first) <6 forwarded: handled',
  ]);
});

test("sample: what a message causes is recorded with it, or left out with it", async () => {
  const { system } = createTestSystem();
  const { lines } = record(system, folder(), { sample: 0.5, include: ["@(front)", "@(back)"] });
  const back = system.spawn("back", Counter, counter);
  const between = system.spawn("between", Counter, (ctx) => ({
    add: async (more) => (await ctx.ask(back, "add", more)).unwrapOr(0),
    note() {},
    *count() {},
  }));
  const front = system.spawn("front", Counter, (ctx) => ({
    async add(more) {
      await ctx.ask(between, "add", more);
      await ctx.ask(back, "add", more);
      return more;
    },
    note() {},
    *count() {},
  }));
  for (let n = 0; n < 100; n++) await front.ask("add", n);
  const all = (await lines()).filter(({ kind }) => kind === "message");
  const roots = all.filter(({ to }) => to === "@(front)").map(({ payload }) => payload);
  expect(roots.length).toBeGreaterThan(20);
  expect(roots.length).toBeLessThan(80);
  for (const to of ["@(between)", "@(back)"]) {
    const payloads = all.filter((line) => line.to === to).map(({ payload }) => payload);
    expect(new Set(payloads)).toEqual(new Set(roots));
  }
});

test("timers and hooks have no cause, and say their sender", async () => {
  const { system, clock } = createTestSystem();
  const { lines } = record(system, folder());
  const log = system.spawn("log", Counter, counter);
  system.spawn("timed", Counter, (ctx) => ({
    ...counter(),
    onStart() {
      ctx.tell(log, "note", "started");
      ctx.timers.once("later", 5, () => ctx.tell(log, "note", "later"));
    },
  }));
  await clock.advance(5);
  expect(story(await lines())).toEqual([
    '1 tell @(log) note "started" from @(timed): handled',
    '2 tell @(log) note "later" from @(timed): handled',
  ]);
});

test("an actor outside is recorded whatever is included", async () => {
  const { system } = createTestSystem();
  const { lines, recording } = record(system, folder(), { include: ["@(nobody)"] });
  const model = recording.outside("model", Counter, () => system.spawn("claude", Counter, counter));
  const agent = system.spawn("agent", Counter, (ctx) => ({
    ...counter(),
    add: async (more) => (await ctx.ask(model, "add", more)).unwrapOr(0),
  }));
  await agent.ask("add", 1);
  expect(story(await lines())).toEqual(["1 ask @(claude) add 1 from @(agent) world model: handled 1"]);
});

test("a message that a transport carries says so, with the reply and the items that came back", async () => {
  const { system, clock } = createTestSystem();
  const there = createTestSystem({ clock });
  const { a } = createLink(system, there.system, { clock });
  const { lines } = record(system, folder());
  const ref = a.attach(address("b/counter"), Counter, there.system.spawn("counter", Counter, counter));
  const asked = ref.ask("add", 2);
  ref.tell("note", "x");
  await clock.settle();
  await asked;
  const items = Array.fromAsync(ref.stream("count", 2));
  await clock.settle();
  expect(await items).toEqual([1, 2]);
  expect(story(await lines())).toEqual([
    "1 ask @(b/counter) add 2: handled 2 carried",
    '2 tell @(b/counter) note "x": sent carried',
    "3 stream @(b/counter) count 2: item 1, item 2, handled carried",
  ]);
});
