import { expect, test } from "bun:test";
import { ok } from "neverthrow";
import { defineProtocol, type Ref, Type } from "../../src/index";
import { testSystems } from "./test-system";

const { createTestSystem } = testSystems();

// Each actor here replies with what it is made with, which TypeScript would not let by.
type Anything = Ref<{ get(): unknown }>;
const Any = defineProtocol("any", { get: { reply: Type.Unknown() } });
const Numbers = defineProtocol("numbers", { get: { reply: Type.Number() } });

function spawnReplying(test: ReturnType<typeof createTestSystem>, make: () => unknown, protocol: unknown = Any) {
  let count = 0;
  const factory = () => ({ get: () => (count++ === 0 ? make() : "next") });
  return test.system.spawn("any", protocol as typeof Any, factory) as Anything;
}

const THEN = "then"; // By this name a linter does not take the objects here for a mistake.
const thenable = (then: (resolve: (value: unknown) => void, reject: (thrown: unknown) => void) => void): unknown => ({
  [THEN]: then,
});

const REPLIES: [name: string, make: () => unknown, reply: unknown][] = [
  ["a promise of a promise", () => Promise.resolve(Promise.resolve(1)), 1],
  ["a promise of a thenable", () => Promise.resolve(thenable((resolve) => resolve(2))), 2],
  ["a thenable", () => thenable((resolve) => resolve(3)), 3],
  ["a thenable of a promise", () => thenable((resolve) => resolve(Promise.resolve(4))), 4],
  [
    "a thenable that resolves and then rejects",
    () =>
      thenable((resolve, reject) => {
        resolve(5);
        reject(new Error("no"));
        resolve(6);
      }),
    5,
  ],
  [
    "a thenable that resolves and then throws",
    () =>
      thenable((resolve) => {
        resolve(7);
        throw new Error("no");
      }),
    7,
  ],
  [
    "a thenable that is a function",
    () =>
      Object.assign(
        () => "called",
        thenable((resolve) => resolve(8)),
      ),
    8,
  ],
  [
    "a promise of a thenable that is a function",
    async () =>
      Object.assign(
        () => 0,
        thenable((done) => done(9)),
      ),
    9,
  ],
  ["an object whose then is no function", () => ({ [THEN]: "later" }), { [THEN]: "later" }],
  ["undefined", () => undefined, undefined],
  ["null", () => null, null],
  ["an Error that is returned", () => "an Error, not thrown", "an Error, not thrown"],
];

for (const [name, make, reply] of REPLIES) {
  test(`P6: a handler that returns ${name} replies with what it comes to, once`, async () => {
    const systems = createTestSystem();
    const ref = spawnReplying(systems, make);
    const [first, second] = await Promise.all([ref.ask("get"), ref.ask("get")]);
    expect(first._unsafeUnwrap()).toEqual(reply);
    expect(second._unsafeUnwrap()).toBe("next");
    expect(systems.router.audit()).toMatchObject({ accepted: 2, handled: 2 });
  });
}

test("P6: a handler that returns an Error or a Result replies with it, unopened", async () => {
  const error = new Error("as a value");
  for (const value of [error, ok(1)]) {
    const ref = spawnReplying(createTestSystem(), () => value);
    expect((await ref.ask("get"))._unsafeUnwrap()).toBe(value);
  }
});

test("P6: a handler that returns a function without a then replies with it", async () => {
  const value = (): number => 1;
  const ref = spawnReplying(createTestSystem(), () => value);
  expect((await ref.ask("get"))._unsafeUnwrap()).toBe(value);
});

const FAILURES: [name: string, make: () => unknown, cause: string][] = [
  [
    "a thenable that is a function and rejects",
    () =>
      Object.assign(
        () => 0,
        thenable((_, reject) => reject("of a function")),
      ),
    "of a function",
  ],
  [
    "a thenable that rejects",
    () =>
      thenable((_, reject) => {
        reject("no");
      }),
    "no",
  ],
  [
    "a thenable that rejects and then resolves",
    () =>
      thenable((resolve, reject) => {
        reject("no");
        resolve(1);
      }),
    "no",
  ],
  [
    "a thenable that throws",
    () =>
      thenable(() => {
        throw "no";
      }),
    "no",
  ],
  [
    "an object whose then getter throws",
    () =>
      Object.defineProperty({}, THEN, {
        get() {
          throw "no";
        },
      }),
    "no",
  ],
  [
    "an object whose then getter throws at the second reading",
    () => {
      let readings = 0;
      return Object.defineProperty({}, THEN, {
        get() {
          if (readings++ > 0) throw "no";
          return () => {};
        },
      });
    },
    "no",
  ],
];

for (const [name, make, cause] of FAILURES) {
  test(`P9: a handler that returns ${name} fails that message only`, async () => {
    const systems = createTestSystem();
    const ref = spawnReplying(systems, make);
    const [first, second] = await Promise.all([ref.ask("get"), ref.ask("get")]);
    expect(first._unsafeUnwrapErr()).toMatchObject({ kind: "handler-failed", cause });
    expect(second._unsafeUnwrap()).toBe("next");
    expect(systems.router.audit()).toMatchObject({ accepted: 2, handled: 1, failed: 1 });
  });
}

test("P1, P3: a promise whose own then calls back at once, and twice, is counted once", async () => {
  const systems = createTestSystem();
  const gate = Promise.withResolvers<unknown>();
  const calls: ((value: unknown) => void)[] = [];
  let count = 0;
  const ref = systems.system.spawn("any", Any, () => ({
    get() {
      if (count++ > 0) return gate.promise;
      const promise = Promise.resolve("native");
      const then = (resolve: (value: unknown) => void): void => {
        calls.push(resolve);
        resolve("once");
      };
      return Object.assign(promise, { [THEN]: then });
    },
  })) as Anything;
  const first = ref.ask("get");
  const second = ref.ask("get", { timeout: 50 });
  await systems.clock.settle();
  for (const call of calls) call("twice");
  await systems.clock.settle();
  gate.resolve("second");
  await systems.clock.advance(50);
  expect((await first)._unsafeUnwrap()).toBe("native"); // As `await` has it: a promise settles once, whatever it brings along.
  expect((await second)._unsafeUnwrap()).toBe("second");
  expect(systems.router.audit()).toMatchObject({ accepted: 2, handled: 2 });
});

test("P9: a reply that does not fit its schema passes within the process, and fails under validate: always", async () => {
  for (const value of [undefined, null, "1", Promise.resolve("1"), Number.NaN, {}]) {
    const trusting = spawnReplying(createTestSystem(), () => value, Numbers);
    expect((await trusting.ask("get")).isOk()).toBe(true);

    const systems = createTestSystem({ validate: "always" });
    const error = (await spawnReplying(systems, () => value, Numbers).ask("get"))._unsafeUnwrapErr();
    expect(error.kind).toBe("handler-failed");
    expect(error.message).toContain("reply");
    expect(systems.router.audit()).toMatchObject({ accepted: 1, failed: 1 });
  }
});

test("P9: a reply to a tell that does not fit its schema is logged under validate: always", async () => {
  const systems = createTestSystem({ validate: "always" });
  spawnReplying(systems, () => undefined, Numbers).tell("get");
  await systems.clock.settle();
  expect(systems.takeLog().map((entry) => entry.level)).toEqual(["error"]);
});
