import { describe, expect, test } from "bun:test";
import { address, createMessage, createSystem, defineProtocol, systemClock, Type } from "../../src/index";
import {
  createLink,
  createManualClock,
  createTestSystem,
  type TestSystem,
  type TestSystemOptions,
  withTestSystem,
} from "../../src/testing/index";
import { found, spawnWorker, Worker } from "./worker";

describe("a test system", () => {
  test("is on a clock that stands still until it is advanced", async () => {
    await using test = createTestSystem({ askTimeout: 60_000 });
    const answer = spawnWorker(test).ask("hang");
    await test.advance(59_999);
    expect(test.clock.monotonicTime()).toBe(59_999);
    await test.advance(1);
    expect((await answer)._unsafeUnwrapErr().kind).toBe("timeout");
    await test.expectUnfinished({ address: address("worker") });
  });

  test("tells the failure of an actor that has the address of a probe which has stopped", async () => {
    await using test = createTestSystem();
    const probe = test.createProbe(Worker, "worker");
    await test.system.stop(probe.ref);
    const worker = spawnWorker(test);
    worker.tell("work", -1);
    const failure = await test.expectFailure(worker, "cannot do -1");
    expect([worker.address, failure.directive]).toEqual([probe.ref.address, "restart"]);
  });

  test("keeps what happened, in order, and what died", async () => {
    await using test = createTestSystem();
    const worker = spawnWorker(test);
    await test.system.stop(worker);
    worker.tell("work", 1);
    await test.settle();
    expect(test.events.map((event) => event.kind)).toEqual(["started", "stopped", "dead-letter"]);
    expect(test.deadLetters.map((letter) => letter.reason)).toEqual(["stopped"]);
    expect(test.takeLog().map((entry) => entry.level)).toEqual(["warn"]);
    expect(test.takeLog()).toEqual([]);
  });

  test("refuses what a system refuses", () => {
    const options = (bad: object) => bad as TestSystemOptions;
    expect(() => createTestSystem(options({ askTimeout: -1 }))).toThrow("askTimeout of a system is a number");
    expect(() => createTestSystem(options({ timeout: 1 }))).toThrow('There is no option "timeout"');
    expect(() => createTestSystem(options({ supervision: null }))).toThrow(
      "The options of the supervision of a system are an object",
    );
    expect(() => createTestSystem(options({ supervision: { decide: "stop" } }))).toThrow(
      "The decide of the supervision of a system is a function",
    );
  });
});

