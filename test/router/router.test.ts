import { expect, test } from "bun:test";
import {
  type Address,
  type AskResult,
  address,
  type Context,
  createMessage,
  createRouter,
  defineProtocol,
  type Message,
  type MessageHandler,
  spawnPool,
  Type,
} from "../../src/index";
import { expectBalance, reasonsOf, testSystems } from "../actor/test-system";
import { differences } from "../differences";

const { createTestRouter, createTestSystem } = testSystems();

const echo = address("echo");
const nobody = address("nobody");
const outcomeOf = (answer: AskResult): unknown => (answer.isOk() ? answer.value : answer.error.kind);

test("P6: what a handler returns, or its promise comes to, is the reply", async () => {
  const { router } = createTestRouter();
  router.register(echo, (message) => message.payload);
  router.register(address("later"), async (message) => {
    await undefined;
    return [message.type, message.payload];
  });
  router.register(address("broken"), () => {
    throw new Error("no");
  });
  expect((await router.ask(createMessage(echo, "say", "hi"), { timeout: 500 }))._unsafeUnwrap()).toBe("hi");
  expect((await router.ask(createMessage(address("later"), "say", 1)))._unsafeUnwrap()).toEqual(["say", 1]);
  expect((await router.ask(createMessage(address("broken"), "say", 1)))._unsafeUnwrapErr().kind).toBe("handler-failed");
});

test("P3: a handler of a router gets one message at a time", async () => {
  const { router, clock } = createTestRouter();
  const gates: PromiseWithResolvers<void>[] = [];
  let inside = 0;
  router.register(echo, async (message) => {
    inside++;
    const gate = Promise.withResolvers<void>();
    gates.push(gate);
    await gate.promise;
    inside--;
    return message.payload;
  });
  const asks = [1, 2].map((payload) => router.ask(createMessage(echo, "say", payload)));
  for (const begun of [1, 2]) {
    await clock.settle();
    expect({ inside, begun: gates.length }).toEqual({ inside: 1, begun });
    gates[begun - 1]?.resolve();
  }
  expect((await Promise.all(asks)).map(outcomeOf)).toEqual([1, 2]);
});

test("P14: an address is registered once, and again after it was freed", async () => {
  const { router } = createTestRouter();
  const first = router.register(echo, () => "first");
  expect(() => router.register(echo, () => "second")).toThrow(/@\(echo\) is in use; stop that actor first/);
  expect(router.has(echo)).toBe(true);
  expect(await router.unregister(echo)).toBe(true);
  expect(router.has(echo)).toBe(false);
  expect(await router.unregister(echo)).toBe(false);
  router.register(echo, () => "second");
  expect(outcomeOf(await router.ask(createMessage(echo, "say", 1)))).toBe("second");
  expect(outcomeOf(await first.ask("say", 1))).toBe("stopped");
});

test("P14: a router and its system share their addresses", async () => {
  const { system, router } = createTestSystem();
  const Echo = defineProtocol("echo", { say: { payload: Type.String(), reply: Type.String() } });
  const ref = system.spawn("echo", Echo, () => ({ say: (text) => text }));
  expect(router.has(ref.address)).toBe(true);
  expect(() => router.register(echo, () => 1)).toThrow(/in use/);
  expect(outcomeOf(await router.ask(createMessage(echo, "say", "hi")))).toBe("hi");
  expect(outcomeOf(await router.ask(createMessage(echo, "shout", "hi")))).toBe("unknown-operation");
  await router.unregister(echo);
  expect(outcomeOf(await ref.ask("say", "hi"))).toBe("stopped");
  const registered = router.register(echo, () => 1);
  expect(() => system.spawn("echo", Echo, () => ({ say: (text) => text }))).toThrow(/in use/);
  await system.stop(registered);
  expect(router.has(echo)).toBe(false);
});

test("P13: unregister finishes the running message, and the others get `stopped`", async () => {
  const { router, clock } = createTestRouter();
  const gate = Promise.withResolvers<string>();
  router.register(echo, () => gate.promise);
  const asks = [1, 2].map((payload) => router.ask(createMessage(echo, "say", payload)));
  await clock.settle();
  let isFree = false;
  const unregistered = router.unregister(echo).then((wasThere) => {
    isFree = true;
    return wasThere;
  });
  await clock.settle();
  expect(isFree).toBe(false);
  gate.resolve("finished");
  expect(await unregistered).toBe(true);
  expect((await Promise.all(asks)).map(outcomeOf)).toEqual(["finished", "stopped"]);
});

test("P14: what is no address, or no handler, is refused at once with a sentence", () => {
  const { router } = createTestRouter();
  for (const at of ["echo", "@()", "@(a b)", "@(a", "", undefined, null, 7, {}]) {
    expect(() => router.register(at as Address, () => 1)).toThrow(/is not an address; make one with address\("echo"\)/);
    expect(router.has(at as Address)).toBe(false);
  }
  for (const handler of [undefined, null, {}, "echo"]) {
    expect(() => router.register(echo, handler as MessageHandler)).toThrow(/handler of @\(echo\) is a function/);
  }
  expect(router.has(echo)).toBe(false);
});

