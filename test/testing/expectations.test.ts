import { describe, expect, test } from "bun:test";
import { address, createMessage } from "../../src/index";
import { createTestSystem } from "../../src/testing/index";
import { found, spawnWorker, Worker } from "./worker";

describe("expectFailure", () => {
  test("P9: takes the oldest failure that fits, and its line in the log", async () => {
    const test = createTestSystem();
    const [one, two] = [spawnWorker(test, "one"), spawnWorker(test, "two")];
    one.tell("work", -1);
    two.tell("work", -2);
    one.tell("work", -3);
    const failure = await test.expectFailure(one, /-\d$/);
    expect(failure).toMatchObject({ address: "@(one)", operation: "work", directive: "restart", isUnhandled: false });
    expect(String(failure.error)).toBe("Error: cannot do -1");
    expect(String((await test.expectFailure(one)).error)).toBe("Error: cannot do -3");
    expect(String((await test.expectFailure(undefined, "Error: cannot")).error)).toBe("Error: cannot do -2");
    expect(await found(test)).toBe("nothing");
  });

  test("P9: tells which failures came instead", async () => {
    await using test = createTestSystem();
    const worker = spawnWorker(test);
    await expect(test.expectFailure(worker)).rejects.toThrow(
      "@(worker) was expected to fail, and did not. Failures:\n  none",
    );
    worker.tell("work", -1);
    await expect(test.expectFailure(worker, "boom")).rejects.toThrow(
      'with boom, and did not. Failures:\n  1. @(worker) in "work": Error: cannot do -1 (restart)',
    );
    await expect(test.expectFailure({ address: address("other") })).rejects.toThrow("@(other) was expected to fail");
    await test.expectFailure();
  });

  test("P9: takes whatever was thrown, and shows what can be shown", async () => {
    await using test = createTestSystem();
    const refuse = (): never => {
      throw new Error("hostile");
    };
    const hostile = new Proxy({}, { get: refuse, getPrototypeOf: refuse, ownKeys: refuse });
    const thrown = [undefined, "a text", { code: 7 }, hostile];
    const ref = test.system.spawn("worker", Worker, () => ({
      work(n) {
        throw thrown[n];
      },
      count: () => 1,
      hang() {},
    }));
    for (const index of thrown.keys()) ref.tell("work", index);
    const error = await test.expectFailure(ref, "fire").catch(String);
    for (const text of ["undefined (restart)", "'a text' (restart)", "{ code: 7 } (restart)"]) {
      expect(error).toContain(text);
    }
    expect((await test.expectFailure(ref, "code: 7")).error).toBe(thrown[2]);
    expect(test.takeFailures()).toHaveLength(3);
  });

  test("P9: takes with it the supervisors that it was escalated to", async () => {
    const test = createTestSystem({ supervision: { decide: () => "escalate" } });
    const parent = test.system.spawn("parent", Worker, (ctx) => {
      const child = ctx.spawn("child", Worker, () => ({
        work() {
          throw "plain"; // Nothing but its text tells it from another one.
        },
        count: () => 1,
        hang() {},
      }));
      return { work: (n) => child.tell("work", n), count: () => 1, hang() {} };
    });
    parent.tell("work", 1);
    const failure = await test.expectFailure(undefined, "plain");
    expect(failure.address).toBe(address("parent/child"));
    expect(test.takeFailures()).toEqual([]);
    expect(await found(test)).toBe("nothing");
  });

  test("P9: leaves the next failure of the same text alone", async () => {
    const test = createTestSystem({ supervision: { decide: () => "escalate" } });
    for (const name of ["one", "two"]) {
      const ref = test.system.spawn(name, Worker, () => ({
        work() {
          throw "plain";
        },
        count: () => 1,
        hang() {},
      }));
      ref.tell("work", 1);
    }
    await test.expectFailure();
    expect(test.takeFailures().map((failure) => failure.address)).toEqual([address("two")]);
    expect(await found(test)).toBe("nothing");
  });

  test("takeFailures takes all of them, those that were told to who asked included", async () => {
    const test = createTestSystem();
    const worker = spawnWorker(test);
    await worker.ask("work", -1);
    worker.tell("work", -2);
    await test.settle();
    expect(test.takeFailures().map((failure) => String(failure.error))).toEqual([
      "Error: cannot do -1",
      "Error: cannot do -2",
    ]);
    expect(test.takeFailures()).toEqual([]);
    expect(await found(test)).toBe("nothing");
  });
});

describe("expectLogged", () => {
  test("takes the oldest line that fits", async () => {
    const test = createTestSystem();
    for (const id of ["a", "b", "a"]) test.router.tell(createMessage(address(id), "say", 1));
    expect((await test.expectLogged(/to @\(b\)/)).level).toBe("warn");
    await test.expectLogged("no-recipient");
    expect(await found(test)).toContain("@(a)");
  });

  test("tells what was logged instead", async () => {
    await using test = createTestSystem();
    await expect(test.expectLogged("fire")).rejects.toThrow(
      "with fire was expected, and none came. Logged:\n  nothing",
    );
    test.router.tell(createMessage(address("nobody"), "say", 1));
    await expect(test.expectLogged(/fire/)).rejects.toThrow("Logged:\n  1. warn: envoi: dead letter (no-recipient)");
    test.takeLog();
  });
});

describe("expectUnfinished", () => {
  test("P3: says that a handler is meant to hang, and that messages are meant to wait", async () => {
    const test = createTestSystem();
    const worker = spawnWorker(test);
    worker.tell("hang");
    worker.tell("work", 1);
    await test.expectUnfinished(worker);
    expect(await found(test)).toBe("nothing");
  });

  test("is for that actor only", async () => {
    const test = createTestSystem();
    const [one, two] = [spawnWorker(test, "one"), spawnWorker(test, "two")];
    one.tell("hang");
    two.tell("hang");
    await test.expectUnfinished(one);
    const message = await found(test);
    expect(message).toContain("@(two) still handles");
    expect(message).not.toContain("@(one)");
  });

  test("refuses an actor that has nothing unfinished, or has stopped", async () => {
    await using test = createTestSystem();
    const worker = spawnWorker(test);
    await expect(test.expectUnfinished(worker)).rejects.toThrow(
      "@(worker) was expected to be unfinished, and is idle.",
    );
    await test.system.stop(worker);
    await expect(test.expectUnfinished(worker)).rejects.toThrow("has stopped");
  });
});
