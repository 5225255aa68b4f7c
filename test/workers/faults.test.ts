import { afterEach, describe, expect, spyOn, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type AnyRef, createSystem, defineProtocol, type System, systemClock, Type } from "../../src/index";
import { spawnWorkers, type Workers, type WorkersOptions } from "../../src/workers/index";
import { Kitchen, Log, Reaper } from "./programs/protocols";

const SILENT = { warn: () => undefined, error: () => undefined };
const NEVER = Number.POSITIVE_INFINITY;

let system: System;
let workers: Workers;
let notes: string[];
afterEach(() => system?.shutdown({ timeout: 20_000 }));

async function start(options: Partial<WorkersOptions> = {}, clock = systemClock) {
  system = createSystem({ name: "main", logger: SILENT, hookTimeout: 20_000, clock });
  notes = [];
  const log = system.spawn("log", Log, () => ({ note: (text) => void notes.push(text), notes: () => notes }));
  workers = await spawnWorkers(system, {
    entry: new URL("./programs/kitchen.ts", import.meta.url),
    size: 1,
    exposes: { log },
    readyWithin: 60_000,
    heartbeatLimit: NEVER,
    supervision: { backoff: { initial: 1, max: 2 }, beyondLimit: "hold" },
    ...options,
  });
  return workers.ref("kitchen", Kitchen);
}

const turn = () => new Promise<void>((resolve) => setTimeout(resolve, 1));
async function until(is: () => boolean): Promise<void> {
  while (!is()) await turn();
}
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false; // ESRCH: all are of this user.
  }
}
const areReady = () => workers.members.every(({ state }) => state === "ready");

/** Watches an actor from another one. */
function watch(ref: AnyRef) {
  const end = Promise.withResolvers<string>();
  const Watching = defineProtocol("watching", { begin: { reply: Type.Null() } });
  const watching = system.spawn("watching", Watching, (ctx) => ({
    begin() {
      ctx.watch(ref, ({ reason }) => end.resolve(String(reason)));
      return null;
    },
  }));
  return { watches: watching.ask("begin"), reason: end.promise };
}

describe.each(["thread", "process"] as const)("a %s", (as) => {
  test("that hangs is found by the heartbeat, and ended; what waits is told, and another one takes its place", async () => {
    const kitchen = await start({ as, heartbeatEvery: 50, heartbeatLimit: 500 });
    const waiting = kitchen.ask("never", "a", { timeout: NEVER });
    workers.ref("reaper", Reaper).tell("die", "hang");
    const error = (await waiting)._unsafeUnwrapErr();
    expect(error).toMatchObject({ kind: "unreachable", cause: { message: expect.stringContaining("hangs") } });
    await until(areReady);
    for (;;) {
      const reply = await kitchen.ask("cook", 1); // A slow machine may take another one for one that hangs.
      if (reply.isOk()) break;
      expect(reply.error.kind).toBe("unreachable");
      await turn();
    }
  });

  test("that is well is not ended because this machine slept for longer than the limit", async () => {
    let slept = 0;
    const clock = { ...systemClock, monotonicTime: () => performance.now() + slept };
    const kitchen = await start({ as, heartbeatEvery: 50, heartbeatLimit: 5_000 }, clock);
    await kitchen.offer("order", 7);
    workers.ref("reaper", Reaper).tell("die", "pause");
    await new Promise((resolve) => setTimeout(resolve, 200)); // It is asked, and cannot answer yet.
    slept = 60_000;
    expect((await kitchen.ask("ordered", { timeout: NEVER }))._unsafeUnwrap()).toEqual([7]); // The same one.
  });

  test("that cannot leave is ended after its time, and the shutdown goes on", async () => {
    const kitchen = await start({ as, leaveWithin: 100 });
    const waiting = kitchen.ask("never", "a", { timeout: NEVER });
    workers.ref("reaper", Reaper).tell("die", "hang");
    await workers.stop();
    expect((await waiting)._unsafeUnwrapErr().kind).toBe("unreachable");
  });

  test("that dies is told as unreachable to a watcher in another worker, whose reference leads over the program", async () => {
    await start({ as, size: 2 });
    const watcher = workers.ref("kitchen", Kitchen, 1);
    const pad = (await workers.ref("kitchen", Kitchen, 2).ask("pad"))._unsafeUnwrap();
    expect((await watcher.ask("watch", pad)).isOk()).toBe(true);
    await watcher.ask("cook", 1); // Behind the number by which that worker calls the pad.
    workers.ref("reaper", Reaper, 2).tell("die", "exit");
    await until(() => notes.length > 0);
    expect(notes).toEqual(["watched: unreachable"]);
  });

  test("beyond the limits of its supervision ends for good, and its watchers are told", async () => {
    const kitchen = await start({ as, supervision: { limit: 0, beyondLimit: "stop" } });
    const { watches, reason } = watch(kitchen);
    await watches;
    workers.ref("reaper", Reaper).tell("die", "exit");
    expect(await reason).toBe("unreachable");
    expect((await kitchen.ask("cook", 1))._unsafeUnwrapErr().kind).toBe("unreachable");
  });
});

