import { expect, test } from "bun:test";
import {
  type Address,
  address,
  createMessage,
  createSystem,
  defineProtocol,
  parseMessage,
  type Ref,
  type SignaturesOf,
  StreamError,
  type System,
  serializeMessage,
  spawnPool,
  Type,
} from "../../src/index";
import { createManualClock } from "../../src/testing/index";
import { Gated, spawnGated } from "./gated";
import { expectBalance, type LogEntry, reasonsOf, recordIn, testSystems } from "./test-system";
import { Wire } from "./wire";

const { createTestSystem } = testSystems();

const Session = defineProtocol("session", {
  say: { payload: Type.String(), reply: Type.String() },
  count: { reply: Type.Number() },
  ticks: { payload: Type.Number(), stream: Type.Number() },
});
type Session = Ref<SignaturesOf<typeof Session>>;

const at = address("sessions/7");

/** A session that notes all that it hears. */
const spawnSession = (system: System, id: string, heard: string[] = []): Session => {
  let count = 0;
  return system.spawn(id, Session, () => ({
    say(text) {
      heard.push(text);
      count++;
      return `${id} heard ${text}`;
    },
    count: () => count,
    *ticks(n) {
      for (let i = 1; i <= n; i++) yield i;
    },
  }));
};

/** A system whose sessions are opened when the test says so. */
function slowSessions(waiting?: number) {
  const made = createTestSystem();
  const { system, clock } = made;
  const heard: string[] = [];
  const opening: {
    readonly id: string;
    settle(outcome?: Session): Promise<void>;
    nobody(): Promise<void>;
    fail(cause: unknown): Promise<void>;
  }[] = [];
  const end = system.resolve(
    "sessions/",
    (_, id) => {
      const opened = Promise.withResolvers<Session | undefined>();
      opening.push({
        id,
        async settle(outcome = spawnSession(system, id, heard)) {
          opened.resolve(outcome);
          await clock.settle();
        },
        async nobody() {
          opened.resolve(undefined);
          await clock.settle();
        },
        async fail(cause) {
          opened.reject(cause);
          await clock.settle();
        },
      });
      return opened.promise;
    },
    waiting === undefined ? {} : { waiting },
  );
  const say = (text: string, to: Address = at) => system.router.ask(createMessage(to, "say", text));
  const tell = (text: string, to: Address = at) => system.router.tell(createMessage(to, "say", text));
  return { ...made, heard, opening, end, say, tell };
}

test("an actor is made when it is first called, by any way to send to an address", async () => {
  const { system, router, clock } = createTestSystem();
  const asked: [Address, string][] = [];
  system.resolve("sessions/", (own, id) => {
    asked.push([own, id]);
    return spawnSession(system, id);
  });
  expect((await router.ask(createMessage(address("sessions/1"), "say", "a")))._unsafeUnwrap()).toBe(
    "sessions/1 heard a",
  );
  router.tell(createMessage(address("sessions/2"), "say", "b"));
  expect((await router.offer(createMessage(address("sessions/3"), "say", "c"))).isOk()).toBe(true);
  const ticks = await Array.fromAsync(router.stream(createMessage(address("sessions/4"), "ticks", 3)));
  expect(ticks).toEqual([1, 2, 3]);
  await clock.settle();
  expect(system.inspect().map((report) => [report.address, report.handled])).toEqual(
    [1, 2, 3, 4].map((n) => [address(`sessions/${n}`), 1]),
  );
  await router.ask(createMessage(address("sessions/1"), "say", "again"));
  expect(asked).toEqual([1, 2, 3, 4].map((n) => [address(`sessions/${n}`), `sessions/${n}`]));
});

test("a burst to an actor that is made at once has no bound but its own", async () => {
  const { system, router, clock } = createTestSystem();
  const heard: string[] = [];
  system.resolve("sessions/", (_, id) => spawnSession(system, id, heard), { waiting: 1 });
  for (let i = 0; i < 5_000; i++) router.tell(createMessage(at, "say", `${i}`));
  await clock.settle();
  expect(heard).toEqual(Array.from({ length: 5_000 }, (_, i) => `${i}`));
});

