import { expect, test } from "bun:test";
import * as v from "valibot";
import { z } from "zod";
import {
  address,
  createMessage,
  defineProtocol,
  type Message,
  type PoolOptions,
  parseMessage,
  type RefTo,
  serializeMessage,
  spawnPool,
  Type,
} from "../../src/index";
import { reasonsOf, type TestOptions, testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const Shop = defineProtocol("shop", {
  buy: { payload: Type.Object({ count: Type.Integer() }), reply: Type.Number() },
  day: { payload: z.object({ day: z.string().transform((text) => text.toUpperCase()) }), reply: z.string() },
  trim: { payload: v.pipe(v.string(), v.trim()), reply: v.string() },
  total: { reply: z.number().transform((n) => n * 100) },
  close: {},
});

function spawnShop({ system }: ReturnType<typeof createTestSystem>) {
  const seen: unknown[] = [];
  const ref: RefTo<typeof Shop> = system.spawn("shop", Shop, () => ({
    buy(order) {
      seen.push(order);
      return order.count;
    },
    day(it) {
      seen.push(it);
      return it.day;
    },
    trim(text) {
      seen.push(text);
      return text;
    },
    total: () => 1,
    close: () => void seen.push("closed"),
  }));
  return { ref, seen };
}

const WRONG = [undefined, null, {}, { count: "1" }, { count: 1.5 }, "1", []] as { count: number }[];

/** The same message as it would come from outside. */
function received(type: string, payload: unknown, pattern: Message["pattern"] = "tell"): Message {
  const text = serializeMessage(createMessage(address("shop"), type, payload, { pattern }))._unsafeUnwrap();
  return parseMessage(text)._unsafeUnwrap();
}

test("P1: within the process a payload is trusted by default", async () => {
  for (const options of [{}, { validate: "boundary" }] satisfies TestOptions[]) {
    const systems = createTestSystem(options);
    const { ref, seen } = spawnShop(systems);
    const wrong = { count: "1" } as unknown as { count: number };
    await ref.ask("buy", wrong);
    await systems.router.ask(createMessage(ref.address, "buy", wrong));
    expect(seen).toEqual([wrong, wrong]);
    expect(seen[0]).toBe(wrong);
  }
});

test("P1: under validate: always a payload that does not fit is refused, whichever way it comes", async () => {
  const systems = createTestSystem({ validate: "always" });
  const { ref, seen } = spawnShop(systems);
  for (const wrong of WRONG) {
    const error = (await ref.ask("buy", wrong))._unsafeUnwrapErr();
    expect(error).toMatchObject({ kind: "invalid-payload", retryable: false, operation: "buy" });
    expect(error.kind === "invalid-payload" && error.issues.length).toBeGreaterThan(0);
    expect(error.undelivered.payload).toEqual(wrong);
    expect((await ref.offer("buy", wrong))._unsafeUnwrapErr().kind).toBe("invalid-payload");
    const routed = await systems.router.ask(createMessage(ref.address, "buy", wrong));
    expect(routed._unsafeUnwrapErr().kind).toBe("invalid-payload");
  }
  expect(new Set(reasonsOf(systems.deadLetters))).toEqual(new Set(["invalid-payload"]));
  ref.tell("buy", WRONG[0] as { count: number });
  expect(systems.takeLog().map((entry) => entry.message)).toEqual([expect.stringContaining("invalid-payload")]);
  expect(seen).toEqual([]);
  expect((await ref.ask("buy", { count: 2 }))._unsafeUnwrap()).toBe(2);
});

test("P1: under validate: always what does not fit is refused also among many that do", async () => {
  const systems = createTestSystem({ validate: "always" });
  const { ref, seen } = spawnShop(systems);
  for (let count = 0; count < 100; count++) {
    ref.tell("buy", { count });
    if (count % 10 === 0) ref.tell("buy", WRONG[3] as { count: number });
  }
  await systems.clock.settle();
  expect(seen).toHaveLength(100);
  expect(reasonsOf(systems.deadLetters)).toEqual(new Array(10).fill("invalid-payload"));
  systems.takeLog();
  await systems.clock.advance(1_000);
  systems.takeLog();
});

test("P1: an actor's own validate: always refuses what does not fit, whichever way it comes, and no other actor's does", async () => {
  const { system, router, takeLog } = createTestSystem();
  const seen: unknown[] = [];
  const buy = ({ count }: { count: number }) => seen.push(count);
  const Till = defineProtocol("till", {
    buy: { payload: Type.Object({ count: Type.Integer() }), reply: Type.Number() },
  });
  const strict = system.spawn("strict", Till, () => ({ buy }), { validate: "always" });
  const loose = system.spawn("loose", Till, () => ({ buy }), { validate: "boundary" });
  const pool = spawnPool(system, "pool", Till, () => ({ buy }), { size: 2, validate: "always" });
  for (const wrong of WRONG) {
    for (const ref of [strict, pool]) {
      expect((await ref.ask("buy", wrong))._unsafeUnwrapErr().kind).toBe("invalid-payload");
      expect((await ref.offer("buy", wrong))._unsafeUnwrapErr().kind).toBe("invalid-payload");
      const routed = await router.ask(createMessage(ref.address, "buy", wrong));
      expect(routed._unsafeUnwrapErr().kind).toBe("invalid-payload");
    }
  }
  expect(seen).toEqual([]);
  expect((await loose.ask("buy", { count: "1" } as never)).isOk()).toBe(true);
  for (const ref of [strict, pool]) expect((await ref.ask("buy", { count: 2 })).isOk()).toBe(true);
  expect(seen).toEqual(["1", 2, 2]);
  strict.tell("buy", { count: "3" } as never);
  expect(takeLog().map((entry) => entry.message)).toEqual([expect.stringContaining("invalid-payload")]);
});

test("P1: an actor that validates always does so after a restart, and within a capacity", async () => {
  const { system, takeLog } = createTestSystem({ supervision: {} });
  const shop = system.spawn(
    "shop",
    defineProtocol("fragile", { buy: { payload: Type.Integer(), reply: Type.Integer() } }),
    () => ({
      buy(count) {
        if (count < 0) throw new Error("broken");
        return count;
      },
    }),
    { validate: "always", capacity: 5 },
  );
  expect((await shop.ask("buy", -1))._unsafeUnwrapErr().kind).toBe("handler-failed");
  expect((await shop.ask("buy", "1" as never))._unsafeUnwrapErr().kind).toBe("invalid-payload");
  expect((await shop.ask("buy", 1))._unsafeUnwrap()).toBe(1);
  expect(takeLog()).toHaveLength(1);
});

test("an actor's validate that is none is refused", () => {
  const { system } = createTestSystem();
  const options = { validate: "never" } as never;
  expect(() => system.spawn("shop", defineProtocol("none", {}), () => ({}), options)).toThrow(
    'The validate of @(shop) is "boundary" or "always"; got "never".',
  );
});

test("P1: an error of a payload says where it is wrong", async () => {
  const systems = createTestSystem({ validate: "always" });
  const { ref } = spawnShop(systems);
  const error = (await ref.ask("buy", { count: "1" } as unknown as { count: number }))._unsafeUnwrapErr();
  expect(error.kind === "invalid-payload" && error.issues[0]?.path).toBe("/count");
  expect(error.message).toContain("/count");
  expect(error.message).toContain("@(shop)");
});

test("P1: an operation without a payload takes none under validate: always", async () => {
  const systems = createTestSystem({ validate: "always" });
  const { ref, seen } = spawnShop(systems);
  const error = await systems.router.ask(createMessage(ref.address, "close", "now"));
  expect(error._unsafeUnwrapErr().kind).toBe("invalid-payload");
  expect((await systems.router.ask(createMessage(ref.address, "close", null))).isOk()).toBe(true);
  expect((await ref.ask("close")).isOk()).toBe(true);
  expect(seen).toEqual(["closed", "closed"]);
});

test("P1: what parseMessage read is validated by default, however it is sent on", async () => {
  const systems = createTestSystem();
  const { seen } = spawnShop(systems);
  const { router } = systems;
  const message = received("buy", { count: "1" });
  const asked = received("buy", { count: "1" }, "ask");
  const copies = [message, { ...message }, { ...message, metadata: { trace: 1 } }, Object.assign({}, message), asked];
  for (const copy of copies) {
    expect((await router.ask(copy))._unsafeUnwrapErr().kind).toBe("invalid-payload");
    expect((await router.offer(copy))._unsafeUnwrapErr().kind).toBe("invalid-payload");
  }
  router.tell(message);
  expect(systems.takeLog()).toHaveLength(1);
  expect(seen).toEqual([]);
  expect((await router.ask(received("buy", { count: 3 })))._unsafeUnwrap()).toBe(3);
});

test("P1: what parseMessage read is still validated when a handler sends it on", async () => {
  const systems = createTestSystem();
  const { router } = systems;
  const { seen } = spawnShop(systems);
  router.register(address("front"), async (message) => {
    const answer = await router.ask({ ...message, to: address("shop") });
    return answer.isOk() ? "ok" : answer.error.kind;
  });
  const outside = { ...received("buy", { count: "1" }), to: address("front") };
  expect((await router.ask(outside))._unsafeUnwrap()).toBe("invalid-payload"); // The pattern was changed on the way.
  expect(seen).toEqual([]);
});

test("P1: a handler gets what its schema made of a payload that was validated", async () => {
  const systems = createTestSystem();
  const { ref, seen } = spawnShop(systems);
  expect((await systems.router.ask(received("day", { day: "mon", more: 1 })))._unsafeUnwrap()).toBe("MON");
  expect((await systems.router.ask(received("trim", "  a ")))._unsafeUnwrap()).toBe("a");
  expect(seen).toEqual([{ day: "MON" }, "a"]); // Zod leaves out what its schema does not name.
  expect((await ref.ask("day", { day: "mon" }))._unsafeUnwrap()).toBe("mon"); // Trusted, and so not transformed.

  const always = createTestSystem({ validate: "always" });
  const strict = spawnShop(always);
  expect((await strict.ref.ask("day", { day: "tue" }))._unsafeUnwrap()).toBe("TUE");
});

test("P1: a reply that is validated is what its schema made of it", async () => {
  const { ref: trusting } = spawnShop(createTestSystem());
  expect((await trusting.ask("total"))._unsafeUnwrap()).toBe(1);
  const { ref: strict } = spawnShop(createTestSystem({ validate: "always" }));
  expect((await strict.ask("total"))._unsafeUnwrap()).toBe(100);
});

test("P1: what an error hands back is the message that was sent, so that it can be sent again", async () => {
  const { system, router, clock } = createTestSystem({ validate: "always" });
  const Parse = defineProtocol("parse", { parse: { payload: z.string().transform(Number), reply: Type.Number() } });
  let count = 0;
  const never = new Promise<number>(() => {});
  const first = system.spawn("parse", Parse, () => ({ parse: (n) => (count++ === 0 ? Promise.reject("busy") : n) }));
  const failed = (await first.ask("parse", "12" as unknown as number))._unsafeUnwrapErr();
  expect(failed.undelivered.payload).toBe("12");
  expect((await router.ask(failed.undelivered))._unsafeUnwrap()).toBe(12);

  const stuck = system.spawn("stuck", Parse, () => ({ parse: () => never }));
  const ask = stuck.ask("parse", "13" as unknown as number, { timeout: 10 });
  await clock.advance(10);
  expect((await ask)._unsafeUnwrapErr().undelivered.payload).toBe("13");
});

test("P1: a schema that throws, or is asynchronous, refuses the payload and harms nobody", async () => {
  const systems = createTestSystem({ validate: "always" });
  const Odd = defineProtocol("odd", {
    throwing: {
      payload: z.string().transform(() => {
        throw new Error("hostile");
      }),
    },
    waiting: { payload: z.string().refine(async () => true) },
    fine: { payload: z.string() },
  });
  const ref = systems.system.spawn("odd", Odd, () => ({ throwing() {}, waiting() {}, fine() {} }));
  expect((await ref.ask("throwing", "a" as never))._unsafeUnwrapErr().kind).toBe("invalid-payload");
  expect((await ref.ask("waiting", "a"))._unsafeUnwrapErr().kind).toBe("invalid-payload");
  expect((await ref.ask("fine", "a")).isOk()).toBe(true);
});

test("P1: an actor of a router has no schema, and takes what comes", async () => {
  const { router } = createTestSystem({ validate: "always" });
  const echo = router.register(address("echo"), (message) => message.payload);
  for (const payload of [1, "a", null, undefined, { deep: [{}] }]) {
    expect((await echo.ask("anything", payload))._unsafeUnwrap()).toEqual(payload);
  }
});

const Parser = defineProtocol("parser", {
  parse: { payload: z.string().transform(Number), reply: Type.Number() },
  fail: {},
});

/** A pool whose restart takes 10 ms, and what its workers got. */
function spawnParsers(systems: ReturnType<typeof createTestSystem>, options: Partial<PoolOptions> = {}) {
  const seen: unknown[] = [];
  let stops = 0;
  const pool = spawnPool(
    systems.system,
    "parsers",
    Parser,
    () => ({
      parse(n) {
        seen.push(n);
        return n;
      },
      fail() {
        throw new Error("broken");
      },
      onStop() {
        if (stops++ > 1) return undefined; // At the end of the test.
        return new Promise<void>((resolve) => systems.clock.setTimer(resolve, 10));
      },
    }),
    { size: 2, ...options, supervision: { limit: 0 } },
  );
  return { pool, seen };
}

for (const routing of ["round-robin", "broadcast"] as const) {
  for (const options of [{}, { validate: "always" }] satisfies TestOptions[]) {
    const title = `P18: a payload that waits while a ${routing} pool restarts is validated once, with ${JSON.stringify(options)}`;
    test(title, async () => {
      const systems = createTestSystem({ ...options, supervision: {} });
      const { pool, seen } = spawnParsers(systems, { routing });
      pool.tell("fail");
      await systems.clock.settle();
      const [report] = systems.system.inspect();
      expect(report?.state).toBe("restarting");
      const outside = { id: "1", to: pool.address, type: "parse", payload: "12", timestamp: 0 };
      const asked = systems.router.ask(parseMessage({ ...outside, pattern: "ask" })._unsafeUnwrap());
      systems.router.tell(parseMessage({ ...outside, pattern: "tell", payload: "13" })._unsafeUnwrap());
      const last = parseMessage({ ...outside, pattern: "tell", payload: "14" })._unsafeUnwrap();
      // P11: the pool's own mailbox takes it, without waiting for the workers.
      expect((await systems.router.offer(last)).isOk()).toBe(true);
      const isStrict = "validate" in options;
      const inside = isStrict ? pool.ask("parse", "15" as never) : pool.ask("parse", 15);
      await systems.clock.advance(10);
      expect((await asked)._unsafeUnwrap()).toBe(12);
      expect((await inside)._unsafeUnwrap()).toBe(15);
      await systems.clock.settle();
      const all = routing === "broadcast" ? [12, 12, 13, 13, 14, 14, 15, 15] : [12, 13, 14, 15];
      expect(seen.sort()).toEqual(all);
      systems.takeLog();
    });
  }
}

test("P18: under validate: always a payload from within that is forwarded is validated once, too, by one schema", async () => {
  const { system } = createTestSystem({ validate: "always" });
  const last = system.spawn("last", Parser, () => ({ parse: (n) => n, fail() {} }));
  const first = system.spawn("first", Parser, (ctx) => ({ parse: () => ctx.forward(last), fail() {} }));
  expect((await first.ask("parse", "12" as never))._unsafeUnwrap()).toBe(12);
  expect((await last.ask("parse", 12))._unsafeUnwrapErr().kind).toBe("invalid-payload"); // Sent as it is, it is still held to it.
});

const Even = defineProtocol("even", {
  parse: { payload: z.number().refine((n) => n % 2 === 0), reply: Type.Number() },
});

test("P18: a forward to an actor with another schema is from within: what its first schema made of it is trusted", async () => {
  const { system, router, deadLetters, takeLog } = createTestSystem();
  const seen: unknown[] = [];
  const even = (name: string, options = {}) =>
    system.spawn(
      name,
      Even,
      (ctx) => ({
        parse(n) {
          seen.push(n, ctx.message.payload);
          return n;
        },
      }),
      options,
    );
  const trusting = even("trusting");
  const strict = even("strict", { validate: "always" });
  let to = trusting;
  const first = system.spawn("first", Parser, (ctx) => ({ parse: () => ctx.forward(to), fail() {} }));
  const send = (payload: string) =>
    router.ask(
      parseMessage({
        id: "1",
        pattern: "ask",
        to: first.address,
        type: "parse",
        payload,
        timestamp: 0,
      })._unsafeUnwrap(),
    );
  expect((await send("13"))._unsafeUnwrap()).toBe(13);
  expect(seen).toEqual([13, "13"]); // The handler gets what the schema made; the message is what was sent.

  to = strict;
  expect((await send("14"))._unsafeUnwrap()).toBe(14);
  const refused = (await send("15"))._unsafeUnwrapErr();
  expect(refused).toMatchObject({ kind: "invalid-payload", address: strict.address });
  // It can be sent again as it is: it is the message that was sent, to the actor that it was sent to.
  expect(refused.undelivered).toMatchObject({ to: first.address, payload: "15" });
  expect(deadLetters.at(-1)?.message).toBe(refused.undelivered);
  to = trusting;
  expect((await router.ask(refused.undelivered))._unsafeUnwrap()).toBe(15);
  takeLog();
});