test("P17: the end of a thread is told as it exits, after what it sent, and before its memory is freed", async () => {
  const mayExit = join(await mkdtemp(join(tmpdir(), "envoi-")), "may-exit");
  const kitchen = await start({ env: { MAY_EXIT: mayExit } });
  const waiting = kitchen.ask("never", "a", { timeout: NEVER });
  workers.ref("reaper", Reaper).tell("die", "exit slowly");
  const error = (await waiting)._unsafeUnwrapErr(); // The thread cannot end yet.
  expect(error).toMatchObject({ kind: "unreachable", cause: { message: expect.stringContaining("with code 7") } });
  await until(() => notes.includes("last words"));
  await writeFile(mayExit, "");
  await until(areReady);
  expect((await kitchen.ask("cook", 1)).isOk()).toBe(true);
  await rm(dirname(mayExit), { recursive: true });
});

test("a process whose function failed exits", async () => {
  const failed = start({ as: "process", entry: new URL("./programs/fails.ts", import.meta.url) });
  const { message } = (await failed.catch((error: unknown) => error)) as Error; // It rejects with one.
  const pid = Number(/no yeast in (\d+)/.exec(message)?.[1]);
  await until(() => !isAlive(pid));
});

test("a pool goes on while one of its workers is down, and has it back afterwards", async () => {
  await start({ as: "process", size: 2 });
  const pool = workers.pool("kitchen", Kitchen, { routing: "round-robin" });
  const pids = async () =>
    new Set((await Promise.all([0, 1, 2, 3].map(() => pool.ask("who")))).map((who) => who._unsafeUnwrap().pid));
  const before = await pids();
  expect(before.size).toBe(2);
  const [victim] = workers.members;
  process.kill(victim?.pid ?? 0, "SIGKILL");
  await until(() => !areReady());
  const meanwhile = await Promise.all(Array.from({ length: 20 }, (_, n) => pool.ask("cook", n)));
  expect(meanwhile.every((reply) => reply.isOk())).toBe(true);
  await until(areReady);
  const after = await pids();
  expect(after.size).toBe(2);
  expect(after).not.toEqual(before);
});

test("a pool whose workers were all down sends to none that still is, once one is back; nor does one that was made meanwhile", async () => {
  const folder = await mkdtemp(join(tmpdir(), "envoi-"));
  const away = join(folder, "away-");
  await start({ size: 2, env: { AWAY: away } });
  const before = workers.pool("kitchen", Kitchen, { routing: "round-robin" });
  for (const index of [1, 2]) {
    await writeFile(`${away}${index}`, "");
    workers.ref("reaper", Reaper, index).tell("die", "exit");
    await until(() => workers.members[index - 1]?.state !== "ready");
  }
  const meanwhile = workers.pool("kitchen", Kitchen, { routing: "round-robin" });
  expect((await meanwhile.ask("who"))._unsafeUnwrapErr().kind).toBe("unreachable");
  await rm(`${away}1`);
  await until(() => workers.members[0]?.state === "ready");
  for (const pool of [before, meanwhile]) {
    const asked = await Promise.all(Array.from({ length: 4 }, () => pool.ask("who")));
    expect(asked.map((result) => result.map(({ worker }) => worker).unwrapOr(0))).toEqual([1, 1, 1, 1]);
  }
  await rm(`${away}2`);
  await until(areReady);
  for (const pool of [before, meanwhile]) {
    const asked = await Promise.all(Array.from({ length: 4 }, () => pool.ask("who")));
    expect(new Set(asked.map((result) => result.map(({ worker }) => worker).unwrapOr(0)))).toEqual(new Set([1, 2]));
  }
  await rm(folder, { recursive: true });
});

test("workers that were stopped give no reference and no pool, and those that there are say so", async () => {
  const kitchen = await start();
  const stopping = workers.stop();
  const sentence = 'The workers "workers" were stopped for good: start others by spawnWorkers()';
  expect(() => workers.ref("kitchen", Kitchen)).toThrow(sentence);
  expect(() => workers.pool("kitchen", Kitchen)).toThrow(sentence);
  await stopping;
  expect((await kitchen.ask("cook", 1))._unsafeUnwrapErr().message).toContain(sentence);
});

test("workers whose name is in use leave nothing behind", async () => {
  await start();
  let live = 0;
  const subscribe = system.events.subscribe.bind(system.events);
  const spy = spyOn(system.events, "subscribe").mockImplementation((callback) => {
    const unsubscribe = subscribe(callback);
    live++;
    return () => {
      live--;
      unsubscribe();
    };
  });
  const again = spawnWorkers(system, { entry: new URL("./programs/kitchen.ts", import.meta.url), size: 3 });
  expect(await again.catch((error: unknown) => String(error))).toContain("workers");
  expect(spy).toHaveBeenCalledTimes(3);
  expect(live).toBe(0);
});

