import { describe, expect, test } from "bun:test";
import {
  type AskResult,
  address,
  type Context,
  createMessage,
  type Directive,
  defineProtocol,
  type FailedEvent,
  type Pattern,
  parseMessage,
  type Ref,
  receive,
  type SignaturesOf,
  type Supervision,
  serializeMessage,
  spawnPool,
  Type,
} from "../../src/index";
import { type TestSystem, testSystems } from "./test-system";

// A message that came through a door and makes its handler throw fails alone (P9).

const { createTestSystem } = testSystems();

const Tally = defineProtocol("tally", {
  add: { payload: Type.Number(), reply: Type.Number() },
  fail: { payload: Type.String() },
  items: { payload: Type.String(), stream: Type.Number() },
});
type Tally = SignaturesOf<typeof Tally>;

const outcomeOf = (answer: AskResult): unknown => (answer.isOk() ? answer.value : answer.error.kind);

function tally() {
  let total = 0;
  return {
    add: (n: number) => (total += n),
    async fail(why: string) {
      await undefined;
      throw new Error(why);
    },
    async *items(why: string) {
      yield 1;
      throw new Error(why);
    },
  };
}

/** Who gets the message, and what its reference is. */
const RECIPIENTS: Record<string, (test: TestSystem, supervision: Supervision) => Ref<Tally>> = {
  "an actor": ({ system }) => system.spawn("tally", Tally, tally),
  "an actor with several handlers": ({ system }) => system.spawn("tally", Tally, tally, { concurrency: 3 }),
  "an actor that checks all": ({ system }) => system.spawn("tally", Tally, tally, { validate: "always" }),
  "an actor that stashes it first": ({ system }) =>
    system.spawn("tally", Tally, (ctx) => {
      const own = tally();
      let isStashed = false;
      const later =
        <Given extends unknown[], Result>(handler: (...given: Given) => Result) =>
        (...given: Given) => {
          if (isStashed) return handler(...given);
          isStashed = true;
          const passedOn = ctx.stash();
          ctx.self.tell("add", 0);
          return passedOn;
        };
      return {
        add(n) {
          ctx.unstash();
          return own.add(n);
        },
        fail: later(own.fail),
        items: later(own.items),
      };
    }),
  "a worker of a pool": ({ system }, supervision) => spawnPool(system, "tally", Tally, tally, { size: 1, supervision }),
  "an actor that it is forwarded to": ({ system }) => {
    const last = system.spawn("last", Tally, tally);
    return system.spawn("tally", Tally, (ctx) => ({
      add: () => ctx.forward(last),
      fail: () => ctx.forward(last),
      items: () => ctx.forward(last),
    }));
  },
  "a child that it is forwarded to": ({ system }, supervision) =>
    system.spawn(
      "tally",
      Tally,
      (ctx) => {
        const child = ctx.spawn("child", Tally, tally);
        return { add: () => ctx.forward(child), fail: () => ctx.forward(child), items: () => ctx.forward(child) };
      },
      { supervision },
    ),
};

/** How it comes: with an operation that throws. */
type Send = (test: TestSystem, ref: Ref<Tally>, why: string) => unknown;

const received = (type: string, why: string, pattern: Pattern) =>
  parseMessage(
    serializeMessage(createMessage(address("tally"), type, why, { pattern }))._unsafeUnwrap(),
  )._unsafeUnwrap();

async function read(items: AsyncIterable<unknown>): Promise<void> {
  try {
    for await (const _ of items);
  } catch {
    // The reader is told; what becomes of the actor is looked at here.
  }
}

