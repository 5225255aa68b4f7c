import { describe, expect, test } from "bun:test";
import {
  type Address,
  type AskResult,
  address,
  createMessage,
  createRouter,
  defineProtocol,
  drop,
  err,
  type Interceptor,
  type Message,
  ok,
  parseMessage,
  Type,
} from "../../src/index";
import { createManualClock } from "../../src/testing/index";
import { expectBalance, reasonsOf, type TestRouter, testSystems } from "../actor/test-system";

const { createTestRouter, createTestSystem } = testSystems();

const echo = address("echo");
const say = (payload: unknown, to: Address = echo) => createMessage(to, "say", payload);
const outcomeOf = (answer: AskResult): unknown => (answer.isOk() ? answer.value : answer.error.kind);
const pass: Interceptor = (_, next) => next();

/** A router with an echo, and what it was sent. */
function createEcho(make: () => TestRouter = createTestRouter) {
  const made = make();
  const seen: unknown[] = [];
  made.router.register(echo, (message) => {
    seen.push(message.payload);
    return message.payload;
  });
  return { ...made, seen };
}

/** An interceptor that holds each message until its gate is opened. */
function createGates() {
  const gates: PromiseWithResolvers<void>[] = [];
  const hold: Interceptor = async (_, next) => {
    const gate = Promise.withResolvers<void>();
    gates.push(gate);
    await gate.promise;
    return next();
  };
  return { gates, hold };
}

describe("passing, changing, answering, dropping", () => {
  test("P2: interceptors see each message in the order in which they were installed, and replies in the other", async () => {
    const { router, seen, clock } = createEcho();
    const events: string[] = [];
    for (const name of ["a", "b"]) {
      router.use(async (message, next) => {
        events.push(`${name} ${message.payload}`);
        const reply = await next({ ...message, payload: `${message.payload}${name}` });
        events.push(`${name} ${reply.unwrapOr("none")}`);
        return reply.map((value) => `${value}${name.toUpperCase()}`);
      });
    }
    expect(outcomeOf(await router.ask(say("1")))).toBe("1abBA");
    expect(events).toEqual(["a 1", "b 1a", "b 1ab", "a 1abB"]);
    router.tell(say("2"));
    expect((await router.offer(say("3")))._unsafeUnwrap()).toBeUndefined();
    await clock.settle();
    expect(seen).toEqual(["1ab", "2ab", "3ab"]);
    expect(router.audit()).toMatchObject({ accepted: 3, handled: 3 });
  });

  test("P6: a message may be sent elsewhere", async () => {
    const { router, seen } = createEcho();
    router.register(address("other"), () => "from the other");
    router.use((message, next) => next({ ...message, to: address("other") }));
    expect(outcomeOf(await router.ask(say(1)))).toBe("from the other");
    expect(seen).toEqual([]);
  });

  test("P1: an answer is what the asker gets; the message counts as handled, and nobody else sees it", async () => {
    const { router, seen } = createEcho();
    const behind: unknown[] = [];
    router.use(() => ok("cached"));
    router.use((message, next) => {
      behind.push(message);
      return next();
    });
    expect(outcomeOf(await router.ask(say(1)))).toBe("cached");
    expect((await router.offer(say(1)))._unsafeUnwrap()).toBeUndefined();
    router.tell(say(1));
    expect({ seen, behind }).toEqual({ seen: [], behind: [] });
    expect(router.audit()).toMatchObject({ accepted: 3, handled: 3 });
    expect(outcomeOf(await router.ask(createMessage(address("nobody"), "say", 1)))).toBe("cached");
  });

  test("P1: what is dropped is a dead letter that says why; who asked is told, and the log has the rest", async () => {
    const { router, seen, deadLetters, takeLog } = createEcho();
    router.use(() => drop("no token"));
    const message = say(1);
    const error = (await router.ask(message))._unsafeUnwrapErr();
    expect(error).toMatchObject({ kind: "cancelled", reason: "no token", retryable: false, operation: "say" });
    expect(error.message).toBe('"say" to @(echo) was dropped by an interceptor: no token');
    expect(error.undelivered.payload).toBe(1);
    expect((await router.offer(message))._unsafeUnwrapErr().kind).toBe("cancelled");
    expect(takeLog()).toEqual([]);
    router.tell(message);
    expect(takeLog()).toEqual([
      expect.objectContaining({ level: "warn", message: expect.stringContaining("dead letter (dropped): ") }),
    ]);
    expect(deadLetters.map((letter) => [letter.reason, letter.asked, letter.description])).toEqual([
      ["dropped", true, error.message],
      ["dropped", true, error.message],
      ["dropped", false, error.message],
    ]);
    expect(deadLetters[2]?.message).toBe(message);
    expect(seen).toEqual([]);
    expect(router.audit()).toMatchObject({ accepted: 3, dead: 3 });
  });

  test("P1: the reason of a drop is said", () => {
    for (const why of ["", undefined, 7]) expect(() => drop(why as string)).toThrow('drop("it has no token")');
  });

  test("P6: what comes of a message is what next() gives: for a tell, that the mailbox has it, or why not", async () => {
    const { router, clock, takeLog } = createEcho();
    const given: unknown[] = [];
    router.use(async (_, next) => {
      const outcome = await next();
      given.push(outcomeOf(outcome));
      return outcome;
    });
    router.tell(say(1));
    router.tell(say(1, address("nobody")));
    await router.offer(say(1, address("nobody")));
    await router.ask(say("reply"));
    await clock.settle();
    expect(given).toEqual([undefined, "no-recipient", "no-recipient", "reply"]);
    expect(takeLog()).toHaveLength(1);
    expect(router.audit()).toMatchObject({ accepted: 4, handled: 2, dead: 2 });
  });

  test("P2: interceptors see the pattern in which a message is really sent, whatever they make of it", async () => {
    const { router, seen } = createEcho();
    const patterns: string[] = [];
    const note: Interceptor = (message, next) => {
      patterns.push(message.pattern);
      return next({ ...message, pattern: "stream" });
    };
    router.use(note);
    router.use(note);
    const asked = createMessage(echo, "say", 1, { pattern: "ask" });
    router.tell(asked);
    await router.offer(asked);
    await router.ask(say(1));
    expect(patterns).toEqual(["tell", "tell", "tell", "tell", "ask", "ask"]);
    expect(seen).toHaveLength(3);
  });

  test("P1: refs are not seen by the interceptors of a router", async () => {
    const { router } = createTestRouter();
    const ref = router.register(echo, (message) => message.payload);
    router.use(() => drop("everything"));
    expect(outcomeOf(await ref.ask("say", 1))).toBe(1);
  });
});

