import { afterEach, describe, expect, test } from "bun:test";
import { type AskResult, createSystem, defineProtocol, type System, type Terminated, Type } from "../../src/index";
import { spawnWorkers, type Workers, type WorkersOptions } from "../../src/workers/index";
import { Kitchen, Log, Reaper } from "./programs/protocols";

const entryOf = (name: string) => new URL(`./programs/${name}.ts`, import.meta.url);
const SILENT = { warn: () => undefined, error: () => undefined };

let system: System;
let workers: Workers;
afterEach(() => system?.shutdown({ timeout: 20_000 }));

/** A system with a log that workers reach, which says when it has a note. */
async function start(options: Partial<WorkersOptions> = {}) {
  system = createSystem({ name: "main", logger: SILENT, hookTimeout: 20_000 });
  const notes: string[] = [];
  const waiting: { readonly note: string; readonly resolve: () => void }[] = [];
  const log = system.spawn("log", Log, () => ({
    note(text) {
      notes.push(text);
      for (const { note, resolve } of waiting) if (note === text) resolve();
    },
    notes: () => notes,
  }));
  const noted = (note: string) =>
    new Promise<void>((resolve) => (notes.includes(note) ? resolve() : waiting.push({ note, resolve })));
  workers = await spawnWorkers(system, {
    entry: entryOf("kitchen"),
    size: 1,
    exposes: { log },
    readyWithin: 60_000,
    heartbeatLimit: Number.POSITIVE_INFINITY,
    supervision: { backoff: { initial: 1, max: 2 }, beyondLimit: "hold" },
    ...options,
  });
  return { kitchen: workers.ref("kitchen", Kitchen), notes, noted, log };
}

/** Resolves once all are ready again. */
async function allReady(): Promise<void> {
  while (workers.members.some(({ state }) => state !== "ready")) await new Promise((resolve) => setTimeout(resolve, 1));
}
async function anyDown(): Promise<void> {
  while (workers.members.every(({ state }) => state === "ready"))
    await new Promise((resolve) => setTimeout(resolve, 1));
}

describe.each(["thread", "process"] as const)("a %s", (as) => {
  test("takes asks, tells, offers and streams, in order, with their metadata and deadlines", async () => {
    const { kitchen } = await start({ as, data: { menu: "soup" } });
    expect((await kitchen.ask("cook", { eggs: [1, 2] }))._unsafeUnwrap()).toEqual({ eggs: [1, 2] });
    for (let n = 0; n < 1_000; n++) kitchen.tell("order", n);
    expect((await kitchen.offer("order", 1_000)).isOk()).toBe(true);
    expect((await kitchen.ask("ordered"))._unsafeUnwrap()).toEqual(Array.from({ length: 1_001 }, (_, n) => n));
    const items: number[] = [];
    for await (const n of kitchen.stream("count", 100, { credit: 4 })) items.push(n);
    expect(items.length).toBe(100);
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const context = await kitchen.ask("context", { metadata: { user: "ada", traceparent } });
    expect(context._unsafeUnwrap()).toEqual({ metadata: { user: "ada", traceparent }, hasDeadline: true });
    const who = (await kitchen.ask("who"))._unsafeUnwrap();
    expect(who).toMatchObject({ worker: 1, data: { menu: "soup" } });
    expect(who.pid === process.pid).toBe(as === "thread");
  });

  test("P7: a cancelled ask aborts its handler there", async () => {
    const { kitchen, noted } = await start({ as });
    const giving = new AbortController();
    const asked = kitchen.ask("never", "stew", { signal: giving.signal });
    await noted("stew");
    giving.abort();
    expect((await asked)._unsafeUnwrapErr().kind).toBe("cancelled");
    await noted("stew given up");
  });

  test("a reference in a payload is one there: it is told and watched", async () => {
    const { kitchen, noted } = await start({ as });
    const heard = Promise.withResolvers<string>();
    const guest = system.spawn("guest", Log, () => ({ note: heard.resolve, notes: () => [] }));
    expect((await kitchen.ask("watch", guest)).isOk()).toBe(true);
    expect(await heard.promise).toBe("hello");
    await system.stop(guest);
    await noted("watched: stopped");
  });

  test("its actor that stops is told to those who watch", async () => {
    const { kitchen } = await start({ as });
    const end = Promise.withResolvers<Terminated>();
    const Watching = defineProtocol("watching", { begin: { reply: Type.Null() } });
    const watching = system.spawn("watching", Watching, (ctx) => ({
      begin() {
        ctx.watch(kitchen, (terminated) => end.resolve(terminated));
        return null;
      },
    }));
    await watching.ask("begin");
    kitchen.tell("die", "stop");
    expect((await end.promise).reason).toBe("stopped");
  });

  test.each(as === "thread" ? ["exit", "throw"] : ["exit", "throw", "kill"])(
    "P17: that dies (%s) with asks pending answers them with unreachable, is started again, and its references go on",
    async (how) => {
      const { kitchen, noted } = await start({ as });
      const asked: Promise<AskResult<unknown>>[] = [kitchen.ask("never", "a", { timeout: Number.POSITIVE_INFINITY })];
      await noted("a");
      const other = workers.pool("kitchen", Kitchen);
      asked.push(other.ask("cook", 1, { timeout: Number.POSITIVE_INFINITY }));
      const dying = spawnDeath(how);
      for (const result of await Promise.all(asked)) expect(result._unsafeUnwrapErr().kind).toBe("unreachable");
      await dying;
      await allReady();
      expect((await kitchen.ask("cook", 2))._unsafeUnwrap()).toBe(2);
      expect((await other.ask("cook", 3))._unsafeUnwrap()).toBe(3);
      expect(workers.members[0]?.waiting).toBe(0);
    },
  );

  test("that leaves handles what it has", async () => {
    const { kitchen, noted, notes } = await start({ as, leaveWithin: 20_000 });
    const asked = kitchen.ask("slow", 50, { timeout: Number.POSITIVE_INFINITY });
    await noted("slow begins");
    await workers.stop();
    expect((await asked).isOk()).toBe(true);
    expect(notes).toContain("slow ends");
    expect((await kitchen.ask("cook", 1))._unsafeUnwrapErr().kind).toBe("unreachable");
  });

  test.each([
    ["throws", "no flour"],
    ["exits", "code 3"],
    ["fails", "no yeast"],
    ["nowhere", "nowhere"],
  ])("whose entry %s says why", async (name, why) => {
    const failed = await start({ as, entry: entryOf(name) }).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(Error);
    if (as === "thread" || name === "exits" || name === "fails") expect((failed as Error).message).toContain(why);
  });

  test("that never says that it is ready is ended, and that is said", async () => {
    const failed = await start({ as, entry: entryOf("silent"), readyWithin: 300 }).catch((error: unknown) => error);
    expect((failed as Error).message).toContain("was not ready within 300 ms");
  });
});

/** Lets the worker die by an actor of its own: the one whose handler waits takes no message. */
async function spawnDeath(how: string): Promise<void> {
  const [member] = workers.members;
  if (how === "kill") process.kill(member?.pid ?? 0, "SIGKILL");
  else workers.ref("reaper", Reaper).tell("die", how);
  await anyDown();
}