test("P1: a message to nobody is a dead letter, and an ask and an offer are told", async () => {
  const { router, deadLetters, takeLog } = createTestRouter();
  const messages = [1, 2, 3].map((payload) => createMessage(nobody, "say", payload));
  const [told, asked, offered] = messages as [Message, Message, Message];
  router.tell(told);
  const error = (await router.ask(asked))._unsafeUnwrapErr();
  expect(error).toMatchObject({ kind: "no-recipient", retryable: false, address: nobody, operation: "say" });
  expect(error.undelivered).toBe(asked);
  expect(error.message).toContain("@(nobody)");
  expect((await router.offer(offered))._unsafeUnwrapErr()).toMatchObject({ kind: "no-recipient" });
  expect(reasonsOf(deadLetters)).toEqual(["no-recipient", "no-recipient", "no-recipient"]);
  expect(deadLetters.map((letter) => letter.message)).toEqual(messages);
  expect(deadLetters.map((letter) => letter.asked)).toEqual([false, true, true]);
  expect(router.audit()).toMatchObject({ accepted: 3, dead: 3 });
  expect(takeLog()).toHaveLength(1);
});

test("P1: offer tells that the mailbox took the message, before it is handled", async () => {
  const { router, clock } = createTestRouter();
  const gate = Promise.withResolvers<void>();
  const seen: unknown[] = [];
  const ref = router.register(echo, async (message) => {
    seen.push(message.payload);
    await gate.promise;
  });
  expect((await router.offer(createMessage(echo, "say", 1))).isOk()).toBe(true);
  expect((await ref.offer("say", 2)).isOk()).toBe(true);
  await clock.settle();
  expect(seen).toEqual([1]);
  gate.resolve();
  await clock.settle();
  expect(seen).toEqual([1, 2]);
});

test("P2: a handler gets the message as it was sent, in the pattern that it was sent in", async () => {
  const { router, clock } = createTestRouter();
  const seen: Message[] = [];
  const ref = router.register(echo, (message) => void seen.push(message));
  const message = createMessage(echo, "say", { a: 1 }, { metadata: { trace: "t" }, timestamp: 3 });
  router.tell(message);
  await router.ask(message);
  ref.tell("by ref", 2);
  await clock.settle();
  expect(seen[0]).toBe(message);
  expect(seen[1]).toMatchObject({ id: message.id, pattern: "ask", metadata: { trace: "t" }, timestamp: 3 });
  expect(seen[1]?.payload).toBe(message.payload);
  expect(seen[2]).toMatchObject({ pattern: "tell", to: echo, type: "by ref", payload: 2, timestamp: 0 });
});

test("P7: a handler of a router has a context: signal, self, tell, ask, spawn and stop", async () => {
  const { router, clock } = createTestRouter();
  const contexts: Context<never>[] = [];
  const signals: AbortSignal[] = [];
  const gate = Promise.withResolvers<void>();
  const Child = defineProtocol("child", { age: { reply: Type.Number() } });
  const ref = router.register(echo, async (message, ctx) => {
    contexts.push(ctx as unknown as Context<never>);
    expect(ctx.message).toBe(message);
    expect(ctx.self).toBe(ref);
    switch (message.type) {
      case "wait":
        signals.push(ctx.signal);
        await gate.promise;
        throw ctx.signal.reason;
      case "spawn":
        return (
          await ctx.ask(
            ctx.spawn("child", Child, () => ({ age: () => 3 })),
            "age",
          )
        ).unwrapOr(-1);
      case "stop":
        return ctx.stop();
      default:
        return ctx.sender?.address;
    }
  });
  const ask = router.ask(createMessage(echo, "wait", 0), { timeout: 10 });
  await clock.advance(10);
  expect(outcomeOf(await ask)).toBe("timeout");
  expect(signals[0]?.aborted).toBe(true);
  gate.resolve();
  const rest = ["spawn", "who", "stop"].map((type) => router.ask(createMessage(echo, type, 0, { from: echo })));
  await clock.settle();
  expect((await Promise.all(rest)).map(outcomeOf)).toEqual([3, echo, undefined]);
  expect(new Set(contexts).size).toBe(1);
  expect(router.has(echo)).toBe(false);
  expect(router.has(address("echo/child"))).toBe(false);
});

test("P4: a handler that tells through the router is not run on its own stack", async () => {
  const { router, clock } = createTestRouter();
  const events: string[] = [];
  router.register(echo, (message) => {
    events.push(`begin ${message.payload}`);
    if (message.payload === 1) router.tell(createMessage(echo, "say", 2));
    events.push(`end ${message.payload}`);
  });
  router.tell(createMessage(echo, "say", 1));
  expect(events).toEqual([]);
  await clock.settle();
  expect(events).toEqual(["begin 1", "end 1", "begin 2", "end 2"]);
});

