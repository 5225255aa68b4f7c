import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  type ActorOptions,
  address,
  type Clock,
  createMessage,
  createSystem,
  defineProtocol,
  drop,
  type Metrics,
  type OperationMetrics,
  type RefTo,
  type SystemOptions,
  spawnPool,
  Type,
} from "../../src/index";
import { testSystems } from "../actor/test-system";

const { createTestSystem } = testSystems();

const Work = defineProtocol("work", {
  note: { payload: Type.Number() },
  say: { payload: Type.String(), reply: Type.String() },
  later: { payload: Type.Number(), reply: Type.Number() },
  fail: {},
  count: { payload: Type.Number(), stream: Type.Number() },
});

const row = ({ operations }: Metrics, operation?: string): OperationMetrics | undefined =>
  operations.find((each) => each.operation === operation);

const counted = ({ operations }: Metrics): unknown =>
  operations.map(({ protocol, operation, handled, failed, dead }) => [protocol, operation, handled, failed, dead]);

test("P1: messages are counted by protocol and operation, as the audit counts them all", async () => {
  const { system, router, settle, takeLog, takeFailures } = createTestSystem({ metrics: true });
  const ref = system.spawn("one", Work, () => ({
    note() {},
    say: (text) => text,
    async later(n) {
      await undefined;
      return n;
    },
    fail() {
      throw new Error("broken");
    },
    *count(to) {
      for (let i = 0; i < to; i++) yield i;
    },
  }));
  const handler = router.register(address("plain"), () => "done");
  for (let i = 0; i < 100; i++) ref.tell("note", i);
  for (let i = 0; i < 20; i++) {
    ref.tell("note", i);
    ref.tell("say", "alternating");
  }
  const asks = [ref.ask("say", "hi"), ref.ask("later", 1), ref.ask("later", 2)];
  ref.tell("fail");
  handler.tell("anything");
  router.tell(createMessage(address("nobody"), "say", "hi"));
  router.tell(createMessage(address("one"), "made up by a stranger", 1));
  for await (const _ of ref.stream("count", 3));
  await Promise.all(asks);
  await settle();
  expect(counted(system.metrics())).toEqual([
    [undefined, undefined, 1, 0, 1],
    ["work", "note", 120, 0, 0],
    ["work", "say", 21, 0, 0],
    ["work", "later", 2, 0, 0],
    ["work", "fail", 0, 1, 0],
    ["work", "count", 1, 0, 0],
    ["work", undefined, 0, 0, 1],
  ]);
  expect(router.audit()).toMatchObject({ handled: 145, failed: 1, dead: 2 });
  takeLog();
  takeFailures();
});

type Step = readonly [kind: "note" | "say" | "later" | "fail" | "hang" | "forward" | "stop" | "settle", to: number];
const kinds = ["note", "note", "note", "note", "say", "later", "fail", "hang", "forward", "stop", "settle"] as const;
const steps = fc.array(fc.tuple(fc.constantFrom(...kinds), fc.nat(4)), { maxLength: 120 });

test("P1: whatever becomes of messages, the rows add up to the audit once the turns have ended", async () => {
  const Mixed = defineProtocol("mixed", {
    note: {},
    say: { reply: Type.String() },
    later: {},
    fail: {},
    hang: {},
    forward: {},
  });
  const run = async (all: Step[], sample: number): Promise<void> => {
    const { system, router, settle, advance, takeLog, takeFailures } = createTestSystem({ metrics: { sample } });
    const make = (name: string, options: ActorOptions = {}): RefTo<typeof Mixed> =>
      system.spawn(
        name,
        Mixed,
        (ctx) => ({
          note() {},
          say: () => "said",
          later: async () => undefined,
          fail() {
            throw new Error("broken");
          },
          hang: () => new Promise<void>(() => undefined),
          forward: () => ctx.forward(target),
        }),
        options,
      );
    const target = make("target");
    const pool = spawnPool(
      system,
      "pool",
      Mixed,
      () => ({ note() {}, say: () => "", later() {}, fail() {}, hang() {}, forward() {} }),
      { size: 2, routing: "broadcast" },
    );
    const refs = [
      make("a"),
      make("b", { capacity: 3 }),
      make("c", { concurrency: 3 }),
      make("d", { priority: () => 1 }),
      pool,
    ];
    const remove = router.use((message, next) => (message.type === "fail" ? drop("enough") : next()));
    for (const [kind, to] of all) {
      const ref = refs[to] ?? pool;
      if (kind === "settle") await settle();
      else if (kind === "stop") void system.stop(ref);
      else if (kind === "say") void ref.ask("say", { timeout: 5 });
      else {
        ref.tell(kind);
        router.tell(createMessage(ref.address, kind, undefined));
      }
    }
    await advance(10);
    const over = system.shutdown({ timeout: 10 });
    await advance(10);
    await over;
    remove();
    takeLog();
    takeFailures();
    const { operations } = system.metrics();
    const sum = (key: "handled" | "failed" | "dead"): number =>
      operations.reduce((total, each) => total + each[key], 0);
    const { handled, failed, dead } = router.audit();
    expect({ handled: sum("handled"), failed: sum("failed"), dead: sum("dead") }).toEqual({ handled, failed, dead });
  };
  await fc.assert(fc.asyncProperty(steps, fc.constantFrom(1, 4, Number.POSITIVE_INFINITY), run), { numRuns: 40 });
});

