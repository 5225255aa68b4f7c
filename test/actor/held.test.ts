import { expect, test } from "bun:test";
import {
  type AskResult,
  address,
  type BeyondLimit,
  type Context,
  createMessage,
  defineProtocol,
  type Ref,
  type SignaturesOf,
  type Strategy,
  type Supervision,
  type SystemEvent,
  Type,
} from "../../src/index";
import { reasonsOf, type TestSystem, testSystems } from "./test-system";

// What becomes of an actor that fails beyond its limit (P10).

const { createTestSystem } = testSystems();

const Work = defineProtocol("work", { count: { reply: Type.Number() }, fail: {} });
type Work = SignaturesOf<typeof Work>;

const outcomeOf = (answer: AskResult): unknown => (answer.isOk() ? answer.value : answer.error.kind);
const never = { timeout: Number.POSITIVE_INFINITY };

const messageTo = (name: string) => createMessage(address(name), "fail", undefined);

function counting() {
  let count = 0;
  return {
    count: () => ++count,
    fail() {
      throw new Error("broken");
    },
  };
}

interface Worker extends TestSystem {
  readonly ref: Ref<Work>;
  /** Lets it fail, and lets all that follows without time happen. */
  fail(): Promise<void>;
  /** The pauses so far, in milliseconds, as they were published. */
  readonly pauses: number[];
  /** As `inspect` has it. */
  readonly state: string | undefined;
}

function heldIn(systems: TestSystem, ref: Ref<Work>): Worker {
  const pauses: number[] = [];
  systems.system.events.subscribe((event) => {
    if (event.kind === "held") pauses.push(event.delay);
  });
  return {
    ...systems,
    ref,
    pauses,
    async fail() {
      ref.tell("fail");
      await systems.settle();
    },
    get state() {
      return systems.system.inspect().find((report) => report.address === ref.address)?.state;
    },
  };
}

/** An actor without a parent, which has failed as often as its limit lets it. */
async function spawnAtLimit(supervision: Supervision = {}, factory: (ctx: Context<Work>) => object = counting) {
  const systems = createTestSystem({ supervision });
  // Each test's factory has the handlers of counting().
  const ref = systems.system.spawn("worker", Work, (ctx) => factory(ctx) as ReturnType<typeof counting>);
  const worker = heldIn(systems, ref);
  for (let i = 0; i < (supervision.limit ?? 5); i++) await worker.fail();
  expect(worker.pauses).toEqual([]);
  systems.takeLog();
  return worker;
}

/** Lets an actor fail each time that it goes on, `count` times; returns how long each pause was by the clock. */
async function failAgain(worker: Worker, count: number): Promise<number[]> {
  const { clock } = worker;
  const waits: number[] = [];
  for (let i = 0; i < count; i++) {
    const before = clock.monotonicTime();
    let answer: unknown;
    void worker.ref.ask("count", never).then((reply) => {
      answer = outcomeOf(reply);
    });
    worker.ref.tell("fail"); // Handled when it goes on, behind the other one.
    while (answer === undefined) await clock.advance(10);
    expect(answer).toBe(1);
    waits.push(clock.monotonicTime() - before);
    await clock.settle();
  }
  return waits;
}

test("P10: the sixth failure within ten seconds holds an actor without a parent: it is logged, told, and shown", async () => {
  const worker = await spawnAtLimit();
  await worker.fail();
  expect(worker.takeLog()).toMatchObject([
    {
      level: "error",
      message:
        'envoi: "fail" to @(worker) failed in its handler: Error: broken; it has been restarted 5 times within 10000 ms, so it ' +
        "is held for 100 ms before it restarts.",
      details: { address: address("worker") },
    },
  ]);
  expect(worker.state).toBe("held");
  expect(worker.events.slice(-2)).toMatchObject([
    { kind: "failed", directive: "restart", isUnhandled: false },
    { kind: "held", address: "@(worker)", delay: 100, error: new Error("broken") },
  ]);
  await worker.advance(99);
  expect(worker.state).toBe("held");
  await worker.advance(1);
  expect(worker.state).toBe("idle");
  expect(worker.events.at(-1)).toMatchObject({ kind: "restarted", restarts: 6 });
  expect(outcomeOf(await worker.ref.ask("count"))).toBe(1);
});

