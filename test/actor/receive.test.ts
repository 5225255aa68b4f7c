import { expect, test } from "bun:test";
import { z } from "zod";
import {
  address,
  defineProtocol,
  type Message,
  parseMessage,
  publicError,
  type Ref,
  receive,
  type SignaturesOf,
  StreamError,
  spawnPool,
  Type,
} from "../../src/index";
import { reasonsOf, type TestSystem, testSystems } from "./test-system";

const { createTestSystem } = testSystems();

let parsed = 0;
const Till = defineProtocol("till", {
  add: { payload: Type.Number(), reply: Type.Number() },
  order: { payload: Type.Object({ tea: Type.Integer() }), reply: Type.Number() },
  count: {
    payload: z.string().transform((text) => {
      parsed++;
      return Number(text);
    }),
    reply: Type.Number(),
  },
  total: { reply: Type.Number() },
  ticks: { payload: Type.Integer(), stream: Type.Integer() },
});

function spawnTill({ system }: TestSystem): { ref: Ref<SignaturesOf<typeof Till>>; seen: unknown[] } {
  const seen: unknown[] = [];
  parsed = 0;
  const note = (value: number): number => {
    seen.push(value);
    return value;
  };
  const ref = system.spawn("till", Till, () => ({
    add: note,
    order: ({ tea }) => note(tea),
    count: note,
    total: () => seen.length,
    *ticks(n) {
      for (let i = 1; i <= n; i++) yield note(i);
    },
  }));
  return { ref, seen };
}

async function readAll(items: AsyncIterable<unknown>): Promise<unknown[]> {
  const read: unknown[] = [];
  try {
    for await (const item of items) read.push(item);
  } catch (thrown) {
    read.push(thrown instanceof StreamError ? thrown.kind : thrown);
  }
  return read;
}

test("P18: receive sends what fits, in each pattern", async () => {
  const test = createTestSystem();
  const { ref, seen } = spawnTill(test);
  const door = receive(ref);
  door.tell("add", 1);
  expect((await door.offer("add", 2)).isOk()).toBe(true);
  expect((await door.ask("add", 3))._unsafeUnwrap()).toBe(3);
  expect((await door.ask("total", undefined))._unsafeUnwrap()).toBe(3);
  expect((await door.ask("total", null))._unsafeUnwrap()).toBe(3); // JSON has no undefined.
  expect(await readAll(door.stream("ticks", 2))).toEqual([1, 2]);
  expect(seen).toEqual([1, 2, 3, 1, 2]);
});

test("P18: a payload from outside that does not fit reaches no handler, and neither throws nor rejects", async () => {
  const test = createTestSystem();
  const { ref, seen } = spawnTill(test);
  const door = receive(ref);
  const throwing = {
    get tea(): number {
      throw new Error("hostile");
    },
  };
  const traps = new Proxy(
    {},
    {
      get() {
        throw new Error("hostile");
      },
      has() {
        throw new Error("hostile");
      },
      ownKeys() {
        throw new Error("hostile");
      },
      getPrototypeOf() {
        throw new Error("hostile");
      },
    },
  );
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const hostile = [undefined, null, "1", {}, { tea: "1" }, [], throwing, traps, proxy, Symbol("tea"), () => 1, 1n];
  for (const payload of hostile) {
    expect((await door.ask("order", payload))._unsafeUnwrapErr()).toMatchObject({ kind: "invalid-payload" });
    expect((await door.offer("order", payload))._unsafeUnwrapErr().kind).toBe("invalid-payload");
    expect(await readAll(door.stream("ticks", payload))).toEqual(["invalid-payload"]);
    expect(() => door.tell("order", payload)).not.toThrow();
  }
  expect((await door.ask("total", { timeout: 5 }))._unsafeUnwrapErr().kind).toBe("invalid-payload"); // These are no options.
  expect(seen).toEqual([]);
  expect(new Set(reasonsOf(test.deadLetters))).toEqual(new Set(["invalid-payload"]));
  await test.advance(1_000);
  test.takeLog();
});

