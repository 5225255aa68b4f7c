import { expect, test } from "bun:test";
import { address, createMessage, defineProtocol, type SystemEvent, Type } from "../../src/index";
import { expectBalance, type TestOptions, testSystems } from "../actor/test-system";

const { createTestSystem } = testSystems();

const Work = defineProtocol("work", {
  work: { payload: Type.String(), reply: Type.String() },
  wait: { payload: Type.Number() },
  fail: { payload: Type.Unknown() },
});

function spawnObserved(options: TestOptions = {}, more: object = {}) {
  const systems = createTestSystem({ supervision: {}, ...options });
  const events: SystemEvent[] = [];
  systems.system.events.subscribe((event) => {
    expectBalance(systems.router.audit());
    events.push(event);
  });
  const spawn = (name: string) =>
    systems.system.spawn(
      name,
      Work,
      () => ({
        work: (text) => text,
        wait: (ms) => new Promise<void>((resolve) => systems.clock.setTimer(resolve, ms)),
        fail(error) {
          throw error;
        },
      }),
      more,
    );
  return { ...systems, events, spawn };
}

test("events tell of each kind, in order", async () => {
  const test = spawnObserved({ slowHandler: 50 }, { capacity: 1 });
  const { clock, events, system, spawn, router } = test;
  const ref = spawn("worker");
  await ref.ask("work", "x");
  const broken = new Error("broken");
  await ref.ask("fail", broken);
  ref.tell("wait", 60);
  await clock.settle();
  ref.tell("work", "fits");
  ref.tell("work", "does not");
  ref.tell("work", "nor does this");
  await clock.advance(60);
  await system.stop(ref);
  router.tell(createMessage(address("nobody"), "say", 1));
  await clock.settle();
  const at = address("worker");
  const full = { kind: "dead-letter", address: at, letter: expect.objectContaining({ reason: "mailbox-full" }) };
  expect(events).toEqual([
    { kind: "started", address: at },
    { kind: "failed", address: at, operation: "fail", error: broken, directive: "restart", isUnhandled: false },
    { kind: "restarted", address: at, error: broken, restarts: 1 },
    { kind: "overflow", address: at, operation: "work", capacity: 1, overflow: "reject" },
    full,
    full,
    { kind: "slow-handler", address: at, operation: "wait", elapsed: 50 },
    { kind: "stopped", address: at },
    {
      kind: "dead-letter",
      address: address("nobody"),
      letter: expect.objectContaining({ reason: "no-recipient" }),
    },
  ] as SystemEvent[]);
  test.takeLog();
});

test("`stopped` has the error where the supervisor stopped the actor for it", async () => {
  const test = spawnObserved({ supervision: { decide: () => "stop" } });
  const broken = undefined; // Whatever was thrown: that it is there tells.
  await test.spawn("worker").ask("fail", broken);
  await test.system.stop(test.spawn("other"));
  await test.clock.settle();
  const stopped = test.events.filter(({ kind }) => kind === "stopped");
  expect(stopped.map((event) => [event.address, "error" in event])).toEqual([
    [address("worker"), true],
    [address("other"), false],
  ]);
  test.takeLog();
});

test("what no supervisor handles is an event that says so", async () => {
  const test = spawnObserved({ supervision: { limit: 0, beyondLimit: "escalate" } });
  await test.spawn("worker").ask("fail", new Error("broken"));
  await test.clock.settle();
  expect(test.events.filter(({ kind }) => kind === "failed")).toMatchObject([
    { address: "@(worker)", directive: "escalate", isUnhandled: true },
  ]);
  expect(test.takeLog()[0]?.message).toEndWith(
    "; it has been restarted 0 times within 10000 ms, so it is stopped: no supervisor is left to decide.",
  );
});

test("a handler that blocks is told as slow once it has ended; a fast one, and one that ended in time, are not", async () => {
  const test = spawnObserved({ slowHandler: 50 });
  const { clock } = test;
  let blocked = 0;
  const real = clock.monotonicTime.bind(clock);
  Object.assign(clock, { monotonicTime: () => real() + blocked });
  const blocking = test.system.spawn("blocking", Work, () => ({
    work(text) {
      blocked += text === "slow" ? 70 : 49;
      return text;
    },
    wait: (ms) => new Promise<void>((resolve) => clock.setTimer(resolve, ms)),
    fail() {},
  }));
  for (const text of ["fast", "slow"]) blocking.tell("work", text);
  await clock.settle();
  const waiting = blocking.ask("wait", 49);
  await clock.advance(49);
  await waiting;
  await clock.advance(50);
  expect(test.events.filter(({ kind }) => kind === "slow-handler")).toEqual([
    { kind: "slow-handler", address: address("blocking"), operation: "work", elapsed: 70 },
  ]);
});