test("P10: the timeout of an ask that waited at an actor that is held, or restarts, says so", async () => {
  const held = await spawnAtLimit();
  await held.fail();
  const atHeld = held.ref.ask("count", { timeout: 50 });
  await held.advance(50);
  expect((await atHeld)._unsafeUnwrapErr().message).toBe(
    '"count" to @(worker) got no reply within 50 ms: the actor failed beyond its limit and is held back before it restarts; ' +
      "look in the log why it fails, or ask again later.",
  );
  await held.advance(50);
  held.takeLog();
  const restarting = await spawnAtLimit({ limit: 1, backoff: { initial: 1_000, jitter: 0 } });
  const atRestarting = restarting.ref.ask("count", { timeout: 50 });
  await restarting.advance(50);
  expect((await atRestarting)._unsafeUnwrapErr().message).toBe(
    '"count" to @(worker) got no reply within 50 ms: the actor restarts, and has not begun again; ask again later, or look in ' +
      "the log why it fails.",
  );
  await restarting.advance(1_000);
});

test("P10: a failure that its asker was told of is logged too, where it holds the actor", async () => {
  const worker = await spawnAtLimit({ limit: 1 });
  expect(outcomeOf(await worker.ref.ask("fail"))).toBe("handler-failed");
  expect(worker.takeLog()).toMatchObject([{ level: "error" }]);
  await worker.advance(100);
});

test("P10: the pause doubles with each failure, up to 30 s", async () => {
  const worker = await spawnAtLimit();
  await worker.fail();
  const waits = await failAgain(worker, 11);
  const expected = [100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000];
  expect(waits).toEqual(expected);
  expect(worker.pauses).toEqual([...expected, 30_000]);
  const [first, ...others] = worker.takeLog();
  expect(first?.message).toContain("it has been restarted 5 times within 10000 ms, so it is held for 100 ms");
  for (const { message } of others)
    expect(message).toContain("it failed again before it was well for 10000 ms, so it is");
  await worker.system.shutdown();
});

test("P10: the pause begins at backoff.initial, and grows beyond 30 s only where that is longer", async () => {
  const short = await spawnAtLimit({ limit: 0, backoff: { initial: 10, max: 20, jitter: 0.2 } });
  await short.fail();
  await failAgain(short, 3);
  expect(short.pauses).toEqual([10, 20, 40, 80]); // Neither the jitter nor the max of the backoff.
  short.takeLog();
  await short.system.shutdown();
  const long = await spawnAtLimit({ limit: 0, backoff: { initial: 45_000, max: 45_000 } });
  await long.fail();
  await failAgain(long, 1);
  expect(long.pauses).toEqual([45_000, 45_000]);
  long.takeLog();
  await long.system.shutdown();
});

test("P10: once it has been well for `within`, it has its whole limit again, and its first pause is short", async () => {
  const worker = await spawnAtLimit({ limit: 2, within: 1_000 });
  await worker.fail();
  await failAgain(worker, 2); // 100, 200; then it is held for 400.
  await worker.advance(400 + 999);
  await worker.fail(); // Not yet.
  expect(worker.pauses).toEqual([100, 200, 400, 800]);
  await worker.advance(800 + 1_000);
  for (let i = 0; i < 2; i++) {
    await worker.fail();
    expect(worker.state).toBe("idle");
  }
  await worker.fail();
  expect(worker.pauses).toEqual([100, 200, 400, 800, 100]);
  worker.takeLog();
  await worker.advance(100);
});

test("P10: well is counted from its beginning, not from its failure: a slow stop and the pause are not well", async () => {
  const worker = await spawnAtLimit({ limit: 0, within: 1_000 }, (ctx) => ({
    ...counting(),
    onStop: () => new Promise<void>((resolve) => void ctx.clock.setTimer(resolve, 900)),
  }));
  await worker.fail();
  await worker.advance(900 + 100 + 999);
  await worker.fail();
  expect(worker.pauses).toEqual([100, 200]);
  await worker.advance(900 + 200 + 1_000);
  await worker.fail();
  expect(worker.pauses).toEqual([100, 200, 100]);
  worker.takeLog();
  await worker.advance(1_000);
});

test("P10: an ask to a held actor waits within its timeout, tells within its capacity", async () => {
  const systems = createTestSystem({ supervision: { limit: 0 } });
  const worker = heldIn(systems, systems.system.spawn("worker", Work, counting, { capacity: 3 }));
  await worker.fail();
  const [patient, impatient] = [worker.ref.ask("count"), worker.ref.ask("count", { timeout: 60 })];
  worker.ref.tell("count");
  worker.ref.tell("count");
  await worker.advance(60);
  expect(outcomeOf(await impatient)).toBe("timeout");
  expect(reasonsOf(systems.deadLetters)).toEqual(["mailbox-full"]);
  await worker.advance(40);
  expect(outcomeOf(await patient)).toBe(1);
  expect(outcomeOf(await worker.ref.ask("count"))).toBe(3);
  expect(reasonsOf(systems.deadLetters)).toEqual(["mailbox-full", "timeout"]);
  expect(worker.takeLog()).toHaveLength(2);
});