test("the longest prefix wins, and the empty one covers all", async () => {
  const { system, router } = createTestSystem();
  const by: string[] = [];
  for (const prefix of ["a/", "", "a/b/"]) {
    system.resolve(prefix, (_, id) => {
      by.push(`${prefix}: ${id}`);
      return spawnSession(system, id);
    });
  }
  for (const id of ["a/b/c", "a/c", "ab/c", "other", "a"]) await router.ask(createMessage(address(id), "say", ""));
  expect(by).toEqual(["a/b/: a/b/c", "a/: a/c", ": ab/c", ": other", ": a"]);
});

test("an address for which there is nobody is no-recipient, and the next message asks again", async () => {
  const { opening, say, tell, takeLog, deadLetters, heard } = slowSessions();
  const asks = [say("a"), say("b")];
  tell("c");
  await opening[0]?.nobody();
  const kinds = (await Promise.all(asks)).map((asked) => asked._unsafeUnwrapErr().kind);
  expect([kinds, reasonsOf(deadLetters)]).toEqual([
    ["no-recipient", "no-recipient"],
    ["no-recipient", "no-recipient", "no-recipient"],
  ]);
  expect(takeLog()).toHaveLength(1); // The tell's: the askers were told.
  tell("d");
  await opening[1]?.settle();
  expect(heard).toEqual(["d"]);
});

test("P2: what comes while an address is opened waits, in order, and its function is called once", async () => {
  const { router, clock, heard, opening, say, tell } = slowSessions();
  const all = Array.from({ length: 200 }, (_, i) => `${i}`);
  for (const text of all) tell(text);
  const asked = say("asked");
  const items = Array.fromAsync(router.stream(createMessage(at, "ticks", 2)));
  await clock.settle();
  expect({ heard, openings: opening.length, has: router.has(at) }).toEqual({ heard: [], openings: 1, has: false });
  expect(router.audit()).toMatchObject({ accepted: 202, queued: 202, running: 0 });
  const opened = opening[0]?.settle();
  tell("after"); // Behind those that wait, though the actor is there already.
  await opened;
  expect(heard).toEqual([...all, "asked", "after"]);
  expect((await asked)._unsafeUnwrap()).toBe("sessions/7 heard asked");
  expect(await items).toEqual([1, 2]);
  expect(opening.length).toBe(1);
  expect(router.audit()).toMatchObject({ accepted: 203, handled: 203, queued: 0 });
});

test("addresses are opened beside each other", async () => {
  const { heard, opening, tell } = slowSessions();
  const other = address("sessions/8");
  tell("to 7");
  tell("to 8", other);
  expect(opening.map(({ id }) => id)).toEqual(["sessions/7", "sessions/8"]);
  await opening[1]?.settle();
  expect(heard).toEqual(["to 8"]);
  await opening[0]?.settle();
  expect(heard).toEqual(["to 8", "to 7"]);
});

test("P11: no more than `waiting` messages wait for an address", async () => {
  const { opening, heard, tell, say, takeLog, deadLetters, clock } = slowSessions(2);
  tell("a");
  const patient = say("b");
  const refused = (await say("c"))._unsafeUnwrapErr();
  expect([refused.kind, refused.address, refused.retryable]).toEqual(["mailbox-full", at, true]);
  expect(reasonsOf(deadLetters)).toEqual(["mailbox-full"]);
  await opening[0]?.settle();
  expect((await patient).isOk()).toBe(true);
  tell("d");
  await clock.settle();
  expect(heard).toEqual(["a", "b", "d"]);
  expect(takeLog()).toEqual([]);
});