describe("installing", () => {
  test("P14: an interceptor is taken out again, once, and the same one may be in use twice", async () => {
    const { router } = createEcho();
    const add: Interceptor = (message, next) => next({ ...message, payload: Number(message.payload) + 1 });
    const removeFirst = router.use(add);
    const removeSecond = router.use(add);
    expect(outcomeOf(await router.ask(say(0)))).toBe(2);
    removeFirst();
    removeFirst();
    expect(outcomeOf(await router.ask(say(0)))).toBe(1);
    removeSecond();
    expect(outcomeOf(await router.ask(say(0)))).toBe(0);
    const removeThird = router.use(add);
    removeSecond();
    expect(outcomeOf(await router.ask(say(0)))).toBe(1);
    removeThird();
  });

  test("P2: what was sent before the last interceptor was taken out is not overtaken", async () => {
    const { router, clock, seen } = createEcho();
    const { gates, hold } = createGates();
    const remove = router.use(hold);
    router.tell(say(1));
    router.tell(say(2));
    remove();
    router.tell(say(3));
    expect(router.audit()).toMatchObject({ accepted: 3, running: 1, queued: 2 });
    gates[0]?.resolve();
    await clock.settle();
    expect(seen).toEqual([1, 2, 3]);
    expect(gates).toHaveLength(1); // 2 was not in the interceptor yet.
  });

  test("P9: what is no function is refused at once", () => {
    const { router } = createTestRouter();
    for (const none of [undefined, null, {}, "log"]) {
      expect(() => router.use(none as unknown as Interceptor)).toThrow(
        "An interceptor is a function, as in router.use((message, next) => next())",
      );
    }
  });
});

