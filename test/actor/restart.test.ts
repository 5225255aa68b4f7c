import { expect, test } from "bun:test";
import {
  type AskResult,
  address,
  type Backoff,
  type Context,
  createSystem,
  defineProtocol,
  type Ref,
  type SignaturesOf,
  type SystemEvent,
  Type,
} from "../../src/index";
import { createManualClock } from "../../src/testing/index";
import { countCollected } from "./kept";
import { expectBalance, reasonsOf, type TestSystem, testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const Work = defineProtocol("work", {
  work: { payload: Type.String(), reply: Type.String() },
  wait: { payload: Type.String(), reply: Type.String() },
  fail: { payload: Type.String() },
});
type Work = SignaturesOf<typeof Work>;

const outcomeOf = (answer: AskResult): unknown => (answer.isOk() ? answer.value : answer.error.kind);
const outcomesOf = async (asks: readonly Promise<AskResult>[]): Promise<unknown[]> =>
  (await Promise.all(asks)).map(outcomeOf);

/** Handlers that name their instance, and wait for a gate at `wait`. */
function handlers(instance: number, gate: Promise<unknown>, seen: string[] = []) {
  const note = (text: string): string => {
    seen.push(`${instance} ${text}`);
    return `${instance} ${text}`;
  };
  return {
    work: note,
    async wait(text: string) {
      await gate;
      return note(text);
    },
    fail(text: string) {
      throw new Error(text);
    },
  };
}

function spawnWorker(
  { system }: TestSystem,
  {
    gate = Promise.resolve(),
    each = () => ({}),
    ...options
  }: {
    gate?: Promise<unknown>;
    each?: (ctx: Context<Work>, instance: number) => object;
    capacity?: number;
    overflow?: "wait" | "reject" | "drop-oldest";
    concurrency?: number;
  } = {},
) {
  const seen: string[] = [];
  const contexts: Context<Work>[] = [];
  const ref = system.spawn(
    "worker",
    Work,
    (ctx) => {
      contexts.push(ctx);
      return { ...handlers(contexts.length, gate, seen), ...each(ctx, contexts.length) };
    },
    options,
  );
  return { ref, seen, contexts };
}

const BACKOFF: Backoff = { initial: 100, jitter: 0 };

test("P9: what waits in the mailbox survives a restart, in order, and asks are answered by the new instance", async () => {
  const systems = createTestSystem({ supervision: {} });
  const { ref, seen } = spawnWorker(systems);
  const asks = [ref.ask("work", "a"), ref.ask("fail", "x"), ref.ask("work", "b"), ref.ask("work", "c")];
  ref.tell("work", "d");
  expect(await outcomesOf(asks)).toEqual(["1 a", "handler-failed", "2 b", "2 c"]);
  await systems.clock.settle();
  expect(seen).toEqual(["1 a", "2 b", "2 c", "2 d"]);
  expect(systems.router.audit()).toMatchObject({ accepted: 5, handled: 4, failed: 1 });
  systems.takeLog();
});

test("P10: what comes while it waits to restart is kept, in order, and an ask may give up meanwhile", async () => {
  const systems = createTestSystem({ supervision: { backoff: BACKOFF } });
  const { clock } = systems;
  const { ref, seen } = spawnWorker(systems);
  await ref.ask("fail", "x");
  const asks = [ref.ask("work", "a"), ref.ask("work", "b", { timeout: 50 }), ref.ask("work", "c")];
  ref.tell("work", "d");
  expect(systems.system.inspect()).toMatchObject([{ state: "restarting", queued: 4, restarts: 0 }]);
  await clock.advance(99);
  expect(seen).toEqual([]);
  expectBalance(systems.router.audit());
  await clock.advance(1);
  expect(await outcomesOf(asks)).toEqual(["2 a", "timeout", "2 c"]);
  expect(seen).toEqual(["2 a", "2 c", "2 d"]);
  systems.takeLog();
});

test("P11: the mailbox keeps its bound while its actor waits to restart", async () => {
  for (const [overflow, expected] of [
    ["reject", ["2 a", "2 b", "mailbox-full"]],
    ["wait", ["2 a", "2 b", "2 c"]],
    ["drop-oldest", ["mailbox-full", "2 b", "2 c"]],
  ] as const) {
    const systems = createTestSystem({ supervision: { backoff: BACKOFF } });
    const { ref } = spawnWorker(systems, { capacity: 2, overflow });
    await ref.ask("fail", "x");
    const asks = [ref.ask("work", "a"), ref.ask("work", "b"), ref.ask("work", "c")];
    await systems.clock.advance(100);
    expect(await outcomesOf(asks)).toEqual([...expected]);
    systems.takeLog();
  }
});

/** When each instance of an actor began, where it fails as soon as it may. */
async function beginnings(backoff: Backoff, numbers: number[], rests: number[]): Promise<number[]> {
  const systems = createTestSystem({
    supervision: { backoff, limit: Number.POSITIVE_INFINITY },
    random: () => numbers.shift() ?? 0.5,
  });
  const waits: number[] = [];
  const { clock } = systems;
  let begun = 0;
  const { ref } = spawnWorker(systems, {
    each: () => {
      begun = clock.monotonicTime();
      return {};
    },
  });
  for (const rest of rests) {
    await clock.advance(rest);
    const failed = clock.monotonicTime();
    await ref.ask("fail", "x");
    await clock.advance(100_000 - rest); // All waits are over long before.
    waits.push(begun - failed);
    // Time for the next rest is counted from the beginning: go back is impossible, so reset is tested by itself.
  }
  systems.takeLog();
  return waits;
}

test("P10: a backoff grows by its factor up to its max, by default 100 ms, 2 and 10 s", async () => {
  const systems = createTestSystem({
    supervision: { backoff: { jitter: 0 }, limit: Number.POSITIVE_INFINITY },
  });
  const { clock } = systems;
  const begun: number[] = [];
  const { ref } = spawnWorker(systems, { each: () => ({ onStart: () => void begun.push(clock.monotonicTime()) }) });
  await clock.settle();
  const waits: number[] = [];
  for (let i = 0; i < 10; i++) {
    const failed = clock.monotonicTime();
    await ref.ask("fail", "x");
    let wait = 0;
    for (const before = begun.length; begun.length === before; wait += 100) await clock.advance(100);
    waits.push(wait);
    expect(begun.at(-1)).toBe(failed + wait);
  }
  expect(waits).toEqual([100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000]);
  systems.takeLog();
});

test("P10: the jitter of a backoff is ±20 % by default, and comes from the system's random", async () => {
  const numbers = [0, 0.5, 0.999_999_999, 0.25];
  expect(await beginnings({ initial: 1_000, resetAfter: 50_000 }, numbers, [0, 0, 0, 0])).toEqual([
    800, 1_000, 1_200, 900,
  ]);
  expect(await beginnings({ initial: 1_000, jitter: 1, resetAfter: 50_000 }, [0, 0.75], [0, 0])).toEqual([0, 1_500]);
});

test("P10: a backoff begins again once its actor has been well for `resetAfter`", async () => {
  const systems = createTestSystem({
    supervision: {
      backoff: { initial: 100, factor: 3, jitter: 0, resetAfter: 1_000 },
      limit: Number.POSITIVE_INFINITY,
    },
  });
  const { clock } = systems;
  const { ref, contexts } = spawnWorker(systems);
  const failAndCount = async (wait: number): Promise<boolean> => {
    const before = contexts.length;
    await ref.ask("fail", "x");
    await clock.advance(wait - 1);
    const isEarly = contexts.length > before;
    await clock.advance(1);
    return !isEarly && contexts.length === before + 1;
  };
  expect(await failAndCount(100)).toBe(true);
  expect(await failAndCount(300)).toBe(true);
  await clock.advance(999); // From when it began anew.
  expect(await failAndCount(900)).toBe(true);
  await clock.advance(1_000);
  expect(await failAndCount(100)).toBe(true);
  expect(systems.takeLog().map(({ message }) => message.split("; ")[1])).toEqual([
    "it restarts in 100 ms.",
    "it restarts in 300 ms.",
    "it restarts in 900 ms.",
    "it restarts in 100 ms.",
  ]);
});

test("P10: an actor whose factory throws backs off too, and keeps what waits", async () => {
  const systems = createTestSystem({ supervision: { backoff: BACKOFF } });
  const { ref, contexts } = spawnWorker(systems, {
    each: (_, instance) => {
      if (instance === 2 || instance === 3) throw new Error("no factory");
      return {};
    },
  });
  const asks = [ref.ask("fail", "x"), ref.ask("work", "a")];
  await systems.clock.settle();
  for (const [wait, instances] of [
    [100, 2],
    [200, 3],
    [400, 4],
  ] as const) {
    await systems.clock.advance(wait - 1);
    expect(contexts.length).toBe(instances - 1);
    await systems.clock.advance(1);
    expect(contexts.length).toBe(instances);
  }
  expect(await outcomesOf(asks)).toEqual(["handler-failed", "4 a"]);
  expect(systems.system.inspect()).toMatchObject([{ restarts: 1, state: "idle" }]);
  expect(systems.takeLog()).toHaveLength(3);
});

test("P13: a stop, with drain or without, ends the wait to restart; what was kept is dead", async () => {
  for (const drain of [false, true]) {
    const systems = createTestSystem({ supervision: { backoff: BACKOFF } });
    const { ref, contexts } = spawnWorker(systems);
    await ref.ask("fail", "x");
    const asks = [ref.ask("work", "a"), ref.ask("work", "b")];
    await systems.system.stop(ref, { drain });
    expect(await outcomesOf(asks)).toEqual(["stopped", "stopped"]);
    await systems.clock.advance(1_000);
    expect(contexts).toHaveLength(1);
    systems.takeLog();
  }
});

test("P13: a shutdown ends a wait to restart, and nothing is unfinished", async () => {
  const systems = createTestSystem({ supervision: { backoff: BACKOFF } });
  const { ref } = spawnWorker(systems);
  await ref.ask("fail", "x");
  expect(await systems.system.shutdown()).toEqual({ unfinished: [] });
  systems.takeLog();
});

test("P13: a stop while the old instance's onStop runs ends the actor then", async () => {
  const systems = createTestSystem({ supervision: {} });
  const gate = Promise.withResolvers<void>();
  const { ref, contexts } = spawnWorker(systems, { each: () => ({ onStop: () => gate.promise }) });
  await ref.ask("fail", "x");
  const ask = ref.ask("work", "a");
  await systems.clock.settle();
  const stopped = systems.system.stop(ref);
  expect(outcomeOf(await ask)).toBe("stopped");
  expect(systems.router.has(ref.address)).toBe(true);
  gate.resolve();
  await stopped;
  expect(contexts).toHaveLength(1);
  systems.takeLog();
});

test("P10: a factory that stops its own actor on a restart ends it", async () => {
  const systems = createTestSystem({ supervision: {} });
  const { ref, seen } = spawnWorker(systems, {
    each: (ctx, instance) => {
      if (instance === 2) ctx.stop();
      return {
        onStart: () => void seen.push(`${instance} onStart`),
        onStop: () => void seen.push(`${instance} onStop`),
      };
    },
  });
  const asks = [ref.ask("fail", "x"), ref.ask("work", "a")];
  expect(await outcomesOf(asks)).toEqual(["handler-failed", "stopped"]);
  await systems.clock.settle();
  expect(systems.router.has(ref.address)).toBe(false);
  expect(seen).toEqual(["1 onStart", "1 onStop"]);
  systems.takeLog();
});

test("P10: one-for-all waits for a sibling's running handler, whose asker gets its reply", async () => {
  const systems = createTestSystem({ supervision: { strategy: "one-for-all" } });
  const gate = Promise.withResolvers<void>();
  const made: string[] = [];
  const spawn = (name: string): Ref<Work> => {
    let instances = 0;
    return systems.system.spawn(name, Work, () => {
      made.push(`${name} ${++instances}`);
      return handlers(instances, gate.promise);
    });
  };
  const [busy, failing] = [spawn("busy"), spawn("failing")];
  const asks = [busy.ask("wait", "a"), busy.ask("work", "b")];
  await systems.clock.settle();
  await failing.ask("fail", "x");
  expect(outcomeOf(await failing.ask("work", "c"))).toBe("2 c");
  expect(made).toEqual(["busy 1", "failing 1", "failing 2"]);
  expect(systems.system.inspect()).toMatchObject([
    { state: "restarting", queued: 1, current: [{ operation: "wait" }] },
    { state: "idle" },
  ]);
  gate.resolve();
  expect(await outcomesOf(asks)).toEqual(["1 a", "2 b"]);
  expect(made.at(-1)).toBe("busy 2");
  systems.takeLog();
});

test("P10: a sibling that fails as well while it waits to begin anew restarts once", async () => {
  const systems = createTestSystem({ supervision: { strategy: "one-for-all" } });
  const gate = Promise.withResolvers<void>();
  let instances = 0;
  const busy = systems.system.spawn("busy", Work, () => handlers(++instances, gate.promise));
  const failing = systems.system.spawn("failing", Work, () => handlers(1, gate.promise));
  const ask = busy.ask("wait", "a");
  await systems.clock.settle();
  await failing.ask("fail", "x");
  gate.reject(new Error("as well"));
  expect(outcomeOf(await ask)).toBe("handler-failed");
  await systems.clock.settle();
  expect(instances).toBe(2);
  systems.takeLog();
});

test("P10: an actor with several handlers at once restarts when all of them have ended", async () => {
  const systems = createTestSystem({ supervision: {} });
  const gate = Promise.withResolvers<void>();
  const { ref, contexts } = spawnWorker(systems, { gate: gate.promise, concurrency: 3 });
  const asks = [ref.ask("wait", "a"), ref.ask("wait", "b"), ref.ask("fail", "x"), ref.ask("work", "c")];
  await systems.clock.settle();
  expect(contexts).toHaveLength(1);
  expect(systems.router.audit()).toMatchObject({ running: 2, queued: 1, failed: 1 });
  gate.resolve();
  expect(await outcomesOf(asks)).toEqual(["1 a", "1 b", "handler-failed", "2 c"]);
  expect(contexts).toHaveLength(2);
  systems.takeLog();
});

test("P9: an actor with several handlers at once that is stopped for the last of them stops once", async () => {
  const systems = createTestSystem({ supervision: { decide: () => "stop" } });
  const events: SystemEvent[] = [];
  systems.system.events.subscribe((event) => events.push(event));
  const { ref } = spawnWorker(systems, {
    concurrency: 3,
    each: () => ({ fail: () => Promise.reject(new Error("later")) }),
  });
  await ref.ask("fail", "x");
  await systems.clock.settle();
  expect(events.map(({ kind }) => kind)).toEqual(["started", "failed", "stopped"]);
  systems.takeLog();
});

// ——— Children

test("P10: the children stop before their parent's onStop, and their names are free for the next instance", async () => {
  const systems = createTestSystem({ supervision: {} });
  const { ref, seen, contexts } = spawnWorker(systems, {
    each: (ctx, instance) => {
      for (const name of ["a", "b"]) {
        ctx.spawn(name, Work, () => ({
          ...handlers(instance, Promise.resolve()),
          onStart: () => void seen.push(`${instance} ${name} onStart`),
          onStop: () => void seen.push(`${instance} ${name} onStop`),
        }));
      }
      return { onStop: () => void seen.push(`${instance} onStop`) };
    },
  });
  await systems.clock.settle();
  await ref.ask("fail", "x");
  await ref.ask("work", "");
  await systems.clock.settle();
  expect(seen.filter((line) => line !== "2 ")).toEqual([
    "1 a onStart",
    "1 b onStart",
    "1 a onStop",
    "1 b onStop",
    "1 onStop",
    "2 a onStart",
    "2 b onStart",
  ]);
  expect(contexts).toHaveLength(2);
  expect(systems.system.inspect()[0]?.children.map((child) => child.address)).toEqual([
    address("worker/a"),
    address("worker/b"),
  ]);
  systems.takeLog();
});

function spawnParentOfStuck(systems: TestSystem) {
  let child: Ref<Work> | undefined;
  const gate = Promise.withResolvers<void>();
  const { ref, contexts, seen } = spawnWorker(systems, {
    each: (ctx) => {
      child = ctx.spawn("child", Work, () => handlers(1, gate.promise));
      return {};
    },
  });
  const ask = (child as Ref<Work>).ask("wait", "a", { timeout: 100_000 });
  return { ref, contexts, gate, ask, seen };
}

test("P10: a child that does not stop is abandoned after hookTimeout and named, and the parent restarts", async () => {
  const systems = createTestSystem({ supervision: {}, hookTimeout: 200 });
  const { ref, contexts, gate, ask } = spawnParentOfStuck(systems);
  await ref.ask("fail", "x");
  await systems.clock.advance(199);
  expect(contexts).toHaveLength(1);
  systems.takeLog();
  await systems.clock.advance(1);
  expect(contexts).toHaveLength(2);
  expect(outcomeOf(await ask)).toBe("stopped");
  const [entry, ...more] = systems.takeLog();
  expect(more).toEqual([]);
  expect(entry).toMatchObject({ level: "warn", details: { unfinished: [address("worker/child")] } });
  expect(entry?.message).toContain("@(worker) restarts without waiting longer for @(worker/child)");
  const before = systems.router.audit();
  gate.resolve();
  await systems.clock.settle();
  expect(systems.router.audit()).toEqual(before);
});

test("P10: a child that stops in time is waited for", async () => {
  const systems = createTestSystem({ supervision: {}, hookTimeout: 200 });
  const { ref, contexts, gate, ask } = spawnParentOfStuck(systems);
  await ref.ask("fail", "x");
  await systems.clock.advance(199);
  gate.resolve();
  expect(outcomeOf(await ask)).toBe("1 a");
  await systems.clock.settle();
  expect(contexts).toHaveLength(2);
  expect(systems.takeLog()).toHaveLength(1);
});

test("P13: a stop of a parent that waits for its children to restart waits for them, without a limit", async () => {
  const systems = createTestSystem({ supervision: {}, hookTimeout: 200 });
  const { ref, contexts, gate, ask } = spawnParentOfStuck(systems);
  await ref.ask("fail", "x");
  await systems.clock.settle();
  systems.takeLog();
  const stopped = systems.system.stop(ref);
  await systems.clock.advance(10_000);
  expect(systems.router.has(address("worker/child"))).toBe(true);
  gate.resolve();
  await stopped;
  expect(outcomeOf(await ask)).toBe("1 a");
  expect(contexts).toHaveLength(1);
});

test("P13: a stop that follows a drain ends the drain, the children's too", async () => {
  const systems = createTestSystem();
  const gate = Promise.withResolvers<void>();
  let child: Ref<Work> | undefined;
  const { ref } = spawnWorker(systems, {
    gate: gate.promise,
    each: (ctx) => {
      child = ctx.spawn("child", Work, () => handlers(1, gate.promise));
      return {};
    },
  });
  const asks = [ref, child as Ref<Work>].flatMap((each) => [each.ask("wait", "a"), each.ask("work", "b")]);
  await systems.clock.settle();
  void systems.system.stop(ref, { drain: true });
  const stopped = systems.system.stop(ref);
  gate.resolve();
  await stopped;
  expect((await outcomesOf(asks)).slice(0, 2)).toEqual(["1 a", "stopped"]);
});

test("P13: an actor that only has an onStop runs it whoever stops it", async () => {
  const systems = createTestSystem({ supervision: {} });
  const seen: string[] = [];
  const { ref, contexts } = spawnWorker(systems);
  const [ctx] = contexts;
  const spawn = (name: string): Ref<Work> =>
    (ctx as Context<Work>).spawn(name, Work, () => ({
      ...handlers(1, Promise.resolve()),
      onStop: () => void seen.push(name),
    }));
  ctx?.stop(spawn("stopped-by-its-parent"));
  spawn("stopped-with-its-parent");
  await systems.system.stop(ref);
  expect(seen.toSorted()).toEqual(["stopped-by-its-parent", "stopped-with-its-parent"]);
});

// ——— What a restart ends

test("P10: a restart leaves no timer, no watch and no listener of the old instance, and aborts its signal", async () => {
  const systems = createTestSystem({ supervision: {} });
  const other = systems.system.spawn("other", Work, () => handlers(1, Promise.resolve()));
  const called: string[] = [];
  const signals: AbortSignal[] = [];
  const { ref } = spawnWorker(systems, {
    each: (ctx, instance) => {
      if (instance > 1) return {};
      ctx.timers.once("once", 5, () => called.push("once"));
      ctx.timers.fixedDelay("delay", 5, () => called.push("delay"));
      ctx.timers.fixedRate("rate", 5, () => called.push("rate"));
      ctx.timers.receiveTimeout(5, () => called.push("receive"));
      ctx.watch(other, () => called.push("terminated"));
      signals.push(ctx.signal);
      return {
        onStop() {
          for (const begin of [
            () => ctx.timers.once("late", 5, () => called.push("late")),
            () => ctx.watch(other, () => called.push("late")),
          ]) {
            expect(begin).toThrow(/^This instance of @\(worker\) has ended/);
          }
        },
      };
    },
  });
  await systems.clock.settle();
  expect(systems.clock.timers).toBe(1); // One for all, of the wheel.
  await ref.ask("fail", "x");
  await systems.clock.settle();
  expect(signals[0]?.aborted).toBe(true);
  expect(systems.clock.timers).toBe(0);
  await systems.system.stop(other);
  await systems.clock.advance(100);
  expect(called).toEqual([]);
  expect(systems.takeLog()).toHaveLength(1);
});

test("P10: signals that waited in the mailbox at a restart are not told to the next instance", async () => {
  const systems = createTestSystem({ supervision: {} });
  const other = systems.system.spawn("other", Work, () => handlers(1, Promise.resolve()));
  const gate = Promise.withResolvers<void>();
  const called: string[] = [];
  const { ref, seen } = spawnWorker(systems, {
    gate: gate.promise,
    each: (ctx, instance) => {
      if (instance > 1) return {};
      ctx.timers.once("once", 5, () => called.push("once"));
      ctx.timers.fixedRate("rate", 5, () => called.push("rate"));
      ctx.watch(other, () => called.push("terminated"));
      return {
        async wait() {
          await gate.promise;
          throw new Error("broken");
        },
      };
    },
  });
  ref.tell("wait", "x");
  await systems.clock.advance(20);
  await systems.system.stop(other);
  ref.tell("work", "after");
  gate.resolve();
  await systems.clock.settle();
  expect(called).toEqual([]);
  expect(seen).toEqual(["2 after"]);
  systems.takeLog();
});

test("P10: the context of a replaced instance changes nothing of the next, and says why", async () => {
  const systems = createTestSystem({ supervision: {} });
  const { ref, contexts } = spawnWorker(systems, { each: (ctx) => ({ work: () => String(ctx.message.payload) }) });
  const other = systems.system.spawn("other", Work, () => handlers(1, Promise.resolve()));
  const [old] = contexts as [Context<Work>];
  const { timers } = old;
  await ref.ask("fail", "x");
  await systems.clock.settle();
  const replaced = /^This context of @\(worker\) is that of an instance which a restart has replaced/;
  for (const use of [
    () => old.spawn("child", Work, () => handlers(1, Promise.resolve())),
    () => old.watch(other, () => {}),
    () => old.become(handlers(1, Promise.resolve())),
    () => old.unbecome(),
    () => old.timers,
    () => old.stash(),
    () => old.unstash(),
    () => old.stop(),
    () => old.forward(other),
    () => old.message,
    () => old.sender,
  ]) {
    expect(use).toThrow(replaced);
  }
  expect(() => timers.once("kept", 5, () => {})).toThrow(/^This instance of @\(worker\) has ended/);
  expect(() => timers.receiveTimeout(5, () => {})).toThrow(/^This instance of @\(worker\) has ended/);
  expect(timers.has("kept")).toBe(false);
  timers.cancel("kept");
  expect(old.signal.aborted).toBe(true);
  expect(old.self).toBe(ref);
  old.tell(other, "work", "a"); // Telling is free, and an ask would outlive the instance (P7).
  expect(outcomeOf(await old.ask(other, "work", "a"))).toBe("cancelled");
  systems.takeLog();
});

test("P7: what a replaced instance asks is cancelled at once, whatever the next one handles", async () => {
  const systems = createTestSystem({ supervision: {} });
  const gate = Promise.withResolvers<void>();
  const { ref, contexts } = spawnWorker(systems, { gate: gate.promise });
  const other = systems.system.spawn("other", Work, () => handlers(1, Promise.resolve()));
  await ref.ask("fail", "x");
  const handled = ref.ask("wait", "a");
  await systems.clock.settle();
  const asked = (contexts[0] as Context<Work>).ask(other, "wait", "b");
  expect(outcomeOf(await asked)).toBe("cancelled");
  gate.resolve();
  expect(outcomeOf(await handled)).toBe("2 a");
  expect(reasonsOf(systems.deadLetters)).toEqual(["cancelled"]);
  systems.takeLog();
});

test("P10: a stray piece of an old instance cannot begin anything while its actor waits to restart, nor once it has stopped", async () => {
  const systems = createTestSystem({ supervision: { backoff: BACKOFF } });
  const { ref, contexts } = spawnWorker(systems);
  const other = systems.system.spawn("other", Work, () => handlers(1, Promise.resolve()));
  await ref.ask("fail", "x");
  const refuse = (at: string): void => {
    for (const ctx of contexts) {
      for (const begin of [() => ctx.timers.once("t", 5, () => {}), () => ctx.watch(other, () => {})]) {
        expect({ at, begin }).toEqual({ at, begin });
        expect(begin).toThrow(/(has ended|has replaced)/);
      }
      expect(() => ctx.spawn("child", Work, () => handlers(1, Promise.resolve()))).toThrow(/(is stopping|replaced)/);
    }
  };
  refuse("backoff");
  await systems.clock.advance(100);
  await systems.system.stop(ref);
  refuse("stopped");
  expect(() => contexts.at(-1)?.become(handlers(1, Promise.resolve()))).toThrow(/no handlers that it could change/);
  expect(systems.clock.timers).toBe(0);
  systems.takeLog();
});

test("P14: an instance that was replaced is not kept alive by its actor, nor the last one by a reference once it stopped", async () => {
  const systems = createTestSystem({ supervision: {} });
  const states: WeakRef<object>[][] = [[], [], []];
  const spawnKeeping = (name: string): Ref<Work> => {
    let instances = 0;
    return systems.system.spawn(name, Work, (ctx) => {
      const state = { bytes: new Array(100).fill(0) };
      states[instances++]?.push(new WeakRef(state));
      const use = (): number => state.bytes.length;
      ctx.timers.fixedRate("t", 10, use);
      ctx.timers.receiveTimeout(10, use);
      ctx.signal.addEventListener("abort", use);
      ctx.spawn("child", Work, () => ({ ...handlers(1, Promise.resolve()), onStop: () => void use() }));
      return {
        ...handlers(use(), Promise.resolve()),
        wait() {
          ctx.become({ ...handlers(use(), Promise.resolve()) });
          return String(use());
        },
        onStart: () => void use(),
        onRestart: () => void use(),
        onStop: () => void use(),
      };
    });
  };
  const many = 100;
  const most = many * 0.75;
  const refs: Ref<Work>[] = [];
  for (let i = 0; i < many; i++) {
    const ref = spawnKeeping(`worker-${i}`);
    refs.push(ref);
    for (const operation of ["fail", "wait", "fail", "work"] as const) await ref.ask(operation, "x");
  }
  systems.takeLog();
  const [first = [], second = [], last = []] = states;
  expect(await countCollected(last)).toBe(0); // While it lives, its state does: so the count can tell.
  expect(await countCollected(first)).toBeGreaterThan(most);
  expect(await countCollected(second)).toBeGreaterThan(most);
  for (const ref of refs) await systems.system.stop(ref);
  await systems.clock.settle();
  expect(await countCollected(last)).toBeGreaterThan(most);
  expect(refs).toHaveLength(many); // They are held until here.
});

const Room = defineProtocol("room", {
  hang: { reply: Type.Boolean() },
  feed: { stream: Type.Number() },
  fail: {},
  ping: { reply: Type.Number() },
});

test("P10: a restart tells the handlers that still run, and waits for them no longer than for a hook", async () => {
  const { system, clock, takeLog } = createTestSystem({ supervision: {}, hookTimeout: 100 });
  let made = 0;
  const aborted: unknown[] = [];
  const late = Promise.withResolvers<boolean>();
  const room = system.spawn(
    "room",
    Room,
    (ctx) => {
      made++;
      return {
        hang() {
          ctx.signal.addEventListener("abort", () => aborted.push(String(ctx.signal.reason)));
          return late.promise;
        },
        async *feed() {
          for (let i = 0; ; i++) yield i;
        },
        fail() {
          throw new Error("broken");
        },
        ping: () => made,
      };
    },
    { concurrency: 5 },
  );
  const hanging = room.ask("hang", { timeout: 1_000 });
  const feed = room.stream("feed");
  expect((await feed.next()).value).toBe(0);
  room.tell("fail");
  const ping = room.ask("ping");
  await clock.advance(99);
  expect(aborted).toHaveLength(1);
  expect(made).toBe(1);
  await clock.advance(1);
  expect((await ping)._unsafeUnwrap()).toBe(2);
  const lost = (await hanging)._unsafeUnwrapErr();
  expect([lost.kind, lost.message.includes("abandoned")]).toEqual(["stopped", true]);
  const read = async (): Promise<void> => {
    for await (const _ of feed);
  };
  expect(await read().catch(({ kind, message }) => [kind, message])).toEqual([
    "stopped",
    '"feed" to @(room) was cut off: its actor stopped, or restarts, while it streamed.',
  ]);
  late.resolve(true);
  await clock.settle();
  expect((await room.ask("ping"))._unsafeUnwrap()).toBe(2); // What came late ended nothing.
  expect(takeLog().map(({ message }) => message)).toEqual([
    'envoi: "fail" to @(room) failed in its handler: Error: broken; it restarts.',
    'envoi: @(room) restarts without waiting longer for "hang", which did not end within 100 ms: abandoned.',
  ]);
});

test("P10: one-for-all does not wait for a sibling that never ends; what that says later ends nothing", async () => {
  const { system, clock, takeLog } = createTestSystem({ supervision: { strategy: "one-for-all" }, hookTimeout: 100 });
  const made = { a: 0, b: 0 };
  const gates: PromiseWithResolvers<boolean>[] = [];
  const spawn = (name: "a" | "b") =>
    system.spawn(name, Room, () => {
      made[name]++;
      return {
        hang() {
          const gate = Promise.withResolvers<boolean>();
          gates.push(gate);
          return gate.promise;
        },
        *feed() {},
        fail() {
          throw new Error("broken");
        },
        ping: () => made[name],
      };
    });
  const [a, b] = [spawn("a"), spawn("b")];
  const first = b.ask("hang");
  await clock.settle();
  a.tell("fail");
  await clock.advance(100);
  expect((await first)._unsafeUnwrapErr().kind).toBe("stopped");
  expect(made).toEqual({ a: 2, b: 2 });
  const second = b.ask("hang");
  await clock.settle();
  gates[0]?.resolve(false); // Of the instance before.
  await clock.settle();
  gates[1]?.resolve(true);
  expect((await second)._unsafeUnwrap()).toBe(true);
  expect(takeLog()).toHaveLength(2);
});

test("P7: a signal that is first read while a restart waits for its handler is aborted already", async () => {
  const { system, clock, takeLog } = createTestSystem({ supervision: { strategy: "one-for-all" } });
  const gate = Promise.withResolvers<void>();
  const seen: boolean[] = [];
  const spawn = (name: string) =>
    system.spawn(name, Room, (ctx) => ({
      async hang() {
        await gate.promise;
        seen.push(ctx.signal.aborted);
        return true;
      },
      *feed() {},
      fail() {
        throw new Error("broken");
      },
      ping: () => 1,
    }));
  const [a, b] = [spawn("a"), spawn("b")];
  const reply = b.ask("hang");
  await clock.settle();
  a.tell("fail");
  await clock.settle();
  gate.resolve();
  expect((await reply)._unsafeUnwrap()).toBe(true);
  expect(seen).toEqual([true]);
  expect(takeLog()).toHaveLength(1);
});

test("P14: what an actor failed with is kept by nobody once its next instance has begun", async () => {
  const clock = createManualClock();
  await using system = createSystem({ clock, logger: { warn() {}, error() {} } }); // A log would keep it.
  const thrown: WeakRef<Error>[] = [];
  const refs = Array.from({ length: 50 }, (_, i) =>
    system.spawn(`worker-${i}`, Work, () => ({
      ...handlers(1, Promise.resolve()),
      fail(text) {
        const error = new Error(text);
        thrown.push(new WeakRef(error));
        throw error;
      },
    })),
  );
  for (const ref of refs) ref.tell("fail", "broken");
  await clock.settle();
  await new Promise(setImmediate); // Until then, the language keeps alive what was made a WeakRef of.
  Bun.gc(true);
  expect(thrown).toHaveLength(50);
  expect(thrown.filter((error) => error.deref() !== undefined).length).toBeLessThan(10);
  expect(system.inspect().map(({ restarts }) => restarts)).toEqual(Array(50).fill(1));
});