describe("the end of a test", () => {
  test("is quiet where everything came to its end, and shuts the system down", async () => {
    const test = createTestSystem();
    const worker = spawnWorker(test);
    worker.tell("work", 2);
    expect((await worker.ask("count"))._unsafeUnwrap()).toBe(2);
    expect(await found(test)).toBe("nothing");
    expect(test.system.inspect()).toEqual([]);
    expect(() => spawnWorker(test)).toThrow("has shut down");
  });

  test("ends the timers of the actors that live, which nobody has to stop", async () => {
    const test = createTestSystem();
    test.system.spawn("heart", Worker, (ctx) => {
      ctx.timers.fixedRate("beat", 100, () => {});
      return { work() {}, count: () => 1, hang() {} };
    });
    await test.advance(1_000);
    expect(test.clock.timers).toBe(1);
    expect(await found(test)).toBe("nothing");
    expect(test.clock.timers).toBe(0);
  });

  test("P9: fails on a failure that nobody was told of", async () => {
    const test = createTestSystem();
    spawnWorker(test).tell("work", -1);
    const message = await found(test);
    expect(message).toStartWith("The test has left what it did not expect:\n  1. Logged (error): ");
    expect(message).toContain(`"work" to @(worker) failed in its handler: Error: cannot do -1; it restarts.`);
    expect(message).toContain("expectFailure()");
  });

  test("P9: fails on a failure that no supervisor handled, though its asker was told", async () => {
    const test = createTestSystem({ supervision: { decide: () => "escalate" } });
    expect((await spawnWorker(test).ask("work", -1))._unsafeUnwrapErr().kind).toBe("handler-failed");
    expect(await found(test)).toContain("no supervisor is left to decide");
    expect(test.events.filter((event) => event.kind === "failed" && event.isUnhandled)).toHaveLength(1);
  });

  test("P9: is quiet on a failure that was told to its asker and changed nothing", async () => {
    const test = createTestSystem({ supervision: { decide: () => "resume" } });
    await spawnWorker(test).ask("work", -1);
    expect(await found(test)).toBe("nothing");
  });

  test("P1: fails on a message that reached nobody", async () => {
    const test = createTestSystem();
    test.router.tell(createMessage(address("nobody"), "say", "hi"));
    expect(await found(test)).toContain("Logged (warn): envoi: dead letter (no-recipient)");
  });

  test("P6: fails on an ask that is pending, and names who has it, and what waits behind it", async () => {
    const test = createTestSystem({ askTimeout: Number.POSITIVE_INFINITY });
    const worker = spawnWorker(test);
    void worker.ask("hang");
    void worker.ask("count");
    await test.advance(30);
    const message = await found(test);
    expect(message).toContain(`1. @(worker) still handles "hang" (for 30 ms), and 1 message waits`);
    expect(message).toContain("expectUnfinished(ref)");
    expect(message).not.toContain("2."); // That it was abandoned follows from it.
    expect(test.clock.timers).toBe(0);
  });

  test("fails on a child and on a hook that hang", async () => {
    const test = createTestSystem({ hookTimeout: Number.POSITIVE_INFINITY });
    test.system.spawn("parent", Worker, (ctx) => {
      ctx.spawn("child", Worker, () => ({
        onStart: () => new Promise(() => {}),
        work() {},
        count: () => 1,
        hang() {},
      }));
      return { work() {}, count: () => 1, hang() {} };
    });
    expect(await found(test)).toContain('@(parent/child) still handles "onStart"');
  });

  test("fails on what goes wrong in its own shutdown", async () => {
    const test = createTestSystem();
    const gone = spawnWorker(test, "gone");
    await test.system.stop(gone);
    test.system.spawn("worker", Worker, () => ({
      onStop: () => gone.tell("work", 1),
      work() {},
      count: () => 1,
      hang() {},
    }));
    expect(await found(test)).toContain('dead letter (stopped): "work" to @(gone)');
  });

  test("waits for an onStop that takes the machine's time, of a restart too", async () => {
    const test = createTestSystem();
    let ended = 0;
    const worker = test.system.spawn("worker", Worker, () => ({
      async onStop() {
        await Bun.spawn(["true"]).exited;
        ended++;
      },
      work() {
        throw new Error("broken");
      },
      count: () => 1,
      hang() {},
    }));
    worker.tell("work", 1);
    await test.expectFailure(worker, "broken");
    expect(await found(test)).toBe("nothing");
    expect(ended).toBe(2);
  });

  test("fails on an actor that does not stop", async () => {
    const test = createTestSystem({ hookTimeout: Number.POSITIVE_INFINITY });
    test.system.spawn("worker", Worker, () => ({
      onStop: () => new Promise(() => {}),
      work() {},
      count: () => 1,
      hang() {},
    }));
    expect(await found(test)).toContain("did not stop within 5000 ms, abandoned: @(worker)");
  });

  test("fails on a timer that is left on the clock, and not on one that was unreferenced", async () => {
    const [one, two] = [createTestSystem(), createTestSystem()];
    one.clock.setTimer(() => {}, 60_000);
    two.clock.setTimer(() => {}, 60_000).unref();
    expect(await found(one)).toContain("1 timer is left on the clock");
    expect(await found(two)).toBe("nothing");
  });

  test("P1: fails on an audit that does not balance", async () => {
    const test = createTestSystem();
    const audit = () => ({ accepted: 2, handled: 1, failed: 0, dead: 0, queued: 0, running: 0 });
    Object.defineProperty(test.router, "audit", { value: audit }); // The real one balances.
    expect(await found(test)).toContain('The audit does not balance: {"accepted":2,"handled":1');
  });

  test("names each thing that it found", async () => {
    const test = createTestSystem();
    const worker = spawnWorker(test);
    worker.tell("work", -1);
    worker.tell("work", -2);
    worker.tell("hang");
    const message = await found(test);
    for (const part of [
      "1. Logged",
      "cannot do -1",
      "2. Logged",
      "cannot do -2",
      '3. @(worker) still handles "hang"',
    ]) {
      expect(message).toContain(part);
    }
  });

  test("does not wait for a shutdown that the test began and that never ends", async () => {
    const test = createTestSystem();
    spawnWorker(test).tell("hang");
    await test.settle();
    void test.system.shutdown({ timeout: Number.POSITIVE_INFINITY });
    expect(await found(test)).toContain("@(worker) still handles");
  });

  test("comes once: what finish() has thrown is not thrown by `await using` again", async () => {
    const test = createTestSystem();
    test.clock.setTimer(() => {}, 60_000);
    expect(await found(test)).toContain("1 timer is left");
    await test[Symbol.asyncDispose]();
    await test.finish();
  });

  test("comes by `await using`", async () => {
    const body = async (): Promise<void> => {
      await using test = createTestSystem();
      spawnWorker(test).tell("work", -1);
    };
    await expect(body()).rejects.toThrow("cannot do -1");
  });
});