const DOORS: Record<string, Send> = {
  "a tell that was parsed": ({ router }, _, why) => router.tell(received("fail", why, "tell")),
  "an ask that was parsed": ({ router }, _, why) => router.ask(received("fail", why, "tell")), // Sent in another pattern.
  "an offer that was parsed": ({ router }, _, why) => router.offer(received("fail", why, "tell")),
  "a stream that was parsed": ({ router }, _, why) => read(router.stream(received("items", why, "stream"))),
  "a tell by receive": (_, ref, why) => receive(ref).tell("fail", why),
  "an ask by receive": (_, ref, why) => receive(ref).ask("fail", why),
  "an offer by receive": (_, ref, why) => receive(ref).offer("fail", why),
  "a stream by receive": (_, ref, why) => read(receive(ref).stream("items", why)),
};

type HandOn = (ctx: Context<Tally>, inner: Ref<Tally>, why: string) => unknown;

function orThrow<Value>(answer: AskResult<Value>): Value {
  if (answer.isErr()) throw answer.error;
  return answer.value;
}

describe("P9: a handler that throws for a message from outside", () => {
  for (const [who, spawn] of Object.entries(RECIPIENTS)) {
    for (const [how, send] of Object.entries(DOORS)) {
      test(`fails that message only: ${how}, to ${who}`, async () => {
        let decisions = 0;
        const supervision = (): Directive => {
          decisions++;
          return "restart";
        };
        const systems = createTestSystem({ supervision: { decide: supervision, limit: 2 } });
        const ref = spawn(systems, { decide: supervision, limit: 2 });
        await ref.ask("add", 2);
        for (let i = 0; i < 7; i++) {
          await send(systems, ref, "broken");
          await systems.settle();
        }
        expect(outcomeOf(await ref.ask("add", 3))).toBe(5);
        expect(decisions).toBe(0);
        const failures = systems.events.filter((event): event is FailedEvent => event.kind === "failed");
        expect(failures).toHaveLength(7);
        for (const failure of failures) expect(failure).toMatchObject({ directive: "resume", isUnhandled: false });
        // As ever: who asked is told, and the log where nobody is.
        const isTold = how.includes("ask") || how.includes("stream");
        expect(systems.takeLog().map(({ level }) => level)).toEqual(isTold ? [] : Array(7).fill("error"));
      });
    }
  }

  for (const [how, send] of Object.entries(DOORS)) {
    test(`restarts its actor where the owner says so: ${how}`, async () => {
      const systems = createTestSystem({ supervision: { outside: "restart", limit: 1, beyondLimit: "stop" } });
      const ref = systems.system.spawn("tally", Tally, tally);
      await ref.ask("add", 2);
      await send(systems, ref, "broken");
      expect(outcomeOf(await ref.ask("add", 3))).toBe(3);
      await send(systems, ref, "broken");
      expect(outcomeOf(await ref.ask("add", 3))).toBe("stopped");
      systems.takeLog();
    });
  }

  test("counts nothing against the limit of what fails from within", async () => {
    const systems = createTestSystem({ supervision: { limit: 1, beyondLimit: "stop" } });
    const ref = systems.system.spawn("tally", Tally, tally);
    for (let i = 0; i < 5; i++) await receive(ref).ask("fail", "x");
    await ref.ask("fail", "x");
    for (let i = 0; i < 5; i++) await receive(ref).ask("fail", "x");
    expect(outcomeOf(await ref.ask("add", 1))).toBe(1);
    await ref.ask("fail", "x");
    expect(outcomeOf(await ref.ask("add", 1))).toBe("stopped");
    expect(systems.takeLog()).toHaveLength(2);
  });

  /** How a gateway hands on what it gets, and whether that still counts as from outside. */
  const HANDED_ON: Record<string, { readonly isOutside: boolean; readonly by: HandOn }> = {
    "ctx.ask": { isOutside: true, by: async (ctx, inner, why) => orThrow(await ctx.ask(inner, "fail", why)) },
    "ctx.stream": {
      isOutside: true,
      async by(ctx, inner, why) {
        for await (const _ of ctx.stream(inner, "items", why));
      },
    },
    "ctx.tell": { isOutside: false, by: (ctx, inner, why) => ctx.tell(inner, "fail", why) },
    "ctx.offer": { isOutside: false, by: async (ctx, inner, why) => void (await ctx.offer(inner, "fail", why)) },
  };

  const INNER: Record<string, (test: TestSystem) => Ref<Tally>> = {
    "an actor": ({ system }) => system.spawn("inner", Tally, tally),
    "an actor with several handlers": ({ system }) => system.spawn("inner", Tally, tally, { concurrency: 3 }),
    "a pool": ({ system }) => spawnPool(system, "inner", Tally, tally, { size: 1 }),
    "a pool that asks all": ({ system }) => spawnPool(system, "inner", Tally, tally, { size: 2, routing: "broadcast" }),
    "an actor that forwards it": ({ system }) => {
      const last = system.spawn("last", Tally, tally);
      const on = (ctx: Context<Tally>) => () => ctx.forward(last);
      return system.spawn("inner", Tally, (ctx) => ({ add: on(ctx), fail: on(ctx), items: on(ctx) }));
    },
    "an actor that asks another": ({ system }) => {
      const last = system.spawn("last", Tally, tally);
      return system.spawn("inner", Tally, (ctx) => ({
        add: async (n) => (await ctx.ask(last, "add", n))._unsafeUnwrap(),
        fail: async (why) => orThrow(await ctx.ask(last, "fail", why)),
        items: (why) => ctx.stream(last, "items", why),
      }));
    },
  };

  for (const [who, spawnInner] of Object.entries(INNER)) {
    for (const [how, { isOutside, by }] of Object.entries(HANDED_ON)) {
      test(`fails alone ${isOutside ? "in" : "up to"} what its handler reaches by ${how}: ${who}`, async () => {
        const systems = createTestSystem({ supervision: {} });
        const inner = spawnInner(systems);
        const outer = systems.system.spawn("outer", Tally, (ctx) => ({
          ...tally(),
          fail: (why: string) => by(ctx, inner, why) as Promise<never>, // Nobody looks at what it replies.
        }));
        await Promise.all([inner.ask("add", 2), outer.ask("add", 2)]);
        await receive(outer).ask("fail", "x");
        await systems.settle();
        const restarts = systems.events.filter(({ kind }) => kind === "restarted");
        if (isOutside) expect(restarts).toEqual([]);
        else expect(restarts).not.toEqual([]);
        if (isOutside) expect(outcomeOf(await inner.ask("add", 1))).toBe(3);
        await outer.ask("fail", "x"); // The same, from within.
        await systems.settle();
        const after = systems.events.filter(({ kind }) => kind === "restarted");
        expect(after.length).toBeGreaterThan(restarts.length);
        systems.takeLog();
      });
    }
  }

  test("the supervision of an actor's children is its own", async () => {
    const systems = createTestSystem({ supervision: { outside: "restart" } });
    let child: Ref<Tally> | undefined;
    systems.system.spawn(
      "parent",
      Tally,
      (ctx) => {
        child = ctx.spawn("child", Tally, tally);
        return tally();
      },
      { supervision: {} },
    );
    const ref = child as Ref<Tally>; // The factory made it.
    await ref.ask("add", 2);
    await receive(ref).ask("fail", "x");
    expect(outcomeOf(await ref.ask("add", 3))).toBe(5);
  });
});

test("P9: the log says that an actor goes on after a message from outside, with one full stop", async () => {
  const systems = createTestSystem({ supervision: {} });
  const ref = systems.system.spawn("tally", Tally, tally);
  receive(ref).tell("fail", "No such number.");
  await systems.settle();
  ref.tell("fail", "No such number.");
  await systems.settle();
  expect(systems.takeLog().map(({ message }) => message)).toEqual([
    'envoi: "fail" to @(tally) failed in its handler: Error: No such number; it goes on.',
    'envoi: "fail" to @(tally) failed in its handler: Error: No such number; it restarts.',
  ]);
});
