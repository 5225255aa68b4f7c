import { expect, test } from "bun:test";
import { defineProtocol, receive, Type } from "../../src/index";
import { testSystems } from "./test-system";

const { createTestSystem } = testSystems();
const Wait = defineProtocol("wait", { wait: {}, quick: { reply: Type.Number() } });

function spawnWaiter() {
  const test = createTestSystem();
  const aborted: unknown[] = [];
  const ref = test.system.spawn("waiter", Wait, (ctx) => ({
    wait: () =>
      new Promise<void>((resolve) => {
        ctx.onAbort(() => {
          aborted.push(ctx.signal.reason);
          resolve(); // An empty reply is not late.
        });
      }),
    quick: () => 1,
  }));
  return { ...test, ref, aborted };
}

/** The options of an ask that keep its cancel function. */
function keepCancel() {
  const kept = {
    cancel: (_reason?: unknown): void => {},
    canceller(cancel: (reason?: unknown) => void): void {
      kept.cancel = cancel;
    },
  };
  return kept;
}

test("P7: a canceller gives the ask up as an aborted signal does, once", async () => {
  for (const through of ["reference", "door"]) {
    const { ref, aborted, settle } = spawnWaiter();
    const kept = keepCancel();
    const reply = through === "door" ? receive(ref).ask("wait", undefined, kept) : ref.ask("wait", kept);
    await settle();
    kept.cancel("the client has gone");
    kept.cancel("again");
    const error = (await reply)._unsafeUnwrapErr();
    expect([error.kind, Reflect.get(error, "reason")]).toEqual(["cancelled", "the client has gone"]);
    await settle();
    expect(aborted).toHaveLength(1);
  }
});

test("P7: a canceller gives up an offer that waits for room, and is not called for one that finds it", async () => {
  const { system, settle } = createTestSystem();
  const ref = system.spawn("full", Wait, () => ({ wait: () => new Promise<void>(() => {}), quick: () => 1 }), {
    capacity: 1,
    overflow: "wait",
  });
  ref.tell("wait");
  await settle();
  let called = 0;
  expect((await ref.offer("quick", { canceller: () => called++ })).isOk()).toBe(true);
  const kept = keepCancel();
  const offered = receive(ref).offer("quick", undefined, kept);
  await settle();
  expect([called, system.router.audit().queued]).toEqual([0, 2]);
  kept.cancel("the client has gone");
  kept.cancel("again");
  const error = (await offered)._unsafeUnwrapErr();
  expect([error.kind, Reflect.get(error, "reason")]).toEqual(["cancelled", "the client has gone"]);
  expect(system.router.audit().queued).toBe(1);
});

test("P6: a canceller does nothing once the ask has settled", async () => {
  const { ref } = spawnWaiter();
  const kept = keepCancel();
  const reply = await ref.ask("quick", kept);
  kept.cancel();
  expect(reply.unwrapOr(0)).toBe(1);
});

test("P7: a canceller works for what a handler asks", async () => {
  const { system, ref, aborted, settle } = spawnWaiter();
  const Middle = defineProtocol("middle", { start: { reply: Type.String() } });
  const kept = keepCancel();
  const middle = system.spawn("middle", Middle, (ctx) => ({
    async start() {
      const reply = await ctx.ask(ref, "wait", kept);
      return reply.isErr() ? reply.error.kind : "replied";
    },
  }));
  const reply = middle.ask("start");
  await settle();
  kept.cancel();
  expect((await reply).unwrapOr("")).toBe("cancelled");
  await settle();
  expect(aborted).toHaveLength(1);
});

test("a canceller that is no function is refused at once", () => {
  const { ref } = spawnWaiter();
  // The compiler refuses it, and JavaScript does not.
  expect(() => ref.ask("quick", { canceller: "me" as never })).toThrow(
    /The canceller of an ask is a function, such as/,
  );
});
