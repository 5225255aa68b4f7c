import { expect, test } from "bun:test";
import { type ActorOptions, defineProtocol, Type } from "../../src/index";
import { expectBalance, type TestSystem, testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const Door = defineProtocol("door", {
  knock: { payload: Type.String(), reply: Type.String() },
  open: {},
  close: {},
});

/** Keeps who knocks waiting while it is closed. */
function spawnDoor({ system }: TestSystem, options: ActorOptions = {}) {
  const seen: string[] = [];
  let open: () => void = () => undefined;
  const ref = system.spawn(
    "door",
    Door,
    (ctx) => {
      let isOpen = false;
      open = () => {
        isOpen = true;
        ctx.unstash();
      };
      return {
        knock(name) {
          if (!isOpen) return ctx.stash();
          seen.push(name);
          return `come in, ${name}`;
        },
        open,
        close() {
          isOpen = false;
        },
      };
    },
    options,
  );
  return { ref, seen, openFromOutside: () => open() };
}

test("P2: what was stashed comes before what waits, in its order", async () => {
  const test = createTestSystem();
  const { ref, seen } = spawnDoor(test);
  const asks = ["a", "b"].map((name) => ref.ask("knock", name));
  ref.tell("knock", "c");
  await test.clock.settle();
  expect(test.router.audit()).toEqual({ accepted: 3, handled: 0, failed: 0, dead: 0, queued: 3, running: 0 });
  ref.tell("open");
  ref.tell("knock", "d");
  await test.clock.settle();
  expect(seen).toEqual(["a", "b", "c", "d"]);
  expect((await Promise.all(asks)).map((ask) => ask.unwrapOr(""))).toEqual(["come in, a", "come in, b"]);
  expect(test.router.audit()).toMatchObject({ accepted: 5, handled: 5, queued: 0 });
});

test("P2: unstash wakes an actor that has nothing to do", async () => {
  const test = createTestSystem();
  const { ref, seen, openFromOutside } = spawnDoor(test);
  const asked = ref.ask("knock", "a", { timeout: 10 });
  await test.clock.settle();
  openFromOutside(); // As a callback of its own would, between two messages.
  await test.clock.advance(10);
  expect({ seen, reply: (await asked).unwrapOr("nothing") }).toEqual({ seen: ["a"], reply: "come in, a" });
  openFromOutside(); // Nothing is stashed: nothing happens.
  await test.clock.settle();
  expect(seen).toEqual(["a"]);
});

test("P7: an ask that is given up in the stash is never handled, and the handler that stashed it is told", async () => {
  const test = createTestSystem();
  const { ref, seen } = spawnDoor(test);
  const asked = ref.ask("knock", "a", { timeout: 10 });
  ref.tell("knock", "b");
  await test.clock.advance(10);
  expect((await asked)._unsafeUnwrapErr().kind).toBe("timeout");
  expectBalance(test.router.audit());
  ref.tell("open");
  await test.clock.settle();
  expect(seen).toEqual(["b"]);
  expect(test.deadLetters.map(({ reason, asked: isAsked }) => [reason, isAsked])).toEqual([["timeout", true]]);
});

test("P9: a full stash fails the message, and says how to make it larger", async () => {
  const test = createTestSystem();
  const { ref, seen } = spawnDoor(test, { stashCapacity: 2 });
  const asks = ["a", "b", "c"].map((name) => ref.ask("knock", name));
  await test.clock.settle();
  const error = (await asks[2])?._unsafeUnwrapErr();
  expect(error?.message).toBe(
    '"knock" to @(door) failed in its handler: Error: The stash of @(door) is full (2 messages); unstash earlier, or spawn it with a larger stashCapacity.',
  );
  expect(test.router.audit()).toMatchObject({ failed: 1, queued: 2 });
  ref.tell("open");
  await test.clock.settle();
  expect(seen).toEqual(["a", "b"]);
  ref.tell("close"); // There is room again.
  const later = ["d", "e"].map((name) => ref.ask("knock", name));
  await test.clock.settle();
  expect(test.router.audit()).toMatchObject({ failed: 1, queued: 2 });
  ref.tell("open");
  await Promise.all([...asks, ...later]);
});

test("P11: the stash has a bound of its own; what is put back keeps its place in a full mailbox, and nobody else gets in", async () => {
  const test = createTestSystem();
  const { ref, seen } = spawnDoor(test, { capacity: 2, overflow: "wait", stashCapacity: 3 });
  for (const name of ["a", "b"]) ref.tell("knock", name);
  await test.clock.settle();
  ref.tell("knock", "c");
  await test.clock.settle();
  ref.tell("open");
  ref.tell("knock", "d");
  const offers = ["e", "f", "g"].map((name) => ref.offer("knock", name));
  await test.clock.settle();
  expect(seen).toEqual(["a", "b", "c", "d", "e", "f", "g"]);
  expect((await Promise.all(offers)).every((offer) => offer.isOk())).toBe(true);
  expect(test.deadLetters).toEqual([]);
});

for (const overflow of ["reject", "wait"] as const) {
  test(`P11: what was stashed comes back into a full mailbox, before all that waits, with overflow ${overflow}`, async () => {
    const test = createTestSystem();
    const { ref, seen, openFromOutside } = spawnDoor(test, { capacity: 1, overflow });
    for (const name of ["a", "b"]) {
      ref.tell("knock", name);
      await test.clock.settle(); // Stashed.
    }
    ref.tell("knock", "c"); // The mailbox is full.
    const offers = [ref.offer("knock", "d")];
    openFromOutside();
    expect(test.system.inspect()).toMatchObject([{ queued: overflow === "wait" ? 4 : 3 }]); // Of a capacity of 1.
    offers.push(ref.offer("knock", "e"));
    await test.clock.settle();
    const later = await ref.offer("knock", "f"); // There is room again.
    await test.clock.settle();
    const isTaken = (await Promise.all(offers)).map((offer) => offer.isOk());
    expect([...isTaken, later.isOk()]).toEqual([overflow === "wait", overflow === "wait", true]);
    expect(seen).toEqual(overflow === "wait" ? ["a", "b", "c", "d", "e", "f"] : ["a", "b", "c", "f"]);
    expect(test.deadLetters).toHaveLength(overflow === "wait" ? 0 : 2);
  });
}

test("P11: with more put back than the bound, the next message is refused until there is room", async () => {
  const test = createTestSystem();
  const gates: (() => void)[] = [];
  const seen: string[] = [];
  let isOpen = false;
  const ref = test.system.spawn(
    "door",
    Door,
    (ctx) => ({
      async knock(name) {
        if (!isOpen) return ctx.stash();
        seen.push(name);
        await new Promise<void>((resolve) => gates.push(resolve));
        return name;
      },
      open() {
        isOpen = true;
        ctx.unstash();
      },
      close() {},
    }),
    { capacity: 1 },
  );
  for (const name of ["a", "b", "c"]) {
    ref.tell("knock", name);
    await test.clock.settle();
  }
  ref.tell("open");
  await test.clock.settle(); // a runs; b and c are one more than the bound.
  const kinds: string[] = [];
  for (let i = 0; i < 3; i++) {
    const offered = await ref.offer("knock", `late ${i}`);
    kinds.push(offered.isOk() ? "ok" : offered.error.kind);
    gates.shift()?.();
    await test.clock.settle();
  }
  while (gates.length > 0) {
    gates.shift()?.();
    await test.clock.settle();
  }
  expect(kinds).toEqual(["mailbox-full", "mailbox-full", "ok"]);
  expect(seen).toEqual(["a", "b", "c", "late 2"]);
});

test("P9: what its handler stashed before it threw is kept, and goes to the next instance", async () => {
  const test = createTestSystem({ supervision: {} });
  const seen: string[] = [];
  let instances = 0;
  const ref = test.system.spawn("door", Door, (ctx) => {
    const instance = ++instances;
    return {
      knock(name) {
        seen.push(`${instance} ${name}`);
        if (instance > 1) return name;
        ctx.stash();
        if (name === "b") throw new Error("broken");
        return "";
      },
      open() {},
      close() {},
    };
  });
  const asks = ["a", "b", "c"].map((name) => ref.ask("knock", name));
  await test.clock.settle();
  expect((await Promise.all(asks)).map((ask) => ask.unwrapOr("failed"))).toEqual(["a", "b", "c"]);
  expect(seen).toEqual(["1 a", "1 b", "2 a", "2 b", "2 c"]);
  expect(test.router.audit()).toMatchObject({ accepted: 3, handled: 3, failed: 0 });
  test.takeLog();
});

test("P13: a stop dead-letters what is stashed", async () => {
  const test = createTestSystem();
  const { ref } = spawnDoor(test);
  const asked = ref.ask("knock", "a");
  await test.clock.settle();
  await test.system.stop(ref);
  expect((await asked)._unsafeUnwrapErr().kind).toBe("stopped");
  expect(test.router.audit()).toMatchObject({ accepted: 1, dead: 1, queued: 0 });
});