test("P18: an operation that the actor does not have, or has in the other pattern, comes back as an error", async () => {
  const test = createTestSystem();
  const { ref, seen } = spawnTill(test);
  const echo = test.router.register(address("echo"), () => seen.push("echo"));
  const known = ["__proto__", "constructor", "toString", "hasOwnProperty", "then", "onStop", "reed"];
  const nameless = ["", undefined, null, 7, {}, ["add"], Symbol("add"), { toString: () => "add" }] as never[];
  for (const [door, operations] of [
    [receive(ref), [...known, "ticks", ...nameless]],
    [receive(echo), nameless],
  ] as const) {
    for (const operation of operations) {
      const asked = (await door.ask(operation, 1))._unsafeUnwrapErr();
      expect(asked.kind).toBe("unknown-operation");
      expect(typeof asked.message).toBe("string");
      expect(asked.undelivered.payload).toBe(1);
      expect((await door.offer(operation, 1))._unsafeUnwrapErr().kind).toBe("unknown-operation");
      expect(() => door.tell(operation, 1)).not.toThrow();
      if (operation !== "ticks") expect(await readAll(door.stream(operation, 1))).toEqual(["unknown-operation"]);
    }
  }
  expect(await readAll(receive(ref).stream("add", 1))).toEqual(["unknown-operation"]);
  expect(seen).toEqual([]);
  await test.advance(1_000);
  test.takeLog();
});

test("P18: a payload from outside is validated once, however often it is passed on", async () => {
  const test = createTestSystem();
  const { ref, seen } = spawnTill(test);
  const table = (to: Ref<SignaturesOf<typeof Till>>) => ({
    add: () => 0,
    order: () => 0,
    count: () => 0,
    total: () => 0,
    *ticks() {},
    ...{ to },
  });
  const front = test.system.spawn("front", Till, (ctx) => {
    let isOpen = false;
    return {
      ...table(ref),
      // Stashed first, then handed to the next one, whose protocol is the same.
      count() {
        if (isOpen) return ctx.forward(ref);
        isOpen = true;
        ctx.timers.once("open", 1, () => ctx.unstash());
        return ctx.stash();
      },
    };
  });
  const pool = spawnPool(test.system, "pool", Till, (ctx) => ({ ...table(ref), count: () => ctx.forward(front) }), {
    size: 1,
  });
  const asked = receive(pool).ask("count", "12");
  await test.advance(1);
  expect((await asked)._unsafeUnwrap()).toBe(12);
  receive(pool).tell("count", "13");
  await test.settle();
  expect(seen).toEqual([12, 13]);
  expect(parsed).toBe(2);
});

test("P18: a pool that hands a message to all its workers validates it once, before its key or its priority sees it", async () => {
  const test = createTestSystem();
  const seen: unknown[] = [];
  const Job = defineProtocol("job", {
    run: {
      payload: z.object({ user: z.string() }).transform((job) => {
        parsed++;
        return job;
      }),
    },
  });
  parsed = 0;
  const make = () => ({ run: (job: { user: string }) => void seen.push(job.user) });
  const all = spawnPool(test.system, "all", Job, make, { size: 3, routing: "broadcast" });
  const keyed = spawnPool(test.system, "keyed", Job, make, {
    size: 2,
    routing: "consistent-hash",
    key: (_, job) => (job as { user: string }).user.toLowerCase(),
    priority: (_, job) => (job as { user: string }).user.length,
  });
  expect((await receive(all).ask("run", { user: "Ada" })).isOk()).toBe(true);
  expect(parsed).toBe(1);
  for (const ref of [all, keyed]) {
    const refused = await receive(ref).ask("run", { user: 7 });
    expect(refused._unsafeUnwrapErr().kind).toBe("invalid-payload");
  }
  expect((await receive(keyed).ask("run", { user: "Bob" })).isOk()).toBe(true);
  expect(seen).toEqual(["Ada", "Ada", "Ada", "Bob"]); // And nothing was logged: neither function failed.
});

test("P18: under validate: always, what receive let in is not validated a second time", async () => {
  const test = createTestSystem({ validate: "always" });
  const { ref, seen } = spawnTill(test);
  const pool = spawnPool(
    test.system,
    "pool",
    Till,
    (ctx) => {
      const on = () => ctx.forward(ref);
      return { add: on, order: on, count: on, total: on, ticks: on };
    },
    { size: 2, validate: "always" },
  );
  expect((await receive(pool).ask("count", "12"))._unsafeUnwrap()).toBe(12);
  expect(seen).toEqual([12]);
  expect(parsed).toBe(1);
});

test("P18: ctx.message of what receive let in is what was sent, is from nobody, and is validated wherever it is sent on", async () => {
  const test = createTestSystem();
  const { ref, seen } = spawnTill(test);
  let message: Message | undefined;
  const front = test.system.spawn("front", Till, (ctx) => ({
    add: () => 0,
    order: () => 0,
    count(n) {
      message = ctx.message;
      expect(ctx.sender).toBeUndefined();
      expect(ctx.message).toBe(message);
      return n;
    },
    total: () => 0,
    *ticks() {},
  }));
  expect((await receive(front).ask("count", "12"))._unsafeUnwrap()).toBe(12);
  expect(message).toMatchObject({ pattern: "ask", to: "@(front)", type: "count", payload: "12", from: undefined });
  expect((await test.router.ask({ ...(message as Message), to: ref.address }))._unsafeUnwrap()).toBe(12);
  const wrong = { ...(message as Message), to: ref.address, payload: 12 };
  expect((await test.router.ask(wrong))._unsafeUnwrapErr().kind).toBe("invalid-payload");
  expect(seen).toEqual([12]);
});

