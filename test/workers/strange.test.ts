import { afterEach, describe, expect, test } from "bun:test";
import { createSystem, type System } from "../../src/index";
import { spawnWorkers, type Workers, type WorkersOptions } from "../../src/workers/index";
import { Kitchen, Log, Reaper, Rude } from "./programs/protocols";

const SILENT = { warn: () => undefined, error: () => undefined };
const NEVER = Number.POSITIVE_INFINITY;
const entryOf = (name: string) => new URL(`./programs/${name}.ts`, import.meta.url);

let system: System;
let workers: Workers;
afterEach(() => system?.shutdown({ timeout: 20_000 }));

async function start(entry: string, options: Partial<WorkersOptions> = {}): Promise<void> {
  system = createSystem({ name: "main", logger: SILENT, hookTimeout: 20_000 });
  workers = await spawnWorkers(system, {
    entry: entryOf(entry),
    size: 1,
    readyWithin: 60_000,
    heartbeatLimit: NEVER,
    supervision: { backoff: { initial: 1, max: 2 }, beyondLimit: "hold" },
    ...options,
  });
}

const turn = () => new Promise<void>((resolve) => setTimeout(resolve, 1));
async function untilReady(): Promise<void> {
  while (workers.members.some(({ state }) => state !== "ready")) await turn();
}

const STRANGE = [
  ["no JSON", "{"],
  ["no kind", "{}"],
  ["null for a kind", '{"kind":null}'],
  ["a kind that is none", '{"kind":"toString"}'],
  ["a failure without a text", '{"kind":"failed","message":{"toString":1}}'],
  ["brackets without an end", `{"kind":${"[".repeat(200_000)}`],
  ["a frame that is none", "[[99]]"],
] as const;

describe.each(["thread", "process"] as const)("P18: a %s", (as) => {
  test.each(STRANGE)("that posts what is no frame is ended, and another one takes its place (%s)", async (_, text) => {
    await start("rude", { as });
    const rude = workers.ref("rude", Rude);
    const error = (await rude.ask("sayForEver", text, { timeout: NEVER }))._unsafeUnwrapErr();
    expect(error).toMatchObject({ kind: "unreachable", cause: { message: "The worker sent what is no frame." } });
    await untilReady();
    expect((await rude.ask("say", "[]")).isOk()).toBe(true);
  });

  test("that posts other things than texts goes on", async () => {
    await start("rude", { as });
    const rude = workers.ref("rude", Rude);
    for (const what of [7, null, true, { a: 1 }, { envoiExitCode: "0" }]) {
      expect((await rude.ask("say", what, { timeout: NEVER })).isOk()).toBe(true);
    }
    expect((await rude.ask("say", 7, { timeout: NEVER })).isOk()).toBe(true);
  });

  test("gets its data as they were when it was made, at each start", async () => {
    const data = { menu: ["soup"] };
    await start("kitchen", { as, data });
    data.menu.push("stew");
    workers.ref("reaper", Reaper).tell("die", "exit");
    while (workers.members.every(({ state }) => state === "ready")) await turn();
    await untilReady();
    const kitchen = workers.ref("kitchen", Kitchen);
    expect((await kitchen.ask("who"))._unsafeUnwrap().data).toEqual({ menu: ["soup"] });
  });

  test("with no limit for its leaving handles what it has", async () => {
    const begins = Promise.withResolvers<void>();
    const notes: string[] = [];
    const local = createSystem({ name: "log", logger: SILENT });
    const log = local.spawn("log", Log, () => ({
      note(text) {
        notes.push(text);
        begins.resolve();
      },
      notes: () => notes,
    }));
    await start("kitchen", { as, leaveWithin: NEVER, exposes: { log } });
    const asked = workers.ref("kitchen", Kitchen).ask("slow", 50, { timeout: NEVER });
    await begins.promise;
    await workers.stop();
    expect((await asked).isOk()).toBe(true);
    await local.shutdown();
  });

  test("without a heartbeat starts and answers", async () => {
    await start("kitchen", { as, heartbeatEvery: NEVER });
    expect((await workers.ref("kitchen", Kitchen).ask("cook", 1)).isOk()).toBe(true);
  });

  test("that ends before it calls serveWorker is told so", async () => {
    const failed = await start("exits", { as }).catch((error: unknown) => error);
    expect(String(failed)).toContain("with code 3: its entry had not called serveWorker().");
  });
});

test.each(["{", "[[99]]"])("P18: a worker that gets what is no frame is ended (%s)", async (text) => {
  await start("rude", { as: "process" });
  const error = (await workers.ref("rude", Rude).ask("hearForEver", text, { timeout: NEVER }))._unsafeUnwrapErr();
  expect(error).toMatchObject({ kind: "unreachable", cause: { message: "The worker got what is no frame." } });
});

test("a thread that serves twice is refused: it would take each message twice", async () => {
  const failed = await start("twice").catch((error: unknown) => error);
  expect(String(failed)).toContain("serveWorker() was called twice in one worker");
});

test("data that JSON cannot carry are refused at once, with their path", async () => {
  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;
  for (const [data, path] of [
    [{ big: 1n }, "/big"],
    [cycle, "/self"],
    [JSON.parse('{"__proto__":1}'), "__proto__"],
  ]) {
    const failed: unknown = await start("kitchen", { data }).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(TypeError);
    expect(String(failed)).toContain(path);
    await system.shutdown();
  }
});

test("a process whose function failed is ended, whatever it computes", async () => {
  const failed = start("fails", { as: "process", env: { HANGS: "" } });
  const { message } = (await failed.catch((error: unknown) => error)) as Error; // It rejects with one.
  const pid = Number(/no yeast in (\d+)/.exec(message)?.[1]);
  const isAlive = (): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false; // ESRCH: all are of this user.
    }
  };
  while (isAlive()) await turn();
});

test("a program that would start itself without an end is refused", async () => {
  for (const entry of [
    "/$bunfs/root/kitchen.js",
    "B:\\~BUN\\root\\kitchen.js",
    new URL("file:///$bunfs/root/kitchen.js"),
  ]) {
    const failed = await start("kitchen", { as: "process", entry }).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(TypeError);
    expect(String(failed)).toContain('Use as: "thread", or ship the entry as a file');
    await system.shutdown();
  }
  process.env["ENVOI_WORKER"] = "1";
  try {
    const failed = await start("kitchen").catch((error: unknown) => error);
    expect(String(failed)).toContain("was started as a worker and has not called serveWorker()");
  } finally {
    delete process.env["ENVOI_WORKER"];
  }
});
