import { expect, test } from "bun:test";
import {
  type AnyRef,
  address,
  type Context,
  createMessage,
  createSystem,
  defineProtocol,
  type Items,
  type PassedOn,
  type RefTo,
  type SignaturesOf,
  StreamError,
  spawnPool,
  Type,
} from "../../src/index";
import { expectBalance, reasonsOf, recordIn, type TestSystem, testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const Desk = defineProtocol("desk", {
  find: { payload: Type.String(), reply: Type.String() },
  items: { payload: Type.String(), stream: Type.String() },
  other: {},
});
type DeskRef = RefTo<typeof Desk>;
type DeskContext = Context<SignaturesOf<typeof Desk>>;
type ToDesk = PassedOn<SignaturesOf<typeof Desk>>;

interface Handlers {
  find?(ctx: DeskContext, it: string): string | ToDesk | Promise<string | ToDesk>;
  items?(ctx: DeskContext, it: string): Items<string> | ToDesk;
  other?(ctx: DeskContext): void;
}

const spawnDesk = ({ system }: Pick<TestSystem, "system">, name: string, handlers: Handlers): DeskRef =>
  system.spawn(name, Desk, (ctx) => ({
    find: (it) => handlers.find?.(ctx, it) ?? "",
    items: (it) => handlers.items?.(ctx, it) ?? [],
    other: () => handlers.other?.(ctx),
  }));

/** The last of a chain: says what it sees of the message. */
function spawnLast(test: Pick<TestSystem, "system">) {
  const seen: { id: string; sender: string; from: string; pattern: string; payload: unknown }[] = [];
  const look = ({ message, sender }: DeskContext): void => {
    const { id, from, pattern, payload } = message;
    seen.push({ id, sender: String(sender?.address), from: String(from), pattern, payload });
  };
  const last = spawnDesk(test, "last", {
    find(ctx, it) {
      look(ctx);
      return `last: ${it}`;
    },
    *items(ctx, it) {
      look(ctx);
      yield `last 1: ${it}`;
      yield `last 2: ${it}`;
    },
  });
  return { last, seen };
}

test("P1: who asked gets the reply of the last one; message, sender and id stay", async () => {
  const test = createTestSystem();
  const { last, seen } = spawnLast(test);
  const ids: string[] = [];
  const second = spawnDesk(test, "second", { find: (ctx) => ctx.forward(last) });
  const first = spawnDesk(test, "first", {
    async find(ctx) {
      ids.push(ctx.message.id);
      await undefined;
      return ctx.forward(second);
    },
  });
  const asker = spawnDesk(test, "asker", {
    find: async (ctx, it) => (await ctx.ask(first, "find", it)).unwrapOr("nothing"),
  });
  expect((await asker.ask("find", "it"))._unsafeUnwrap()).toBe("last: it");
  expect(seen).toEqual([{ id: ids[0] as string, sender: "@(asker)", from: "@(asker)", pattern: "ask", payload: "it" }]);
  // Each hop is a message that was accepted and handled.
  expect(test.router.audit()).toMatchObject({ accepted: 4, handled: 4, failed: 0, dead: 0 });
  await test.clock.settle();
  expect(test.clock.timers).toBe(0);
});

test("P1: a tell that is forwarded keeps its message and its sender", async () => {
  const test = createTestSystem();
  const { last, seen } = spawnLast(test);
  const ids: string[] = [];
  const first = spawnDesk(test, "first", {
    find(ctx) {
      const passed = ctx.forward(last);
      ids.push(ctx.message.id);
      return passed;
    },
  });
  const teller = spawnDesk(test, "teller", { other: (ctx) => ctx.tell(first, "find", "by an actor") });
  teller.tell("other");
  await test.clock.settle();
  const message = createMessage(address("first"), "find", "by a router", { from: address("teller") });
  test.router.tell(message);
  first.tell("find", "by nobody");
  expect((await first.offer("find", "offered")).isOk()).toBe(true);
  await test.clock.settle();
  expect(seen).toEqual([
    { id: ids[0] as string, sender: "@(teller)", from: "@(teller)", pattern: "tell", payload: "by an actor" },
    { id: message.id, sender: "@(teller)", from: "@(teller)", pattern: "tell", payload: "by a router" },
    { id: ids[2] as string, sender: "undefined", from: "undefined", pattern: "tell", payload: "by nobody" },
    { id: ids[3] as string, sender: "undefined", from: "undefined", pattern: "tell", payload: "offered" },
  ]);
});

test("a stream that nobody in particular reads is refused where its operation is no stream", async () => {
  const test = createTestSystem();
  const Plain = defineProtocol("plain", { items: { payload: Type.String() } });
  const called: string[] = [];
  const plain = test.system.spawn("plain", Plain, () => ({ items: (it) => void called.push(it) }));
  plain.tell("items", "before"); // Its mailbox is there, so that messages go the fast way in.
  await test.clock.settle();
  // The compiler refuses this, too; a router's messages are not typed.
  const first = spawnDesk(test, "first", { items: (ctx) => ctx.forward(plain as unknown as DeskRef) });
  expect(first.stream("items", "it").next()).rejects.toMatchObject({ kind: "unknown-operation" });
  await test.clock.settle();
  expect(called).toEqual(["before"]);
  expectBalance(test.router.audit());
});

test("P12: a stream that is forwarded yields what the last one makes", async () => {
  const test = createTestSystem();
  const { last, seen } = spawnLast(test);
  const first = spawnDesk(test, "first", { items: (ctx) => ctx.forward(last) });
  const items: string[] = [];
  for await (const item of first.stream("items", "it")) items.push(item);
  expect(items).toEqual(["last 1: it", "last 2: it"]);
  expect(seen.map(({ pattern }) => pattern)).toEqual(["stream"]);
  await test.clock.settle();
  expect(test.router.audit()).toMatchObject({ accepted: 2, handled: 2, running: 0 });
});

test("P7: giving up reaches the one that has the message now", async () => {
  const test = createTestSystem();
  const aborted: string[] = [];
  const last = spawnDesk(test, "last", {
    find(ctx) {
      const { signal } = ctx;
      return new Promise((_, reject) => {
        signal.addEventListener("abort", () => {
          aborted.push("last");
          reject(signal.reason);
        });
      });
    },
  });
  const first = spawnDesk(test, "first", { find: (ctx) => ctx.forward(last) });
  const asked = first.ask("find", "it", { timeout: 10 });
  await test.clock.advance(10);
  const error = (await asked)._unsafeUnwrapErr();
  expect({ kind: error.kind, address: String(error.address), aborted }).toEqual({
    kind: "timeout",
    address: "@(last)",
    aborted: ["last"],
  });
  expect(test.router.audit()).toMatchObject({ running: 0 });
});

test("a message is forwarded once", async () => {
  const test = createTestSystem();
  const { last, seen } = spawnLast(test);
  const thrown: string[] = [];
  const first = spawnDesk(test, "first", {
    find(ctx) {
      const passed = ctx.forward(last);
      for (const again of [() => ctx.forward(last), () => ctx.stash()]) {
        try {
          again();
        } catch (error) {
          thrown.push((error as Error).message);
        }
      }
      return passed;
    },
  });
  expect((await first.ask("find", "it"))._unsafeUnwrap()).toBe("last: it");
  const sentence = '"find" to @(first) was forwarded already, and can go one way only.';
  expect(thrown).toEqual([sentence, sentence]);
  expect(seen).toHaveLength(1);
});

test("what was stashed cannot be forwarded in the same handling, but in the next one", async () => {
  const test = createTestSystem();
  const { last } = spawnLast(test);
  const thrown: string[] = [];
  let isReady = false;
  const first = spawnDesk(test, "first", {
    find(ctx) {
      if (isReady) return ctx.forward(last);
      const stashed = ctx.stash();
      try {
        ctx.forward(last);
      } catch (error) {
        thrown.push((error as Error).message);
      }
      return stashed;
    },
    other(ctx) {
      isReady = true;
      ctx.unstash();
    },
  });
  const asked = first.ask("find", "it");
  await test.clock.settle();
  expectBalance(test.router.audit());
  expect(test.router.audit()).toMatchObject({ queued: 1, running: 0 });
  first.tell("other");
  expect((await asked)._unsafeUnwrap()).toBe("last: it");
  expect(thrown).toEqual(['"find" to @(first) was stashed already, and can go one way only.']);
  expect(test.router.audit()).toMatchObject({ accepted: 3, handled: 3 });
});

test("forward and stash belong to a message: outside of one they throw, and say where to call them", async () => {
  const test = createTestSystem();
  const { last } = spawnLast(test);
  const thrown: string[] = [];
  const attempt = (action: () => unknown): void => {
    try {
      action();
    } catch (error) {
      thrown.push((error as Error).message);
    }
  };
  test.system
    .spawn("first", Desk, (ctx) => {
      attempt(() => ctx.forward(last));
      attempt(() => ctx.stash());
      return {
        onStart: () => attempt(() => ctx.forward(last)),
        find: () => "",
        items: () => [],
        other: () => attempt(() => ctx.forward({ address: address("last") } as AnyRef as DeskRef)),
      };
    })
    .tell("other");
  await test.clock.settle();
  expect(thrown).toEqual([
    "@(first) handles no message now that it could forward; call ctx.forward() inside a handler.",
    "@(first) handles no message now that it could stash; call ctx.stash() inside a handler.",
    "@(first) handles no message now that it could forward; call ctx.forward() inside a handler.",
    "This is no reference to an actor: use what spawn() returned, ctx.self or ctx.sender.",
  ]);
});

test("P1: a message forwarded to an actor that has stopped comes back stopped, or is a dead letter", async () => {
  const test = createTestSystem();
  const { last } = spawnLast(test);
  await test.system.stop(last);
  const first = spawnDesk(test, "first", { find: (ctx) => ctx.forward(last), items: (ctx) => ctx.forward(last) });
  const error = (await first.ask("find", "asked"))._unsafeUnwrapErr();
  expect({ kind: error.kind, address: String(error.address) }).toEqual({ kind: "stopped", address: "@(last)" });
  first.tell("find", "told");
  const read = first.stream("items", "streamed").next();
  expect(read).rejects.toBeInstanceOf(StreamError);
  await test.clock.settle();
  expect(test.deadLetters.map(({ reason, asked, message }) => [reason, asked, message.payload])).toEqual([
    ["stopped", true, "asked"],
    ["stopped", false, "told"],
    ["stopped", true, "streamed"],
  ]);
  expect(test.router.audit()).toMatchObject({ accepted: 6, handled: 3, dead: 3 });
  expect(test.takeLog()).toHaveLength(1);
});

test("P1: one that knows no such operation refuses a forwarded message", async () => {
  const test = createTestSystem();
  const Small = defineProtocol("small", { other: {} });
  const small = test.system.spawn("small", Small, () => ({ other() {} }));
  // The compiler refuses that; one that came by an address is not known to it.
  const first = spawnDesk(test, "first", { find: (ctx) => ctx.forward(small as AnyRef as DeskRef) });
  const error = (await first.ask("find", "it"))._unsafeUnwrapErr();
  expect({ kind: error.kind, address: String(error.address) }).toEqual({
    kind: "unknown-operation",
    address: "@(small)",
  });
});

for (const maxHops of [1, 3, undefined] as const) {
  test(`forwarding in a circle ends after ${maxHops ?? "64, the default,"} hops, with no-recipient and the last of its way`, async () => {
    const test = createTestSystem(maxHops === undefined ? {} : { maxHops });
    let hops = 0;
    const desks: DeskRef[] = [0, 1].map((i) =>
      spawnDesk(test, `d${i}`, {
        find(ctx) {
          hops++;
          return ctx.forward(desks[1 - i] as DeskRef);
        },
        items: (ctx) => ctx.forward(desks[1 - i] as DeskRef),
      }),
    );
    const [first] = desks as [DeskRef];
    const asked = first.ask("find", "asked");
    await test.clock.settle(); // No time passes.
    const error = (await asked)._unsafeUnwrapErr();
    const most = maxHops ?? 64;
    expect(hops).toBe(most + 1);
    expect(error.kind).toBe("no-recipient");
    const way = Array.from({ length: most + 1 }, (_, i) => `@(d${i % 2})`);
    const last = way.slice(-3).join(", ");
    expect(error.message).toBe(
      `"find" to @(d${(most + 1) % 2}) was forwarded ${most + 1} times, which is too often (last by ${last}); end the circle, or raise maxHops.`,
    );
    first.tell("find", "told");
    expect(first.stream("items", "streamed").next()).rejects.toMatchObject({ kind: "no-recipient" });
    await test.clock.settle();
    expect(reasonsOf(test.deadLetters)).toEqual(["no-recipient", "no-recipient", "no-recipient"]);
    expect(test.router.audit()).toMatchObject({ handled: 3 * (most + 1), dead: 3, queued: 0, running: 0 });
    expect(test.takeLog()).toHaveLength(1); // The tell.
  });
}

test("forwarding in a circle through a pool that tells all its workers ends after maxHops, too", async () => {
  const test = createTestSystem({ maxHops: 5 });
  let hops = 0;
  const Ball = defineProtocol("ball", { pass: { reply: Type.Number() } });
  const all: RefTo<typeof Ball> = spawnPool(
    test.system,
    "all",
    Ball,
    (ctx) => ({
      pass: () => (hops++ > 100 ? hops : ctx.forward(all)),
    }),
    { size: 1, routing: "broadcast" },
  );
  const asked = all.ask("pass");
  all.tell("pass");
  await test.clock.settle();
  expect((await asked)._unsafeUnwrapErr().kind).toBe("no-recipient");
  expect(hops).toBe(2 * 6);
  expect(test.takeLog()).toHaveLength(1); // The tell.
});

for (const routing of ["broadcast", "first-answer"] as const) {
  for (const way of ["straight", "by way of another pool"] as const) {
    test(`P5: a pool does not multiply what its own workers forward back to it: ${routing}, ${way}`, async () => {
      const test = createTestSystem();
      const Ball = defineProtocol("ball", { pass: { reply: Type.Number() } });
      let hops = 0;
      const spawnBall = (name: string, to: () => RefTo<typeof Ball>): RefTo<typeof Ball> =>
        spawnPool(
          test.system,
          name,
          Ball,
          (ctx) => ({ pass: () => (++hops > 1_000 ? hops : ctx.forward(to())) }), // Ends where it is not refused.
          { size: 2, routing },
        );
      const first: RefTo<typeof Ball> = spawnBall("first", () => (way === "straight" ? first : second));
      const second = spawnBall("second", () => first);
      const asked = first.ask("pass");
      await test.clock.settle();
      expect(hops).toBe(way === "straight" ? 2 : 6);
      const error = (await asked)._unsafeUnwrapErr();
      expect(error.kind).toBe("no-recipient");
      expect(error.message).toBe(
        '"pass" to @(first) was forwarded back by a worker of this pool, which hands each message to several workers: ' +
          "every round would multiply it; end the circle.",
      );
      hops = 0;
      first.tell("pass");
      await test.clock.settle();
      // A pool where the first answer wins hands a tell to one worker, so that maxHops is its bound.
      expect(hops).toBe(routing === "first-answer" ? 65 : way === "straight" ? 2 : 6);
      test.takeLog();
    });
  }
}

test("P9: one that forwards and then throws has failed, but the asker gets the reply of the other", async () => {
  const test = createTestSystem({ supervision: {} });
  const { last } = spawnLast(test);
  let instances = 0;
  const first = test.system.spawn("first", Desk, (ctx) => {
    instances++;
    return {
      find() {
        ctx.forward(last);
        throw new Error("after the forward");
      },
      items: () => [],
      other() {},
    };
  });
  expect((await first.ask("find", "it"))._unsafeUnwrap()).toBe("last: it");
  await test.clock.settle();
  expect({ instances, audit: test.router.audit() }).toMatchObject({
    instances: 2,
    audit: { accepted: 2, handled: 1, failed: 1 },
  });
  const [entry] = test.takeLog();
  expect(entry?.message).toContain("after the forward");
});

test("P9: one that forwards to nobody and then throws has failed as loudly", async () => {
  const test = createTestSystem({ supervision: {} });
  const { last } = spawnLast(test);
  await test.system.stop(last);
  const first = spawnDesk(test, "first", {
    find(ctx) {
      ctx.forward(last);
      throw new Error("after the forward");
    },
  });
  expect((await first.ask("find", "it"))._unsafeUnwrapErr().kind).toBe("stopped");
  await test.clock.settle();
  expect(test.system.inspect()[0]).toMatchObject({ failed: 1, restarts: 1 });
  expect(test.takeLog().map(({ level }) => level)).toEqual(["error"]);
});

test("P11: a forwarded ask waits for room as any other, and a forwarded tell does not", async () => {
  const test = createTestSystem();
  const gates: (() => void)[] = [];
  const seen: string[] = [];
  const last = test.system.spawn(
    "last",
    Desk,
    () => ({
      async find(it) {
        seen.push(it);
        await new Promise<void>((resolve) => gates.push(resolve));
        return it;
      },
      items: () => [],
      other() {},
    }),
    { capacity: 1, overflow: "wait" },
  );
  const first = spawnDesk(test, "first", { find: (ctx) => ctx.forward(last) });
  last.tell("find", "running");
  await test.clock.settle();
  last.tell("find", "queued");
  const asked = first.ask("find", "asked", { timeout: 100 });
  const late = first.ask("find", "late", { timeout: 10 });
  first.tell("find", "told");
  await test.clock.advance(10);
  expect((await late)._unsafeUnwrapErr().kind).toBe("timeout");
  expect(test.deadLetters.map(({ reason, message }) => [reason, message.payload])).toEqual([
    ["mailbox-full", "told"],
    ["timeout", "late"],
  ]);
  expectBalance(test.router.audit());
  while (gates.length > 0) {
    gates.shift()?.();
    await test.clock.settle();
  }
  expect((await asked)._unsafeUnwrap()).toBe("asked");
  expect(seen).toEqual(["running", "queued", "asked"]);
  expect(test.takeLog()).toHaveLength(1);
});

test("P6: a message forwarded into another system leaves no timer in either, and keeps its time", async () => {
  const test = createTestSystem();
  const entries: Parameters<typeof recordIn>[0] = [];
  const other = createSystem({ clock: test.clock, logger: recordIn(entries) });
  const far = spawnDesk({ system: other }, "far", {
    find: (ctx, it) =>
      new Promise((resolve, reject) => {
        ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason));
        test.clock.setTimer(() => resolve(it), 20);
      }),
  });
  const first = spawnDesk(test, "first", {
    async find(ctx) {
      await new Promise<void>((resolve) => test.clock.setTimer(resolve, 5)); // Its timer is set by then.
      return ctx.forward(far);
    },
  });
  const quick = first.ask("find", "quick", { timeout: 100 });
  await test.clock.advance(25);
  expect((await quick)._unsafeUnwrap()).toBe("quick");
  await test.clock.settle();
  expect(test.clock.timers).toBe(0);
  const slow = first.ask("find", "slow", { timeout: 15 });
  await test.clock.advance(15);
  expect((await slow)._unsafeUnwrapErr().kind).toBe("timeout");
  await test.clock.advance(10);
  expect(test.clock.timers).toBe(0);
  const direct = spawnDesk(test, "direct", { find: (ctx) => ctx.forward(far) }); // In the turn that it came in.
  const passed = direct.ask("find", "direct", { timeout: 100 });
  await test.clock.advance(20);
  expect((await passed)._unsafeUnwrap()).toBe("direct");
  await test.clock.settle();
  expect(test.clock.timers).toBe(0);
  for (const { router } of [test, other]) expectBalance(router.audit());
  expect(entries).toEqual([]);
});

test("P9: a handler that forwarded its message and throws has failed, though the asker gave up meanwhile", async () => {
  const failures: unknown[] = [];
  const test = createTestSystem();
  test.system.events.subscribe((event) => {
    if (event.kind === "failed") failures.push([event.address, event.operation]);
  });
  const gate = Promise.withResolvers<void>();
  const last = spawnDesk(test, "last", { find: () => new Promise<string>(() => {}) });
  const first = spawnDesk(test, "first", {
    async find(ctx) {
      expect(ctx.signal.aborted).toBe(false); // It could know that its sender gave up.
      ctx.forward(last);
      await gate.promise;
      throw new Error("broken");
    },
  });
  const asker = new AbortController();
  const asked = first.ask("find", "it", { signal: asker.signal });
  await test.clock.settle();
  asker.abort();
  expect((await asked)._unsafeUnwrapErr().kind).toBe("cancelled");
  gate.resolve();
  await test.clock.settle();
  expect(failures).toEqual([["@(first)", "find"]]);
  expect(test.takeLog()).toHaveLength(1);
});
