import { describe, expect, test } from "bun:test";
import { address, defineProtocol, type Factory, type SignaturesOf, Type } from "../../src/index";
import { testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const Counter = defineProtocol("counter", {
  add: { payload: Type.Number() },
  total: { reply: Type.Number() },
});
type Counter = SignaturesOf<typeof Counter>;

const handlers = { add() {}, total: () => 1 };
const extra =
  (names: Record<string, unknown>): Factory<Counter> =>
  () => ({ ...handlers, ...names });

class Plain {
  #total = 0;
  readonly limit = 5;
  add(n: number): void {
    this.#total += n;
  }
  total(): number {
    return this.#total;
  }
}

describe("spawn refuses a handler or a hook that no name leads to:", () => {
  const refused: [what: string, factory: Factory<Counter>, message: string][] = [
    [
      "a hook",
      extra({ onStrat() {} }),
      '"onStrat" is neither an operation of @(counter) nor a hook; did you mean "onStart"?',
    ],
    [
      "a hook in other case",
      extra({ onstop() {} }),
      '"onstop" is neither an operation of @(counter) nor a hook; did you mean "onStop"?',
    ],
    [
      "a handler that is missing by its name",
      () => ({ add() {}, totl: () => 1 }) as never,
      '"totl" is neither an operation of @(counter) nor a hook; did you mean "total"?',
    ],
    [
      "a handler like no other",
      extra({ subtract() {} }),
      '"subtract" is neither an operation of @(counter) nor a hook; it has add, total, onStart, onRestart, onStop.',
    ],
    [
      "a handler without a prototype above",
      () => Object.assign(Object.create(null), handlers, { addd() {} }),
      '"addd" is neither an operation of @(counter) nor a hook; did you mean "add"?',
    ],
    [
      "a method of a class",
      () =>
        new (class extends Plain {
          onStrat(): void {}
        })(),
      '"onStrat" is neither an operation of @(counter) nor a hook; did you mean "onStart"?',
    ],
    [
      "a method of its superclass",
      () => {
        class Base extends Plain {
          onStopp(): void {}
        }
        return new (class extends Base {})();
      },
      '"onStopp" is neither an operation of @(counter) nor a hook; did you mean "onStop"?',
    ],
    [
      "a function that is a field of a class",
      () =>
        new (class extends Plain {
          readonly onRestrat = (): void => {};
        })(),
      '"onRestrat" is neither an operation of @(counter) nor a hook; did you mean "onRestart"?',
    ],
  ];
  for (const [what, factory, message] of refused) {
    test(what, () => {
      const { system, router } = createTestSystem();
      expect(() => system.spawn("counter", Counter, factory)).toThrow(new TypeError(message));
      expect(router.has(address("counter"))).toBe(false);
    });
  }
});

describe("spawn takes beside the handlers and the hooks:", () => {
  const taken: [what: string, factory: Factory<Counter>][] = [
    ["all hooks", extra({ onStart() {}, onRestart() {}, onStop() {} })],
    ["data", extra({ onStrat: 1, limit: 5, names: ["a"], nested: { run() {} } })],
    ["nothing under a name", extra({ onStrat: undefined })],
    [
      "a class with fields and methods of its own",
      () =>
        new (class extends Plain {
          readonly #hidden = 1;
          readonly later = (): number => this.#hidden;
          onStart(): void {}
          onStarted(): void {}
          state(): void {}
          addAll(): void {}
        })(),
    ],
    [
      "a method one letter off a hook that is there",
      () =>
        new (class extends Plain {
          onStop(): void {}
          onStops(): void {}
        })(),
    ],
    ["symbols", extra({ [Symbol.iterator]() {} })],
    [
      "getters, which are not read",
      () => {
        const table = { ...handlers };
        Object.defineProperty(table, "onStrat", {
          enumerable: true,
          get(): never {
            throw new Error("It was read.");
          },
        });
        return table;
      },
    ],
    ["handlers from an object behind", () => Object.create(handlers) as typeof handlers],
  ];
  for (const [what, factory] of taken) {
    test(what, async () => {
      const { system } = createTestSystem();
      for (const name of ["one", "two"]) {
        const counter = system.spawn(name, Counter, factory);
        expect((await counter.ask("total")).isOk()).toBe(true);
      }
    });
  }
});

test("a class is looked through for each protocol that it serves", () => {
  const Other = defineProtocol("other", { add: { payload: Type.Number() }, total: { reply: Type.Number() }, ad: {} });
  class Both extends Plain {
    ad(): void {}
    adds(): void {}
  }
  const { system } = createTestSystem();
  system.spawn("other", Other, () => new Both());
  system.spawn("again", Other, () => new Both());
  system.spawn("counter", Counter, () => new Both()); // "ad" is near to "add", which is there.
  class Half {
    ad(): void {}
    total(): number {
      return 1;
    }
  }
  expect(() => system.spawn("half", Counter, () => new Half() as never)).toThrow('did you mean "add"?');
});

test("ctx.become refuses the same, and changes nothing", async () => {
  const { system } = createTestSystem();
  const counter = system.spawn("counter", Counter, (ctx) => ({
    ...handlers,
    add: () => ctx.become({ ...handlers, totl: () => 2 } as typeof handlers),
  }));
  const error = (await counter.ask("add", 1))._unsafeUnwrapErr();
  expect(error.message).toContain('"totl" is neither an operation of @(counter) nor a hook; did you mean "total"?');
  expect((await counter.ask("total"))._unsafeUnwrap()).toBe(1);
});

test("P9: a misspelt hook that only a later instance has is a failure of its restart", async () => {
  const { system, takeLog } = createTestSystem({
    supervision: { decide: (error) => (error instanceof TypeError ? "stop" : "restart") },
  });
  let made = 0;
  const counter = system.spawn("counter", Counter, () => ({
    add() {
      throw new Error("broken");
    },
    total: () => 1,
    ...(made++ === 0 ? {} : { onStrat() {} }),
  }));
  await counter.ask("add", 1);
  expect((await counter.ask("total"))._unsafeUnwrapErr().kind).toBe("stopped");
  expect(takeLog()[1]?.message).toContain('did you mean "onStart"?; it is stopped.');
});