test("P11: asks that gave up while they waited keep no others out", async () => {
  const { opening, heard, system, tell, clock } = slowSessions(2);
  const givenUp = new AbortController();
  const asks = ["a", "b"].map((text) => system.router.ask(createMessage(at, "say", text), { signal: givenUp.signal }));
  givenUp.abort();
  tell("c");
  await opening[0]?.settle();
  await clock.settle();
  expect(heard).toEqual(["c"]);
  expect((await Promise.all(asks)).map((asked) => asked._unsafeUnwrapErr().kind)).toEqual(["cancelled", "cancelled"]);
});

test("P6 P7: asks that wait for an address time out and are cancelled as ever, and no handler sees them", async () => {
  const { router, clock, opening, heard } = slowSessions();
  const message = createMessage(at, "say", "late");
  const controller = new AbortController();
  const timed = router.ask(message, { timeout: 50 });
  const cancelled = router.ask(message, { signal: controller.signal, timeout: Number.POSITIVE_INFINITY });
  const stream = router.stream(createMessage(at, "ticks", 3));
  const read = stream.next();
  const offered = router.offer(message, { timeout: 30 });
  await clock.advance(50);
  controller.abort("enough");
  await stream.return();
  const error = (await timed)._unsafeUnwrapErr();
  expect(error.message).toBe(
    '"say" to @(sessions/7) got no reply within 50 ms: its address was still being opened; ask with a longer timeout, or look why the function of resolve is slow.',
  );
  expect((await cancelled)._unsafeUnwrapErr().kind).toBe("cancelled");
  expect((await offered)._unsafeUnwrapErr().kind).toBe("timeout");
  expect((await read).done).toBe(true);
  await opening[0]?.settle();
  expect(heard).toEqual([]);
  expect(router.audit()).toMatchObject({ accepted: 4, dead: 4, queued: 0 });
});

test("an offer is taken when the actor's mailbox takes it", async () => {
  const { router, clock, opening } = slowSessions();
  let isTaken = false;
  const offered = router.offer(createMessage(at, "say", "a")).then((result) => {
    isTaken = true;
    return result;
  });
  await clock.settle();
  expect(isTaken).toBe(false);
  await opening[0]?.settle();
  expect((await offered).isOk()).toBe(true);
});

test("a function that throws or rejects: the messages come back as unreachable, one line is logged, the next try may succeed", async () => {
  const { opening, say, tell, heard, takeLog, deadLetters } = slowSessions();
  const asks = [say("a"), say("b")];
  tell("c");
  const cause = new Error("no database");
  await opening[0]?.fail(cause);
  for (const asked of asks) {
    const error = (await asked)._unsafeUnwrapErr();
    expect(error).toMatchObject({ kind: "unreachable", retryable: true, address: at, cause });
    expect(error.message).toBe(
      '"say" to @(sessions/7) was not sent: its address could not be opened (Error: no database); send it again later.',
    );
  }
  expect(takeLog().map(({ message }) => message)).toEqual([
    "envoi: @(sessions/7) could not be opened: Error: no database",
    expect.stringContaining("dead letter (unreachable)"),
  ]);
  expect(reasonsOf(deadLetters)).toEqual(["unreachable", "unreachable", "unreachable"]);
  const again = say("again");
  await opening[1]?.settle();
  expect((await again).isOk()).toBe(true);
  expect(heard).toEqual(["again"]);
});

test("P4: a function that throws at once throws in no sender", async () => {
  const { system, router, clock, takeLog } = createTestSystem();
  system.resolve("sessions/", () => {
    throw new Error("broken");
  });
  router.tell(createMessage(at, "say", "a"));
  expect((await router.ask(createMessage(at, "say", "b")))._unsafeUnwrapErr().kind).toBe("unreachable");
  expect((await router.offer(createMessage(at, "say", "c")))._unsafeUnwrapErr().kind).toBe("unreachable");
  const read = router.stream(createMessage(at, "ticks", 1)).next();
  expect(await read.catch((thrown) => thrown instanceof StreamError && thrown.kind)).toBe("unreachable");
  await clock.settle();
  expect(takeLog().length).toBeGreaterThan(0);
});

