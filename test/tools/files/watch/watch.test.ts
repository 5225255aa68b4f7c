import { dlopen, FFIType } from "bun:ffi";
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { createTestSystem } from "../../../../src/testing";
import { SYSTEM_CALLS } from "../../../../src/tools/files/root/libc";
import { watch } from "../../../../src/tools/files/watch/watch";
import { Workspace } from "../../../../src/tools/files/workspace";
import { lasting, workspaceOver } from "../over-root";
import { everyWay, ways, withFiles, withRoot } from "../ways";
import { withWatched } from "./watched";

/** The kernel's queues that this process has open. */
const inotifies = (): number =>
  readdirSync("/proc/self/fd").filter((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`).includes("inotify");
    } catch {
      return false;
    }
  }).length;

/** Has two names exchange what they stand for, which node:fs cannot. */
function exchange(one: string, other: string): void {
  const { symbols } = dlopen("libc.so.6", {
    syscall: {
      args: [FFIType.i32, FFIType.i32, FFIType.ptr, FFIType.i32, FFIType.ptr, FFIType.u32],
      returns: FFIType.i64_fast,
    },
  });
  const [here, flags] = [-100, 2]; // AT_FDCWD, RENAME_EXCHANGE
  const done = symbols.syscall(
    SYSTEM_CALLS?.renameat2 ?? 0,
    here,
    Buffer.from(`${one}\0`),
    here,
    Buffer.from(`${other}\0`),
    flags,
  );
  if (Number(done) !== 0) throw new Error("The names were not exchanged.");
}

describe.each(everyWay)("watch, by %s", (way) => {
  test("tells that it is ready, and nothing of what was there before", () =>
    withWatched(way, async ({ disk, directory, watch }) => {
      disk.mkdirSync(join(directory, "d"));
      disk.writeFileSync(join(directory, "d/a"), "x");
      const watching = await watch();
      expect(await watching.look()).toEqual(["ready "]);
      expect(await watching.look()).toEqual([]);
    }));

  test("tells of files and directories that are created, changed and deleted, by their paths below the root", () =>
    withWatched(way, async ({ disk, directory, watch }) => {
      disk.mkdirSync(join(directory, "d"));
      disk.writeFileSync(join(directory, "d/old"), "x");
      const watching = await watch();
      await watching.look();
      disk.writeFileSync(join(directory, "a"), "1");
      expect(await watching.look()).toEqual(["created a"]);
      disk.appendFileSync(join(directory, "d/old"), "2");
      disk.mkdirSync(join(directory, "d/e"));
      expect((await watching.look()).sort()).toEqual(["changed d/old", "created d/e"]);
      disk.rmSync(join(directory, "a"));
      disk.writeFileSync(join(directory, "d/e/f"), "3");
      expect((await watching.look()).sort()).toEqual(["created d/e/f", "deleted a"]);
      disk.rmSync(join(directory, "d"), { recursive: true });
      expect((await watching.look()).sort()).toEqual(["deleted d", "deleted d/e", "deleted d/e/f", "deleted d/old"]);
    }));

  test("several changes of a file between two looks are one", () =>
    withWatched(way, async ({ disk, directory, watch }) => {
      disk.writeFileSync(join(directory, "a"), "1");
      const watching = await watch();
      await watching.look();
      for (let i = 0; i < 5; i++) disk.appendFileSync(join(directory, "a"), "more");
      expect(await watching.look()).toEqual(["changed a"]);
      disk.writeFileSync(join(directory, "b"), "1");
      disk.appendFileSync(join(directory, "b"), "more");
      expect(await watching.look()).toEqual(["created b"]);
    }));

  test("what this actor writes is told as created, then as changed, and what it stages is not", () =>
    withWatched(way, async ({ files, settle, watch, disk, directory }) => {
      disk.mkdirSync(join(directory, "d"));
      const watching = await watch();
      expect(await watching.look()).toEqual(["ready "]);
      for (const path of ["a", "d/a"]) {
        const write = async (content: string): Promise<void> => {
          const asked = files.ask("write", { path, content });
          await settle();
          expect((await asked)._unsafeUnwrap().ok).toBe(true);
        };
        await write("one");
        expect(await watching.look()).toEqual([`created ${path}`]);
        await write("two, longer");
        expect(await watching.look()).toEqual([`changed ${path}`]);
      }
    }));

  test("a file that is renamed is deleted and created, and one that it replaces is changed", () =>
    withWatched(way, async ({ disk, directory, watch }) => {
      disk.writeFileSync(join(directory, "a"), "1");
      disk.writeFileSync(join(directory, "c"), "22");
      const watching = await watch();
      await watching.look();
      disk.renameSync(join(directory, "a"), join(directory, "b"));
      expect((await watching.look()).sort()).toEqual(["created b", "deleted a"]);
      disk.renameSync(join(directory, "b"), join(directory, "c"));
      expect((await watching.look()).sort()).toEqual(["changed c", "deleted b"]);
    }));

  test("a directory that is moved is told with all that is in it, and watched where it is now", () =>
    withWatched(way, async ({ disk, directory, watch }) => {
      disk.mkdirSync(join(directory, "d/e"), { recursive: true });
      disk.writeFileSync(join(directory, "d/e/f"), "1");
      const watching = await watch();
      await watching.look();
      disk.renameSync(join(directory, "d"), join(directory, "n"));
      const told = await watching.look();
      expect([...told].sort()).toEqual([
        "created n",
        "created n/e",
        "created n/e/f",
        "deleted d",
        "deleted d/e",
        "deleted d/e/f",
      ]);
      disk.appendFileSync(join(directory, "n/e/f"), "2");
      expect(await watching.look()).toEqual(["changed n/e/f"]);
      disk.mkdirSync(join(directory, "d"));
      disk.writeFileSync(join(directory, "d/g"), "2");
      expect((await watching.look()).sort()).toEqual(["created d", "created d/g"]);
    }));

  test("a directory that another one takes the place of is deleted and created, with what is in each", () =>
    withWatched(way, async ({ disk, directory, watch }) => {
      for (const name of ["d", "other"]) {
        disk.mkdirSync(join(directory, "w", name), { recursive: true });
        disk.writeFileSync(join(directory, "w", name, "a"), "1");
      }
      const watching = await watch({ path: "w" });
      await watching.look();
      disk.renameSync(join(directory, "w/d"), join(directory, "old"));
      disk.renameSync(join(directory, "w/other"), join(directory, "w/d"));
      const told = await watching.look();
      for (const [path, kinds] of Object.entries({
        "w/d": ["deleted", "created"],
        "w/d/a": ["deleted", "created"],
        "w/other": ["deleted"],
        "w/other/a": ["deleted"],
      })) {
        expect(told.filter((item) => item.endsWith(` ${path}`))).toEqual(kinds.map((kind) => `${kind} ${path}`));
      }
      expect(told).toHaveLength(6);
    }));

  test("what is created in a new directory at once is told, however deep", () =>
    withWatched(way, async ({ disk, directory, watch }) => {
      const watching = await watch();
      await watching.look();
      disk.mkdirSync(join(directory, "a/b/c"), { recursive: true });
      disk.writeFileSync(join(directory, "a/b/c/d"), "1");
      expect((await watching.look()).sort()).toEqual(["created a", "created a/b", "created a/b/c", "created a/b/c/d"]);
      disk.writeFileSync(join(directory, "a/b/e"), "1");
      expect(await watching.look()).toEqual(["created a/b/e"]);
    }));

  test("without `recursive` only the directory itself is watched", () =>
    withWatched(way, async ({ disk, directory, watch }) => {
      disk.mkdirSync(join(directory, "w/d"), { recursive: true });
      const watching = await watch({ path: "w", recursive: false });
      expect(await watching.look()).toEqual(["ready w"]);
      disk.writeFileSync(join(directory, "w/d/a"), "1");
      disk.writeFileSync(join(directory, "w/a"), "1");
      disk.mkdirSync(join(directory, "w/e"));
      disk.writeFileSync(join(directory, "b"), "1");
      expect((await watching.look()).sort()).toEqual(["created w/a", "created w/e"]);
      disk.rmSync(join(directory, "w/d"), { recursive: true });
      expect(await watching.look()).toEqual(["deleted w/d"]);
    }));

  test("only what a glob matches is told, below the directory that is watched", () =>
    withWatched(way, async ({ disk, directory, watch }) => {
      disk.mkdirSync(join(directory, "w/d"), { recursive: true });
      const watching = await watch({ path: "w", glob: "**/*.ts" });
      await watching.look();
      for (const name of ["a.ts", "a.js", "d/b.ts", "d/b.js"]) disk.writeFileSync(join(directory, "w", name), "1");
      disk.mkdirSync(join(directory, "w/e"));
      disk.writeFileSync(join(directory, "w/e/c.ts"), "1");
      expect((await watching.look()).sort()).toEqual(["created w/a.ts", "created w/d/b.ts", "created w/e/c.ts"]);
      disk.rmSync(join(directory, "w/e"), { recursive: true });
      expect(await watching.look()).toEqual(["deleted w/e/c.ts"]);
      const exact = await watch({ path: "w", glob: "a.*" });
      await exact.look();
      disk.appendFileSync(join(directory, "w/a.js"), "2");
      expect(await exact.look()).toEqual(["changed w/a.js"]);
    }));

  test("what is denied, or not allowed, is never told", () =>
    withWatched(
      way,
      async ({ disk, directory, watch }) => {
        disk.mkdirSync(join(directory, "private"));
        const watching = await watch();
        await watching.look();
        disk.writeFileSync(join(directory, "private/a.txt"), "1");
        disk.writeFileSync(join(directory, "b.txt"), "1");
        disk.writeFileSync(join(directory, "c.exe"), "1");
        disk.mkdirSync(join(directory, "d"));
        expect((await watching.look()).sort()).toEqual(["created b.txt", "created d"]);
        disk.rmSync(join(directory, "private"), { recursive: true });
        disk.appendFileSync(join(directory, "c.exe"), "2");
        disk.rmSync(join(directory, "c.exe"));
        expect(await watching.look()).toEqual([]);
        expect(await (await watch({ path: "private" })).look()).toEqual(["denied"]);
        expect(await (await watch({ path: ".envoi" })).look()).toEqual(["denied"]);
      },
      { deny: ["private"], allow: ["**/*.txt"] },
    ));

  test("a link is told, and not followed", () =>
    withWatched(way, async ({ disk, directory, watch }) => {
      disk.mkdirSync(join(directory, "d"));
      const watching = await watch();
      await watching.look();
      disk.symlinkSync("d", join(directory, "link"));
      expect(await watching.look()).toEqual(["created link"]);
      disk.writeFileSync(join(directory, "d/a"), "1");
      expect(await watching.look()).toEqual(["created d/a"]);
      expect(await (await watch({ path: "link" })).look()).toEqual(["denied"]);
    }));

  test("more directories than the actor visits are refused, at the beginning and later", () =>
    withWatched(
      way,
      async ({ disk, directory, watch }) => {
        for (const name of ["a", "b"]) disk.mkdirSync(join(directory, name));
        const watching = await watch();
        expect(await watching.look()).toEqual(["ready "]);
        disk.rmdirSync(join(directory, "a"));
        await watching.look();
        disk.mkdirSync(join(directory, "c"));
        expect(await watching.look()).toEqual(["created c"]);
        disk.mkdirSync(join(directory, "d"));
        expect(await watching.look()).toEqual(["created d", "too-large"]);
        expect(watching.hasEnded).toBe(true);
        expect(await (await watch()).look()).toEqual(["too-large"]);
      },
      { maxEntries: 3 },
    ));

  test("what is no directory is refused", () =>
    withWatched(way, async ({ disk, directory, watch }) => {
      disk.writeFileSync(join(directory, "a"), "1");
      expect(await (await watch({ path: "a" })).look()).toEqual(["not-a-directory"]);
      expect(await (await watch({ path: "missing" })).look()).toEqual(["not-found"]);
      expect(await (await watch({ path: "../x" })).look()).toEqual(["outside-root"]);
      expect(await (await watch({ glob: "" })).look()).toEqual(["invalid-path"]);
    }));

  test.each(["delete", "rename", "replace", "rename above"])("ends where its directory is gone: %s", (how) =>
    withWatched(way, async ({ disk, directory, watch }) => {
      disk.mkdirSync(join(directory, "p/w"), { recursive: true });
      disk.writeFileSync(join(directory, "p/w/a"), "1");
      const watching = await watch({ path: "p/w" });
      await watching.look();
      if (how === "delete") disk.rmSync(join(directory, "p/w"), { recursive: true });
      else if (how === "rename above") disk.renameSync(join(directory, "p"), join(directory, "q"));
      else disk.renameSync(join(directory, "p/w"), join(directory, "x"));
      if (how === "replace") disk.mkdirSync(join(directory, "p/w"));
      const told = await watching.look();
      // Of what is above it, nothing is told: it is looked for now and then.
      for (let i = 0; i < 3 && how === "rename above"; i++) told.push(...(await watching.look()));
      expect(told).toEqual(["deleted p/w/a", "deleted p/w", "not-found"]);
      expect(watching.hasEnded).toBe(true);
    }),
  );

  test("ends where the root itself is deleted", () =>
    withWatched(way, async ({ disk, directory, watch }) => {
      const watching = await watch();
      await watching.look();
      disk.rmSync(directory, { recursive: true });
      const told: string[] = [];
      for (let i = 0; i < 4; i++) told.push(...(await watching.look()));
      expect(told).toEqual(["deleted ", "not-found"]);
    }));

  test("looks at nothing, and has nothing open, once its reader has left or the actor has stopped", () =>
    withWatched(way, async ({ clock, watch, system, settle }) => {
      const before = inotifies();
      const left = await watch();
      const stopped = await watch();
      expect(clock.timers).toBe(2);
      expect(inotifies() - before).toBe(way === "openat2" ? 2 : 0);
      await left.leave();
      expect(clock.timers).toBe(1);
      await system.shutdown();
      await settle();
      expect(clock.heldTimers).toBe(0);
      expect(inotifies()).toBe(before);
      expect(await stopped.look()).toEqual(["ready ", "stopped"]);
    }));

  test(
    "P5: timers and I/O go on while a large tree is looked at",
    () =>
      withFiles(way, async ({ disk, directory, files }) => {
        for (let i = 0; i < 400; i++) disk.mkdirSync(join(directory, `d${i}`));
        for (let i = 0; i < 6_000; i++) disk.writeFileSync(join(directory, `d${i % 400}`, `f${i}`), "");
        let turns = 0;
        let isOver = false;
        const turn = (): void => {
          turns++;
          if (!isOver) setImmediate(turn);
        };
        turn();
        const stream = files.stream("watch", {});
        await stream.next();
        isOver = true;
        expect(turns).toBeGreaterThanOrEqual(6);
        await stream.return();
      }),
    240_000,
  );

  test(
    "what its reader leaves unread is bounded: an overflow stands for the rest, and what comes later is told",
    () =>
      withWatched(way, async ({ disk, directory, files, advance, settle }) => {
        const stream = files.stream("watch", {}, { credit: 1 });
        const first = stream.next();
        await settle();
        expect((await first).value).toMatchObject({ value: { kind: "ready" } });
        for (const half of ["f", "g"]) {
          for (let i = 0; i < 5_025; i++) disk.writeFileSync(join(directory, `${half}${i}`), "");
          await advance(260); // Before the kernel's own queue is full.
        }
        const kinds: string[] = [];
        while (kinds.at(-1) !== "overflow") {
          const { value } = await stream.next();
          if (value?.ok) kinds.push(value.value.kind);
        }
        expect(kinds.length).toBeGreaterThan(10_000);
        expect(kinds.length).toBeLessThan(10_010); // What its credit let through comes on top.
        disk.writeFileSync(join(directory, "later"), "");
        const next = stream.next();
        await advance(260);
        expect((await next).value).toMatchObject({ value: { kind: "created", path: "later" } });
        await stream.return();
      }),
    240_000,
  );
});

describe.skipIf(!ways.includes("openat2"))("watch, by the kernel's queue", () => {
  test("what came and went between two looks is told", () =>
    withWatched("openat2", async ({ disk, directory, watch }) => {
      const watching = await watch();
      await watching.look();
      disk.writeFileSync(join(directory, "a"), "1");
      disk.rmSync(join(directory, "a"));
      expect(await watching.look()).toEqual(["created a", "deleted a"]);
    }));

  test("two names that are exchanged are both there afterwards", () =>
    withWatched("openat2", async ({ disk, directory, watch }) => {
      disk.writeFileSync(join(directory, "a"), "1");
      disk.mkdirSync(join(directory, "b"));
      disk.writeFileSync(join(directory, "b/c"), "1");
      const watching = await watch();
      await watching.look();
      exchange(join(directory, "a"), join(directory, "b"));
      const there = new Set(["a", "b", "b/c"]);
      for (const item of await watching.look()) {
        const [kind, path] = item.split(" ") as [string, string];
        if (kind === "deleted") there.delete(path);
        else there.add(path);
      }
      expect([...there].sort()).toEqual(["a", "a/c", "b"]);
      disk.appendFileSync(join(directory, "a/c"), "2");
      disk.appendFileSync(join(directory, "b"), "2");
      expect((await watching.look()).sort()).toEqual(["changed a/c", "changed b"]);
    }));

  // The queues are those of the whole machine: other processes may take and give some back at any time.
  test("where the system has no more queues, snapshots do", () =>
    withRoot("openat2", async (root, directory, disk) => {
      await using parts = createTestSystem();
      const workspace = new Workspace({ ...workspaceOver(root), clock: parts.clock });
      const watching = watch(workspace, {}, lasting, () => undefined);
      expect((await watching.next()).value).toEqual({ kind: "ready", path: "" });
      disk.writeFileSync(join(directory, "a"), "1");
      disk.rmSync(join(directory, "a"));
      const told = watching.next();
      await parts.advance(260);
      expect((await told).value).toEqual({ kind: "overflow", path: "" });
      await watching.return(undefined);
    }));

  test("a name that has the sign for what is no text is told like any other", () =>
    withWatched("openat2", async ({ disk, directory, watch }) => {
      const watching = await watch();
      await watching.look();
      disk.writeFileSync(join(directory, "\uFFFD"), "1");
      expect(await watching.look()).toEqual(["created \uFFFD"]);
    }));

  test("a directory that is found where it was moved to, before that is told, stays watched", () =>
    withWatched("openat2", async ({ disk, directory, watch }) => {
      // Moved into a directory that is found before the move is told: the kernel's number for it stays the same.
      disk.mkdirSync(join(directory, "z/deep"), { recursive: true });
      const watching = await watch();
      await watching.look();
      disk.mkdirSync(join(directory, "a"));
      disk.renameSync(join(directory, "z"), join(directory, "a/z"));
      const told = await watching.look();
      expect(told.sort()).toEqual(["created a", "created a/z", "created a/z/deep", "deleted z", "deleted z/deep"]);
      disk.writeFileSync(join(directory, "a/z/deep/f"), "1");
      expect(await watching.look()).toEqual(["created a/z/deep/f"]);
    }));

  test(
    "a queue that overflowed is told, and what is there then is known and watched",
    () =>
      withWatched("openat2", async ({ disk, directory, watch }) => {
        for (const name of ["t", "u", "v", "outside"]) disk.mkdirSync(join(directory, name));
        for (const name of ["t/a", "u/a", "v/a"]) disk.writeFileSync(join(directory, name), "1");
        // Of what fills the queue nothing is told, lest what waits for the reader overflows instead.
        const watching = await watch({ glob: "**/a" });
        await watching.look();
        const most = Number(readFileSync("/proc/sys/fs/inotify/max_queued_events", "utf8"));
        disk.writeFileSync(join(directory, "x"), "");
        for (let i = 0; i <= most / 4; i++) {
          disk.renameSync(join(directory, "x"), join(directory, "y"));
          disk.renameSync(join(directory, "y"), join(directory, "x"));
        }
        disk.mkdirSync(join(directory, "d"));
        disk.writeFileSync(join(directory, "d/a"), "1");
        disk.rmSync(join(directory, "t/a"));
        disk.rmSync(join(directory, "u/a"));
        disk.mkdirSync(join(directory, "u/a"));
        disk.writeFileSync(join(directory, "u/a/a"), "1");
        disk.renameSync(join(directory, "v"), join(directory, "outside/v"));
        disk.mkdirSync(join(directory, "v"));
        disk.writeFileSync(join(directory, "v/a"), "1"); // In another directory than the one before.
        const [first, ...rest] = await watching.look();
        expect(first).toBe("overflow ");
        expect(rest.sort()).toEqual([
          "created d/a",
          "created outside/v/a",
          "created u/a",
          "created u/a/a",
          "created v/a",
          "deleted t/a",
          "deleted u/a",
          "deleted v/a",
        ]);
        disk.appendFileSync(join(directory, "d/a"), "2");
        expect(await watching.look()).toEqual(["changed d/a"]);
      }),
    240_000,
  );
});

// Not in memory, where the times are in milliseconds.
describe.each(ways.filter((way) => way !== "openat2"))("watch by snapshots, by %s", (way) => {
  test("what came and went between two looks is told as an overflow of its directory", () =>
    withWatched(way, async ({ disk, directory, watch }) => {
      disk.mkdirSync(join(directory, "d"));
      const watching = await watch();
      await watching.look();
      disk.writeFileSync(join(directory, "d/a"), "1");
      disk.rmSync(join(directory, "d/a"));
      expect(await watching.look()).toEqual(["overflow d"]);
      expect(await watching.look()).toEqual([]);
    }));
});