test("P18: what a handler of a router forwards from a door is validated by the actor that gets it", async () => {
  const test = createTestSystem();
  const { ref, seen } = spawnTill(test);
  const front = test.router.register(address("front"), (_, ctx) => ctx.forward(ref as never));
  expect((await receive(front).ask("add", "1"))._unsafeUnwrapErr().kind).toBe("invalid-payload");
  expect((await receive(front).ask("count", "1"))._unsafeUnwrap()).toBe(1);
  receive(front).tell("count", "2");
  await test.settle();
  expect(seen).toEqual([1, 2]);
});

test("P18: what parseMessage read is validated once, too, when it is forwarded", async () => {
  const test = createTestSystem();
  const { ref, seen } = spawnTill(test);
  const front = test.system.spawn("front", Till, (ctx) => {
    const on = () => ctx.forward(ref);
    return { add: on, order: on, count: on, total: on, ticks: on };
  });
  const fields = { id: "1", to: front.address, type: "count", payload: "12", timestamp: 0 };
  for (const pattern of ["ask", "tell"] as const) {
    const message = parseMessage({ ...fields, pattern })._unsafeUnwrap();
    if (pattern === "ask") expect((await test.router.ask(message))._unsafeUnwrap()).toBe(12);
    else test.router.tell(message);
  }
  await test.settle();
  expect(seen).toEqual([12, 12]);
  expect(parsed).toBe(2);
});

test("P18: receive is held to a full mailbox, a timeout, a signal and a stop as any sender is", async () => {
  const test = createTestSystem();
  const Slow = defineProtocol("slow", { work: { payload: Type.Integer(), reply: Type.Integer() } });
  const slow = test.system.spawn("slow", Slow, () => ({ work: () => new Promise<number>(() => {}) }), { capacity: 1 });
  const door = receive(slow);
  const controller = new AbortController();
  const first = door.ask("work", 1, { timeout: 10 });
  await test.settle();
  const second = door.ask("work", 2, { signal: controller.signal, timeout: Number.POSITIVE_INFINITY });
  expect((await door.offer("work", 3, { timeout: 5 }))._unsafeUnwrapErr().kind).toBe("mailbox-full");
  controller.abort();
  expect((await second)._unsafeUnwrapErr().kind).toBe("cancelled");
  await test.advance(10);
  expect((await first)._unsafeUnwrapErr().kind).toBe("timeout");
  const { ref } = spawnTill(test);
  await test.system.stop(ref);
  expect((await receive(ref).ask("add", 4))._unsafeUnwrapErr().kind).toBe("stopped");
});

test("a bad option of receive, or what is no reference, throws at once", () => {
  const test = createTestSystem();
  const door = receive(spawnTill(test).ref);
  for (const operation of ["add", ""]) {
    expect(() => door.ask(operation, 1, { timeout: 0 })).toThrow(RangeError);
    expect(() => door.offer(operation, 1, { timeout: -1 })).toThrow(RangeError);
    expect(() => door.stream(operation, 1, { credit: 0 })).toThrow(RangeError);
  }
  expect(() => receive({ address: address("till") })).toThrow(TypeError);
});

test("P18: publicError tells the kind and the operation of a door's error, and no address, behind a pool too", async () => {
  const { system } = createTestSystem();
  const pool = spawnPool(
    system,
    "internal-pool",
    Till,
    () => ({
      add: (n) => n,
      order: () => {
        throw new Error("hunter2");
      },
      count: (n) => n,
      total: () => 0,
      *ticks() {},
    }),
    { size: 2 },
  );
  const told: unknown[] = [];
  for (const [operation, payload] of [
    ["add", "2"],
    ["constructor", 1],
    ["order", { tea: 1 }],
  ] as const) {
    const reply = await receive(pool).ask(operation, payload);
    if (reply.isErr()) told.push(publicError(reply.error));
  }
  expect(told).toEqual([
    {
      kind: "invalid-payload",
      message: '"add" has a payload that is refused: the payload must be a number.',
      retryable: false,
    },
    {
      kind: "unknown-operation",
      message: '"constructor" asks for an operation that is not there in this pattern; check the name.',
      retryable: false,
    },
    { kind: "handler-failed", message: '"order" failed in its handler.', retryable: false },
  ]);
});