test("with a sample of 1, each message is timed: how long it waited, and how long its handler took", async () => {
  const { system, clock, settle, advance } = createTestSystem({ metrics: { sample: 1 } });
  let goOn = (): void => undefined;
  for (const options of [{}, { capacity: 10 }, { priority: () => 1 }]) {
    const ref = system.spawn(
      "slow",
      Work,
      () => ({
        note: (n) => void (n > 0 && clock.advance(0)),
        say: (text) => text,
        later: (n) => new Promise<number>((resolve) => (goOn = () => resolve(n))),
        fail() {},
        *count() {},
      }),
      options,
    );
    const before = system.metrics();
    const asked = ref.ask("later", 1);
    await settle();
    ref.tell("note", 0);
    await advance(30);
    ref.tell("note", 0);
    await advance(10);
    goOn();
    await asked;
    await settle();
    const after = system.metrics();
    const times = (operation: string, key: "queueTime" | "handlerTime"): unknown => {
      const [was, is] = [row(before, operation)?.[key], row(after, operation)?.[key]];
      return [(is?.count ?? 0) - (was?.count ?? 0), (is?.sum ?? 0) - (was?.sum ?? 0)];
    };
    expect([times("later", "queueTime"), times("later", "handlerTime")]).toEqual([
      [1, 0],
      [1, 40],
    ]);
    expect([times("note", "queueTime"), times("note", "handlerTime")]).toEqual([
      [2, 50],
      [2, 0],
    ]);
    await system.stop(ref);
  }
  const { bounds, operations } = system.metrics();
  const wait = operations.find(({ operation }) => operation === "note")?.queueTime;
  expect(wait?.max).toBe(40);
  // 40 ms and 10 ms: up to 65.536 and 16.384.
  expect(wait?.buckets.flatMap((count, i) => (count > 0 ? [[bounds[i], count]] : []))).toEqual([
    [16.384, 3],
    [65.536, 3],
  ]);
});

test("about one message in `sample` is timed, of tells in a row as of asks, and of no operation more than of another", async () => {
  const { system, settle } = createTestSystem({ metrics: { sample: 8 } });
  const ref = system.spawn("one", Work, () => ({
    note() {},
    say: (text) => text,
    later: (n) => n,
    fail() {},
    *count() {},
  }));
  for (let round = 0; round < 100; round++) {
    for (let i = 0; i < 80; i++) ref.tell("note", i);
    await settle();
    for (let i = 0; i < 8; i++) {
      ref.tell("fail");
      void ref.ask("say", "hi");
    }
    await settle();
  }
  const found = system.metrics();
  const share = (operation: string, key: "queueTime" | "handlerTime"): number => {
    const { handled = 0, [key]: times } = row(found, operation) ?? {};
    return (times?.count ?? 0) / handled;
  };
  for (const operation of ["note", "say", "fail"]) {
    expect(share(operation, "handlerTime")).toBeWithin(1 / 16, 1 / 5);
    expect(share(operation, "queueTime")).toBeWithin(1 / 40, 1 / 3);
  }
});

test("each place in a row is timed as often as any other: of tells as of asks", async () => {
  let time = 0;
  const clock: Clock = {
    wallTime: () => time,
    monotonicTime: () => time,
    setTimer: () => ({ cancel() {}, unref() {} }),
    microtask: queueMicrotask,
    macrotask: (callback) => void setImmediate(callback),
  };
  await using system = createSystem({ clock, metrics: { sample: 8 }, askTimeout: Number.POSITIVE_INFINITY });
  const [places, each, rounds] = [24, 4, 300];
  // The time of a handler tells its place: each place has a bucket of its own.
  const spend = (place: number): void => {
    time += (0.9 * 2 ** place) / 1000;
  };
  const ref = system.spawn("one", Work, () => ({
    note: spend,
    say(text) {
      spend(Number(text));
      return text;
    },
    later: (n) => n,
    fail() {},
    *count() {},
  }));
  const inRow = Array.from({ length: places * each }, (_, i) => Math.floor(i / each));
  for (let round = 0; round < rounds; round++) {
    for (const place of inRow) ref.tell("note", place);
    await Promise.all(inRow.map((place) => ref.ask("say", String(place))));
  }
  for (const operation of ["note", "say"]) {
    const { buckets = [] } = row(system.metrics(), operation)?.handlerTime ?? {};
    const counts = buckets.slice(0, places);
    expect(Math.min(...counts)).toBeGreaterThan(100); // 150 on average, of 1,200.
    expect(Math.max(...counts)).toBeLessThan(200);
  }
});