test("a subscriber that throws is logged, stays, and keeps nothing from the others", async () => {
  const test = spawnObserved();
  const broken = new Error("subscriber");
  let calls = 0;
  test.system.events.subscribe(() => {
    calls++;
    throw broken;
  });
  const seen: string[] = [];
  test.system.events.subscribe(({ kind }) => seen.push(kind));
  await test.system.stop(test.spawn("worker"));
  await test.clock.settle();
  expect(seen).toEqual(["started", "stopped"]);
  expect(calls).toBe(2);
  expect(test.takeLog()).toMatchObject([
    { level: "error", message: "envoi: a subscriber to events threw", details: { cause: broken } },
    { level: "error", message: "envoi: a subscriber to events threw" },
  ]);
});

test("P9: a subscriber whose promise rejects is logged, and the process goes on", async () => {
  const test = spawnObserved();
  const cause = new Error("subscriber");
  const end = test.system.events.subscribe(async () => {
    throw cause;
  });
  test.spawn("worker");
  await test.clock.settle();
  end();
  expect(test.takeLog()).toEqual([
    { level: "error", message: "envoi: a subscriber to events threw", details: { cause } },
  ]);
});

test("a subscriber may send, spawn and stop; it runs in no actor's turn", async () => {
  const test = spawnObserved();
  const { system, clock } = test;
  let isInTurn = false;
  const seen: string[] = [];
  system.events.subscribe((event) => {
    seen.push(`${event.kind} ${event.address} ${isInTurn}`);
    if (event.kind !== "started" || event.address !== "@(worker)") return;
    const other = test.spawn("other");
    other.tell("work", "x");
    void system.stop(other);
  });
  const ref = system.spawn("worker", Work, () => ({
    work(text) {
      isInTurn = true;
      system.spawn("made", Work, () => ({ work: (it) => it, wait() {}, fail() {} }));
      isInTurn = false;
      return text;
    },
    wait() {},
    fail() {},
  }));
  await ref.ask("work", "x");
  await clock.settle();
  expect(seen).toEqual([
    "started @(worker) false",
    "started @(made) false",
    "started @(other) false",
    "dead-letter @(other) false",
    "stopped @(other) false",
  ]);
  expect(test.takeLog()).toHaveLength(1);
});

test("P4: a subscriber that answers each event by another does not starve the rest", async () => {
  const test = spawnObserved();
  let count = 0;
  test.system.events.subscribe(({ kind }) => {
    if (kind === "stopped" && ++count < 100) void test.system.stop(test.spawn(`worker-${count}`));
  });
  await test.system.stop(test.spawn("worker"));
  await test.clock.settle();
  expect(count).toBe(100);
});

test("a subscription ends, and without one nothing is kept", async () => {
  const { system, clock } = createTestSystem({ supervision: {} });
  const spawn = (name: string) => system.spawn(name, Work, () => ({ work: (text) => text, wait() {}, fail() {} }));
  await system.stop(spawn("before"));
  const seen: string[] = [];
  const end = system.events.subscribe(({ address }) => seen.push(address));
  await clock.settle();
  spawn("during");
  await clock.settle();
  end();
  spawn("after");
  await clock.settle();
  expect(seen).toEqual([address("during")]);
});

test("events can be iterated over, up to the last one of a shutdown", async () => {
  const { system, clock } = createTestSystem({ supervision: {} });
  const seen: string[] = [];
  const loop = (async () => {
    for await (const event of system.events) {
      seen.push(`${event.kind} ${event.address}`);
      if (event.kind === "stopped") break;
    }
  })();
  system.spawn("worker", Work, () => ({ work: (text) => text, wait() {}, fail() {} }));
  await clock.settle();
  await system.shutdown();
  await loop;
  expect(seen).toEqual(["started @(worker)", "stopped @(worker)"]);
});

test("P13: a shutdown has told all events when it resolves", async () => {
  const test = spawnObserved();
  test.spawn("a");
  test.spawn("b");
  await test.system.shutdown();
  expect(test.events.map(({ kind, address }) => `${kind} ${address}`)).toEqual([
    "started @(a)",
    "started @(b)",
    "stopped @(a)",
    "stopped @(b)",
  ]);
});
