import { expect, test } from "bun:test";
import {
  type Address,
  address,
  createErrorResponse,
  createMessage,
  type DeadLetter,
  defineProtocol,
  Type,
} from "../../src/index";
import { reasonsOf, testSystems } from "../actor/test-system";

const { createTestRouter, createTestSystem } = testSystems();

const nobody = address("nobody");
const toNobody = (payload: unknown) => createMessage(nobody, "say", payload);

test("P1: a subscriber sees each dead letter from then on, until it leaves", () => {
  const { router, takeLog } = createTestRouter();
  const seen: unknown[] = [];
  const note = (letter: DeadLetter): void => void seen.push(letter.message.payload);
  router.tell(toNobody(0));
  const unsubscribe = router.deadLetters.subscribe(note);
  const unsubscribeAgain = router.deadLetters.subscribe(note); // The same function, twice.
  router.tell(toNobody(1));
  unsubscribe();
  unsubscribe();
  router.tell(toNobody(2));
  unsubscribeAgain();
  router.tell(toNobody(3));
  expect(seen).toEqual([1, 1, 2]);
  expect(takeLog()).toHaveLength(4);
});

test("P1: a dead letter says why, to whom, what, and what to do", () => {
  const { router, deadLetters, takeLog } = createTestRouter();
  const message = toNobody("hi");
  router.tell(message);
  const [letter] = deadLetters;
  expect(letter).toMatchObject({ reason: "no-recipient", address: nobody, operation: "say", asked: false });
  expect(letter?.message).toBe(message);
  expect(letter?.description).toBe(
    `"say" to @(nobody) reached nobody; spawn or register an actor there first, or check the address.`,
  );
  const [entry] = takeLog();
  expect(entry?.level).toBe("warn");
  expect(entry?.message).toContain(letter?.description as string);
  expect(entry?.details).toEqual({ reason: "no-recipient", address: nobody, operation: "say" });
});

test("P1: dead letters can be iterated over, and leaving the loop unsubscribes", async () => {
  const { router, takeLog } = createTestRouter();
  const seen: unknown[] = [];
  const loop = (async () => {
    for await (const letter of router.deadLetters) {
      seen.push(letter.message.payload);
      if (seen.length === 3) break;
    }
  })();
  for (const payload of [1, 2]) router.tell(toNobody(payload));
  await Promise.resolve();
  for (const payload of [3, 4]) router.tell(toNobody(payload));
  await loop;
  router.tell(toNobody(5));
  expect(seen).toEqual([1, 2, 3]);
  takeLog();
});

test("P1: each of several concurrent next() calls of an iteration gets an item of its own", async () => {
  const { router, takeLog } = createTestRouter();
  const iterator = router.deadLetters[Symbol.asyncIterator]();
  const items = Promise.all([iterator.next(), iterator.next()]);
  router.tell(toNobody(1));
  router.tell(toNobody(2));
  takeLog();
  const settled = await Promise.race([
    items.then((both) => both.map((item) => item.value.message.payload)),
    new Promise((resolve) => setImmediate(() => resolve("one of them was forgotten"))),
  ]);
  expect(settled).toEqual([1, 2]);
});

test("P1: an iteration that is left while it waits ends", async () => {
  const { router } = createTestRouter();
  const iterator = router.deadLetters[Symbol.asyncIterator]();
  const waiting = iterator.next();
  await iterator.return?.();
  expect(await waiting).toEqual({ value: undefined, done: true });
  expect(await iterator.next()).toEqual({ value: undefined, done: true });
});

test("P9: a subscriber that throws is logged, stays, and does not keep the others from theirs", () => {
  const { router, deadLetters, takeLog } = createTestRouter();
  let count = 0;
  const cause = new Error("a bad subscriber");
  router.deadLetters.subscribe(() => {
    count++;
    throw cause;
  });
  const after: DeadLetter[] = [];
  router.deadLetters.subscribe((letter) => after.push(letter));
  router.tell(toNobody(1));
  router.tell(toNobody(2));
  expect([count, deadLetters.length, after.length]).toEqual([2, 2, 2]);
  const errors = takeLog().filter((entry) => entry.level === "error");
  expect(errors.map((entry) => entry.details)).toEqual([{ cause }, { cause }]);
});

test("P9: a subscriber whose promise rejects is logged, and the process goes on", async () => {
  const { router, clock, takeLog } = createTestRouter();
  const cause = new Error("a bad subscriber");
  router.deadLetters.subscribe(async () => {
    throw cause;
  });
  router.tell(toNobody(1));
  await clock.settle();
  const errors = takeLog().filter((entry) => entry.level === "error");
  expect(errors).toEqual([
    { level: "error", message: "envoi: a subscriber to dead letters threw", details: { cause } },
  ]);
});