test.each([
  ["what is no reference", () => ({})],
  ["null", () => null],
  ["a reference by address", (system: System) => system.ref(address("other"), Session)],
])("a function that gives %s fails", async (_, give) => {
  const { system, router, takeLog } = createTestSystem();
  system.resolve("sessions/", () => give(system) as Session);
  const error = (await router.ask(createMessage(at, "say", "a")))._unsafeUnwrapErr();
  expect(error).toMatchObject({ kind: "unreachable", cause: expect.any(TypeError) });
  expect(takeLog()).toHaveLength(1);
});

test("a function whose promise does not settle within hookTimeout has failed, and what it gives later is left alone", async () => {
  const { clock, opening, say, tell, heard, takeLog, system } = slowSessions();
  const asked = say("a");
  const patient = system.router.ask(createMessage(at, "say", "b"), { timeout: 60_000 });
  await clock.advance(5_000);
  expect((await asked).isErr()).toBe(true);
  expect((await patient)._unsafeUnwrapErr().kind).toBe("unreachable");
  expect(takeLog()[0]?.message).toContain("did not settle within 5000 ms");
  const again = say("c");
  await opening[0]?.settle(); // The first call: it spawns the actor, and its promise counts for nothing.
  tell("d");
  await clock.settle();
  expect(heard).toEqual([]);
  await opening[1]?.fail(new Error("the address is in use"));
  expect((await again).isOk()).toBe(true); // An actor is at the address all the same.
  expect([heard, takeLog().length]).toEqual([["c", "d"], 1]);
});

test.each([1_000, Number.POSITIVE_INFINITY])(
  "P1: a message whose opening shuts the system down is accounted for at once (hookTimeout %p)",
  async (hookTimeout) => {
    for (const gives of ["a promise", "a rejection", "a reference", "an error"] as const) {
      const { system, router, clock, settle, takeLog } = createTestSystem({ hookTimeout });
      const other = spawnSession(system, "other");
      system.resolve("sessions/", () => {
        void system.shutdown();
        if (gives === "an error") throw new Error("no database");
        if (gives === "a reference") return other;
        return gives === "a promise" ? new Promise<never>(() => {}) : Promise.reject(new Error("no database"));
      });
      const asked = router.ask(createMessage(at, "say", "hi"), { timeout: Number.POSITIVE_INFINITY });
      await settle();
      expect(router.audit()).toMatchObject({ accepted: 1, dead: 1, queued: 0 });
      expect((await asked)._unsafeUnwrapErr().kind).toBe("no-recipient");
      expect(clock.heldTimers).toBe(0);
      takeLog();
    }
  },
);

test("P13: a shutdown dead-letters what waits as stopped, and leaves a reference alone that comes later", async () => {
  const { system, opening, say, tell, router, deadLetters, takeLog, clock } = slowSessions();
  const asked = say("a");
  tell("b");
  const down = system.shutdown({ drain: true });
  const error = (await asked)._unsafeUnwrapErr();
  expect([error.kind, error.message]).toEqual([
    "stopped",
    '"say" to @(sessions/7) still waited for its address to be opened when the system shut down, and is not sent.',
  ]);
  expect(await down).toEqual({ unfinished: [] });
  expect(reasonsOf(deadLetters)).toEqual(["stopped", "stopped"]);
  const other = createTestSystem();
  const elsewhere = spawnSession(other.system, "sessions/7");
  await opening[0]?.settle(elsewhere);
  await clock.settle();
  expect((await elsewhere.ask("count"))._unsafeUnwrap()).toBe(0);
  tell("too late");
  expect(reasonsOf(deadLetters)).toEqual(["stopped", "stopped", "no-recipient"]);
  expectBalance(router.audit());
  expect(takeLog().length).toBe(2);
});

