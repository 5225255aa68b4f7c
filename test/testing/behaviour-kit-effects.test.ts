import { describe, expect, test } from "bun:test";
import { address, type Factory, type SignaturesOf } from "../../src/index";
import { createBehaviourKit, createTestSystem } from "../../src/testing/index";
import { Counter, counting, Log } from "./counter";

describe("the effects", () => {
  test("of the factory come first, those of a run are its own, all of them in order", () => {
    const kit = createBehaviourKit(
      Counter,
      counting((ctx) => {
        const log = ctx.spawn("log", Log, () => ({ write() {}, lines: () => 0, tail: () => [] }), { capacity: 9 });
        ctx.watch(log, () => {});
        return {
          add(n) {
            ctx.tell(log, "write", `added ${n}`);
            log.tell("write", "by the reference");
            ctx.timers.once("flush", 50, () => {});
          },
        };
      }),
    );
    const spawned = [
      { kind: "spawned", address: "@(counter/log)", protocol: "log", options: { capacity: 9 } },
      { kind: "watched", address: "@(counter/log)" },
    ];
    expect<readonly object[]>(kit.effects).toEqual(spawned);
    const { effects } = kit.run("add", 2);
    expect<readonly object[]>(effects).toEqual([
      { kind: "told", to: "@(counter/log)", operation: "write", payload: "added 2" },
      { kind: "told", to: "@(counter/log)", operation: "write", payload: "by the reference" },
      { kind: "timer-set", timer: "once", key: "flush", delay: 50 },
    ]);
    expect(kit.effects).toHaveLength(5);
    expect(kit.run("total").effects).toEqual([]);
  });

  test("of what a handler left running are the kit's, not those of its run", async () => {
    const kit = createBehaviourKit(
      Counter,
      counting((ctx) => ({ add: (n) => void Promise.resolve().then(() => ctx.self.tell("add", n)) })),
    );
    const { effects } = kit.run("add", 1);
    await null;
    expect([effects.length, kit.effects.length]).toEqual([0, 1]);
  });

  test("are plain data that can be sent, stored and compared", () => {
    const kit = createBehaviourKit(
      Counter,
      counting((ctx) => ({ add: (n) => ctx.self.tell("add", n + 1) })),
    );
    const { effects } = kit.run("add", 1);
    expect(JSON.parse(JSON.stringify(effects))).toEqual([
      { kind: "told", to: "@(counter)", operation: "add", payload: 2 },
    ]);
  });

  test("what is told to a real reference is noted by ctx.tell, and not sent", async () => {
    await using real = createTestSystem();
    const probe = real.createProbe(Log);
    const kit = createBehaviourKit(
      Counter,
      counting((ctx) => ({ add: () => ctx.tell(probe.ref, "write", "x") })),
    );
    expect(kit.run("add", 1).effects).toHaveLength(1);
    await probe.expectNoMessage();
  });

  test("stash, unstash, forward: the message goes one way, and there is no reply", async () => {
    const kit = createBehaviourKit(
      Counter,
      counting((ctx) => ({
        add(n) {
          if (n === 0) ctx.unstash();
          else ctx.stash();
        },
        total: () => ctx.forward(ctx.self),
        async later() {
          await null;
          ctx.stash();
          return ctx.forward(ctx.self);
        },
      })),
    );
    expect(kit.run("add", 1).effects).toEqual([{ kind: "stashed", operation: "add", payload: 1 }]);
    kit.run("add", 2);
    expect(kit.run("add", 0).effects).toEqual([
      {
        kind: "unstashed",
        messages: [
          { operation: "add", payload: 1 },
          { operation: "add", payload: 2 },
        ],
      },
    ]);
    expect(kit.run("add", 0).effects).toEqual([{ kind: "unstashed", messages: [] }]);
    expect(kit.run("total")).toEqual({
      reply: undefined as never,
      effects: [{ kind: "forwarded", to: address("counter"), operation: "total", payload: undefined }],
    });
    await expect(kit.run("later", 1).reply).rejects.toThrow("can go one way only");
  });

  test("become refuses a hook, as it does in an actor", () => {
    const kit = createBehaviourKit(
      Counter,
      counting((ctx) => ({
        add() {
          ctx.become({ ...counting()(ctx), ...{ onStop() {} } });
        },
      })),
    );
    expect(() => kit.run("add", 1).reply).toThrow(/takes no onStop, which would never be called/);
    expect(kit.run("total").reply).toBe(0);
  });

  test("become and unbecome change who handles the next message", () => {
    const kit = createBehaviourKit(
      Counter,
      counting((ctx) => ({
        add() {
          ctx.become({ ...counting()(ctx), total: () => 99, add: () => ctx.unbecome() });
        },
      })),
    );
    expect(kit.run("add", 1).effects).toEqual([{ kind: "became" }]);
    expect(kit.run("total").reply).toBe(99);
    expect(kit.run("add", 1).effects).toEqual([{ kind: "unbecame" }]);
    expect(kit.run("total").reply).toBe(0);
    const never = createBehaviourKit(
      Counter,
      counting((ctx) => ({ add: () => ctx.unbecome() })),
    );
    expect(() => never.run("add", 1)).toThrow("it has become nothing");
    const lacking = createBehaviourKit(
      Counter,
      counting((ctx) => ({ add: () => ctx.become({} as never) })),
    );
    expect(() => lacking.run("add", 1)).toThrow(`ctx.become() of @(counter) has no handler for "add"`);
  });

  test("stopping a child, and itself, which handles nothing any more", () => {
    let lifetime = AbortSignal.abort();
    const kit = createBehaviourKit(
      Counter,
      counting((ctx) => {
        const log = ctx.spawn("log", Log, () => ({ write() {}, lines: () => 0, tail: () => [] }));
        lifetime = ctx.signal;
        return {
          add: () => void ctx.stop(log),
          total() {
            ctx.stop();
            expect(ctx.signal.aborted).toBe(true);
            return 1;
          },
        };
      }),
    );
    expect(kit.run("add", 1).effects).toEqual([{ kind: "stopped", address: address("counter/log") }]);
    expect(() => kit.run("add", 1)).toThrow(
      "@(counter) can stop itself and its children, and @(counter/log) is neither",
    );
    expect([kit.isStopped, lifetime.aborted]).toEqual([false, false]);
    expect(kit.run("total").effects).toEqual([{ kind: "stopped", address: address("counter") }]);
    expect([kit.isStopped, lifetime.aborted]).toEqual([true, true]);
    expect(() => kit.run("total")).toThrow("@(counter) has stopped itself");
  });

  test("spawning refuses what a system refuses", () => {
    const spawn = (name: string, factory: unknown) =>
      counting((ctx) => ({
        add() {
          ctx.spawn(name, Log, factory as Factory<SignaturesOf<typeof Log>>);
        },
      }));
    const kit = createBehaviourKit(
      Counter,
      spawn("log", () => ({})),
    );
    kit.run("add", 1);
    expect(() => kit.run("add", 1)).toThrow("@(counter/log) is in use");
    expect(() =>
      createBehaviourKit(
        Counter,
        spawn("no name", () => ({})),
      ).run("add", 1),
    ).toThrow("is not an actor id");
    expect(() => createBehaviourKit(Counter, spawn("log", {})).run("add", 1)).toThrow("is a function");
  });
});