test("P4: a subscriber that itself tells nobody does not throw in the sender", async () => {
  const { router, clock, takeLog } = createTestRouter();
  let count = 0;
  router.deadLetters.subscribe(() => {
    if (count++ < 100) router.tell(toNobody("again"));
  });
  expect(() => router.tell(toNobody("first"))).not.toThrow();
  expect(router.audit().dead).toBe(2); // What a subscriber sends is told in the next turn: no stack and no loop fills up.
  await clock.settle();
  expect(router.audit().dead).toBe(101);
  await clock.advance(1_000);
  expect(takeLog()).toHaveLength(11); // Ten, and the count of the others.
});

test("P9: ten dead letters a second are logged, and the others counted", async () => {
  const { router, clock, deadLetters, takeLog } = createTestRouter();
  for (let i = 0; i < 25; i++) router.tell(toNobody(i));
  expect(takeLog()).toHaveLength(10);
  await clock.advance(999);
  router.tell(toNobody("still in this second"));
  expect(takeLog()).toEqual([]);
  await clock.advance(1);
  expect(takeLog().map((entry) => entry.message)).toEqual([
    "envoi: 16 more dead letters in this second; subscribe to router.deadLetters to see each.",
  ]);
  expect(deadLetters).toHaveLength(26);

  router.tell(toNobody("the next second"));
  expect(takeLog()).toHaveLength(1);
  await clock.advance(1_000);
  expect(takeLog()).toEqual([]); // None were left out.
});

test("P9: the window of the log begins with its first letter, and a quiet second sets no timer", async () => {
  const { router, clock, takeLog } = createTestRouter();
  expect(clock.timers).toBe(0);
  router.tell(toNobody(1));
  expect(clock.timers).toBe(1);
  await clock.advance(1_000);
  expect(clock.timers).toBe(0);
  await clock.advance(60_000);
  for (let i = 0; i < 10; i++) router.tell(toNobody(i));
  expect(takeLog()).toHaveLength(11);
});

test("P9: shutdown logs the count of what is not logged yet, once", async () => {
  const { system, router, clock, takeLog } = createTestSystem();
  router.register(address("somebody"), () => 1);
  for (let i = 0; i < 12; i++) router.tell(toNobody(i));
  await system.shutdown();
  expect(takeLog().at(-1)?.message).toContain("2 more dead letters");
  await clock.advance(1_000); // The end of that second.
  expect(takeLog()).toEqual([]);
});

test("P9: what an asker or an offerer was told is not logged", async () => {
  const { system, router, clock, deadLetters } = createTestSystem();
  const Work = defineProtocol("work", { work: { payload: Type.Number() } });
  const gate = Promise.withResolvers<void>();
  const ref = system.spawn("work", Work, () => ({ work: () => gate.promise }));
  await router.ask(toNobody(1));
  await router.offer(toNobody(1));
  await ref.ask("rest" as "work", 1);
  await ref.offer("rest" as "work", 1);
  const running = ref.ask("work", 1);
  const queued = ref.ask("work", 2, { timeout: 5 });
  await clock.advance(5);
  gate.resolve();
  await clock.settle();
  const stopped = ref.ask("work", 3);
  const stopping = system.stop(ref);
  await Promise.all([running, queued, stopped, stopping]);
  await ref.ask("work", 4);
  await ref.offer("work", 4);
  expect(reasonsOf(deadLetters).toSorted()).toEqual([
    "no-recipient",
    "no-recipient",
    "stopped",
    "stopped",
    "stopped",
    "timeout",
    "unknown-operation",
    "unknown-operation",
  ]);
  expect(deadLetters.every((letter) => letter.asked)).toBe(true); // And the log is empty, which each test is held to.
});

test("P18: a name from outside is shown short and on one line in every sentence, response and log", async () => {
  const { router, clock, deadLetters, takeLog } = createTestRouter();
  const name = `say\n\u001b[2J\u2028\u202e${"x".repeat(2_000_000)}`;
  const at = address("slow");
  const open = Promise.withResolvers<string>();
  router.register(at, () => open.promise);
  const send = (to: Address, type: string) => createMessage(to, type, undefined, { pattern: "ask" });
  const asked = router.ask(send(at, name), { timeout: 100 });
  await clock.advance(100);
  const error = (await asked)._unsafeUnwrapErr();
  open.resolve("late");
  await clock.settle();
  router.tell(send(nobody, name));
  const log = takeLog();
  const fields = log.map(({ details }) => Object(details).operation ?? "");
  const shown = [error.message, createErrorResponse(send(at, name), error).error.message];
  shown.push(...deadLetters.map(({ description }) => description), ...log.map(({ message }) => message), ...fields);
  expect(shown.filter((text) => text.includes("xxx"))).toHaveLength(8);
  for (const text of shown) {
    expect(text).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    expect(text.length).toBeLessThan(500);
  }
  expect(error.operation).toBe(name); // What is not shown is as it came.
});
