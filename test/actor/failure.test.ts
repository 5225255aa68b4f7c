import { expect, test } from "bun:test";
import { address, createMessage, defineProtocol, type Protocol, type Ref, Type } from "../../src/index";
import { reasonsOf, testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const Fragile = defineProtocol("fragile", {
  throws: { payload: Type.Unknown() },
  rejects: { payload: Type.Unknown() },
  rejectsLater: { payload: Type.Unknown() },
  count: { reply: Type.Number() },
});

const refuse = (): never => {
  throw new Error("hostile");
};
const HOSTILE_TRAPS: ProxyHandler<object> = {
  get: refuse,
  has: refuse,
  getPrototypeOf: refuse,
  ownKeys: refuse,
  getOwnPropertyDescriptor: refuse,
};

const THEN = "then"; // By this name a linter does not take the object below for a mistake.

const THROWN: Record<string, unknown> = {
  "an Error": new Error("broken"),
  "an Error without a message": new TypeError(),
  "a string": "broken",
  undefined: undefined,
  null: null,
  "a number": 0,
  "a symbol": Symbol("broken"),
  "a function": () => {},
  "an object without a prototype": Object.create(null),
  "an object whose toString throws": { toString: refuse },
  "an Error whose message throws": Object.defineProperty(new Error(), "message", { get: refuse }),
  "an Error whose message is a symbol": Object.assign(new Error(), { message: Symbol("broken") }),
  "an object whose then throws": Object.defineProperty({}, THEN, { get: refuse }),
  "a proxy that throws at everything": new Proxy({}, HOSTILE_TRAPS),
};

function spawnFragile(test: ReturnType<typeof createTestSystem>) {
  let count = 0;
  return test.system.spawn("fragile", Fragile, () => ({
    throws(it) {
      count++;
      throw it;
    },
    async rejects(it) {
      count++;
      throw it;
    },
    async rejectsLater(it) {
      count++;
      await undefined;
      throw it;
    },
    count: () => count,
  }));
}

for (const operation of ["throws", "rejects", "rejectsLater"] as const) {
  test(`P9: a handler that ${operation}, whatever it is, fails that message only and tells the asker`, async () => {
    const systems = createTestSystem();
    const ref = spawnFragile(systems);
    for (const [name, thrown] of Object.entries(THROWN)) {
      const answer = await ref.ask(operation, thrown);
      const failure = answer._unsafeUnwrapErr();
      expect({ name, kind: failure.kind, retryable: failure.retryable }).toEqual({
        name,
        kind: "handler-failed",
        retryable: false,
      });
      expect(failure.kind === "handler-failed" && Object.is(failure.cause, thrown)).toBe(true);
      for (const text of [failure.message, String(failure), Bun.inspect(failure), JSON.stringify(failure)]) {
        expect(text).toContain("@(fragile)");
      }
    }
    expect((await ref.ask("count"))._unsafeUnwrap()).toBe(Object.keys(THROWN).length);
  });

  test(`P9: a message that was told and whose handler ${operation} is logged with its cause, and the next is handled`, async () => {
    const systems = createTestSystem();
    const ref = spawnFragile(systems);
    for (const thrown of Object.values(THROWN)) ref.tell(operation, thrown);
    expect((await ref.ask("count"))._unsafeUnwrap()).toBe(Object.keys(THROWN).length);
    const logged = systems.takeLog();
    expect(logged).toHaveLength(Object.keys(THROWN).length);
    for (const [i, thrown] of Object.values(THROWN).entries()) {
      const entry = logged[i];
      expect(entry?.level).toBe("error");
      expect(entry?.message).toContain(`"${operation}" to @(fragile)`);
      const details = entry?.details as { address: string; cause: unknown };
      expect(details.address).toBe("@(fragile)");
      expect(Object.is(details.cause, thrown)).toBe(true);
    }
  });
}

test("P9: a failure of a handler is not an unhandled rejection, which would fail this test", async () => {
  const systems = createTestSystem();
  const ref = spawnFragile(systems);
  ref.tell("rejects", new Error("told"));
  void ref.ask("rejectsLater", new Error("asked"));
  await systems.clock.settle();
  expect(systems.takeLog()).toHaveLength(1);
  expect(systems.router.audit().failed).toBe(2);
});

test("P9: a handler that never settles holds up its own actor only, and its asker gets a timeout", async () => {
  const { system, clock, router } = createTestSystem();
  const ref = system.spawn("stuck", Fragile, () => ({
    throws() {},
    rejects: () => new Promise<void>(() => {}),
    rejectsLater() {},
    count: () => 1,
  }));
  const ask = ref.ask("rejects", 1, { timeout: 20 });
  ref.tell("throws", 1);
  await clock.advance(20);
  expect((await ask)._unsafeUnwrapErr().kind).toBe("timeout");
  expect(router.audit()).toMatchObject({ running: 1, queued: 1 });
});

test("P9: a logger that throws harms nobody", async () => {
  const systems = createTestSystem();
  const { createSystem } = await import("../../src/index");
  const shown: unknown[][] = [];
  const original = console.error;
  console.error = (...args: unknown[]) => void shown.push(args);
  try {
    const refuseToLog = (): void => {
      throw new Error("disk full");
    };
    const system = createSystem({ logger: { warn: refuseToLog, error: refuseToLog }, clock: systems.clock });
    const ref = system.spawn("fragile", Fragile, () => ({
      throws(it) {
        throw it;
      },
      rejects() {},
      rejectsLater() {},
      count: () => 3,
    }));
    system.router.tell(createMessage(address("nobody"), "say", 1));
    ref.tell("throws", new Error("broken"));
    expect((await ref.ask("count"))._unsafeUnwrap()).toBe(3);
    expect(shown).toHaveLength(2); // It is not lost, and neither is what the logger threw.
    expect(Bun.inspect(shown)).toContain("disk full");
    expect(Bun.inspect(shown)).toContain("broken");
    await systems.clock.advance(1_000);
  } finally {
    console.error = original;
  }
});

test("P9: a logger, a decide, an observer and a pool's key whose promise rejects harm nobody", async () => {
  const { clock } = createTestSystem();
  const { createSystem, spawnPool } = await import("../../src/index");
  const shown: string[] = [];
  const original = console.error;
  console.error = (text: unknown) => void shown.push(String(text));
  try {
    const rejects = (): Promise<never> => Promise.reject(new Error("not awaited"));
    const logged: string[] = [];
    const logger = { warn: rejects, error: async (text: string) => (logged.push(text) > 0 ? rejects() : 0) };
    const decide = rejects as unknown as () => "restart"; // What a program may write.
    const system = createSystem({ logger, clock, supervision: { decide } });
    system.around((_, run) => {
      run();
      return rejects();
    });
    const make = () => ({ throws() {}, rejects() {}, rejectsLater() {}, count: () => 3 });
    const key = rejects as unknown as () => string;
    const pool = spawnPool(system, "pool", Fragile, make, { size: 2, routing: "consistent-hash", key });
    expect((await pool.ask("count"))._unsafeUnwrap()).toBe(3);
    const fails = system.spawn("fails", Fragile, () => ({
      ...make(),
      throws() {
        throw new Error("broken");
      },
    }));
    expect((await fails.ask("throws", 1))._unsafeUnwrapErr().kind).toBe("handler-failed");
    await new Promise((resolve) => setImmediate(resolve)); // An unheard rejection would end the process here.
    expect(logged).toContainEqual(expect.stringContaining("it returned a promise"));
    expect(logged).toContainEqual(expect.stringContaining("An observer of @(fails) threw: Error: not awaited"));
    expect(logged).toContainEqual(expect.stringContaining("which is no directive"));
    expect(shown.length).toBeGreaterThan(0);
    expect(shown.every((text) => text.includes("and the logger threw: Error: not awaited"))).toBe(true);
  } finally {
    console.error = original;
  }
});

test("P9: a cause that console cannot show does not end the turn of the actors behind it", async () => {
  // With the default logger, in a process of its own, because it is the console that throws.
  const program = `${import.meta.dir}/programs/unshowable-cause.ts`;
  const child = Bun.spawn([process.execPath, program], { stdout: "pipe", stderr: "ignore" });
  expect(await new Response(child.stdout).text()).toBe("3\n");
  expect(await child.exited).toBe(0);
});

test("P9: an operation that the actor does not have is refused, whatever its name and whatever its object has", async () => {
  const { system, router, deadLetters } = createTestSystem();
  const called: string[] = [];
  class Handlers {
    count = (): number => 1;
    helper = (): void => void called.push("helper");
    inherited(): void {
      called.push("inherited");
    }
  }
  const Count = defineProtocol("count", { count: { reply: Type.Number() } });
  const names = [
    "toString",
    "constructor",
    "__proto__",
    "hasOwnProperty",
    "valueOf",
    "__defineGetter__",
    "then",
    "helper",
    "inherited",
    "Count",
    "count ",
    "",
  ];
  const ref = system.spawn("count", Count, () => new Handlers()) as unknown as Ref<Record<string, () => unknown>>;
  for (const name of names) {
    const error = (await ref.ask(name))._unsafeUnwrapErr();
    expect({ name, kind: error.kind, operation: error.operation }).toEqual({
      name,
      kind: "unknown-operation",
      operation: name,
    });
    expect((await ref.offer(name))._unsafeUnwrapErr().kind).toBe("unknown-operation");
    if (name === "") continue;
    const asked = await router.ask(createMessage(ref.address, name, undefined));
    expect(asked._unsafeUnwrapErr().kind).toBe("unknown-operation");
  }
  expect(called).toEqual([]);
  expect(new Set(reasonsOf(deadLetters))).toEqual(new Set(["unknown-operation"]));
  expect((await ref.ask("count"))._unsafeUnwrap()).toBe(1);
});

test("P9: a stream operation cannot be told or asked", async () => {
  const { system, takeLog } = createTestSystem();
  const Ticks = defineProtocol("ticks", { ticks: { stream: Type.Number() } });
  const ref = system.spawn("ticks", Ticks, () => ({
    *ticks() {
      yield 1;
    },
  })) as unknown as Ref<{ ticks(): void }>;
  const error = (await ref.ask("ticks"))._unsafeUnwrapErr();
  expect(error.kind).toBe("unknown-operation");
  expect(error.message).toContain("pattern");
  ref.tell("ticks");
  expect(takeLog()).toHaveLength(1);
});

test("P9: handlers may be methods of an object, with its state in this", async () => {
  const { system } = createTestSystem();
  class Counter {
    #total = 0;
    add(n: number): void {
      this.#total += n;
    }
    total(): number {
      return this.#total;
    }
  }
  const Count = defineProtocol("count", { add: { payload: Type.Number() }, total: { reply: Type.Number() } });
  const ref = system.spawn("count", Count, () => new Counter());
  ref.tell("add", 4);
  expect((await ref.ask("total"))._unsafeUnwrap()).toBe(4);
});

// ——— The factory

const Count = defineProtocol("count", { count: { reply: Type.Number() } });
type Anything = () => { count(): number };

test("P9: what a factory throws is thrown by spawn, and the name is free again", () => {
  const { system, router } = createTestSystem();
  const broken = new Error("no database");
  const spawnBroken = (): unknown =>
    system.spawn("count", Count, () => {
      throw broken;
    });
  expect(spawnBroken).toThrow(broken);
  expect(router.has(address("count"))).toBe(false);
  expect(system.spawn("count", Count, () => ({ count: () => 1 })).address).toBe(address("count"));
});

test("P9: what an actor was told while its factory ran, before it threw, becomes dead letters", async () => {
  const { system, deadLetters, takeLog } = createTestSystem();
  let asked: Promise<unknown> = Promise.resolve();
  let child: unknown;
  const spawnBroken = (): unknown =>
    system.spawn("count", Count, (ctx) => {
      ctx.self.tell("count");
      asked = ctx.self.ask("count").then((answer) => answer._unsafeUnwrapErr().kind);
      child = ctx.spawn("child", Count, () => ({ count: () => 1 })).address;
      throw new Error("no database");
    });
  expect(spawnBroken).toThrow("no database");
  expect(await asked).toBe("stopped");
  expect(reasonsOf(deadLetters)).toEqual(["stopped", "stopped"]);
  expect(takeLog()).toHaveLength(1);
  expect(child).toBe(address("count/child"));
  expect(system.router.has(address("count/child"))).toBe(false);
});

test("P9: what an actor was told while its factory ran is handled after it", async () => {
  const { system } = createTestSystem();
  const seen: string[] = [];
  let asked: Promise<unknown> = Promise.resolve();
  system.spawn("count", Count, (ctx) => {
    asked = ctx.self.ask("count").then((answer) => answer._unsafeUnwrap());
    seen.push("made");
    return { count: () => seen.push("counted") };
  });
  expect(await asked).toBe(2);
  expect(seen).toEqual(["made", "counted"]);
});

test("P9: a factory that returns a promise, lacks a handler or returns no object is told what to return", () => {
  const { system, router } = createTestSystem();
  const cases: [unknown, RegExp][] = [
    [async () => ({ count: () => 1 }), /@\(count\) returns a promise; return the handlers at once/],
    [() => ({}), /@\(count\) has no handler for "count"; add count\(\)/],
    [() => ({ count: 1 }), /has no handler for "count"/],
    [() => undefined, /returns an object with a handler for each operation; got undefined/],
    [() => null, /got null/],
    [() => "count", /got "count"/],
    [() => () => 1, /returns an object with a handler/],
  ];
  for (const [factory, message] of cases) {
    const spawn = (): unknown => system.spawn("count", Count, factory as Anything);
    expect(spawn).toThrow(TypeError);
    expect(spawn).toThrow(message);
    expect(router.has(address("count"))).toBe(false);
  }
});

test("P9: a factory whose promise rejects leaves no unhandled rejection, which would fail this test", async () => {
  const { system, clock } = createTestSystem();
  const factory = (() => Promise.reject(new Error("async and broken"))) as unknown as Anything;
  let thrown: unknown;
  try {
    system.spawn("count", Count, factory); // Not in expect().toThrow(), which swallows such rejections.
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(TypeError);
  await clock.settle();
});

test("P9: a factory or a protocol that is none is refused at once, with a sentence", () => {
  const { system, router } = createTestSystem();
  for (const factory of [undefined, null, {}, { count: () => 1 }]) {
    expect(() => system.spawn("count", Count, factory as Anything)).toThrow(/factory of @\(count\)/);
  }
  for (const protocol of [undefined, null, {}, { name: "count" }, "count"]) {
    const spawn = (): unknown =>
      system.spawn("count", protocol as unknown as Protocol<string, { count(): number }>, () => ({ count: () => 1 }));
    expect(spawn).toThrow(/protocol/);
  }
  expect(router.has(address("count"))).toBe(false);
});

test("P9: a logger and a console that both throw take nobody with them", async () => {
  const program = `${import.meta.dir}/programs/throwing-console.ts`;
  const child = Bun.spawn([process.execPath, program], { stdout: "pipe", stderr: "pipe" });
  expect(await new Response(child.stdout).text()).toBe("1\n");
  expect(await child.exited).toBe(0);
});

test("P3: a promise that cannot be awaited fails its own message, and its actor goes on", async () => {
  const { system } = createTestSystem();
  let count = 0;
  const ref = system.spawn("count", Count, () => ({
    count() {
      if (count++ > 0) return count;
      const get = (): never => {
        throw new Error("no constructor");
      };
      return Object.defineProperty(Promise.resolve(1), "constructor", { get });
    },
  }));
  expect((await ref.ask("count"))._unsafeUnwrapErr().kind).toBe("handler-failed");
  expect((await ref.ask("count"))._unsafeUnwrap()).toBe(2);
});