describe("an actor that watches", () => {
  const watching = (seen: unknown[]) =>
    counting((ctx) => {
      const log = ctx.spawn("log", Log, () => ({ write() {}, lines: () => 0, tail: () => [] }));
      const end = ctx.watch(log, (terminated) => {
        seen.push(terminated);
        ctx.spawn("log", Log, () => ({ write() {}, lines: () => 0, tail: () => [] }));
      });
      return { add: () => end() };
    });

  test("P2: is told once, in a run of its own, and may use the name again", () => {
    const seen: unknown[] = [];
    const kit = createBehaviourKit(Counter, watching(seen));
    const log = { address: address("counter/log") };
    const { effects } = kit.terminated(log, "broke");
    expect(seen).toEqual([{ address: log.address, error: "broke" }]);
    expect(effects.map((effect) => effect.kind)).toEqual(["spawned"]);
    expect(() => kit.terminated(log)).toThrow("@(counter) does not watch @(counter/log); watched: nobody.");
  });

  test("is not told when it has ended the watch", () => {
    const kit = createBehaviourKit(Counter, watching([]));
    expect(kit.run("add", 1).effects).toEqual([{ kind: "unwatched", address: address("counter/log") }]);
    expect(kit.run("add", 1).effects).toEqual([]);
    expect(() => kit.terminated({ address: address("counter/log") })).toThrow("does not watch");
  });

  test("may wait, as in a handler; and cannot watch itself", async () => {
    const kit = createBehaviourKit(
      Counter,
      counting((ctx) => {
        for (let i = 0; i < 2; i++) ctx.watch({ address: address("log") }, () => Promise.resolve());
        return { add: () => void ctx.watch(ctx.self, () => {}) };
      }),
    );
    const run = kit.terminated({ address: address("log") });
    expect(() => kit.run("total")).toThrow("still handles terminated");
    await run.reply;
    expect(() => kit.run("add", 1)).toThrow("cannot watch itself");
    const watching = counting((ctx) => ({ add: () => void ctx.watch({ address: address("log") }, 7 as never) }));
    expect(() => createBehaviourKit(Counter, watching).run("add", 1)).toThrow("watches with a function to call");
  });
});
