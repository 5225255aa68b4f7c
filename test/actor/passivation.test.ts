import { expect, test } from "bun:test";
import {
  address,
  type Clock,
  createMessage,
  createSystem,
  defineProtocol,
  type Hooks,
  type RefTo,
  spawnPool,
  type Timers,
  Type,
} from "../../src/index";
import { createManualClock } from "../../src/testing/index";
import { expectBalance, testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const Session = defineProtocol("session", {
  say: { payload: Type.String(), reply: Type.Number() },
  wait: { reply: Type.Number() },
  stash: { reply: Type.Number() },
  unstash: {},
  help: {},
  ticks: { stream: Type.Number() },
});
const Helper = defineProtocol("helper", { work: {} });

const at = address("sessions/7");
const IDLE = 100;

/** Sessions that are stopped when idle. Each instance has a number; `end` lets handlers that wait go on. */
function idleSessions(hooks: (number: number, timers: Timers) => Hooks = () => ({})) {
  const made = createTestSystem();
  const { system, router } = made;
  const gates: (() => void)[] = [];
  const gate = (): Promise<void> => new Promise((resolve) => gates.push(resolve));
  const heard: string[] = [];
  const refs: RefTo<typeof Session>[] = [];
  let opened = 0;
  const end = system.resolve(
    "sessions/",
    (_, id) => {
      const number = ++opened;
      const ref = system.spawn(id, Session, (ctx) => {
        const helper = ctx.spawn("helper", Helper, () => ({ work: gate }));
        return {
          say(text) {
            heard.push(text);
            return number;
          },
          async wait() {
            await gate();
            return number;
          },
          stash: () => (number > 0 && heard.includes("unstash") ? number : ctx.stash()),
          unstash() {
            heard.push("unstash");
            ctx.unstash();
          },
          help: () => helper.tell("work"),
          async *ticks() {
            yield 1;
            await gate();
            yield 2;
          },
          ...hooks(number, ctx.timers),
        };
      });
      refs.push(ref);
      return ref;
    },
    { idle: IDLE },
  );
  const send = (operation: string, payload?: unknown) =>
    router.ask(createMessage(at, operation, payload), { timeout: Number.POSITIVE_INFINITY });
  const say = async (text = ""): Promise<unknown> => (await send("say", text))._unsafeUnwrap();
  const open = async (): Promise<void> => {
    for (const each of gates.splice(0)) each();
    await made.clock.settle();
  };
  return { ...made, heard, refs, send, say, open, end, isThere: () => router.has(at) };
}

test("an idle actor is stopped between `idle` and twice that after its last message, and made again by the next", async () => {
  const { say, clock, isThere } = idleSessions();
  expect(await say()).toBe(1);
  await clock.advance(IDLE - 1);
  expect(isThere()).toBe(true);
  await clock.advance(IDLE + 1);
  expect(isThere()).toBe(false);
  expect(clock.timers).toBe(0); // Nothing is looked at while no actor is there.
  expect(await say()).toBe(2);
  await clock.advance(2 * IDLE);
  expect(isThere()).toBe(false);
});

test("an actor that is used again and again is not stopped, and its timer keeps no process alive", async () => {
  const { say, clock, isThere } = idleSessions();
  for (let i = 0; i < 20; i++) {
    expect(await say()).toBe(1);
    expect(clock.heldTimers).toBe(0);
    await clock.advance(IDLE - 1);
  }
  await clock.advance(2 * IDLE);
  expect(isThere()).toBe(false);
});

test.each(["wait", "stash", "help"] as const)("an actor is not stopped while it is busy with %s", async (operation) => {
  const { send, clock, isThere, open, router } = idleSessions();
  if (operation === "help") router.tell(createMessage(at, operation, undefined));
  const asked = operation === "help" ? null : send(operation);
  await clock.advance(10 * IDLE);
  expect(isThere()).toBe(true);
  if (operation === "stash") router.tell(createMessage(at, "unstash", undefined));
  await open();
  if (asked !== null) expect((await asked)._unsafeUnwrap()).toBe(1);
  await clock.advance(2 * IDLE);
  expect(isThere()).toBe(false);
});

test("an actor is not stopped while a stream of it is open", async () => {
  const { router, clock, isThere, open } = idleSessions();
  const ticks = router.stream(createMessage(at, "ticks", undefined));
  expect((await ticks.next()).value).toBe(1);
  await clock.advance(10 * IDLE);
  expect(isThere()).toBe(true);
  await open();
  expect(await Array.fromAsync(ticks)).toEqual([2]);
  await clock.advance(2 * IDLE);
  expect(isThere()).toBe(false);
});

test("timers of its own do not keep an actor", async () => {
  let ticks = 0;
  const { say, clock, isThere } = idleSessions((_, timers) => ({
    onStart: () => timers.fixedDelay("tick", IDLE / 3, () => void ticks++),
  }));
  await say();
  await clock.advance(3 * IDLE);
  expect([isThere(), ticks > 2]).toEqual([false, true]);
});

test("an actor is not idle because a child has stopped that had handled as many messages as others have since", async () => {
  const Family = defineProtocol("family", { begin: {}, end: {} });
  const { system, router, clock } = createTestSystem();
  const home = address("families/1");
  system.resolve(
    "families/",
    (_, id) =>
      system.spawn(id, Family, (ctx) => ({
        begin: () => ctx.spawn("helper", Helper, () => ({ work() {} })).tell("work"),
        end: () => void ctx.children.forEach((child) => void ctx.stop(child)),
      })),
    { idle: IDLE },
  );
  router.tell(createMessage(home, "begin", undefined)); // Two were handled, one of them by the child.
  await clock.advance(2 * IDLE - 1);
  router.tell(createMessage(home, "end", undefined)); // Two were handled by the parent alone.
  await clock.advance(IDLE);
  expect(router.has(home)).toBe(true);
  await clock.advance(IDLE);
  expect(router.has(home)).toBe(false);
});

test("P2: what comes while an idle actor stops waits for the next one, in order", async () => {
  const stopping = Promise.withResolvers<void>();
  const { say, clock, router, heard, isThere } = idleSessions((number) => ({
    onStop: () => (number === 1 ? stopping.promise : undefined),
  }));
  await say("a");
  await clock.advance(2 * IDLE);
  expect(isThere()).toBe(true); // It stops.
  const asked = ["b", "c"].map((text) => router.ask(createMessage(at, "say", text)));
  router.tell(createMessage(at, "say", "d"));
  await clock.settle();
  expect(router.audit()).toMatchObject({ queued: 3, handled: 1 });
  stopping.resolve();
  expect((await Promise.all(asked)).map((reply) => reply._unsafeUnwrap())).toEqual([2, 2]);
  await clock.settle();
  expect(heard).toEqual(["a", "b", "c", "d"]);
});

test("P14: a reference to an actor that was stopped for being idle leads to the stopped one; one by address to the next", async () => {
  const { system, say, clock, refs } = idleSessions();
  const byAddress = system.ref(at, Session);
  await say();
  await clock.advance(2 * IDLE);
  expect((await refs[0]?.ask("say", "a"))?._unsafeUnwrapErr().kind).toBe("stopped");
  expect((await byAddress.ask("say", "b"))._unsafeUnwrap()).toBe(2);
});

test("a pool is idle when its workers are, and an actor with a concurrency when none of its handlers runs", async () => {
  const { system, router, clock } = createTestSystem();
  const gates: (() => void)[] = [];
  const wait = (): Promise<void> => new Promise((resolve) => gates.push(resolve));
  system.resolve("pools/", (_, id) => spawnPool(system, id, Helper, () => ({ work: wait }), { size: 2 }), {
    idle: IDLE,
  });
  system.resolve("several/", (_, id) => system.spawn(id, Helper, () => ({ work: wait }), { concurrency: 3 }), {
    idle: IDLE,
  });
  const all = [address("pools/1"), address("several/1")];
  for (const one of all) router.tell(createMessage(one, "work", undefined));
  await clock.advance(10 * IDLE);
  expect(all.map((one) => router.has(one))).toEqual([true, true]);
  for (const open of gates) open();
  await clock.advance(2 * IDLE);
  expect(all.map((one) => router.has(one))).toEqual([false, false]);
});

test("an actor that its function did not make at that address is left alone", async () => {
  const { system, router, clock } = createTestSystem();
  const shared = system.spawn("shared", Helper, () => ({ work() {} }));
  system.resolve("to-shared/", () => shared, { idle: IDLE });
  router.tell(createMessage(address("to-shared/1"), "work", undefined));
  await clock.advance(10 * IDLE);
  expect(router.has(address("shared"))).toBe(true);
});

test("actors stay once their resolver has ended, and their timer ends with it", async () => {
  const { say, end, clock, isThere } = idleSessions();
  await say();
  end();
  expect(clock.timers).toBe(0);
  await clock.advance(10 * IDLE);
  expect(isThere()).toBe(true);
});

test("P5: thousands of idle actors are looked at by turns", async () => {
  let now = 0;
  let turns = 0;
  const manual = createManualClock();
  const clock: Clock = {
    ...manual,
    // Time goes on by each look at it, so that a turn is over after the same number of actors on any machine.
    monotonicTime: () => {
      now += 0.5;
      return now;
    },
    macrotask(callback) {
      turns++;
      manual.macrotask(callback);
    },
  };
  const system = createSystem({ clock });
  system.resolve("helpers/", (_, id) => system.spawn(id, Helper, () => ({ work() {} })), { idle: IDLE });
  for (let i = 0; i < 2_000; i++) system.router.tell(createMessage(address(`helpers/${i}`), "work", undefined));
  await manual.advance(IDLE);
  expect(system.inspect().length).toBe(2_000);
  const before = turns;
  await manual.advance(IDLE);
  expect([system.inspect().length, turns - before > 20]).toEqual([0, true]);
  expectBalance(system.router.audit());
  await system.shutdown();
});