test.each([1, 2])(
  "P14: a reference ends with its actor; a new one, and a pool of %d, have the actor of the worker's next start",
  async (size) => {
    const kitchen = await start({ size });
    const pool = workers.pool("kitchen", Kitchen, { routing: "round-robin" });
    const first = workers.ref("kitchen", Kitchen, 1);
    first.tell("die", "stop");
    const kindOf = async (ref: typeof kitchen) =>
      (await ref.ask("cook", 1)).match(
        () => "ok",
        ({ kind }) => kind,
      );
    while ((await kindOf(first)) !== "stopped") await turn();
    expect(await kindOf(workers.ref("kitchen", Kitchen, 1))).toBe("stopped");
    workers.ref("reaper", Reaper, 1).tell("die", "exit");
    await until(() => !areReady());
    await until(areReady);
    expect(await kindOf(first)).toBe("stopped");
    expect(await kindOf(workers.ref("kitchen", Kitchen, 1))).toBe("ok");
    const asked = await Promise.all(Array.from({ length: 4 }, () => pool.ask("who")));
    const who = asked.map((result) => result._unsafeUnwrap().worker);
    expect(new Set(who).size).toBe(size);
  },
);

test("P14: an actor that stops after a restart of its worker is told to those who watch, and pools leave it out, with no message to it before", async () => {
  await start({ size: 2, env: { ASKS_FIRST: "" } });
  const pool = workers.pool("kitchen", Kitchen, { routing: "round-robin" });
  const first = workers.ref("kitchen", Kitchen, 1);
  const reaper = workers.ref("reaper", Reaper, 1);
  const { watches, reason } = watch(first);
  await watches;
  reaper.tell("die", "exit");
  await until(() => !areReady());
  await until(areReady);
  reaper.tell("die", "stop the kitchen");
  expect(await reason).toBe("stopped");
  const asked = await Promise.all(Array.from({ length: 4 }, () => pool.ask("who")));
  expect(asked.map((result) => result._unsafeUnwrap().worker)).toEqual([2, 2, 2, 2]);
});

test("the shutdown of the system ends its workers", async () => {
  await start({ as: "process", size: 2 });
  const pids = workers.members.map(({ pid }) => pid ?? 0);
  await system.shutdown({ timeout: 20_000 });
  for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow("ESRCH");
});

test("nothing is left of a thousand asks and of streams that were left early", async () => {
  const kitchen = await start();
  await Promise.all(Array.from({ length: 1_000 }, (_, n) => kitchen.ask("cook", n)));
  for (let n = 0; n < 20; n++) for await (const item of kitchen.stream("count", 1_000)) if (item === 3) break;
  expect(workers.members[0]?.waiting).toBe(0);
});

test("an ask by a name that no worker exposes is no-recipient; one to a worker that is not there throws", async () => {
  await start();
  expect((await workers.ref("pantry", Kitchen).ask("cook", 1))._unsafeUnwrapErr().kind).toBe("no-recipient");
  expect(() => workers.ref("kitchen", Kitchen, 2)).toThrow("from 1 to 1");
  expect(() => workers.pool("kitchen", Kitchen, { size: 2 })).toThrow("from 1 to 1");
});

test.each(["thread", "process"] as const)(
  "P11: with mostUnread, a flood to a %s, or from it, leaves no more than that unread, and there is room again later",
  async (as) => {
    const kitchen = await start({ as, mostUnread: 8 });
    for (let n = 0; n < 20; n++) kitchen.tell("order", n); // In one turn: nothing that it says is heard meanwhile.
    expect((await kitchen.ask("ordered"))._unsafeUnwrapErr()).toMatchObject({ kind: "mailbox-full", capacity: 8 });
    let ordered = await kitchen.ask("ordered");
    for (; ordered.isErr(); ordered = await kitchen.ask("ordered")) await turn();
    expect(ordered.value).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect((await kitchen.ask("flood", 20))._unsafeUnwrap()).toBe(null); // The answer is none that counts.
    expect(notes).toEqual(["0", "1", "2", "3", "4", "5", "6", "7"]);
  },
);

test("options that cannot be are refused, with what to write", async () => {
  const wrong = async (options: object) => {
    const local = createSystem({ logger: SILENT });
    const error: unknown = await spawnWorkers(local, options as WorkersOptions).catch((thrown: unknown) => thrown);
    await local.shutdown();
    return String(error);
  };
  expect(await wrong({})).toContain("The entry of workers is a path or a URL");
  expect(await wrong({ entry: "a.ts", size: 0 })).toContain("is a whole number from 1");
  expect(await wrong({ entry: "a.ts", mostUnread: 0 })).toContain("is a whole number from 1, or Infinity");
  expect(await wrong({ entry: "a.ts", as: "fiber" })).toContain('is "thread" or "process"');
  expect(await wrong({ entry: "a.ts", sise: 1 })).toContain('There is no option "sise"');
});