for (const [how, end] of [
  ["a stop", ({ system, ref }: Worker) => system.stop(ref)],
  ["a stop that drains", ({ system, ref }: Worker) => system.stop(ref, { drain: true })],
  ["a shutdown", ({ system }: Worker) => system.shutdown()],
] as const) {
  test(`P13: ${how} ends a hold at once; what waited is dead`, async () => {
    const seen: string[] = [];
    const worker = await spawnAtLimit({ limit: 0 }, () => ({ ...counting(), onStop: () => void seen.push("onStop") }));
    await worker.fail();
    const waiting = worker.ref.ask("count", never);
    await end(worker);
    expect(outcomeOf(await waiting)).toBe("stopped");
    expect(worker.clock.monotonicTime()).toBe(0);
    expect(seen).toEqual(["onStop"]);
    worker.takeLog();
  });
}

test("P10: who watches an actor hears nothing while it is held, and of its stop when it is stopped", async () => {
  const worker = await spawnAtLimit({ limit: 0 });
  const told: unknown[] = [];
  worker.system.spawn("watcher", Work, (ctx) => {
    ctx.watch(worker.ref, ({ address: at, error }) => told.push([at, error]));
    return counting();
  });
  await worker.fail();
  await worker.advance(50);
  expect(told).toEqual([]);
  await worker.system.stop(worker.ref);
  await worker.settle();
  expect(told).toEqual([[worker.ref.address, undefined]]);
  worker.takeLog();
});

test("P10: a factory that throws while its actor is made anew keeps it held, longer each time", async () => {
  let instances = 0;
  const worker = await spawnAtLimit({ limit: 0 }, () => {
    if (++instances > 1 && instances < 6) throw new Error("no factory");
    return counting();
  });
  await worker.fail();
  const answer = worker.ref.ask("count", never);
  await worker.advance(100 + 200 + 400 + 800 + 1_600);
  expect(outcomeOf(await answer)).toBe(1);
  expect(worker.pauses).toEqual([100, 200, 400, 800, 1_600]);
  expect(worker.takeLog().at(-1)?.message).toEndWith(
    "could not be made anew: Error: no factory; it failed again before it was well for 10000 ms, so it is held for 1600 ms before it restarts.",
  );
});

test("P10: an onStart that fails while its actor is made anew keeps it held", async () => {
  let instances = 0;
  const worker = await spawnAtLimit({ limit: 0 }, () => {
    const isBroken = ++instances > 1 && instances < 4;
    return {
      ...counting(),
      onStart() {
        if (isBroken) throw new Error("no start");
      },
    };
  });
  await worker.fail();
  await worker.advance(100 + 200 + 400);
  expect(worker.pauses).toEqual([100, 200, 400]);
  expect(outcomeOf(await worker.ref.ask("count"))).toBe(1);
  worker.takeLog();
});

test("P10: the children of a held actor have stopped, and begin with its next instance", async () => {
  const seen: string[] = [];
  const worker = await spawnAtLimit({ limit: 0 }, (ctx) => {
    ctx.spawn("child", Work, () => {
      seen.push("child begins");
      return { ...counting(), onStop: () => void seen.push("child ends") };
    });
    return { ...counting(), onStop: () => void seen.push("parent ends") };
  });
  await worker.fail();
  expect(seen).toEqual(["child begins", "child ends", "parent ends"]);
  expect(worker.router.has(address("worker/child"))).toBe(false);
  await worker.advance(100);
  expect(seen.slice(3)).toEqual(["child begins"]);
  worker.takeLog();
});

const CONCERNED: Record<Strategy, string[]> = {
  "one-for-one": ["b"],
  "one-for-all": ["a", "b", "c"],
  "rest-for-one": ["b", "c"],
};

