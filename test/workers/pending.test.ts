import { afterEach, describe, expect, test } from "bun:test";
import { createSystem, defineProtocol, StreamError, type System, type Terminated, Type } from "../../src/index";
import { mayHaveBegun, spawnWorkers, type Workers, type WorkersOptions } from "../../src/workers/index";
import { Kitchen, Log, Reaper } from "./programs/protocols";

const SILENT = { warn: () => undefined, error: () => undefined };
const NEVER = Number.POSITIVE_INFINITY;

let system: System;
let workers: Workers;
afterEach(() => system?.shutdown({ timeout: 20_000 }));

/** A system with one worker, and what resolves with the first note that the worker sends. */
async function start(options: Partial<WorkersOptions>) {
  system = createSystem({ name: "main", logger: SILENT, hookTimeout: 20_000 });
  const noted = Promise.withResolvers<string>();
  const log = system.spawn("log", Log, () => ({ note: noted.resolve, notes: () => [] }));
  workers = await spawnWorkers(system, {
    entry: new URL("./programs/kitchen.ts", import.meta.url),
    size: 1,
    exposes: { log },
    readyWithin: 60_000,
    heartbeatLimit: NEVER,
    ...options,
  });
  return { kitchen: workers.ref("kitchen", Kitchen), noted: noted.promise };
}

test("P17: a process that is killed ends its asks, offers, streams and watches, each as unreachable, and none stays", async () => {
  const { kitchen, noted } = await start({ as: "process", supervision: { limit: 0, beyondLimit: "stop" } });
  const end = Promise.withResolvers<Terminated>();
  const Watching = defineProtocol("watching", { begin: { reply: Type.Null() } });
  const watching = system.spawn("watching", Watching, (ctx) => ({
    begin() {
      ctx.watch(kitchen, (terminated) => end.resolve(terminated));
      return null;
    },
  }));
  await watching.ask("begin");
  const items = kitchen.stream("count", 1_000_000, { credit: 1 })[Symbol.asyncIterator]();
  expect((await items.next()).value).toBe(1);
  workers.ref("reaper", Reaper).tell("die", "loop");
  const pid = Number(await noted);
  const asked = kitchen.ask("cook", 1, { timeout: NEVER });
  const offered = kitchen.offer("order", 1, { timeout: NEVER });
  const read = (async () => {
    while (!(await items.next()).done);
  })().catch((thrown: unknown) => thrown);
  process.kill(pid, "SIGKILL");
  const failed = (await asked)._unsafeUnwrapErr();
  expect(failed.kind).toBe("unreachable");
  expect(failed.message).toContain(
    "had left when the other side ended (The process has ended by itself, by signal SIGKILL)",
  );
  const broken = await read;
  if (!(broken instanceof StreamError)) throw broken;
  for (const error of [failed, (await offered)._unsafeUnwrapErr(), broken]) {
    expect([error.kind, mayHaveBegun(error)]).toEqual(["unreachable", true]);
  }
  const later = (await kitchen.ask("cook", 1))._unsafeUnwrapErr();
  expect([later.kind, mayHaveBegun(later)]).toEqual(["unreachable", false]);
  expect(later.message).toContain("could not leave");
  expect((await end.promise).reason).toBe("unreachable");
  expect(workers.members[0]?.waiting).toBe(0);
});

describe.each(["thread", "process"] as const)("a %s", (as) => {
  test("has its actor free for the next message once the reader of a stream has left", async () => {
    const { kitchen } = await start({ as });
    for await (const item of kitchen.stream("count", 1e12, { credit: 1 })) if (item === 3) break;
    expect((await kitchen.ask("cook", "soup", { timeout: NEVER }))._unsafeUnwrap()).toBe("soup");
    expect(workers.members[0]?.waiting).toBe(0);
  });

  test("is sent nothing that JSON cannot carry: the payload is refused with its path", async () => {
    const { kitchen } = await start({ as });
    const refused: readonly (readonly [payload: unknown, path: string])[] = [
      [{ menu: [{ price: 3n }] }, "/menu/0/price"],
      [{ menu: new Map() }, "/menu"],
      [{ photo: new Uint8Array(4) }, "/photo"],
      [[() => 1], "/0"],
      [{ weight: Number.NaN }, "/weight"],
    ];
    for (const [payload, path] of refused) {
      const error = (await kitchen.ask("cook", payload))._unsafeUnwrapErr();
      expect(error).toMatchObject({ kind: "invalid-payload", issues: [{ path }] });
    }
    expect((await kitchen.ask("cook", "soup")).isOk()).toBe(true);
  });
});
