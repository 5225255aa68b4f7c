import { expect, spyOn, test } from "bun:test";
import { type Cell, cellOf } from "../../src/actor/cell/cell";
import { Children } from "../../src/actor/cell/directory";
import { ActorRef } from "../../src/actor/refs/ref";
import {
  type Address,
  address,
  type Context,
  createMessage,
  createSystem,
  defineProtocol,
  type RefTo,
  type SignaturesOf,
  type System,
  Type,
} from "../../src/index";
import { testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const Node = defineProtocol("node", { name: { reply: Type.String() }, wait: {} });
type NodeContext = Context<SignaturesOf<typeof Node>>;

/** An actor that says what it was called, and the context by which it is a parent. */
function spawnNode(parent: Pick<System, "spawn"> | NodeContext, name: string): [RefTo<typeof Node>, NodeContext] {
  const made: NodeContext[] = [];
  const ref = parent.spawn(name, Node, (ctx) => {
    made.push(ctx);
    return { name: () => name, wait: () => Promise.withResolvers<void>().promise };
  });
  return [ref, made[0] as NodeContext]; // The factory has run.
}

const nameAt = async (system: System, id: string): Promise<unknown> => {
  const reply = await system.router.ask(createMessage(address(id), "name", undefined));
  return reply.isOk() ? reply.value : reply.error.kind;
};

/** With few children, and with so many that they are in a map. */
const CROWDS = [0, 100] as const;

function crowd(parent: NodeContext, size: number): void {
  for (let i = 0; i < size; i++) spawnNode(parent, `other-${i}`);
}

test("a child is found by its address, however deep it is, though nobody has read one before", async () => {
  for (const size of CROWDS) {
    await using system = createSystem();
    const [, top] = spawnNode(system, "top");
    crowd(top, size);
    const [, middle] = spawnNode(top, "middle");
    crowd(middle, size);
    spawnNode(middle, "leaf");
    expect(await nameAt(system, "top/middle/leaf")).toBe("leaf");
    expect(await nameAt(system, "top/middle/leaf")).toBe("leaf");
    expect(await nameAt(system, "top/middle")).toBe("middle");
    for (const nobody of ["middle", "leaf", "top/leaf", "top/middle/leaf/leaf", "top/middle/lea", "top/iddle"]) {
      expect(await nameAt(system, nobody)).toBe("no-recipient");
      expect(system.router.has(address(nobody))).toBe(false);
    }
  }
});

test("a child has the address of its parent before its own name, also where both have stopped before anybody read it", async () => {
  await using system = createSystem();
  const [ref, top] = spawnNode(system, "top");
  const [child, middle] = spawnNode(top, "middle");
  const [leaf] = spawnNode(middle, "leaf");
  const [other] = spawnNode(middle, "other");
  expect(JSON.stringify({ other })).toBe('{"other":"@(top/middle/other)"}');
  await system.stop(ref);
  expect(leaf.address).toBe("@(top/middle/leaf)" as Address);
  expect(`${child}`).toBe("@(top/middle)");
  const asked = await other.ask("name");
  expect(asked.isErr() && asked.error.message).toContain("@(top/middle/other)");
});

test("what is no address finds nobody, and harms nobody", async () => {
  await using system = createSystem({ logger: { warn() {}, error() {} } });
  const [, top] = spawnNode(system, "a");
  spawnNode(top, "b");
  const deep = `@(a/b${"/b".repeat(100_000)})`;
  for (const wrong of [
    "@(a/b",
    "@(a/b]",
    "@(a/bb",
    "a/b",
    "(a/b)",
    "@(a//b)",
    "@(/a/b)",
    "@(a/b/)",
    "@(a/)",
    "/",
    deep,
    5,
    null,
    {},
  ]) {
    const to = wrong as Address; // As one that is not typed may send it.
    expect(system.router.has(to)).toBe(false);
    system.router.tell({ ...createMessage(address("a"), "name", undefined), to });
    expect(await system.router.unregister(to)).toBe(false);
  }
  expect(system.router.audit()).toMatchObject({ accepted: 14, dead: 14 });
  expect(await nameAt(system, "a/b")).toBe("b");
});

test("P14: the address of a child can be used again, found before or not; a reference to the one before stays dead", async () => {
  for (const size of CROWDS) {
    for (const isFound of [false, true]) {
      const { system } = createTestSystem();
      const [, top] = spawnNode(system, "top");
      crowd(top, size);
      for (let i = 0; i < 30; i++) {
        const [ref, ctx] = spawnNode(top, "again");
        spawnNode(ctx, "below");
        if (isFound) expect(await nameAt(system, "top/again/below")).toBe("below");
        await system.stop(ref);
        expect(system.router.has(address("top/again"))).toBe(false);
        expect(system.router.has(address("top/again/below"))).toBe(false);
        const asked = await ref.ask("name");
        expect(asked.isErr() && asked.error.kind).toBe("stopped");
      }
      spawnNode(top, "again");
      expect(await nameAt(system, "top/again")).toBe("again");
      await system.shutdown();
    }
  }
});

test("P14: nothing of a child that was looked for and has stopped is kept", async () => {
  for (const size of CROWDS) {
    await using system = createSystem();
    const [, top] = spawnNode(system, "top");
    crowd(top, size);
    const kept: WeakRef<Cell>[] = [];
    for (let i = 0; i < 1_000; i++) {
      const [ref] = spawnNode(top, `child-${i}`);
      expect(system.router.has(ref.address)).toBe(true);
      kept.push(new WeakRef(cellOf(ref)));
      await system.stop(ref);
    }
    for (let i = 0; i < 4; i++) {
      await new Promise(setImmediate);
      Bun.gc(true); // A WeakRef keeps its target for the job that looked at it, and a stray word on the stack keeps a chain.
    }
    expect(kept.filter((ref) => ref.deref() !== undefined).length).toBeLessThan(150 + size);
  }
});

test("a name is in use among the children of one actor, and free below another one", async () => {
  for (const size of CROWDS) {
    await using system = createSystem();
    const [, first] = spawnNode(system, "first");
    const [, second] = spawnNode(system, "second");
    crowd(first, size);
    const [ref] = spawnNode(first, "same");
    const inUse = "@(first/same) is in use; stop that actor first and wait for it, or choose another name.";
    expect(() => spawnNode(first, "same")).toThrow(inUse);
    expect(ref.address).toBe("@(first/same)" as Address);
    expect(() => spawnNode(first, "same")).toThrow(inUse);
    expect(() => system.router.register(ref.address, () => 1)).toThrow(inUse);
    spawnNode(second, "same");
    spawnNode(system, "same");
    await system.stop(ref);
    spawnNode(first, "same");
    expect(() => spawnNode(first, "same")).toThrow(inUse);
  }
});

test("an address is one actor's, whether a slash in it is of its name or between two names", async () => {
  await using system = createSystem();
  const [nested] = spawnNode(system, "w/3");
  const [, w] = spawnNode(system, "w");
  expect(() => spawnNode(w, "3")).toThrow("@(w/3) is in use");
  const [read] = spawnNode(w, "read");
  expect(read.address).toBe("@(w/read)" as Address);
  await system.stop(read);
  expect(() => spawnNode(w, "3")).toThrow("@(w/3) is in use");
  const [, four] = spawnNode(w, "4");
  expect(() => spawnNode(system, "w/4")).toThrow("@(w/4) is in use");
  expect(() => system.router.register(address("w/4"), () => 1)).toThrow("@(w/4) is in use");
  const [deep] = spawnNode(w, "4/5");
  expect(() => spawnNode(four, "5")).toThrow("@(w/4/5) is in use");
  const [six] = spawnNode(four, "6");
  const [, below] = spawnNode(system, "lone/some");
  const [, child] = spawnNode(below, "child");
  spawnNode(child, "leaf");
  expect(await nameAt(system, "lone/some/child/leaf")).toBe("leaf");
  expect(await nameAt(system, "lone/some/child/leaf/x/y")).toBe("no-recipient");
  expect(await nameAt(system, "lone")).toBe("no-recipient");
  expect(() => spawnNode(w, "4/6")).toThrow("@(w/4/6) is in use");
  expect(await nameAt(system, "w/4/5")).toBe("4/5");
  expect(await nameAt(system, "w/4/6")).toBe("6");
  expect(await nameAt(system, "w/3")).toBe("w/3");
  for (const ref of [nested, deep, six]) await system.stop(ref);
  spawnNode(w, "3");
  spawnNode(four, "5");
  spawnNode(w, "4/6");
  expect(await nameAt(system, "w/3")).toBe("3");
  expect(await nameAt(system, "w/4/5")).toBe("5");
  expect(await nameAt(system, "w/4/6")).toBe("4/6");
  spawnNode(system, "v/1");
  await system.router.unregister(address("v/1"));
  const [, v] = spawnNode(system, "v");
  spawnNode(v, "1");
  expect(await nameAt(system, "v/1")).toBe("1");
});

test("a child may have any name that an address may have, and is found by it", async () => {
  const names = [
    "1",
    "@",
    "@x",
    "a@b",
    "日本",
    "𝒳",
    "+",
    "'",
    "$&",
    "__proto__",
    "constructor",
    "x~y",
    "-",
    ".",
    "..",
    "w/3",
  ];
  for (const size of CROWDS) {
    await using system = createSystem();
    const [, top] = spawnNode(system, "top");
    crowd(top, size);
    for (const name of names) spawnNode(top, name);
    for (const name of names) {
      expect(() => spawnNode(top, name)).toThrow(`@(top/${name}) is in use`);
      expect(await nameAt(system, `top/${name}`)).toBe(name);
    }
    expect(
      system
        .inspect()
        .flatMap(({ children }) => children.map((child) => child.address as string))
        .slice(size),
    ).toEqual(names.map((name) => `@(top/${name})`));
  }
});

test("a name is another one than those that begin with it, end with it, or have it within", async () => {
  for (const isRead of [false, true]) {
    await using system = createSystem();
    const [, top] = spawnNode(system, "top");
    const names = ["______b_", "abc", "ab", "bc", "b", "a", "abcd"];
    for (const name of names) {
      const [ref] = spawnNode(top, name);
      if (isRead) expect(ref.address).toBe(`@(top/${name})`);
    }
    for (const name of names) expect(await nameAt(system, `top/${name}`)).toBe(name);
  }
});

test("a child that was found is found again without a look at its parent", async () => {
  await using system = createSystem();
  const [, top] = spawnNode(system, "top");
  const [middle, ctx] = spawnNode(top, "middle");
  spawnNode(ctx, "leaf");
  const looked = spyOn(Children.prototype, "named");
  try {
    expect(system.router.has(address("top/middle/leaf"))).toBe(true);
    expect(looked).toHaveBeenCalledTimes(2);
    expect(system.router.has(address("top/middle/leaf"))).toBe(true);
    expect(looked).toHaveBeenCalledTimes(2);
    expect(system.router.has(address(`top/nobody${"/x".repeat(200)}`))).toBe(false);
    expect(looked).toHaveBeenCalledTimes(3);
    await system.stop(middle);
    expect(system.router.has(address("top/middle/leaf"))).toBe(false);
  } finally {
    looked.mockRestore();
  }
});

test("an address of many names is not looked at beyond the first that nobody has", async () => {
  await using system = createSystem();
  const [, top] = spawnNode(system, "top");
  spawnNode(top, "child");
  const nobody = address(`top/nobody${"/x".repeat(200)}`);
  const looked = spyOn(String.prototype, "indexOf");
  try {
    expect(system.router.has(nobody)).toBe(false);
    expect(looked.mock.contexts.filter((each) => String(each) === nobody).length).toBeLessThan(5);
  } finally {
    looked.mockRestore();
  }
});

test("an address is as long as one may be, whatever it is made of", async () => {
  await using system = createSystem();
  const [, top] = spawnNode(system, "t".repeat(100));
  const [, middle] = spawnNode(top, "m".repeat(200));
  expect(() => spawnNode(middle, "x".repeat(211))).toThrow("is not an actor id");
  const [longest] = spawnNode(middle, "x".repeat(210));
  expect(system.router.has(longest.address)).toBe(true);
  expect(longest.address).toHaveLength(515);
});

test("P14: who spawns another one of the name as soon as a child has stopped has it found, and the name in use", async () => {
  for (const size of CROWDS) {
    await using system = createSystem();
    const [, top] = spawnNode(system, "top");
    crowd(top, size);
    const [before] = spawnNode(top, "child");
    const seen = Promise.withResolvers<boolean>();
    const end = system.events.subscribe((event) => {
      if (event.kind !== "stopped") return;
      seen.resolve(system.router.has(event.address));
      spawnNode(top, "child");
    });
    await system.stop(before);
    expect(await seen.promise).toBe(false);
    end();
    expect(await nameAt(system, "top/child")).toBe("child");
    expect(() => spawnNode(top, "child")).toThrow("@(top/child) is in use");
  }
});

test("P1: what waits in actors at any depth is counted, and a shutdown names all that did not stop", async () => {
  const { system, clock, takeLog } = createTestSystem();
  const [ref, top] = spawnNode(system, "top");
  const [child, middle] = spawnNode(top, "middle");
  const leaves = [0, 1, 2].map((i) => spawnNode(middle, `leaf-${i}`)[0]);
  for (const each of [ref, child, ...leaves]) for (let i = 0; i < 3; i++) each.tell("wait");
  await clock.settle();
  expect(system.router.audit()).toMatchObject({ accepted: 15, queued: 10, running: 5 });
  const report = system.shutdown({ timeout: 1 });
  await clock.advance(1);
  const { unfinished } = await report;
  takeLog();
  expect(unfinished as readonly string[]).toEqual([
    "@(top)",
    "@(top/middle)",
    "@(top/middle/leaf-0)",
    "@(top/middle/leaf-1)",
    "@(top/middle/leaf-2)",
  ]);
  expect([...cellOf(ref).environment.directory.all()]).toEqual([]);
});

test("ten thousand children of one actor are not compared with each other, to come, to be found or to go", async () => {
  const compared = spyOn(ActorRef, "isNamed");
  try {
    await using system = createSystem();
    const [ref, top] = spawnNode(system, "top");
    for (let i = 0; i < 10_000; i++) spawnNode(top, `child-${i}`);
    expect(await nameAt(system, "top/child-9999")).toBe("child-9999");
    await system.stop(ref);
    expect(compared.mock.calls.length).toBeGreaterThan(0);
    expect(compared.mock.calls.length).toBeLessThan(1_000);
  } finally {
    compared.mockRestore();
  }
});

test("a hundred thousand children of one actor come, are counted, and go", async () => {
  await using system = createSystem();
  const [ref, top] = spawnNode(system, "top");
  for (let i = 0; i < 100_000; i++) spawnNode(top, `${i}`);
  expect(system.router.audit().accepted).toBe(0);
  expect(await nameAt(system, "top/99999")).toBe("99999");
  await system.stop(ref);
  expect([...cellOf(ref).environment.directory.all()]).toEqual([]);
});
