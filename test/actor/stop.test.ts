import { expect, test } from "bun:test";
import {
  type Address,
  type AskResult,
  address,
  createMessage,
  defineProtocol,
  type RefTo,
  Type,
} from "../../src/index";
import { reasonsOf, testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const Work = defineProtocol("work", { work: { payload: Type.String(), reply: Type.String() }, stop: {} });
type Worker = RefTo<typeof Work>;

/** An actor whose `work("wait")` waits for a gate. */
function spawnWorker({ system }: ReturnType<typeof createTestSystem>, name = "worker") {
  const gate = Promise.withResolvers<void>();
  const seen: string[] = [];
  const ref: Worker = system.spawn(name, Work, (ctx) => ({
    async work(text) {
      seen.push(text);
      if (text === "wait") await gate.promise;
      return `${text} done`;
    },
    stop: () => ctx.stop(),
  }));
  return { ref, gate, seen };
}

const outcomeOf = (answer: AskResult): unknown => (answer.isOk() ? answer.value : answer.error.kind);

test("P13: stop finishes the running message, dead-letters the rest, and gives queued asks `stopped`", async () => {
  const systems = createTestSystem();
  const { ref, gate, seen } = spawnWorker(systems);
  const running = ref.ask("work", "wait");
  const queued = ref.ask("work", "queued");
  ref.tell("work", "told");
  await systems.clock.settle();
  let isStopped = false;
  const stopped = systems.system.stop(ref).then(() => {
    isStopped = true;
  });
  const error = (await queued)._unsafeUnwrapErr();
  expect(error).toMatchObject({ kind: "stopped", retryable: false, address: address("worker"), operation: "work" });
  expect(error.undelivered.payload).toBe("queued");
  await systems.clock.settle();
  expect(isStopped).toBe(false);
  expect(systems.router.has(ref.address)).toBe(true);
  gate.resolve();
  expect(outcomeOf(await running)).toBe("wait done");
  await stopped;
  expect(systems.router.has(ref.address)).toBe(false);
  expect(seen).toEqual(["wait"]);
  expect(systems.deadLetters.map(({ reason, asked, message }) => [reason, asked, message.payload])).toEqual([
    ["stopped", true, "queued"],
    ["stopped", false, "told"],
  ]);
  expect(systems.takeLog()).toHaveLength(1); // Of the one that nobody was told of.
});

test("P13: stop with drain handles first what waits, and takes nothing more", async () => {
  const systems = createTestSystem();
  const { ref, gate, seen } = spawnWorker(systems);
  const asks = ["wait", "b", "c"].map((text) => ref.ask("work", text));
  ref.tell("work", "d");
  await systems.clock.settle();
  const stopped = systems.system.stop(ref, { drain: true });
  const late = ref.ask("work", "late");
  gate.resolve();
  await stopped;
  expect((await Promise.all(asks)).map(outcomeOf)).toEqual(["wait done", "b done", "c done"]);
  expect(outcomeOf(await late)).toBe("stopped");
  expect(seen).toEqual(["wait", "b", "c", "d"]);
  expect(reasonsOf(systems.deadLetters)).toEqual(["stopped"]);
});

test("P13: an actor that was told and then stopped before its turn handles nothing, or all with drain", async () => {
  const systems = createTestSystem();
  const plain = spawnWorker(systems, "plain");
  const drained = spawnWorker(systems, "drained");
  const asks = [plain.ref.ask("work", "a"), drained.ref.ask("work", "a")];
  await Promise.all([systems.system.stop(plain.ref), systems.system.stop(drained.ref, { drain: true })]);
  expect((await Promise.all(asks)).map(outcomeOf)).toEqual(["stopped", "a done"]);
  expect([plain.seen, drained.seen]).toEqual([[], ["a"]]);
});

test("P13: a stop without drain overrides one with, and not the other way round", async () => {
  const systems = createTestSystem();
  const first = spawnWorker(systems, "first");
  const second = spawnWorker(systems, "second");
  const asks = [first, second].map(({ ref }) => [ref.ask("work", "wait"), ref.ask("work", "b")] as const);
  await systems.clock.settle();
  const stops = [
    systems.system.stop(first.ref, { drain: true }),
    systems.system.stop(first.ref),
    systems.system.stop(second.ref),
    systems.system.stop(second.ref, { drain: true }),
  ];
  first.gate.resolve();
  second.gate.resolve();
  await Promise.all(stops);
  expect((await Promise.all(asks.flat())).map(outcomeOf)).toEqual(["wait done", "stopped", "wait done", "stopped"]);
});

test("P13: stopping twice, or what has stopped, resolves once it has", async () => {
  const systems = createTestSystem();
  const { ref, gate } = spawnWorker(systems);
  const order: string[] = [];
  ref.tell("work", "wait");
  await systems.clock.settle();
  const first = systems.system.stop(ref).then(() => order.push("first"));
  const second = systems.system.stop(ref).then(() => order.push("second"));
  await systems.clock.settle();
  expect(order).toEqual([]);
  gate.resolve();
  await Promise.all([first, second]);
  expect(order).toEqual(["first", "second"]);
  await systems.system.stop(ref);
  await systems.system.stop(ref, { drain: true });
  expect(systems.router.audit()).toMatchObject({ accepted: 1, handled: 1 });
});

test("P13: an idle actor stops at once", () => {
  const systems = createTestSystem();
  const { ref } = spawnWorker(systems);
  void systems.system.stop(ref);
  expect(systems.router.has(ref.address)).toBe(false);
});

test("P13: ctx.stop inside a handler lets it finish and reply", async () => {
  const { system, clock, router } = createTestSystem();
  const seen: string[] = [];
  const ref = system.spawn("worker", Work, (ctx) => ({
    async work(text) {
      seen.push(text);
      ctx.stop();
      ctx.stop();
      await undefined;
      return `${text} done`;
    },
    stop: () => ctx.stop(),
  }));
  const asks = [ref.ask("work", "a"), ref.ask("work", "b"), ref.ask("stop")];
  expect((await Promise.all(asks)).map(outcomeOf)).toEqual(["a done", "stopped", "stopped"]);
  expect(seen).toEqual(["a"]);
  await clock.settle();
  expect(router.has(ref.address)).toBe(false);

  const other = spawnWorker({ system, clock, router } as ReturnType<typeof createTestSystem>);
  const synchronous = [other.ref.ask("stop"), other.ref.ask("work", "b")];
  expect((await Promise.all(synchronous)).map(outcomeOf)).toEqual([undefined, "stopped"]);
  expect(router.has(other.ref.address)).toBe(false);
});

test("P13: a handler that stops its actor and throws fails, and the actor stops all the same", async () => {
  const { system, clock, router } = createTestSystem();
  const ref = system.spawn("worker", Work, (ctx) => ({
    async work() {
      ctx.stop();
      throw new Error("and broken");
    },
    stop() {
      ctx.stop();
      throw new Error("and broken");
    },
  }));
  expect(outcomeOf(await ref.ask("work", "a"))).toBe("handler-failed");
  await clock.settle();
  expect(router.has(ref.address)).toBe(false);
});

test("P13: a factory that stops its own actor makes one that has stopped", async () => {
  const { system, router } = createTestSystem();
  const ref = system.spawn("worker", Work, (ctx) => {
    ctx.stop();
    return { work: (text) => text, stop() {} };
  });
  expect(outcomeOf(await ref.ask("work", "a"))).toBe("stopped");
  expect(router.has(ref.address)).toBe(false);
});

// ——— Families

const Parent = defineProtocol("parent", {
  adopt: { payload: Type.String() },
  disown: { payload: Type.String() },
  wait: {},
});

/** A parent of workers; each notes in `events` when it is told to stop, and when it has finished. */
function spawnFamily({ system, router }: ReturnType<typeof createTestSystem>) {
  const events: string[] = [];
  const children = new Map<string, Worker>();
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const gateOf = (name: string): PromiseWithResolvers<void> => {
    const gate = gates.get(name) ?? Promise.withResolvers<void>();
    gates.set(name, gate);
    return gate;
  };
  const parent = system.spawn("parent", Parent, (ctx) => ({
    adopt(name) {
      const child = ctx.spawn(name, Work, (own) => ({
        async work(text) {
          own.signal.addEventListener("abort", () => events.push(`${name} is told`));
          await gateOf(name).promise;
          events.push(`${name} is done`);
          return text;
        },
        stop: () => own.stop(),
      }));
      children.set(name, child);
    },
    disown(name) {
      const child = children.get(name);
      if (child !== undefined) ctx.stop(child);
    },
    async wait() {
      ctx.signal.addEventListener("abort", () => events.push("parent is told"));
      await gateOf("parent").promise;
      events.push("parent is done");
    },
  }));
  const isThere = (at: string): boolean => router.has(address(at));
  return { parent, children, events, gateOf, isThere };
}

test("P13: children stop before their parent, after its running message", async () => {
  const systems = createTestSystem();
  const { system, clock } = systems;
  const { parent, children, events, gateOf, isThere } = spawnFamily(systems);
  await parent.ask("adopt", "a");
  await parent.ask("adopt", "b");
  const asks = [...children.values()].map((child) => child.ask("work", "finished"));
  const waiting = parent.ask("wait");
  await clock.settle();
  const stopped = system.stop(parent).then(() => events.push("parent has stopped"));
  await clock.settle();
  expect(events).toEqual(["parent is told"]);
  gateOf("parent").resolve();
  await waiting;
  await clock.settle();
  expect(events.splice(0)).toEqual(["parent is told", "parent is done", "a is told", "b is told"]);
  gateOf("b").resolve();
  await clock.settle();
  expect([isThere("parent"), isThere("parent/a"), isThere("parent/b")]).toEqual([true, true, false]);
  gateOf("a").resolve();
  await stopped;
  expect(events).toEqual(["b is done", "a is done", "parent has stopped"]);
  expect([isThere("parent"), isThere("parent/a"), isThere("parent/b")]).toEqual([false, false, false]);
  expect((await Promise.all(asks)).map(outcomeOf)).toEqual(["finished", "finished"]);
});

test("P13: drain handles what waits at the parent, then at its children", async () => {
  const systems = createTestSystem();
  const { system, clock, deadLetters } = systems;
  const { parent, children, events, gateOf } = spawnFamily(systems);
  await parent.ask("adopt", "a");
  const child = children.get("a") as Worker;
  const asks = [child.ask("work", "1"), child.ask("work", "2")];
  const waiting = [parent.ask("wait"), parent.ask("wait")];
  await clock.settle();
  const stopped = system.stop(parent, { drain: true });
  gateOf("parent").resolve();
  await Promise.all(waiting);
  gateOf("a").resolve();
  await stopped;
  expect((await Promise.all(asks)).map(outcomeOf)).toEqual(["1", "2"]);
  expect(events.filter((event) => event.endsWith("done"))).toEqual([
    "parent is done",
    "parent is done",
    "a is done",
    "a is done",
  ]);
  expect(deadLetters).toEqual([]);
});

for (const drains of [
  [false, true],
  [true, false],
]) {
  test(`P13: of a stop without drain and one with, no children are drained, in whatever order they come: ${drains}`, async () => {
    const systems = createTestSystem();
    const { system, clock } = systems;
    const { parent, children, gateOf } = spawnFamily(systems);
    await parent.ask("adopt", "a");
    const child = children.get("a") as Worker;
    const asks = [child.ask("work", "running"), child.ask("work", "queued")];
    const waiting = parent.ask("wait");
    await clock.settle();
    const stops = drains.map((drain) => system.stop(parent, { drain }));
    gateOf("parent").resolve();
    await waiting;
    gateOf("a").resolve();
    await Promise.all(stops);
    expect((await Promise.all(asks)).map(outcomeOf)).toEqual(["running", "stopped"]);
  });
}

test("P13: a child that stops while its stopping parent still runs does not end the parent", async () => {
  const systems = createTestSystem();
  const { system, clock } = systems;
  const { parent, children, events, gateOf, isThere } = spawnFamily(systems);
  await parent.ask("adopt", "a");
  const waiting = parent.ask("wait");
  await clock.settle();
  const stopped = system.stop(parent);
  await children.get("a")?.ask("stop");
  expect([isThere("parent"), isThere("parent/a")]).toEqual([true, false]);
  gateOf("parent").resolve();
  expect(outcomeOf(await waiting)).toBeUndefined();
  await stopped;
  expect(events).toEqual(["parent is told", "parent is done"]);
  expect(isThere("parent")).toBe(false);
});

test("P13: a whole tree stops, the deepest first", async () => {
  const { system, router } = createTestSystem();
  const Node = defineProtocol("node", { grow: { payload: Type.Number() } });
  const grow = (parent: { spawn: typeof system.spawn }, depth: number): void => {
    for (const name of ["l", "r"]) {
      parent.spawn(name, Node, (ctx) => {
        if (depth > 1) grow(ctx, depth - 1);
        return { grow() {} };
      });
    }
  };
  const root = system.spawn("root", Node, (ctx) => {
    grow(ctx, 3);
    return { grow() {} };
  });
  expect(router.has(address("root/l/r/l"))).toBe(true);
  await system.stop(root);
  const all: Address[] = ["root", "root/l", "root/r", "root/l/r", "root/l/r/l"].map((id) => address(id));
  expect(all.filter((at) => router.has(at))).toEqual([]);
});

test("P13: a parent stops a child, and the child's name can be used again", async () => {
  const systems = createTestSystem();
  const { parent, children, isThere } = spawnFamily(systems);
  await parent.ask("adopt", "a");
  const first = children.get("a") as Worker;
  expect(first.address).toBe(address("parent/a"));
  expect(outcomeOf(await parent.ask("adopt", "a"))).toBe("handler-failed"); // The name is in use.
  expect(outcomeOf(await parent.ask("disown", "a"))).toBe(undefined);
  await systems.clock.settle();
  expect(isThere("parent/a")).toBe(false);
  expect(outcomeOf(await parent.ask("disown", "a"))).toBe(undefined); // Once more, to no effect.
  expect(outcomeOf(await parent.ask("adopt", "a"))).toBe(undefined);
  expect(outcomeOf(await first.ask("work", "to the old one"))).toBe("stopped");
  await systems.system.stop(parent);
  expect(isThere("parent/a")).toBe(false);
});

test("P13: a child that stops itself leaves its parent, which stops later", async () => {
  const systems = createTestSystem();
  const { parent, children, isThere } = spawnFamily(systems);
  await parent.ask("adopt", "a");
  await parent.ask("adopt", "b");
  await children.get("a")?.ask("stop");
  expect([isThere("parent"), isThere("parent/a"), isThere("parent/b")]).toEqual([true, false, true]);
  await systems.system.stop(parent);
  expect(isThere("parent")).toBe(false);
});

test("P13: an actor stops itself and its children, and nobody else", async () => {
  const systems = createTestSystem();
  const { system } = systems;
  const { ref: stranger } = spawnWorker(systems, "stranger");
  const Killer = defineProtocol("killer", { kill: {}, killNobody: {} });
  const killer = system.spawn("killer", Killer, (ctx) => ({
    kill: () => ctx.stop(stranger),
    killNobody: () => ctx.stop({ address: stranger.address }),
  }));
  expect((await killer.ask("kill"))._unsafeUnwrapErr().message).toContain("@(stranger) is neither");
  expect((await killer.ask("killNobody"))._unsafeUnwrapErr().message).toContain("no reference");
  expect(systems.router.has(stranger.address)).toBe(true);
});

test("P13: a child is stopped by its address too, whether it is there or not, and a stranger is not", async () => {
  const systems = createTestSystem();
  const { system, router } = systems;
  spawnWorker(systems, "stranger");
  const Nurse = defineProtocol("nurse", { stop: { payload: Type.String() } });
  const nurse = system.spawn("nurse", Nurse, (ctx) => {
    ctx.spawn("child", Work, () => ({ work: (text) => text, stop() {} }));
    return { stop: (id) => ctx.stop(system.ref(address(id), Work)) };
  });
  expect((await nurse.ask("stop", "nurse/child")).isOk()).toBe(true);
  expect(router.has(address("nurse/child"))).toBe(false);
  expect((await nurse.ask("stop", "nurse/child")).isOk()).toBe(true);
  expect((await nurse.ask("stop", "stranger"))._unsafeUnwrapErr().message).toContain("@(stranger) is neither");
});

test("P13: an actor that stops cannot spawn", async () => {
  const { system, clock, router } = createTestSystem();
  const gate = Promise.withResolvers<void>();
  const ref = system.spawn("parent", Parent, (ctx) => ({
    async adopt(name) {
      await gate.promise;
      ctx.spawn(name, Work, () => ({ work: (text) => text, stop() {} }));
    },
    disown() {},
    wait() {},
  }));
  const ask = ref.ask("adopt", "late");
  await clock.settle();
  const stopped = system.stop(ref);
  gate.resolve();
  expect((await ask)._unsafeUnwrapErr().message).toContain("is stopping and cannot spawn @(parent/late)");
  await stopped;
  expect(router.has(address("parent/late"))).toBe(false);
});

test("P13: a stopping actor refuses what comes, by ref and by router", async () => {
  const systems = createTestSystem();
  const { ref, gate, seen } = spawnWorker(systems);
  ref.tell("work", "wait");
  await systems.clock.settle();
  const stopped = systems.system.stop(ref);
  expect(outcomeOf(await ref.ask("work", "a"))).toBe("stopped");
  expect(outcomeOf(await systems.router.ask(createMessage(ref.address, "work", "b")))).toBe("stopped");
  expect((await ref.offer("work", "c"))._unsafeUnwrapErr().kind).toBe("stopped");
  gate.resolve();
  await stopped;
  expect(outcomeOf(await ref.ask("work", "d"))).toBe("stopped");
  expect(outcomeOf(await systems.router.ask(createMessage(ref.address, "work", "e")))).toBe("no-recipient");
  expect(seen).toEqual(["wait"]);
});

test("P13: what is no reference cannot be stopped", async () => {
  const { system } = createTestSystem();
  for (const none of [undefined, null, "worker", {}, { address: address("worker") }]) {
    await expect(system.stop(none as unknown as Worker)).rejects.toThrow(/no reference to an actor/);
  }
});
