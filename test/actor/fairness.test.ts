import { expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import {
  type Clock,
  type Context,
  createSystem,
  defineProtocol,
  type RefTo,
  type SignaturesOf,
  Type,
} from "../../src/index";
import { createManualClock } from "../../src/testing/index";
import { differences } from "../differences";
import { expectBalance, type LogEntry, recordIn, testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const Player = defineProtocol("player", { hit: { payload: Type.Number() } });

/** Two actors volley on the real clock; what the event loop does meanwhile notes at which hop it came. */
async function volley(hops: number, isAsynchronous: boolean): Promise<Record<string, number>> {
  const logged: LogEntry[] = [];
  const system = createSystem({ logger: recordIn(logged) });
  const over = Promise.withResolvers<void>();
  let hop = 0;
  const hit = (to: RefTo<typeof Player>, n: number): void => {
    hop = n;
    if (n === hops) over.resolve();
    else to.tell("hit", n + 1);
  };
  const player = (to: () => RefTo<typeof Player>) => () => ({
    hit: isAsynchronous ? async (n: number) => hit(to(), n) : (n: number) => hit(to(), n),
  });
  const ping: RefTo<typeof Player> = system.spawn(
    "ping",
    Player,
    player(() => pong),
  );
  const pong = system.spawn(
    "pong",
    Player,
    player(() => ping),
  );
  const seenAt = { timeout: hops, secondTimeout: hops, immediate: hops, io: hops };
  const io = readFile(import.meta.path).then(() => {
    seenAt.io = hop;
  });
  const timers = new Promise<void>((resolve) => {
    setImmediate(() => {
      seenAt.immediate = hop;
    });
    setTimeout(() => {
      seenAt.timeout = hop;
      setTimeout(() => {
        seenAt.secondTimeout = hop;
        resolve();
      }, 1);
    }, 1);
  });
  ping.tell("hit", 1);
  await over.promise;
  await Promise.all([io, timers]);
  expectBalance(system.router.audit());
  await system.shutdown();
  expect(logged).toEqual([]);
  return seenAt;
}

for (const isAsynchronous of [false, true]) {
  const kind = isAsynchronous ? "asynchronous" : "synchronous";
  test(`P5: timers and I/O get their turn while two actors with ${kind} handlers volley`, async () => {
    const hops = 1_000_000;
    const seenAt = await volley(hops, isAsynchronous);
    for (const at of Object.values(seenAt)) expect(at).toBeLessThan(hops);
  });
}

test("P5: an actor with a long queue does not starve another", async () => {
  const { system, clock } = createTestSystem();
  let handled = 0;
  let handledBefore = -1;
  const busy = system.spawn("busy", Player, () => ({ hit: () => void handled++ }));
  const quiet = system.spawn("quiet", Player, () => ({
    hit() {
      handledBefore = handled;
    },
  }));
  for (let i = 0; i < 10_000; i++) busy.tell("hit", i);
  quiet.tell("hit", 0);
  await clock.settle();
  expect(handled).toBe(10_000);
  expect(handledBefore).toBeWithin(0, 1_000);
});

test("P5: an actor that tells itself without end does not starve another", async () => {
  const { system } = createTestSystem();
  let isOver = false;
  const endless = system.spawn("endless", Player, (ctx) => ({
    hit: (n) => (isOver ? undefined : ctx.self.tell("hit", n + 1)),
  }));
  const quiet = system.spawn("quiet", Player, () => ({
    hit() {
      isOver = true;
    },
  }));
  endless.tell("hit", 0);
  expect((await quiet.ask("hit", 0)).isOk()).toBe(true);
});

test("P5: ten thousand actors with one message each all get their turn, in the order of their messages", async () => {
  const { system, clock } = createTestSystem();
  const seen: number[] = [];
  const refs = Array.from({ length: 10_000 }, (_, i) =>
    system.spawn(`a${i}`, Player, () => ({ hit: () => void seen.push(i) })),
  );
  for (const ref of refs) ref.tell("hit", 0);
  await clock.settle();
  expect(
    differences(
      seen,
      refs.map((_, i) => i),
    ),
  ).toEqual([]);
});

test("P5: who is told much at once handles no more in a row than others do", async () => {
  const { system, clock } = createTestSystem();
  const order: string[] = [];
  const [busy, other] = ["busy", "other"].map((name) =>
    system.spawn(name, Player, () => ({ hit: () => void order.push(name) })),
  ) as [RefTo<typeof Player>, RefTo<typeof Player>];
  for (let i = 0; i < 500; i++) busy.tell("hit", i);
  for (let i = 0; i < 5; i++) other.tell("hit", i);
  await clock.settle();
  expect(order).toHaveLength(505);
  expect(order.indexOf("other")).toBeLessThanOrEqual(32);
});

type Parent = Context<SignaturesOf<typeof Player>>;
const childless = () => ({ hit: () => undefined });
const parentOf = (count: number, depth: number) => (ctx: Parent) => {
  for (let i = 0; i < count; i++) ctx.spawn(`c${i}`, Player, depth > 1 ? parentOf(count, depth - 1) : childless);
  return childless();
};

const families = [
  { name: "20,000 children stop with their parent", roots: 1, count: 20_000, depth: 1, end: "stop" },
  { name: "a tree of 22,220 actors stops", roots: 2, count: 10, depth: 4, end: "stop" },
  { name: "20,000 children stop, because their system shuts down", roots: 1, count: 20_000, depth: 1, end: "shutdown" },
  { name: "20,000 actors stop, because their system shuts down", roots: 20_000, count: 0, depth: 1, end: "shutdown" },
];

for (const { name, roots, count, depth, end } of families) {
  test(`P5: the event loop gets its turn while ${name}, and P13: children before their parents`, async () => {
    let now = 0;
    const clock: Clock = {
      ...createManualClock(),
      monotonicTime: () => {
        now += 0.01; // It goes on by each look at it: a turn is over after as many stops on any machine.
        return now;
      },
      macrotask: (callback) => void setImmediate(callback),
    };
    const system = createSystem({ clock });
    const stopped = new Set<string>();
    const early: string[] = [];
    system.events.subscribe((event) => {
      if (event.kind !== "stopped") return;
      stopped.add(event.address);
      const parent = `${event.address.slice(0, event.address.lastIndexOf("/"))})`;
      if (parent !== event.address && stopped.has(parent)) early.push(parent);
    });
    const refs = Array.from({ length: roots }, (_, i) => system.spawn(`r${i}`, Player, parentOf(count, depth)));
    let rounds = 0;
    let isOver = false;
    const look = (): void => {
      if (isOver) return;
      rounds++;
      setImmediate(look);
    };
    setImmediate(look);
    if (end === "shutdown") expect(await system.shutdown()).toEqual({ unfinished: [] });
    else await Promise.all(refs.map((ref) => system.stop(ref)));
    isOver = true;
    expect(rounds).toBeGreaterThan(3);
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve))); // Events have a macrotask of their own.
    const below = depth === 1 ? count : (count ** (depth + 1) - count) / (count - 1);
    expect(stopped.size).toBe(roots * (1 + below));
    expect(early).toEqual([]);
    await system.shutdown();
  });
}