test("a test system is on a manual clock and brings its own logger, and refuses others", () => {
  const create = (options: object) => () => createTestSystem(options);
  expect(create({ clock: systemClock })).toThrow(
    "is on a clock that the test moves, of createManualClock(): leave clock out",
  );
  expect(create({ logger: console })).toThrow("keeps its log, because a line that the test did not expect fails it");
});

describe("withTestSystem", () => {
  test("ends the system after the test's code", async () => {
    let system: TestSystem["system"] = createSystem();
    await withTestSystem((test) => {
      system = test.system;
      spawnWorker(test);
    })();
    expect(() => system.router.register(address("late"), () => 1)).toThrow("has shut down");
    const leaving = withTestSystem((test) => spawnWorker(test).tell("work", -1));
    await expect(leaving()).rejects.toThrow("cannot do -1");
  });

  test("throws what the test's code threw, with what the end found as its cause", async () => {
    const own = new Error("expected 1, got 2");
    const failing = withTestSystem((test) => {
      spawnWorker(test).tell("work", -1);
      throw own;
    });
    const thrown = await failing().catch((error: unknown) => error);
    expect(thrown).toBe(own);
    expect(String(own.cause)).toContain("cannot do -1");
  });

  test("gives the system its options", async () => {
    await withTestSystem(
      async (test) => {
        const answer = spawnWorker(test).ask("hang");
        await test.advance(7);
        expect((await answer).isErr()).toBe(true);
        await test.expectUnfinished({ address: address("worker") });
      },
      { askTimeout: 7 },
    )();
  });
});

test("two systems on one clock: a link joins them, and each finds its own timers only", async () => {
  const clock = createManualClock();
  const first = createTestSystem({ clock });
  const second = createTestSystem({ clock });
  expect(first.clock).toBe(clock);
  const Ticker = defineProtocol("ticker", { count: { reply: Type.Number() } });
  const ticker = first.system.spawn("ticker", Ticker, (ctx) => {
    let ticks = 0;
    ctx.timers.fixedRate("tick", 100, () => void ticks++);
    return { count: () => ticks };
  });
  const link = createLink(first.system, second.system, { clock, delay: 10 });
  const far = link.b.attach(address("first/ticker"), Ticker, ticker);
  const asked = far.ask("count");
  await second.advance(1_000);
  expect((await asked)._unsafeUnwrap()).toBe(0);
  const left = first.system.spawn("left", Ticker, (ctx) => {
    ctx.clock.setTimer(() => undefined, 100_000);
    return { count: () => 0 };
  });
  expect((await Promise.all([left.ask("count"), clock.settle()]))[0]._unsafeUnwrap()).toBe(0);
  await second.finish(); // The timers of the first one are none of its business.
  expect(await first.finish().catch(String)).toContain("1 timer is left on the clock");
});