test("P4: an object that lacks what a message has is a dead letter, and does not stop the others", async () => {
  const { router, clock, deadLetters, takeLog } = createTestRouter();
  const seen: unknown[] = [];
  router.register(echo, (message) => void seen.push(message.payload));
  for (const none of [{}, { to: "echo" }, { to: 7, type: "say" }, { to: "@(__proto__)", type: "__proto__" }]) {
    expect(() => router.tell(none as unknown as Message)).not.toThrow();
  }
  router.tell(createMessage(echo, "say", 1));
  await clock.settle();
  expect(seen).toEqual([1]);
  expect(reasonsOf(deadLetters)).toEqual(new Array(4).fill("no-recipient"));
  expect(takeLog()).toHaveLength(4);
});

test("P6: ten thousand asks through a router all come back", async () => {
  const { router } = createTestRouter();
  router.register(echo, (message) => message.payload);
  const asks = Array.from({ length: 10_000 }, (_, i) => router.ask(createMessage(echo, "say", i)));
  const outcomes = (await Promise.all(asks)).map(outcomeOf);
  expect(
    differences<unknown>(
      outcomes,
      asks.map((_, i) => i),
    ),
  ).toEqual([]);
});

test("P14: two routers know nothing of each other", async () => {
  const { router, takeLog } = createTestRouter();
  const other = createTestRouter();
  router.register(echo, () => 1);
  expect(other.router.has(echo)).toBe(false);
  other.router.register(echo, () => 2);
  expect(outcomeOf(await router.ask(createMessage(echo, "say", 0)))).toBe(1);
  expect(outcomeOf(await other.router.ask(createMessage(echo, "say", 0)))).toBe(2);
  expect(createRouter().has(echo)).toBe(false);
  expect(takeLog()).toEqual([]);
});

test("P4: a tell of what is no message does not throw, and is logged; an ask of it throws at once", () => {
  const { router, takeLog } = createTestRouter();
  for (const nothing of [undefined, null, 7, "text"]) {
    const message = nothing as unknown as Message;
    router.tell(message);
    expect(takeLog()).toEqual([expect.objectContaining({ message: expect.stringContaining("is no message") })]);
    expect(() => router.ask(message)).toThrow("is no message");
    expect(() => router.offer(message)).toThrow("is no message");
    expect(() => router.stream(message)).toThrow("is no message");
  }
  expect(router.audit().accepted).toBe(0);
});

test("P4: a tell of a message that throws when it is read does not throw, and is logged", () => {
  const { router, takeLog } = createTestRouter();
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const hostile = {
    get to(): never {
      throw new Error("not yours");
    },
  };
  for (const message of [revoked.proxy, hostile]) {
    router.tell(message as unknown as Message);
    expect(takeLog()).toEqual([expect.objectContaining({ message: expect.stringContaining("was dropped") })]);
  }
  expect(router.audit().accepted).toBe(0);
});

/** A message whose reading throws: of one field, or of all, also where it is only looked at for a field. */
function unreadable(field: keyof Message | "all"): Message {
  const throwing = (): never => {
    throw new Error("not yours");
  };
  const message = createMessage(echo, "say", 1);
  if (field !== "all") return Object.defineProperty({ ...message }, field, { get: throwing });
  return new Proxy({ ...message }, { has: throwing, getPrototypeOf: throwing });
}

for (const where of ["an actor", "a bounded actor", "a handler", "a pool", "nobody", "an interceptor"]) {
  test(`P1: a tell of a message that cannot be read, to ${where}, leaves the audit balanced`, async () => {
    const { system, router, clock, takeLog } = createTestSystem();
    const Echo = defineProtocol("echo", { say: { payload: Type.Number() } });
    const make = () => ({ say() {} });
    if (where === "an actor") system.spawn("echo", Echo, make);
    if (where === "a bounded actor") system.spawn("echo", Echo, make, { capacity: 1 });
    if (where === "a pool") spawnPool(system, "echo", Echo, make, { size: 2, routing: "broadcast" });
    if (where === "a handler" || where === "an interceptor") router.register(echo, (message) => message.payload);
    if (where === "an interceptor") router.use((_, next) => next());
    for (const field of ["to", "type", "payload", "pattern", "id", "metadata", "all"] as const) {
      expect(() => router.tell(unreadable(field))).not.toThrow();
      expectBalance(router.audit());
      await clock.settle();
      expectBalance(router.audit());
    }
    takeLog();
    router.tell(createMessage(echo, "say", 1)); // Nothing is stuck behind them.
    await clock.settle();
    const { queued, running } = router.audit();
    expect([queued, running]).toEqual([0, 0]);
    takeLog();
    await clock.advance(1_000); // The window of the log.
    takeLog();
  });
}
