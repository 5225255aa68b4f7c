import { expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { createSystem, defineProtocol, type RefTo, Type } from "../../src/index";
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