describe("P4", () => {
  test("P4: an interceptor runs on the sender's stack, its handler does not, and no macrotask is added", async () => {
    const { router } = createTestRouter();
    const events: string[] = [];
    router.register(echo, () => void events.push("handled"));
    router.use((_, next) => {
      events.push("seen");
      return next();
    });
    router.tell(say(1));
    expect(events).toEqual(["seen"]);
    await Promise.resolve(); // Microtasks alone, and as many as without interceptors.
    expect(events).toEqual(["seen", "handled"]);
  });

  test("P4: a tell never throws, whatever an interceptor does or a message is", async () => {
    const { router, clock, takeLog } = createEcho();
    router.use(() => {
      throw new Error("no");
    });
    expect(() => router.tell(say(1))).not.toThrow();
    expect(takeLog()).toHaveLength(1);
    const hostile = {
      get pattern(): never {
        throw new Error("not yours");
      },
    };
    for (const none of [undefined, null, hostile]) {
      expect(() => router.tell(none as unknown as Message)).not.toThrow();
      expect(takeLog()).toHaveLength(1);
    }
    expect(() => router.ask(undefined as unknown as Message)).toThrow("is no message");
    expect(() => router.offer(undefined as unknown as Message)).toThrow("is no message");
    expect(() => router.ask(say(1), { timeout: -1 })).toThrow(RangeError);
    await clock.settle();
  });

  test("P4: an interceptor that sends through its own router without end neither overflows nor blocks the loop", async () => {
    const { router, clock } = createTestRouter();
    let count = 0;
    const log = address("log");
    router.register(log, () => undefined);
    router.use((message, next) => {
      if (count++ < 50_000) router.tell(say(count, log));
      return next(message);
    });
    router.tell(say(0, log));
    expect(count).toBe(1); // What an interceptor sends has a turn of its own.
    await clock.settle();
    expect(router.audit()).toMatchObject({ accepted: 50_001, handled: 50_001 });
  });
});

describe("P2", () => {
  test("P2: messages to one address wait behind one that is in an interceptor; others are not held up", async () => {
    const { router, clock, seen } = createEcho();
    const other = address("other");
    const elsewhere: unknown[] = [];
    router.register(other, (message) => void elsewhere.push(message.payload));
    const slow = Promise.withResolvers<void>();
    router.use(async (message, next) => {
      if (message.payload === "slow") await slow.promise;
      return next();
    });
    router.use(pass);
    router.tell(say("slow"));
    router.tell(say("quick"));
    const asked = router.ask(say("asked"));
    const offered = router.offer(say("offered"));
    router.tell(say("not held up", other));
    await clock.settle();
    expect({ seen, elsewhere }).toEqual({ seen: [], elsewhere: ["not held up"] });
    expect(router.audit()).toMatchObject({ accepted: 5, handled: 1, running: 1, queued: 3 });
    slow.resolve();
    await clock.settle();
    router.tell(say("last"));
    await Promise.all([asked, offered, clock.settle()]);
    expect(seen).toEqual(["slow", "quick", "asked", "offered", "last"]);
  });

  test("P2: the queue goes on behind one that was dropped, answered or failed", async () => {
    const { router, clock, seen, takeLog } = createEcho();
    router.use(async (message, next) => {
      await undefined;
      switch (message.payload) {
        case "drop":
          return drop("as it says");
        case "answer":
          return ok(1);
        case "fail":
          throw new Error("as it says");
        default:
          return next();
      }
    });
    for (const payload of ["drop", 1, "answer", 2, "fail", 3]) router.tell(say(payload));
    await clock.settle();
    expect(seen).toEqual([1, 2, 3]);
    expect(router.audit()).toMatchObject({ accepted: 6, handled: 4, failed: 1, dead: 1 });
    expect(takeLog()).toHaveLength(2);
  });

  test("P2: a message that has passed holds nobody up while its reply is looked at", async () => {
    const { router } = createEcho();
    const gate = Promise.withResolvers<void>();
    router.use(async (message, next) => {
      const reply = await next();
      if (message.payload === "slow") await gate.promise;
      return reply;
    });
    const slow = router.ask(say("slow"));
    expect(outcomeOf(await router.ask(say("quick")))).toBe("quick");
    gate.resolve();
    expect(outcomeOf(await slow)).toBe("slow");
  });

  test("P5: what waited behind an interceptor does not starve the event loop", async () => {
    let now = 0;
    const clock = createManualClock();
    const router = createRouter({ clock: { ...clock, monotonicTime: () => now } });
    router.register(echo, () => undefined);
    const { gates, hold } = createGates();
    const remove = router.use(hold);
    router.tell(say(0));
    remove();
    let count = 0;
    router.use((_, next) => {
      count++;
      now += 0.1; // A tenth of a turn.
      return next();
    });
    for (let i = 1; i <= 1_000; i++) router.tell(say(i));
    gates[0]?.resolve();
    await new Promise((resolve) => setImmediate(resolve)); // The turn has ended; the next one needs a macrotask.
    expect(count).toBeLessThan(100);
    await clock.settle();
    expect(count).toBe(1_000);
    expect(router.audit()).toMatchObject({ accepted: 1_001, handled: 1_001 });
  });

  test("P2: what an interceptor sends to an address comes behind what waits for it", async () => {
    const { router, clock, seen } = createEcho();
    const { gates, hold } = createGates();
    router.use((message, next) => {
      if (message.payload === "first") router.tell(say("from the interceptor"));
      return next();
    });
    const remove = router.use(hold);
    router.tell(say("first"));
    router.tell(say("second"));
    expect(router.audit()).toMatchObject({ accepted: 3, running: 1, queued: 2 });
    remove();
    gates[0]?.resolve();
    await clock.settle();
    expect(seen).toEqual(["first", "from the interceptor", "second"]);
  });
});