test("a message that was stashed is chosen anew when it comes back, and waits from then on", async () => {
  const { system, advance, settle } = createTestSystem({ metrics: { sample: 1 } });
  let isOpen = false;
  const ref = system.spawn("one", Work, (ctx) => ({
    note: () => (isOpen ? undefined : ctx.stash()),
    say: (text) => text,
    later: (n) => n,
    fail() {
      isOpen = true;
      ctx.unstash();
    },
    *count() {},
  }));
  ref.tell("note", 1);
  await settle();
  await advance(1_000);
  ref.tell("fail");
  await settle();
  expect(row(system.metrics(), "note")).toMatchObject({
    handled: 1,
    queueTime: { count: 2, sum: 0 },
    handlerTime: { count: 2, sum: 0 },
  });
});

test.each([8, Number.POSITIVE_INFINITY])(
  "an observer that wants all waits changes nothing of a sample of %p",
  async (sample) => {
    const { system, settle } = createTestSystem({ metrics: { sample } });
    const waits: unknown[] = [];
    system.around(
      ({ queueTime }, run) => {
        waits.push(queueTime);
        run();
      },
      { queueTime: true },
    );
    const ref = system.spawn("one", Work, () => ({
      note() {},
      say: (text) => text,
      later: (n) => n,
      fail() {},
      *count() {},
    }));
    for (let i = 0; i < 4_000; i++) ref.tell("note", i);
    await settle();
    const { queueTime } = row(system.metrics(), "note") ?? {};
    expect(waits).toEqual(new Array(4_000).fill(0));
    expect((queueTime?.count ?? 0) / 4_000).toBeWithin(sample === 8 ? 1 / 16 : 0, 1 / 5);
  },
);

test("the buckets double from 1 µs on, and the last one has no bound", async () => {
  const { system, clock, settle } = createTestSystem({ metrics: { sample: 1 } });
  const waits = [0, 0.0005, 0.0015, 0.0018, 1, 60_000, 70_000]; // None near a bound, for sums of times are not exact.
  const ends: (() => void)[] = [];
  const ref = system.spawn("one", Work, () => ({
    note: () => new Promise<void>((resolve) => void ends.push(resolve)),
    say: (text) => text,
    later: (n) => n,
    fail() {},
    *count() {},
  }));
  for (const wait of waits) {
    ref.tell("note", 0);
    await settle();
    await clock.advance(wait);
    ends.pop()?.();
    await settle();
  }
  const { bounds, operations } = system.metrics();
  const times = operations[0]?.handlerTime;
  expect(bounds.length).toBe(27);
  expect([bounds[0], bounds[1], bounds[26]]).toEqual([0.001, 0.002, 67_108.864]);
  expect(times?.buckets.length).toBe(28);
  expect(times?.buckets.flatMap((count, i) => (count > 0 ? [[i, count]] : []))).toEqual([
    [0, 2],
    [1, 2],
    [10, 1],
    [26, 1],
    [27, 1],
  ]);
});

test("observers do not see what the metrics put into a mailbox, and both work together", async () => {
  const { system, settle } = createTestSystem({ metrics: { sample: 1 } });
  const ref = system.spawn("one", Work, () => ({
    note() {},
    say: (text) => text,
    later: async (n) => n,
    fail() {},
    *count() {},
  }));
  for (let i = 0; i < 30; i++) ref.tell("note", i);
  const seen: string[] = [];
  const remove = system.around(({ kind, operation }, run) =>
    run((outcome) => seen.push(`${kind} ${operation} ${outcome.kind}`)),
  );
  await ref.ask("later", 1);
  await settle();
  remove();
  expect(seen).toEqual([...new Array(30).fill("message note handled"), "message later handled"]);
  expect(row(system.metrics(), "later")?.handlerTime.count).toBe(1);
});

test("protocols of one name count together, so those that are made for each request make no rows without end", async () => {
  const { system } = createTestSystem({ metrics: { sample: 1 } });
  for (let request = 0; request < 100; request++) {
    const own = request % 2 === 0 ? "even" : "odd";
    const Request = defineProtocol("request", { run: { reply: Type.Number() }, [own]: { reply: Type.Number() } });
    const ref = system.spawn(`request-${request}`, Request, () => ({ run: () => request, [own]: () => request }));
    expect((await ref.ask("run")).unwrapOr(-1)).toBe(request);
    if (request < 10) await ref.ask(own);
    await system.stop(ref);
  }
  const rows = system
    .metrics()
    .operations.map(({ operation, handled, queueTime }) => [operation, handled, queueTime.count]);
  expect(rows).toEqual([
    ["run", 100, 100],
    ["even", 5, 5],
    ["odd", 5, 5],
  ]);
});

test("a system without metrics says how to have some; what cannot be an option is refused", () => {
  expect(() => createSystem().metrics()).toThrow(
    "This system counts nothing: make it with createSystem({ metrics: true }).",
  );
  const refused: [options: object, sentence: string][] = [
    [{ metrics: 16 }, "metrics is true, false, or an object such as { sample: 16 }; got 16."],
    [{ metrics: { samples: 16 } }, 'There is no option "samples" for metrics; write one of sample.'],
    [{ metrics: { sample: 0 } }, "The sample of metrics is a whole number from 1, or Infinity; got 0."],
  ];
  for (const [options, sentence] of refused) expect(() => createSystem(options as SystemOptions)).toThrow(sentence);
});