test.each(["at once", "later"])(
  "P5: 100,000 messages for an address for which there is nobody, as told %s, starve nobody",
  async (when) => {
    const clock = createManualClock();
    const logged: LogEntry[] = [];
    const system = createSystem({ clock, logger: recordIn(logged) });
    const { router } = system;
    let calls = 0;
    system.resolve("sessions/", () => {
      calls++;
      return when === "at once" ? undefined : Promise.resolve(undefined);
    });
    const heard: string[] = [];
    const other = spawnSession(system, "other", heard);
    // Each wait comes back at once: without turns, this loop would let no timer and no other actor in.
    let isOver = false;
    const flood = (async () => {
      for (let i = 0; i < 100_000; i++) {
        if (i % 2 === 0) router.tell(createMessage(at, "say", ""));
        else if (i % 99 === 0) await router.ask(createMessage(at, "say", ""));
        else void router.ask(createMessage(at, "say", ""));
        if (heard.length === 0 && i > 1_000) return; // It starved the other actor.
      }
      isOver = true;
    })();
    other.tell("say", "heard");
    await clock.settle();
    await flood;
    await clock.settle();
    expect([isOver, heard]).toEqual([true, ["heard"]]);
    expect(calls).toBeGreaterThan(0);
    expect(router.audit()).toMatchObject({ accepted: 100_001, handled: 1, dead: 100_000, queued: 0 });
    await system.shutdown();
    expect(logged.length).toBeLessThan(20);
  },
);

test("an actor at another address may be given, and is asked for again at the next message", async () => {
  const { system, router } = createTestSystem();
  const pool = spawnPool(system, "all-sessions", Session, () => ({ say: (t) => t, count: () => 1, ticks: () => [1] }), {
    size: 2,
  });
  let calls = 0;
  system.resolve("sessions/", () => {
    calls++;
    return pool;
  });
  for (const text of ["a", "b"]) expect((await router.ask(createMessage(at, "say", text)))._unsafeUnwrap()).toBe(text);
  expect([calls, router.has(at)]).toEqual([2, false]);
});

test("an actor of another system may be given; its audit has the messages then", async () => {
  const other = createTestSystem();
  const there = spawnSession(other.system, "there");
  const { opening, say, router } = slowSessions();
  const asked = say("a");
  await opening[0]?.settle(there);
  await other.clock.settle();
  expect((await asked)._unsafeUnwrap()).toBe("there heard a");
  expect(router.audit().accepted).toBe(0);
  expect(other.router.audit()).toMatchObject({ accepted: 1, handled: 1 });
});

test("P1: an attached reference may be given: what waited is handed to its transport, and its end opens another one", async () => {
  const { system, router, clock } = createTestSystem();
  const wires: Wire[] = [];
  const ends: ((reason: "unreachable") => void)[] = [];
  system.resolve(
    "node-7/",
    async (own) => {
      const wire = new Wire();
      wires.push(wire);
      const { ref, end } = system.attach(own, Session, wire);
      ends.push(end);
      return ref;
    },
    { idle: 100 },
  );
  const far = system.ref(address("node-7/session"), Session);
  const asked = far.ask("say", "a");
  const offered = far.offer("say", "b");
  router.tell(createMessage(far.address, "say", "c"));
  await clock.settle();
  expect(wires[0]?.sent.map(({ payload }) => payload)).toEqual(["a", "b", "c"]);
  for (const out of wires[0]?.sent ?? []) out.complete("done");
  expect((await asked)._unsafeUnwrap()).toBe("done");
  expect((await offered).isOk()).toBe(true);
  expect(router.audit()).toMatchObject({ accepted: 3, sent: 3, dead: 0, queued: 0 });
  await clock.advance(1_000);
  expect(wires[0]?.closed).toBe(0); // Whether an actor elsewhere is idle is not known here.
  ends[0]?.("unreachable");
  const again = far.ask("say", "d");
  await clock.settle();
  wires[1]?.last.complete("by the next");
  expect((await again)._unsafeUnwrap()).toBe("by the next");
});