describe("an interceptor that fails", () => {
  const cause = new Error("broken");
  const fail = () => {
    throw cause;
  };
  for (const [how, interceptor] of [
    ["throws", fail],
    ["rejects", () => Promise.reject(cause)],
  ] as const satisfies [string, Interceptor][]) {
    test(`P9: one that ${how} fails that message: the asker has the cause, and a tell is logged`, async () => {
      const { router, clock, seen, takeLog } = createEcho();
      const remove = router.use(interceptor);
      const error = (await router.ask(say(1)))._unsafeUnwrapErr();
      expect(error).toMatchObject({ kind: "handler-failed", cause });
      expect(error.message).toBe('"say" to @(echo) failed in an interceptor: Error: broken');
      expect((await router.offer(say(1)))._unsafeUnwrapErr().kind).toBe("handler-failed");
      expect(takeLog()).toEqual([]);
      router.tell(say(1));
      await clock.settle();
      expect(takeLog()).toEqual([
        { level: "error", message: `envoi: ${error.message}`, details: { address: echo, cause } },
      ]);
      expect(router.audit()).toMatchObject({ accepted: 3, failed: 3 });
      remove();
      expect(outcomeOf(await router.ask(say("next")))).toBe("next");
      expect(seen).toEqual(["next"]);
    });
  }

  test("P9: one in front of it gets the failure as a value, and may answer instead", async () => {
    const { router } = createEcho();
    router.use(async (_, next) => ok((await next()).match(String, (error) => error.kind)));
    router.use(fail);
    expect(outcomeOf(await router.ask(say(1)))).toBe("handler-failed");
    expect(router.audit()).toMatchObject({ accepted: 1, failed: 1 });
  });

  test("P1: one that fails after next() changes what the asker gets, not what became of the message", async () => {
    const { router, clock, seen, takeLog } = createEcho();
    router.use(async (_, next) => {
      await next();
      throw cause;
    });
    expect(outcomeOf(await router.ask(say(1)))).toBe("handler-failed");
    router.tell(say(2));
    await clock.settle();
    expect(takeLog()).toHaveLength(1);
    expect(seen).toEqual([1, 2]);
    expect(router.audit()).toMatchObject({ accepted: 2, handled: 2, failed: 0 });
  });

  test("P1: one that fails while the next one has the message does not take it away", async () => {
    const { router, clock, seen } = createEcho();
    const { gates, hold } = createGates();
    router.use((_, next) => {
      void next();
      throw cause;
    });
    router.use(hold);
    expect(outcomeOf(await router.ask(say(1)))).toBe("handler-failed");
    expect(router.audit()).toMatchObject({ accepted: 1, running: 1 });
    gates[0]?.resolve();
    await clock.settle();
    expect(seen).toEqual([1]);
    expect(router.audit()).toMatchObject({ accepted: 1, handled: 1, failed: 0 });
  });

  test("P9: one that returns nothing that fits is told what to return", async () => {
    const { router, takeLog } = createEcho();
    for (const [none, what] of [
      [undefined, "undefined (a return is missing)"],
      [null, "null"],
      ["text", '"text"'],
      [{ value: 1 }, "an object"],
      [err("no delivery error"), "Err"],
      [Promise.resolve(undefined), "undefined (a return is missing)"],
    ] as const) {
      const remove = router.use((() => none) as unknown as Interceptor);
      const error = (await router.ask(say(1)))._unsafeUnwrapErr();
      expect(error.kind === "handler-failed" && error.cause).toBeInstanceOf(TypeError);
      expect(error.message).toContain('An interceptor returns what next() gave, ok(answer) or drop("why"); this one: ');
      if (what !== "Err" && what !== "an object") expect(error.message).toEndWith(`${what}.`);
      remove();
    }
    expect(router.audit()).toMatchObject({ accepted: 6, failed: 6 });
    expect(takeLog()).toEqual([]);
  });

  test("P1: a message is handed on once: the second next() throws", async () => {
    const { router, seen } = createEcho();
    router.use(async (_, next) => {
      await next();
      return next();
    });
    const error = (await router.ask(say(1)))._unsafeUnwrapErr();
    expect(error.message).toContain("TypeError: next() was called twice");
    expect(seen).toEqual([1]);
    expect(router.audit()).toMatchObject({ accepted: 1, handled: 1 });
  });

  test("P1: next() after its interceptor returned throws, and nothing is sent", async () => {
    const { router, seen } = createEcho();
    const late: (() => unknown)[] = [];
    router.use((_, next) => {
      late.push(next);
      return ok("answered");
    });
    expect(outcomeOf(await router.ask(say(1)))).toBe("answered");
    expect(late[0]).toThrow("next() came after its interceptor had returned");
    expect(seen).toEqual([]);
  });

  test("P1: drop() after next() is refused: the message has been sent", async () => {
    const { router } = createEcho();
    router.use(async (_, next) => {
      await next();
      return drop("too late");
    });
    expect((await router.ask(say(1)))._unsafeUnwrapErr().message).toContain("drop() came after next()");
    expect(router.audit()).toMatchObject({ accepted: 1, handled: 1, dead: 0 });
  });

  test("P9: next() takes a message", async () => {
    const { router, seen } = createEcho();
    router.use((_, next) => next("text" as unknown as Message));
    expect((await router.ask(say(1)))._unsafeUnwrapErr().message).toContain("next() takes a message, such as");
    expect(seen).toEqual([]);
  });

  test("P1: an Err of another ask ends the message: its asker gets it, and a tell is logged", async () => {
    const { router, seen, takeLog } = createEcho();
    const guard = createTestRouter();
    router.use(async (_, next) => {
      const allowed = await guard.router.ask(say("may I?", address("guard")));
      return allowed.isErr() ? allowed : next();
    });
    const error = (await router.ask(say(1)))._unsafeUnwrapErr();
    expect(error).toMatchObject({ kind: "no-recipient", address: "@(guard)" });
    router.tell(say(1));
    await guard.clock.settle();
    expect(takeLog()).toEqual([expect.objectContaining({ message: expect.stringContaining("@(guard)") })]);
    expect(seen).toEqual([]);
    expect(router.audit()).toMatchObject({ accepted: 2, failed: 2 });
  });
});

