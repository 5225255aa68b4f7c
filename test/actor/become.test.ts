import { expect, test } from "bun:test";
import { type AskResult, address, type Context, defineProtocol, type SignaturesOf, Type } from "../../src/index";
import { type TestOptions, testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const Door = defineProtocol("door", {
  push: { reply: Type.String() },
  open: {},
  close: {},
  fail: {},
});
type Door = SignaturesOf<typeof Door>;
const outcomeOf = (answer: AskResult): unknown => (answer.isOk() ? answer.value : answer.error.kind);

function doorOf(ctx: Context<Door>, state: string) {
  return {
    push: () => state,
    open: () => ctx.become(doorOf(ctx, `${state}>`)),
    close: () => ctx.unbecome(),
    fail(): void {
      throw new Error("broken");
    },
  };
}

// The loop over plain handlers, and the one that looks at each message.
const WAYS: Record<string, TestOptions> = { "": {}, " where each message is looked at": { slowHandler: 1e9 } };

for (const [way, options] of Object.entries(WAYS)) {
  test(`become: the very next message, queued before, gets the new handlers${way}`, async () => {
    const { system } = createTestSystem({ ...options, supervision: {} });
    const ref = system.spawn("door", Door, (ctx) => doorOf(ctx, ""));
    const asks = [ref.ask("push")];
    ref.tell("open");
    asks.push(ref.ask("push"));
    ref.tell("open");
    asks.push(ref.ask("push"));
    ref.tell("close");
    asks.push(ref.ask("push"));
    ref.tell("close");
    asks.push(ref.ask("push"));
    expect((await Promise.all(asks)).map(outcomeOf)).toEqual(["", ">", ">>", ">", ""]);
  });
}

test("become in a timer, a hook and an asynchronous handler", async () => {
  const systems = createTestSystem();
  const gate = Promise.withResolvers<void>();
  const ref = systems.system.spawn("door", Door, (ctx) => {
    ctx.timers.once("t", 5, () => ctx.become(doorOf(ctx, "timer")));
    return {
      ...doorOf(ctx, "factory"),
      async open() {
        await gate.promise;
        ctx.become(doorOf(ctx, "handler"));
      },
      onStart: () => ctx.become({ ...doorOf(ctx, "hook"), open: () => gate.promise.then(() => ctx.unbecome()) }),
    };
  });
  expect(outcomeOf(await ref.ask("push"))).toBe("hook");
  await systems.clock.advance(5);
  expect(outcomeOf(await ref.ask("push"))).toBe("timer");
  await ref.ask("close");
  ref.tell("open");
  const ask = ref.ask("push");
  gate.resolve();
  expect(outcomeOf(await ask)).toBe("factory");
});

test("P10: a restart ends what the actor became", async () => {
  const systems = createTestSystem({ supervision: {} });
  const ref = systems.system.spawn("door", Door, (ctx) => doorOf(ctx, "made"));
  await ref.ask("open");
  await ref.ask("open");
  await ref.ask("fail");
  expect(outcomeOf(await ref.ask("push"))).toBe("made");
  expect((await ref.ask("close"))._unsafeUnwrapErr().message).toContain(
    "@(door) is what it was made as: it has become nothing that ctx.unbecome() could end.",
  );
  systems.takeLog();
});

test("become in the factory throws: it would be lost", () => {
  const { system } = createTestSystem();
  expect(() =>
    system.spawn("door", Door, (ctx) => {
      ctx.become(doorOf(ctx, "lost"));
      return doorOf(ctx, "made");
    }),
  ).toThrow("@(door) has no handlers that it could change now: return them from the factory");
});

test("P10: become in the factory of a restart is a failure, and never leads back to the instance before", async () => {
  const systems = createTestSystem({ supervision: { limit: 1, beyondLimit: "stop" } });
  let instances = 0;
  const ref = systems.system.spawn("door", Door, (ctx) => {
    if (++instances === 2) ctx.become(doorOf(ctx, "lost"));
    return doorOf(ctx, `made ${instances}`);
  });
  await ref.ask("fail");
  expect(outcomeOf(await ref.ask("push"))).toBe("stopped");
  expect(systems.takeLog()).toHaveLength(2);
});

test("become what lacks a handler, or of a router's handler, throws and changes nothing", async () => {
  const { system, router } = createTestSystem();
  const ref = system.spawn("door", Door, (ctx) => ({
    ...doorOf(ctx, "made"),
    open: () => ctx.become({ push: () => "half" } as never),
  }));
  expect((await ref.ask("open"))._unsafeUnwrapErr().message).toContain('has no handler for "open"');
  expect(outcomeOf(await ref.ask("push"))).toBe("made");
  const handler = router.register(address("handler"), (_, ctx) => ctx.become({}));
  expect((await handler.ask("x" as never))._unsafeUnwrapErr().message).toContain("it cannot become another");
});

for (const hook of ["onStart", "onRestart", "onStop"] as const) {
  test(`become with ${hook} throws and changes nothing: it would never be called`, async () => {
    const { system } = createTestSystem();
    const ref = system.spawn("door", Door, (ctx) => ({
      ...doorOf(ctx, "made"),
      open: () => ctx.become({ ...doorOf(ctx, "other"), [hook]() {} }),
    }));
    expect((await ref.ask("open"))._unsafeUnwrapErr().message).toContain(
      `ctx.become() of @(door) takes no ${hook}, which would never be called: hooks stay those that the factory returned. Leave it out.`,
    );
    expect(outcomeOf(await ref.ask("push"))).toBe("made");
  });
}

test("P9: a handler that throws after it has become something else is resumed as that", async () => {
  const systems = createTestSystem();
  const ref = systems.system.spawn("door", Door, (ctx) => ({
    ...doorOf(ctx, "made"),
    fail() {
      ctx.become(doorOf(ctx, "other"));
      throw new Error("broken");
    },
  }));
  const asks = [ref.ask("fail"), ref.ask("push")];
  expect((await Promise.all(asks)).map(outcomeOf)).toEqual(["handler-failed", "other"]);
});