test("an actor that is spawned while its address is opened gets what waits, in order", async () => {
  const { system, opening, tell, heard, clock } = slowSessions();
  tell("a");
  const own = spawnSession(system, "sessions/7", heard);
  tell("b");
  await opening[0]?.settle(own);
  await clock.settle();
  expect(heard).toEqual(["a", "b"]);
});

test("messages to an actor that stops wait for the next one", async () => {
  const { system, router, clock } = createTestSystem();
  const stopped = Promise.withResolvers<void>();
  let made = 0;
  system.resolve("sessions/", (_, id) => {
    const number = ++made;
    return system.spawn(id, Session, () => ({
      say: (text) => `${number}: ${text}`,
      count: () => number,
      ticks: () => [],
      onStop: () => (number === 1 ? stopped.promise : undefined),
    }));
  });
  const session = system.ref(at, Session);
  expect((await session.ask("say", "a"))._unsafeUnwrap()).toBe("1: a");
  const stopping = system.stop(session);
  await clock.settle();
  const asked = [session.ask("say", "b"), router.ask(createMessage(at, "say", "c")), session.ask("count")];
  await clock.settle();
  expect([made, router.audit().queued]).toEqual([1, 3]);
  stopped.resolve();
  await stopping;
  expect((await Promise.all(asked)).map((reply) => reply._unsafeUnwrap())).toEqual(["2: b", "2: c", 2]);
});

test("an actor that stops while it gets what waited leaves the rest to the next one", async () => {
  const { system, router, clock, takeLog } = createTestSystem();
  let made = 0;
  const heard: string[] = [];
  system.resolve("sessions/", async (_, id) => {
    const number = ++made;
    return system.spawn(id, Session, (ctx) => ({
      say(text) {
        heard.push(`${number}: ${text}`);
        if (number === 1) ctx.stop();
        return text;
      },
      count: () => number,
      ticks: () => [],
    }));
  });
  for (let i = 0; i < 500; i++) router.tell(createMessage(at, "say", `${i}`));
  await clock.settle();
  const { handled, dead } = router.audit();
  expect([made, heard[0], heard.at(-1), handled + dead]).toEqual([2, "1: 0", "2: 499", 500]);
  expect(dead).toBeLessThan(100); // They were in the mailbox of the first one when it stopped.
  takeLog();
  await system.shutdown();
  takeLog();
});

test("what comes while messages are refused is not refused with them: the function is called again", async () => {
  const { router, opening, tell, heard, takeLog, clock } = slowSessions();
  router.deadLetters.subscribe(({ message }) => {
    if (message?.payload === "a") tell("again");
  });
  tell("a");
  tell("b");
  await opening[0]?.nobody();
  expect([opening.length, router.audit().queued]).toEqual([2, 1]);
  await opening[1]?.settle();
  await clock.settle();
  expect(heard).toEqual(["again"]);
  expect(takeLog()).toHaveLength(2);
});

test("a function that sends to addresses that are not open yet opens them in turns of their own", async () => {
  const { system, router, clock } = createTestSystem();
  const opened: string[] = [];
  let depth = 0;
  let deepest = 0;
  system.resolve("chain/", (_, id) => {
    depth++;
    deepest = Math.max(deepest, depth);
    const n = Number(id.slice("chain/".length));
    opened.push(id);
    router.tell(createMessage(address(id), "say", "to itself"));
    if (n < 50) router.tell(createMessage(address(`chain/${n + 1}`), "say", "on"));
    const session = spawnSession(system, id);
    depth--;
    return session;
  });
  router.tell(createMessage(address("chain/0"), "say", "first"));
  await clock.settle();
  expect([opened.length, deepest]).toEqual([51, 1]);
  expect(router.audit()).toMatchObject({ accepted: 102, handled: 102 });
});