describe("giving up", () => {
  test("P6: an ask whose interceptor never ends, ends by its timeout; the queue goes on", async () => {
    const { router, clock, seen, deadLetters } = createEcho();
    const { gates, hold } = createGates();
    const remove = router.use(hold);
    const first = router.ask(say(1), { timeout: 100 });
    remove();
    const second = router.ask(say(2), { timeout: 200 });
    const impatient = router.ask(say(3), { timeout: 50 });
    await clock.advance(50);
    expect(outcomeOf(await impatient)).toBe("timeout");
    await clock.advance(49);
    expect(router.audit()).toMatchObject({ accepted: 3, running: 1, queued: 2 });
    await clock.advance(1);
    const error = (await first)._unsafeUnwrapErr();
    expect(error).toMatchObject({ kind: "timeout", timeout: 100, retryable: true });
    expect(error.message).toContain("was still in an interceptor after 100 ms");
    expect(outcomeOf(await second)).toBe(2);
    expect(reasonsOf(deadLetters)).toEqual(["timeout", "timeout"]);
    expect(router.audit()).toMatchObject({ accepted: 3, handled: 1, dead: 2 });
    gates[0]?.resolve(); // Its next() comes now.
    await clock.settle();
    expect(seen).toEqual([2]);
  });

  test("P6: an ask ends by its signal in an interceptor, behind one, or before", async () => {
    const { router, clock, deadLetters } = createEcho();
    const { gates, hold } = createGates();
    router.use(hold);
    const abort = new AbortController();
    const asks = [1, 2].map((payload) => router.ask(say(payload), { signal: abort.signal }));
    abort.abort("the user left");
    expect((await Promise.all(asks)).map(outcomeOf)).toEqual(["cancelled", "cancelled"]);
    expect((await asks[0])?._unsafeUnwrapErr().message).toContain("was cancelled by its signal: the user left");
    await clock.settle();
    expect(reasonsOf(deadLetters)).toEqual(["cancelled", "cancelled"]);
    expect(outcomeOf(await router.ask(say(3), { signal: abort.signal }))).toBe("cancelled");
    expect(router.audit()).toMatchObject({ accepted: 2, dead: 2 });
    expect(gates).toHaveLength(1);
  });

  test("P1: one that was cancelled while it waited behind another is a dead letter of that, whatever time is over since", async () => {
    const { router, clock, deadLetters } = createEcho();
    const { gates, hold } = createGates();
    router.use(hold);
    const first = router.ask(say(1), { timeout: 100 });
    const abort = new AbortController();
    const second = router.ask(say(2), { timeout: 10, signal: abort.signal });
    abort.abort("the user left");
    expect(outcomeOf(await second)).toBe("cancelled");
    await clock.advance(20);
    gates[0]?.resolve();
    expect(outcomeOf(await first)).toBe(1);
    await clock.settle();
    expect(reasonsOf(deadLetters)).toEqual(["cancelled"]);
  });

  test("P7: next() after the asker gave up sends nothing and says why; its answer is a late reply", async () => {
    const { router, clock, seen, deadLetters, takeLog } = createEcho();
    const gate = Promise.withResolvers<void>();
    const given: unknown[] = [];
    router.use(async (_, next) => {
      await gate.promise;
      given.push(outcomeOf(await next()));
      return ok("an answer");
    });
    router.use((_, next) => {
      given.push("seen by the next one");
      return next();
    });
    const ask = router.ask(say(1), { timeout: 10 });
    await clock.advance(10);
    expect(outcomeOf(await ask)).toBe("timeout");
    gate.resolve();
    await clock.settle();
    expect({ given, seen }).toEqual({ given: ["timeout"], seen: [] });
    expect(reasonsOf(deadLetters)).toEqual(["timeout", "late-reply"]);
    expect(deadLetters[1]).toMatchObject({ reply: "an answer", operation: "say", address: echo });
    expect(router.audit()).toMatchObject({ accepted: 2, dead: 2 });
    expect(takeLog()).toHaveLength(1);
  });

  test("P7: the time in interceptors counts: the handler's signal aborts when the ask's time is over", async () => {
    const { router, clock } = createTestRouter();
    const signals: AbortSignal[] = [];
    const gate = Promise.withResolvers<void>();
    router.register(echo, (_, ctx) => {
      signals.push(ctx.signal);
      return gate.promise;
    });
    const { gates, hold } = createGates();
    router.use(hold);
    router.register(address("other"), () => undefined).tell("work"); // A turn has begun.
    const ask = router.ask(say(1), { timeout: 100 });
    await clock.advance(60);
    gates[0]?.resolve();
    await clock.advance(39);
    expect(signals[0]?.aborted).toBe(false);
    await clock.advance(1);
    expect(signals[0]?.aborted).toBe(true);
    expect((await ask)._unsafeUnwrapErr()).toMatchObject({ kind: "timeout", timeout: 100 });
    gate.resolve();
  });

  test("P7: nothing said is nothing late", async () => {
    const { router, clock, deadLetters } = createEcho();
    const gate = Promise.withResolvers<void>();
    router.use(async () => {
      await gate.promise;
      return ok(undefined);
    });
    const ask = router.ask(say(1), { timeout: 10 });
    await clock.advance(10);
    gate.resolve();
    expect(outcomeOf(await ask)).toBe("timeout");
    await clock.settle();
    expect(reasonsOf(deadLetters)).toEqual(["timeout"]);
  });

  test("P7: the asker's signal reaches the handler, and nothing listens to it once the ask has settled", async () => {
    const { router, clock } = createTestRouter();
    const abort = new AbortController();
    const { signal } = abort;
    let listeners = 0;
    const { addEventListener, removeEventListener } = signal;
    signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
      listeners++;
      addEventListener.apply(signal, args);
    };
    signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
      listeners--;
      removeEventListener.apply(signal, args);
    };
    const signals: AbortSignal[] = [];
    const gate = Promise.withResolvers<void>();
    router.register(echo, (message, ctx) => {
      if (message.payload === "quick") return undefined;
      signals.push(ctx.signal);
      return gate.promise;
    });
    router.use(async (message, next) => (message.payload === "answer" ? ok(1) : next()));
    await router.ask(say("quick"), { signal });
    await router.ask(say("answer"), { signal });
    expect(listeners).toBe(0);
    const ask = router.ask(say("slow"), { signal });
    await clock.settle();
    expect(listeners).toBe(1);
    abort.abort();
    expect(signals[0]?.aborted).toBe(true);
    expect(outcomeOf(await ask)).toBe("cancelled");
    gate.resolve();
  });

  test("P6: an ask whose time is over is not sent, though its timer has not had its turn", async () => {
    let late = 0;
    const manual = createManualClock();
    const router = createRouter({ clock: { ...manual, monotonicTime: () => late } });
    const seen: unknown[] = [];
    router.register(echo, (message) => void seen.push(message.payload));
    router.use(async (_, next) => {
      await undefined;
      late = 100; // The interceptor blocked the loop.
      return next();
    });
    expect(outcomeOf(await router.ask(say(1), { timeout: 100 }))).toBe("timeout");
    await manual.settle();
    expect(seen).toEqual([]);
    expectBalance(router.audit());
  });

  test("P7: a reply that an interceptor holds for too long is a late one", async () => {
    const { router, clock, deadLetters, takeLog } = createEcho();
    const gate = Promise.withResolvers<void>();
    router.use(async (_, next) => {
      const reply = await next();
      await gate.promise;
      return reply;
    });
    const ask = router.ask(say("reply"), { timeout: 10 });
    await clock.advance(10);
    expect(outcomeOf(await ask)).toBe("timeout");
    gate.resolve();
    await clock.settle();
    expect(reasonsOf(deadLetters)).toEqual(["late-reply"]);
    expect(router.audit()).toMatchObject({ accepted: 2, handled: 1, dead: 1 });
    expect(takeLog()).toHaveLength(1);
  });

  test("P1: a tell and an offer that an interceptor keeps are given up after the system's askTimeout", async () => {
    const { router, clock, seen, deadLetters, takeLog } = createEcho(() => createTestRouter({ askTimeout: 300 }));
    const remove = router.use(() => new Promise(() => undefined));
    router.tell(say(1));
    const offered = router.offer(say(2));
    remove();
    router.tell(say(3));
    await clock.advance(300);
    expect((await offered)._unsafeUnwrapErr().kind).toBe("timeout");
    expect(seen).toEqual([]); // All of them had come in the same millisecond.
    router.tell(say(4));
    await clock.settle();
    expect(seen).toEqual([4]);
    expect(deadLetters.map((letter) => [letter.reason, letter.asked])).toEqual([
      ["timeout", false],
      ["timeout", true],
      ["timeout", false],
    ]);
    expect(takeLog()[0]?.message).toContain("was still in an interceptor after 300 ms, and is not sent");
  });

  test("P6: an ask that was answered early leaves its message to the interceptors behind, with a limit", async () => {
    const { router, clock, seen } = createEcho();
    const { gates, hold } = createGates();
    router.use((_, next) => {
      void next();
      return ok("accepted");
    });
    router.use(hold);
    expect(outcomeOf(await router.ask(say(1)))).toBe("accepted");
    const second = router.ask(say(2), { timeout: 100 });
    expect(router.audit()).toMatchObject({ accepted: 2, running: 1, queued: 1 });
    gates[0]?.resolve();
    await clock.advance(100);
    expect(outcomeOf(await second)).toBe("accepted");
    expect(seen).toEqual([1]);
    expect(router.audit()).toMatchObject({ accepted: 2, handled: 1, dead: 1 }); // The second one's time was over.
  });
});