for (const [strategy, concerned] of Object.entries(CONCERNED) as [Strategy, string[]][]) {
  test(`P10: ${strategy}, without a parent: those whom a failure beyond the limit concerns are held together`, async () => {
    const systems = createTestSystem({ supervision: { strategy, limit: 1 } });
    const refs = ["a", "b", "c"].map((name) => systems.system.spawn(name, Work, counting));
    const [a, b] = refs as [Ref<Work>, Ref<Work>];
    const states = () => Object.fromEntries(systems.system.inspect().map((report) => [report.address, report.state]));
    b.tell("fail");
    await systems.settle();
    b.tell("fail");
    await systems.settle();
    const held = (name: string) => (concerned.includes(name) ? ("held" as const) : ("idle" as const));
    expect(states()).toEqual({ "@(a)": held("a"), "@(b)": held("b"), "@(c)": held("c") });
    const told = systems.events.flatMap((event: SystemEvent) => (event.kind === "held" ? [event.address] : []));
    expect(told).toEqual(concerned.map((name) => address(name)));
    await systems.advance(100);
    expect(states()).toEqual({ "@(a)": "idle", "@(b)": "idle", "@(c)": "idle" });
    // That was b's own doing: the others have their limits still.
    a.tell("fail");
    await systems.settle();
    expect(states()).toMatchObject({ "@(a)": "idle" });
    expect(systems.takeLog()).toHaveLength(3);
  });
}

const BELOW: [set: BeyondLimit | undefined, state: string, parents: number][] = [
  [undefined, "idle", 2],
  ["escalate", "idle", 2],
  ["hold", "held", 1],
  ["stop", "gone", 1],
];

for (const [beyondLimit, state, parents] of BELOW) {
  test(`P10: a child beyond its limit, with ${beyondLimit ?? "the default"}: ${state}`, async () => {
    const systems = createTestSystem({ supervision: {} });
    const told: unknown[] = [];
    let made = 0;
    systems.system.spawn(
      "parent",
      Work,
      (ctx) => {
        made++;
        ctx.watch(ctx.spawn("child", Work, counting), ({ error }) => told.push(error));
        return counting();
      },
      { supervision: { limit: 1, ...(beyondLimit === undefined ? {} : { beyondLimit }) } },
    );
    for (let i = 0; i < 2; i++) {
      systems.router.tell(messageTo("parent/child"));
      await systems.settle();
    }
    expect(systems.system.inspect()[0]?.children[0]?.state ?? "gone").toBe(state);
    expect(made).toBe(parents);
    expect(told).toEqual(beyondLimit === "stop" ? [new Error("broken")] : []);
    const ends = {
      escalate: "so the supervisor of @(parent) decides.",
      hold: "so it is held for 100 ms before it restarts.",
      stop: "so it is stopped.",
    }[beyondLimit ?? "escalate"];
    expect(systems.takeLog()[1]?.message).toEndWith(`it has been restarted 1 time within 10000 ms, ${ends}`);
    await systems.advance(100);
  });
}

for (const [beyondLimit, ends, directive] of [
  ["stop", "so it is stopped.", "stop"],
  ["escalate", "so it is stopped: no supervisor is left to decide.", "escalate"],
] as const) {
  test(`P10: an actor without a parent, beyond its limit, is stopped with ${beyondLimit}`, async () => {
    const worker = await spawnAtLimit({ limit: 1, beyondLimit });
    await worker.fail();
    expect(worker.router.has(worker.ref.address)).toBe(false);
    expect(worker.takeLog().at(-1)?.message).toEndWith(`it has been restarted 1 time within 10000 ms, ${ends}`);
    expect(worker.events.filter(({ kind }) => kind === "failed").at(-1)).toMatchObject({
      directive,
      isUnhandled: beyondLimit === "escalate",
    });
    const late = (await worker.ref.ask("count"))._unsafeUnwrapErr();
    expect(late.message).toEndWith("and this reference stays dead; spawn it again, and send by the new reference.");
  });
}

test("P10: what a child escalates beyond its limit may hold its topmost parent", async () => {
  const systems = createTestSystem({ supervision: { limit: 1 } });
  const top = systems.system.spawn("top", Work, (ctx) => {
    ctx.spawn("child", Work, counting);
    return counting();
  });
  for (let i = 0; i < 4; i++) {
    systems.router.tell(messageTo("top/child"));
    await systems.settle();
  }
  expect(systems.takeLog().at(-1)?.message).toEndWith("so @(top) is held for 100 ms before it restarts.");
  const answer = top.ask("count");
  await systems.advance(100);
  expect(outcomeOf(await answer)).toBe(1);
});

test("what no beyondLimit and no outside can be is refused", () => {
  const systems = createTestSystem();
  const spawn = (supervision: object): unknown =>
    systems.system.spawn("worker", Work, counting, { supervision: supervision as Supervision });
  expect(() => spawn({ beyondLimit: "wait" })).toThrow(
    new TypeError('The beyondLimit of the supervision of @(worker) is one of hold, stop, escalate; got "wait".'),
  );
  expect(() => spawn({ outside: "stop" })).toThrow(
    new TypeError('The outside of the supervision of @(worker) is "resume" or "restart"; got "stop".'),
  );
});