test("P8: an ask that would close a circle through an address is refused", async () => {
  const { system, clock } = createTestSystem();
  const Node = defineProtocol("node", { visit: { payload: Type.Array(Type.String()), reply: Type.String() } });
  system.resolve("nodes/", async (_, id) =>
    system.spawn(id, Node, (ctx) => ({
      async visit([next, ...rest]) {
        if (next === undefined) return "end";
        const found = await ctx.ask(system.ref(address(next), Node), "visit", rest);
        return found.isErr() ? found.error.kind : found.value;
      },
    })),
  );
  const first = system.ref(address("nodes/1"), Node);
  const asked = first.ask("visit", ["nodes/2", "nodes/1"]);
  await clock.settle();
  expect((await asked)._unsafeUnwrap()).toBe("ask-cycle");
  const straight = first.ask("visit", ["nodes/2", "nodes/3"]);
  await clock.settle();
  expect((await straight)._unsafeUnwrap()).toBe("end");
});

test("P8: a circle that closes when a message that waited reaches its actor is seen", async () => {
  const { system, clock } = createTestSystem();
  const Node = defineProtocol("node", { visit: { reply: Type.String() } });
  const asking = system.spawn("asking", Node, (ctx) => ({
    async visit() {
      const found = await ctx.ask(system.ref(address("nodes/1"), Node), "visit");
      return found.isErr() ? found.error.kind : found.value;
    },
  }));
  let told = "";
  system.resolve("nodes/", async (_, id) =>
    system.spawn(id, Node, (ctx) => ({
      async onStart() {
        const found = await ctx.ask(asking, "visit"); // It waits for this very actor.
        told = found.isErr() ? found.error.kind : found.value;
      },
      visit: () => "visited",
    })),
  );
  const asked = asking.ask("visit", { timeout: 60_000 });
  await clock.settle();
  const outcome = (await asked)._unsafeUnwrap();
  expect([outcome, told]).toContain("ask-cycle");
  expect(clock.heldTimers).toBe(0);
});

test("P16: the function runs in the system's context, and not in the sender's", async () => {
  const { AsyncLocalStorage } = await import("node:async_hooks");
  const store = new AsyncLocalStorage<string>();
  const { system, router } = createTestSystem();
  const seen: (string | undefined)[] = [];
  system.resolve("sessions/", async (_, id) => {
    seen.push(store.getStore());
    await null;
    seen.push(store.getStore());
    return spawnSession(system, id);
  });
  const asked = store.run("request", () => router.ask(createMessage(at, "say", "a")));
  expect((await asked).isOk()).toBe(true);
  expect(seen).toEqual([undefined, undefined]);
});

test("P16: a message that waited runs in its sender's context, where the system says so", async () => {
  const { AsyncLocalStorage } = await import("node:async_hooks");
  const store = new AsyncLocalStorage<string>();
  const { system, router } = createTestSystem({ asyncContext: "sender" });
  const seen: (string | undefined)[] = [];
  system.resolve("sessions/", async (_, id) =>
    system.spawn(id, Session, () => ({
      say(text) {
        seen.push(store.getStore());
        return text;
      },
      count: () => 0,
      ticks: () => [],
    })),
  );
  const asks = ["a", "b"].map((name) => store.run(name, () => router.ask(createMessage(at, "say", ""))));
  await Promise.all(asks);
  expect(seen).toEqual(["a", "b"]);
});

test("messages that come through interceptors open addresses too, in order", async () => {
  const { router, clock, opening, heard, tell, say } = slowSessions();
  router.use(async (_, next) => next());
  tell("a");
  const asked = say("b");
  await clock.settle();
  tell("c");
  await clock.settle();
  await opening[0]?.settle();
  expect((await asked).isOk()).toBe(true);
  await clock.settle();
  expect([heard, opening.length]).toEqual([["a", "b", "c"], 1]);
});