describe("P1 and P13", () => {
  test("P1: the audit balances at every moment", async () => {
    const { router, clock, takeLog } = createEcho();
    const check = () => expectBalance(router.audit());
    router.deadLetters.subscribe(check);
    const running: number[] = [];
    router.use(async (message, next) => {
      check();
      running.push(router.audit().running);
      const outcome = next();
      check();
      await outcome;
      check();
      return message.payload === "drop late" ? ok(1) : outcome;
    });
    router.use((message, next) => {
      check();
      if (message.payload === "drop") return drop("why");
      if (message.payload === "fail") throw new Error("why");
      if (message.payload === "answer") return ok(1);
      return next();
    });
    for (const payload of ["drop", "fail", "answer", "pass", "drop late"]) {
      router.tell(say(payload));
      check();
      await router.ask(say(payload));
      check();
      await router.ask(say(payload, address("nobody")));
      check();
    }
    await clock.settle();
    expect(running.every((count) => count >= 1)).toBe(true);
    expect(router.audit()).toMatchObject({ accepted: 15, handled: 7, failed: 3, dead: 5, queued: 0, running: 0 });
    expect(takeLog()).toHaveLength(2);
  });

  test("P13: shutdown while messages are in interceptors: each asker gets `stopped` or `no-recipient`", async () => {
    const { system, router, clock, deadLetters, takeLog } = createTestSystem();
    router.register(echo, (message) => message.payload);
    const other = address("other");
    router.register(other, (message) => message.payload);
    const { gates, hold } = createGates();
    router.use(hold);
    const forEver = { timeout: Number.POSITIVE_INFINITY };
    const asks = [1, 2].map((payload) => router.ask(say(payload), forEver));
    router.tell(say(3));
    const elsewhere = router.ask(say(4, other), forEver);
    const shutdown = system.shutdown();
    gates[1]?.resolve(); // Its next() comes while the actors stop, or after it.
    await shutdown;
    const error = (await asks[0])?._unsafeUnwrapErr();
    expect(error?.kind).toBe("stopped");
    expect(error?.message).toContain("was still in an interceptor when the system shut down");
    expect(outcomeOf((await asks[1]) as AskResult)).toBe("stopped");
    expect(outcomeOf(await elsewhere)).toBe("no-recipient");
    gates[0]?.resolve();
    await clock.settle();
    const late = router.ask(say(5));
    gates[2]?.resolve();
    expect(outcomeOf(await late)).toBe("no-recipient");
    expect(reasonsOf(deadLetters).toSorted()).toEqual([
      "no-recipient",
      "no-recipient",
      "stopped",
      "stopped",
      "stopped",
    ]);
    expect(router.audit()).toMatchObject({ accepted: 5, dead: 5, running: 0, queued: 0 });
    expect(takeLog()).toHaveLength(1);
  });

  test("P1: what came from outside stays so, however an interceptor changes it: its payload is validated", async () => {
    const { system, router } = createTestSystem();
    const Adder = defineProtocol("adder", { add: { payload: Type.Number(), reply: Type.Number() } });
    system.spawn("adder", Adder, () => ({ add: (n) => n + 1 }));
    const received = parseMessage({ id: "1", pattern: "ask", to: "@(adder)", type: "add", payload: 1, timestamp: 0 });
    const from = received._unsafeUnwrap();
    let payload: unknown = 2;
    const makers: ((message: Message) => Message)[] = [
      (message) => ({ ...message, payload }),
      (message) => createMessage(message.to, message.type, payload),
      (message) =>
        structuredClone({ id: message.id, pattern: "ask", to: message.to, type: "add", payload, timestamp: 0 }),
    ];
    for (const make of makers) {
      const remove = [router.use((message, next) => next(make(message))), router.use(pass)];
      payload = 2;
      expect(outcomeOf(await router.ask(from))).toBe(3);
      payload = "2";
      expect(outcomeOf(await router.ask(from))).toBe("invalid-payload");
      expect(outcomeOf(await router.ask(createMessage(from.to, "add", 0)))).toBe("21"); // From within, it is trusted.
      for (const end of remove) end();
    }
  });
});
