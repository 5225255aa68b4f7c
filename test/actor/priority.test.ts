import { expect, test } from "bun:test";
import { type ActorOptions, type Context, defineProtocol, type SignaturesOf, Type } from "../../src/index";
import { expectBalance, type TestSystem, testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const Job = defineProtocol("job", {
  run: { payload: Type.Object({ label: Type.String(), urgency: Type.Number() }), reply: Type.String() },
  urgent: { payload: Type.String() },
});

type Urgency = NonNullable<ActorOptions["priority"]>;

/** As in a program: by the payload of one operation, and another operation before all. */
const byUrgency: Urgency = (operation, payload) =>
  operation === "urgent" ? 100 : (payload as { urgency: number }).urgency; // Of `run`, the only other one.

async function blocked(
  test: TestSystem,
  options: ActorOptions,
  onStart: (ctx: Context<SignaturesOf<typeof Job>>) => void = () => undefined,
) {
  const seen: string[] = [];
  let gate = Promise.withResolvers<void>();
  const ref = test.system.spawn(
    "worker",
    Job,
    (ctx) => ({
      onStart: () => onStart(ctx),
      async run({ label }) {
        seen.push(label);
        await gate.promise;
        return label;
      },
      urgent: (label) => void seen.push(label),
    }),
    options,
  );
  ref.tell("run", { label: "running", urgency: 0 });
  await test.clock.settle();
  const release = async (): Promise<void> => {
    gate.resolve();
    await test.clock.settle();
    gate = Promise.withResolvers();
  };
  return { ref, seen, release };
}

test("P2: the most urgent message is handled first, and equals in the order in which they came", async () => {
  const test = createTestSystem();
  const { ref, seen, release } = await blocked(test, { priority: byUrgency });
  const sent = [3, 1, 2, 3, 1, 2, 3, -1, 0].map((urgency, i) => ({ label: `${urgency} ${i}`, urgency }));
  for (const job of sent) ref.tell("run", job);
  ref.tell("urgent", "first");
  expect(test.system.inspect()[0]?.queued).toBe(10);
  await release();
  const sorted = sent.toSorted((a, b) => b.urgency - a.urgency).map(({ label }) => label);
  expect(seen).toEqual(["running", "first", ...sorted]);
});

test("P2: a priority is that at the time of sending", async () => {
  const test = createTestSystem();
  const { ref, seen, release } = await blocked(test, { priority: byUrgency });
  const job = { label: "changed", urgency: 1 };
  ref.tell("run", job);
  ref.tell("run", { label: "other", urgency: 2 });
  job.urgency = 3;
  await release();
  expect(seen).toEqual(["running", "other", "changed"]);
});

test("P9: a priority that throws, or gives no number, counts as 0 and is logged; infinite ones are numbers", async () => {
  const test = createTestSystem();
  const wrong: Record<string, () => unknown> = {
    nan: () => Number.NaN,
    text: () => "9",
    nothing: () => undefined,
    throws: () => {
      throw new Error("broken");
    },
    async: () => Promise.reject(new Error("not awaited")),
    more: () => 1,
    less: () => -1,
    most: () => Number.POSITIVE_INFINITY,
    least: () => Number.NEGATIVE_INFINITY,
  };
  const priority = ((_, payload) => wrong[(payload as { label: string }).label]?.() ?? 0) as Urgency; // What a program may write.
  const { ref, seen, release } = await blocked(test, { priority });
  for (const label of Object.keys(wrong)) ref.tell("run", { label, urgency: 0 });
  await release();
  expect(seen).toEqual(["running", "most", "more", "nan", "text", "nothing", "throws", "async", "less", "least"]);
  const log = test.takeLog();
  expect(log.map(({ level, message }) => `${level} ${message}`)).toEqual([
    'error envoi: The priority of "run" to @(worker) is a number; got NaN, which counts as 0.',
    'error envoi: The priority of "run" to @(worker) is a number; got "9", which counts as 0.',
    'error envoi: The priority of "run" to @(worker) is a number; it threw Error: broken, which counts as 0.',
    'error envoi: The priority of "run" to @(worker) is a number; got a promise, which counts as 0.',
  ]);
});

test("P2: signals come after all that waited before them, however unimportant, and before what came later and is no more urgent", async () => {
  const test = createTestSystem();
  const friend = test.system.spawn("friend", Job, () => ({ run: () => "", urgent() {} }));
  const order: string[] = [];
  const { ref, seen, release } = await blocked(test, { priority: byUrgency }, (ctx) => {
    ctx.watch(friend, () => order.push(`terminated after ${seen.at(-1)}`));
    ctx.timers.once("timer", 5, () => order.push(`timer after ${seen.at(-1)}`));
  });
  ref.tell("run", { label: "low", urgency: -5 });
  ref.tell("run", { label: "high", urgency: 5 });
  await test.clock.advance(5);
  await test.system.stop(friend);
  ref.tell("run", { label: "as low, later", urgency: -5 });
  ref.tell("run", { label: "high, later", urgency: 5 });
  await release();
  expect(seen).toEqual(["running", "high", "high, later", "low", "as low, later"]);
  expect(order).toEqual(["timer after low", "terminated after low"]);
});

test("P2: onStart comes before all messages, and before those of a restart, whatever their priority", async () => {
  const test = createTestSystem({ supervision: {} });
  const order: string[] = [];
  const worker = test.system.spawn(
    "worker",
    Job,
    () => ({
      onStart: () => void order.push("onStart"),
      run({ label }) {
        order.push(label);
        if (label === "break") throw new Error("broken");
        return label;
      },
      urgent: (label) => void order.push(label),
    }),
    { priority: (operation) => (operation === "urgent" ? Number.POSITIVE_INFINITY : 0) },
  );
  worker.tell("run", { label: "break", urgency: 0 });
  worker.tell("run", { label: "after", urgency: 0 });
  worker.tell("urgent", "first");
  await test.clock.settle();
  expect(order).toEqual(["onStart", "first", "break", "onStart", "after"]);
  test.takeLog();
});

test("P11: drop-oldest drops of the least urgent the one that waited longest", async () => {
  const test = createTestSystem();
  const { ref, seen, release } = await blocked(test, { priority: byUrgency, capacity: 3, overflow: "drop-oldest" });
  for (const [label, urgency] of [
    ["high", 5],
    ["low 1", 1],
    ["low 2", 1],
    ["middle", 3], // low 1 goes,
    ["higher", 6], // then low 2,
    ["lowest", 0], // then middle, because what comes gets in.
  ] as const) {
    ref.tell("run", { label, urgency });
    expectBalance(test.router.audit());
    expect(test.system.inspect()[0]?.queued).toBeLessThanOrEqual(3);
  }
  expect(test.deadLetters.map((letter) => (letter.message.payload as { label: string }).label)).toEqual([
    "low 1",
    "low 2",
    "middle",
  ]);
  await release();
  expect(seen).toEqual(["running", "higher", "high", "lowest"]);
});

test("P11: bounded, by priority, and with senders that wait: who waits gets in by order, and is handled by priority", async () => {
  const test = createTestSystem();
  const { ref, seen, release } = await blocked(test, { priority: byUrgency, capacity: 2, overflow: "wait" });
  const offers = [1, 2, 3, 9, 4].map((urgency) => ref.offer("run", { label: `u${urgency}`, urgency }));
  const ask = ref.ask("run", { label: "asked", urgency: 8 });
  await release();
  // Two fit at first (1, 2); each that is taken lets the next one in, before the most urgent is taken.
  expect(seen).toEqual(["running", "u2", "u3", "u9", "u4", "asked", "u1"]);
  expect((await Promise.all(offers)).every((offer) => offer.isOk())).toBe(true);
  expect((await ask)._unsafeUnwrap()).toBe("asked");
});

test("P11: given-up asks leave a full mailbox by priority without changing the order of the rest, nor asking for it anew", async () => {
  const test = createTestSystem();
  let calls = 0;
  const priority: Urgency = (operation, payload) => {
    calls++;
    return byUrgency(operation, payload);
  };
  const { ref, seen, release } = await blocked(test, { priority, capacity: 5 });
  const stop = new AbortController();
  ref.tell("run", { label: "1", urgency: 1 });
  const gone = [7, 2].map((urgency) => ref.ask("run", { label: "gone", urgency }, { signal: stop.signal }));
  ref.tell("run", { label: "3 first", urgency: 3 });
  ref.tell("run", { label: "3 second", urgency: 3 });
  stop.abort();
  const before = calls;
  ref.tell("run", { label: "2", urgency: 2 });
  expect(calls).toBe(before + 1);
  await release();
  expect(seen).toEqual(["running", "3 first", "3 second", "2", "1"]);
  for (const ask of gone) expect((await ask).isErr()).toBe(true);
});

test("P2: what was unstashed comes before the most urgent, also after a full mailbox was swept", async () => {
  const test = createTestSystem();
  const seen: string[] = [];
  let isReady = false;
  const gates: (() => void)[] = [];
  const worker = test.system.spawn(
    "worker",
    Job,
    (ctx) => ({
      async run({ label }) {
        if (!isReady) return ctx.stash();
        seen.push(label);
        await new Promise<void>((resolve) => gates.push(resolve));
        return label;
      },
      async urgent(label) {
        seen.push(label);
        isReady = true;
        ctx.unstash();
        await new Promise<void>((resolve) => gates.push(resolve));
      },
    }),
    { priority: byUrgency, capacity: 4, overflow: "wait" },
  );
  worker.tell("run", { label: "stashed 1", urgency: -1 });
  worker.tell("run", { label: "stashed 2", urgency: -2 });
  await test.clock.settle();
  worker.tell("urgent", "ready");
  await test.clock.settle();
  const stop = new AbortController();
  const gone = worker.ask("run", { label: "gone", urgency: 50 }, { signal: stop.signal });
  worker.tell("run", { label: "9", urgency: 9 });
  const offered = worker.offer("run", { label: "waited", urgency: 60 });
  stop.abort();
  await gone;
  await test.clock.settle(); // The place of the one that gave up is taken.
  expect((await offered).isOk()).toBe(true);
  while (gates.length > 0) {
    gates.shift()?.();
    await test.clock.settle();
  }
  expect(seen).toEqual(["ready", "stashed 1", "stashed 2", "waited", "9"]);
});