test("P9: a message from outside that waited fails alone, and is validated when it gets there", async () => {
  const { system, router, clock, takeLog } = createTestSystem({ supervision: {} });
  let made = 0;
  system.resolve("sessions/", async (_, id) =>
    system.spawn(id, Session, () => {
      made++;
      return {
        say() {
          throw new Error("no");
        },
        count: () => 0,
        ticks: () => [],
      };
    }),
  );
  const send = (payload: unknown) => {
    const text = serializeMessage(createMessage(at, "say", payload, { pattern: "ask" }))._unsafeUnwrap();
    return router.ask(parseMessage(text)._unsafeUnwrap());
  };
  const [wrong, failing] = await Promise.all([send(7), send("text")]);
  expect(wrong?._unsafeUnwrapErr().kind).toBe("invalid-payload");
  expect(failing?._unsafeUnwrapErr().kind).toBe("handler-failed");
  await clock.settle();
  expect(made).toBe(1); // It was not restarted.
  takeLog();
});

test("a resolver that ended opens nothing more; what waits is delivered", async () => {
  const { end, opening, say, tell, deadLetters, takeLog, heard } = slowSessions();
  const asked = say("a");
  end();
  tell("b");
  await opening[0]?.settle();
  expect((await asked).isOk()).toBe(true);
  expect(heard).toEqual(["a", "b"]);
  tell("c", address("sessions/8"));
  expect([opening.length, reasonsOf(deadLetters)]).toEqual([1, ["no-recipient"]]);
  expect(takeLog()).toHaveLength(1);
});

test("bad arguments are told at once", async () => {
  const { system } = createTestSystem();
  const open = () => undefined;
  expect(() => system.resolve("sessions", open)).toThrow('ends with a slash, as "sessions/" does');
  expect(() => system.resolve("a b/", open)).toThrow("A prefix of addresses");
  expect(() => system.resolve(undefined as never, open)).toThrow("A prefix of addresses");
  expect(() => system.resolve("a/", undefined as never)).toThrow("are opened by a function");
  expect(() => system.resolve("a/", open, { idle: 0 })).toThrow("The idle of resolve is");
  expect(() => system.resolve("a/", open, { waiting: 0.5 })).toThrow("The waiting of resolve is");
  expect(() => system.resolve("a/", open, { wait: 1 } as never)).toThrow('There is no option "wait"');
  expect(() => system.ref("a" as never, Session)).toThrow("is not an address");
  expect(() => system.ref(at, {} as never)).toThrow("is what defineProtocol() returned");
  const end = system.resolve("a/", open);
  expect(() => system.resolve("a/", open)).toThrow("resolved already");
  end();
  system.resolve("a/", open);
  await system.shutdown();
  expect(() => system.resolve("b/", open)).toThrow("the system has shut down");
});

test("a reference by address finds each actor that is there, and is taken wherever a reference is", async () => {
  const { system, clock, deadLetters, takeLog } = createTestSystem();
  const ref = system.ref(address("gated"), Gated);
  expect((await ref.ask("work", "nobody"))._unsafeUnwrapErr().kind).toBe("no-recipient");
  for (const round of ["first", "second"]) {
    const gated = spawnGated({ system, clock });
    const asked = ref.ask("work", round);
    ref.tell("work", "told");
    const offered = ref.offer("work", "offered");
    await gated.drain();
    expect((await asked)._unsafeUnwrap()).toBe(`${round} done`);
    expect((await offered).isOk()).toBe(true);
    expect(gated.begun).toEqual([round, "told", "offered"]);
    await system.stop(ref);
  }
  await system.stop(ref); // Nobody is there.
  expect(ref.address).toBe(address("gated"));
  expect(reasonsOf(deadLetters)).toEqual(["no-recipient"]);
  await system.shutdown();
  expect((await ref.ask("work", "late"))._unsafeUnwrapErr().kind).toBe("stopped");
  expect(takeLog()).toEqual([]);
});
